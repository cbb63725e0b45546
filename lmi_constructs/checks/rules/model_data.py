"""Where the weights come from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lmi_constructs.checks.archives import UNPACK, is_archive
from lmi_constructs.checks.examples import REMOVED, Example
from lmi_constructs.checks.queries.container_images import release
from lmi_constructs.checks.queries.containers import (
    containers,
    environment,
    running,
    serving_properties,
)
from lmi_constructs.checks.resources import S3DataSource
from lmi_constructs.checks.rules.base import Rule
from lmi_constructs.checks.values import UNKNOWN, Text, head, literal, shown, split, tail
from lmi_constructs.container.serving_properties import merge
from lmi_constructs.facts import models

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.resources import Container, Resource
    from lmi_constructs.findings import Finding

_CONTAINER: Final = "Model/Properties/PrimaryContainer"
_SOURCE: Final = f"{_CONTAINER}/ModelDataSource/S3DataSource"
_MODEL_VARIABLES: Final = ("HF_MODEL_ID", "OPTION_MODEL_ID")
_HUB_ACCESS: Final = frozenset(
    {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH", "HF_ENDPOINT", "HF_HUB_OFFLINE"}
)
"""Variables of huggingface_hub that give a token, or take the model from elsewhere."""

_GATED: Final = "meta-llama/Llama-3.1-8B-Instruct"
_FROM_HUB: Final = {
    f"{_CONTAINER}/ModelDataSource": REMOVED,
    "Model/Properties/EnableNetworkIsolation": REMOVED,
}
_BOTOCORE: Final = "botocore 1.44.8 sagemaker 2017-07-24 "


def _sources(deployment: Deployment) -> Iterator[tuple[Resource, Container, S3DataSource]]:
    for resource, container in containers(deployment):
        if isinstance(container.s3_data_source, S3DataSource):
            yield resource, container, container.s3_data_source


class PrefixWithoutSlash(Rule):
    """LMI020."""

    id = "LMI020"
    title = "an S3 prefix must end in exactly one slash"
    why = "SageMaker does not take it as the folder of the model, so nothing can be loaded"
    fix = "end S3Uri in exactly one '/'"
    source = _BOTOCORE + "S3ModelDataSource.S3DataType"
    failing = Example({f"{_SOURCE}/S3Uri": "s3://example-models/llama"})
    passing = Example({f"{_SOURCE}/S3Uri": {"Fn::Sub": "s3://example-models/llama/"}})

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield prefixes without a slash at the end, or with more than one."""
        for resource, _, source in _sources(deployment):
            end = tail(source.uri)
            if source.data_type != "S3Prefix" or not end:
                continue
            if not end.endswith("/") or end.endswith("//"):
                message = f"the prefix {shown(source.uri)!r} does not end in exactly one '/'"
                fix = UNPACK if is_archive(end) else None
                yield self.found(resource, f"{source.path}/S3Uri", message, fix=fix)


class PrefixWithOddSegments(Rule):
    """LMI021."""

    id = "LMI021"
    title = "an S3 prefix with empty or relative path parts"
    severity = "warning"
    why = "S3 knows no folders: such a key is another one than it seems, and the files are missed"
    fix = "write the prefix without '//', './' and '../'"
    source = _BOTOCORE + "S3ModelDataSource.CompressionType"
    failing = Example({f"{_SOURCE}/S3Uri": "s3://example-models//llama/"})
    passing = Example({f"{_SOURCE}/S3Uri": "s3://example-models/llama/"})

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield prefixes with `//`, `.` or `..` inside."""
        for resource, _, source in _sources(deployment):
            fields = split(source.uri, "/")
            inner = fields[3:-1] if fields and str(fields[0]) in ("s3:", "https:") else ()
            if any(field in ("", ".", "..") for field in inner) and not (
                tail(source.uri).endswith("//") and inner.count("") == 1
            ):
                message = f"the address {shown(source.uri)!r} has empty or relative path parts"
                yield self.found(resource, f"{source.path}/S3Uri", message)


class ArchiveAsPrefix(Rule):
    """LMI110."""

    id = "LMI110"
    title = "an S3 prefix with the name of an archive"
    severity = "warning"
    why = (
        "SageMaker mounts the objects below the prefix and unpacks nothing; an archive of this name"
        " lies beside it, not below"
    )
    fix = UNPACK
    source = _BOTOCORE + "S3ModelDataSource.S3DataType"
    failing = Example({f"{_SOURCE}/S3Uri": "s3://example-models/llama/model.tar.gz/"})
    passing = Example({f"{_SOURCE}/S3Uri": "s3://example-models/llama/model/"})

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield prefixes such as `model.tar.gz/`; those without a slash are LMI020's."""
        for resource, _, source in _sources(deployment):
            end = tail(source.uri)
            if source.data_type == "S3Prefix" and end.endswith("/") and is_archive(end):
                message = f"the prefix {shown(source.uri)!r} has the name of an archive"
                yield self.found(resource, f"{source.path}/S3Uri", message)


