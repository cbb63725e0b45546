"""Whether AWS publishes an image, and what is made of a release that is newer than all known ones."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from lmi_constructs._near_names import meant, nearest
from lmi_constructs.checks.examples import Example
from lmi_constructs.checks.queries.container_images import image, release
from lmi_constructs.checks.queries.containers import containers
from lmi_constructs.checks.queries.resource_arns import is_of_aws
from lmi_constructs.checks.rules.base import Rule
from lmi_constructs.checks.values import literal, shown
from lmi_constructs.container.release import LmiContainer
from lmi_constructs.facts import container_releases

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.resources import Container
    from lmi_constructs.findings import Finding

_IMAGE: Final = "Model/Properties/PrimaryContainer/Image"
_REPOSITORY: Final = "djl-inference"
_FAMILY: Final = "djl-"
_NUMBER: Final = re.compile(r"-lmi(\d+)\.")
_SERVING: Final = re.compile(r"(\d+)\.(\d+)\.\d+-")


@cache
def newest() -> LmiContainer:
    """Return the newest LMI release that is known."""
    return max(
        (one for one in LmiContainer.all() if one.release.lmi is not None),
        key=lambda one: one.release.lmi or 0,
    )


def newer_than_known(deployment: Deployment, container: Container) -> str | None:
    """Return the name of a release that is newer than all known ones, such as `v30`, if it is one."""
    tag = _unknown_tag(deployment, container)
    number = _NUMBER.search(tag or "")
    if number is None or int(number[1]) <= (newest().release.lmi or 0):
        return None
    return f"v{int(number[1])}"


def nearest_tag(tag: str) -> str | None:
    """Return the published tag that was meant: of the release that it names, else the most similar."""
    number = _NUMBER.search(tag)
    named = container_releases().get(f"v{int(number[1])}") if number else None
    tags = [one.tag for one in container_releases().values()]
    return named.tag if named else nearest(tag, tags)


def is_in_other_repository(container: Container) -> bool:
    """Tell whether an image is in a repository of AWS's registry that has no LMI images."""
    parts = image(container)
    repository = literal(parts.repository) if parts and is_of_aws(container) else None
    return repository is not None and repository.startswith(_FAMILY) and repository != _REPOSITORY


class NotPublished(Rule):
    """LMI107."""

    id = "LMI107"
    title = "AWS publishes no such image, as far as is known"
    severity = "warning"
    why = (
        "an image that does not exist cannot be pulled, and what a release does that is not known"
        " is not checked"
    )
    fix = f"use a tag of {_REPOSITORY} that AWS publishes"
    source = "https://docs.djl.ai/master/docs/serving/serving/docs/lmi/index.html"
    failing = Example(
        {
            _IMAGE: f"763104351884.dkr.ecr.us-east-1.amazonaws.com/{_REPOSITORY}:0.36.0-lmi22.0.0-cu12"
        }
    )
    passing = Example(
        {
            _IMAGE: f"763104351884.dkr.ecr.us-east-1.amazonaws.com/{_REPOSITORY}:0.36.0-lmi22.0.0-cu129"
        }
    )

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield repositories and tags of AWS's registries that resemble published ones."""
        for resource, container in containers(deployment):
            path = f"{container.path}/Image"
            parts = image(container)
            if parts and is_in_other_repository(container):
                message = f"AWS publishes the LMI images in {_REPOSITORY}, not in {shown(parts.repository)}"
                yield self.found(resource, path, message, fix=f"write {_REPOSITORY}")
            tag = _unknown_tag(deployment, container)
            if tag is None or _may_be_published(tag):
                continue
            if newer_than_known(deployment, container) is None:
                near = nearest_tag(tag)
                yield self.found(
                    resource,
                    path,
                    f"no release has the tag {tag!r}",
                    fix=meant((near,) if near else (), self.fix),
                )


def _may_be_published(tag: str) -> bool:
    """Tell whether AWS may publish a tag that no known release has.

    Not listed are images for processors alone, those older than the oldest release, and the builds of
    a release, whose tags go on after the release's.
    """
    known = [one.tag for one in container_releases().values()]
    oldest = min(version for version in map(_serving, known) if version)
    version = _serving(tag)
    older = version is not None and version < oldest
    return older or "-cpu" in tag or any(tag.startswith(f"{one}-") for one in known)


def _serving(tag: str) -> tuple[int, int] | None:
    """Return the release of DJL Serving that a tag begins with."""
    version = _SERVING.match(tag)
    return (int(version[1]), int(version[2])) if version else None


def _unknown_tag(deployment: Deployment, container: Container) -> str | None:
    """Return the tag of an image of AWS's LMI repository that no known release has."""
    parts = image(container)
    if parts is None or not is_of_aws(container) or parts.repository != _REPOSITORY:
        return None
    return None if release(deployment, container) else literal(parts.tag)
