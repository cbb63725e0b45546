"""Whether the image exists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs.checks.queries.container_images import image
from lmi_constructs.checks.values import shown
from lmi_constructs.operations.aws import NotThereError, asking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.resources import Container
    from lmi_constructs.preflight.outcome import Outcome
    from lmi_constructs.preflight.place import Place


def image_exists(place: Place, container: Container) -> Iterator[Outcome]:
    """Yield whether the image's tag is in its registry.

    Raises:
        AwsError: If the registry does not tell.
    """
    if container.image is None:
        return  # an adapter's component runs in its base's
    parts = image(container)
    uri = shown(container.image)
    address = (parts.account, parts.region, parts.repository, parts.tag) if parts else ()
    known = [place.known(part) for part in address]
    if not known or None in known:
        what = "is known only when it is deployed" if parts else "is no image of ECR"
        tagless = parts is not None and parts.tag is None
        detail = f"{uri} {'has no tag to look for' if tagless else what}"
        yield place.outcome("image", "unknown", detail)
        return
    registry, region, repository, tag = known
    client = place.client("ecr", region)
    try:
        with asking(f"repository {repository} in {registry}", "ecr:BatchGetImage"):
            answer = client.batch_get_image(
                registryId=registry, repositoryName=repository, imageIds=[{"imageTag": tag}]
            )
    except NotThereError as error:
        if registry == place.account.id(place.region):
            yield place.outcome("image", "fail", error.message, "push the image, or name another")
            return
        detail = f"not known: the registry {registry} shows no repository {repository} to you"
        yield place.outcome("image", "unknown", detail, "let its owner tell whether it is there")
        return
    if answer.get("images"):
        yield place.outcome("image", "pass", f"{repository}:{tag} exists")
    else:
        detail = f"{repository} in {registry} has no tag {tag}"
        fix = "take a tag that exists (aws ecr describe-images), or another release"
        yield place.outcome("image", "fail", detail, fix)