class CompressedPrefix(Rule):
    """LMI022."""

    id = "LMI022"
    title = "a prefix cannot be compressed"
    why = "Gzip is for one object; CreateModel has no meaning for a compressed prefix"
    fix = "use CompressionType None with S3Prefix, or S3Object with one .tar.gz"
    source = "https://github.com/aws/aws-cdk/pull/30949"
    failing = Example({f"{_SOURCE}/CompressionType": "Gzip"})
    passing = Example(
        {
            f"{_SOURCE}/CompressionType": "Gzip",
            f"{_SOURCE}/S3DataType": "S3Object",
            f"{_SOURCE}/S3Uri": "s3://example-models/llama/model.tar.gz",
        }
    )

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield prefixes said to be compressed."""
        for resource, _, source in _sources(deployment):
            if source.data_type == "S3Prefix" and source.compression == "Gzip":
                message = "S3DataType is S3Prefix and CompressionType is Gzip"
                yield self.found(resource, f"{source.path}/CompressionType", message)


class TwoModelDataLocations(Rule):
    """LMI023."""

    id = "LMI023"
    title = "two places for the model data"
    why = "CreateModel takes either ModelDataUrl or ModelDataSource"
    fix = "keep ModelDataSource and remove ModelDataUrl"
    source = _BOTOCORE + "ContainerDefinition"
    failing = Example({f"{_CONTAINER}/ModelDataUrl": "s3://example-models/llama/model.tar.gz"})
    passing = Example(
        {
            f"{_CONTAINER}/ModelDataUrl": "s3://example-models/llama/model.tar.gz",
            f"{_CONTAINER}/ModelDataSource": REMOVED,
        }
    )

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield containers with both."""
        for resource, container in containers(deployment):
            url = container.model_data_url
            if url is not None and url is not UNKNOWN and container.s3_data_source is not None:
                path = f"{container.path}/ModelDataUrl"
                yield self.found(resource, path, "ModelDataUrl and ModelDataSource are both set")


class ArchiveExpected(Rule):
    """LMI024."""

    id = "LMI024"
    title = "ModelDataUrl is not a .tar.gz archive"
    why = "ModelDataUrl means one gzip-compressed tar archive; a prefix is not found"
    fix = (
        "give a prefix as ModelDataSource.S3DataSource with S3Prefix and CompressionType None,"
        " which also needs no unpacking"
    )
    source = _BOTOCORE + "ContainerDefinition.ModelDataUrl"
    failing = Example(
        {
            f"{_CONTAINER}/ModelDataUrl": "https://s3.us-east-1.amazonaws.com/example-models/llama/",
            f"{_CONTAINER}/ModelDataSource": REMOVED,
        }
    )
    passing = TwoModelDataLocations.passing

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield addresses that end otherwise."""
        for resource, container in containers(deployment):
            end = tail(container.model_data_url)
            if not end or container.mode not in (None, "SingleModel"):
                continue
            if not end.endswith((".tar.gz", ".tgz")):
                name = "ArtifactUrl" if "Specification" in container.path else "ModelDataUrl"
                message = f"{name} {shown(container.model_data_url)!r} is not a .tar.gz archive"
                # The CDK once cut the names of assets to .gz, and stacks with such were deployed.
                yield self.found(
                    resource,
                    f"{container.path}/{name}",
                    message,
                    severity="warning" if end.endswith(".gz") else "error",
                )


class IncompleteDataSource(Rule):
    """LMI025."""

    id = "LMI025"
    title = "the S3 data source is incomplete or not an S3 address"
    why = "CreateModel refuses it"
    fix = "give S3Uri (s3://bucket/prefix/), S3DataType and CompressionType"
    source = _BOTOCORE + "S3ModelDataSource"
    failing = Example({f"{_SOURCE}/CompressionType": REMOVED})
    passing = Example({f"{_SOURCE}/CompressionType": {"Fn::Sub": "None"}})

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield missing fields and addresses of another form."""
        for resource, _, source in _sources(deployment):
            fields = (
                ("S3Uri", source.uri),
                ("S3DataType", source.data_type),
                ("CompressionType", source.compression),
            )
            for name, value in fields:
                if value is None:
                    message = f"S3DataSource has no {name}"
                    yield self.found(resource, f"{source.path}/{name}", message)
            if not _may_be_s3_address(source.uri):
                message = f"{shown(source.uri)!r} is not an S3 address"
                yield self.found(resource, f"{source.path}/S3Uri", message)


