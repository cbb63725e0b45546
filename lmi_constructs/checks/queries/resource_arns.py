"""What a role must reach: model data, images, results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lmi_constructs.checks.queries.container_images import image
from lmi_constructs.checks.resources import S3DataSource
from lmi_constructs.checks.values import (
    UNKNOWN,
    String,
    Text,
    head,
    join,
    resource_of,
    shown,
    split,
    tail,
)
from lmi_constructs.facts import registries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.resources import Container

_ANY_FILE: Final = "model.safetensors"
_PUBLIC_BUCKETS: Final = ("jumpstart-cache-", "jumpstart-private-cache-", "sagemaker-sample-files")


def addresses(container: Container) -> Iterator[tuple[str, String, bool]]:
    """Yield the S3 addresses of a container, and whether each is a prefix."""
    if container.model_data_url is not None:
        url = container.model_data_url
        yield f"{container.path}/ModelDataUrl", url, tail(url).endswith("/")
    source = container.s3_data_source
    if isinstance(source, S3DataSource) and source.uri is not None:
        yield f"{source.path}/S3Uri", source.uri, source.data_type != "S3Object"


def arns(address: String, prefix: bool) -> tuple[String | None, String]:
    """Return the ARN of a bucket, and one of an object under the address."""
    fields = split(address, "/")
    if fields is None or len(fields) < 3 or fields[:2] != ("s3:", "") or fields[2] == "":
        return None, UNKNOWN
    bucket = join(["arn:aws:s3:::", fields[2]])
    key = [field for field in fields[3:] if field != ""]
    objects = [*key, _ANY_FILE] if prefix else key
    return bucket, join([bucket, *(piece for field in objects for piece in ("/", field))])


def spoken(arn: String) -> str:
    """Return an ARN as people write it, with a star for any file under a prefix."""
    text = shown(arn)
    return f"{text.removesuffix(_ANY_FILE)}*" if text.endswith(f"/{_ANY_FILE}") else text


def repository_arn(container: Container) -> String | None:
    """Return the ARN of the repository that a container's image is in."""
    parts = image(container)
    if parts is None:
        return None
    where: list[object] = ["arn:aws:ecr:", parts.region, ":", parts.account]
    return join([*where, ":repository/", parts.repository])


def is_of_aws(container: Container) -> bool:
    """Tell whether an image is in a registry of AWS's, which no policy of one's own opens."""
    parts = image(container)
    accounts = {registry.account for registry in registries().values()}
    return parts is not None and parts.account in accounts


def is_declared(bucket: String) -> bool:
    """Tell whether the templates make a bucket: one made elsewhere may have a policy there."""
    name = split(bucket, ":::")
    return name is not None and len(name) == 2 and resource_of(name[1]) is not None


def is_open(deployment: Deployment, bucket: String) -> bool:
    """Tell whether others than the role's policies may give rights to a bucket."""
    name = split(bucket, ":::")
    if name is None or len(name) != 2:
        return True
    if head(name[1]).startswith(_PUBLIC_BUCKETS):
        return True
    reference = name[1].reference if isinstance(name[1], Text) else None
    key = (reference.template, reference.name) if reference else ("", shown(name[1]))
    return key in deployment.shared_buckets or shown(name[1]) in {
        name for _, name in deployment.shared_buckets
    }