class DataSourceNotSupported(Rule):
    """LMI026."""

    id = "LMI026"
    title = "ModelDataSource on an endpoint that cannot have it"
    why = "it cannot be combined with serverless or multi-model endpoints"
    fix = "use a real-time variant with an instance type and one model a container"
    source = _BOTOCORE + "ContainerDefinition.ModelDataSource"
    failing = Example({f"{_CONTAINER}/Mode": "MultiModel"})
    passing = Example({f"{_CONTAINER}/Mode": "SingleModel"})

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield multi-model containers and serverless variants with a data source.

        An LMI container cannot run on a serverless variant at all (LMI047).
        """
        for resource, container, source in _sources(deployment):
            if container.mode == "MultiModel":
                message = "ModelDataSource is set on a multi-model container"
                yield self.found(resource, source.path, message)
        for run in running(deployment):
            is_lmi = release(deployment, run.container) is not None
            mounted = run.container.s3_data_source is not None
            if run.variant.serverless and mounted and not is_lmi:
                message = "a model with ModelDataSource runs on a serverless variant"
                yield self.found(run.config, f"{run.variant.path}/ServerlessConfig", message)


class CustomCodeNotTrusted(Rule):
    """LMI027."""

    id = "LMI027"
    title = "a model with code of its own that is not trusted"
    why = "the model's config.json names Python files beside it, which the engine does not run"
    fix = "set OPTION_TRUST_REMOTE_CODE to true after reading that code"
    severity = "warning"
    source = "https://github.com/huggingface/text-generation-inference/issues/493"
    failing = Example(model_config={"auto_map": {"AutoModel": "modeling_own.OwnModel"}})
    passing = Example(
        {f"{_CONTAINER}/Environment/OPTION_TRUST_REMOTE_CODE": "true"},
        model_config={"auto_map": {"AutoModel": "modeling_own.OwnModel"}},
    )

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield LMI containers whose known config.json has an auto_map, without the option."""
        for resource, container in containers(deployment):
            config = deployment.facts.config_of(resource) or {}
            if not config.get("auto_map") or container.environment is UNKNOWN:
                continue
            written = serving_properties(deployment, resource)
            options = merge(environment(container), written).options
            trusted = options.get("trust_remote_code")
            is_off = trusted is None or str(trusted.text).lower() == "false"
            if is_off and release(deployment, container):
                message = "config.json has an auto_map, but OPTION_TRUST_REMOTE_CODE is not true"
                yield self.found(resource, f"{container.path}/Environment", message)


class GatedModelWithoutToken(Rule):
    """LMI014."""

    id = "LMI014"
    title = "a gated model of the hub without a token"
    why = "the hub refuses the download, and the container never starts"
    fix = (
        "accept the license on the hub and give HF_TOKEN as '{{resolve:secretsmanager:<name>}}', or"
        " copy the model to S3"
    )
    source = "https://github.com/huggingface/text-generation-inference/issues/751"
    failing = Example({**_FROM_HUB, f"{_CONTAINER}/Environment/HF_MODEL_ID": _GATED})
    passing = Example(
        {
            **_FROM_HUB,
            f"{_CONTAINER}/Environment/HF_MODEL_ID": _GATED,
            f"{_CONTAINER}/Environment/HF_TOKEN": "{{resolve:secretsmanager:hub}}",
        }
    )

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield hub models that are known to be gated, where no token and no other hub is given."""
        for resource, container in containers(deployment):
            given = environment(container)
            if release(deployment, container) is None or given.keys() & _HUB_ACCESS:
                continue
            for variable in _MODEL_VARIABLES:
                hub_id = literal(given.get(variable)) or ""
                facts = models().get(hub_id.lower())
                if facts is not None and facts.gated:
                    path = f"{container.path}/Environment/{variable}"
                    yield self.found(resource, path, f"{hub_id} is gated, but no token is set")


def _may_be_s3_address(uri: object) -> bool:
    known = literal(uri)
    if known is not None:
        return bool(re.match(r"(https|s3)://[^/]+/?", known))
    beginning = head(uri)
    return not isinstance(uri, Text) or not beginning or "://" in beginning or len(beginning) < 9
