"""Instance types, their storage and their number."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from lmi_constructs._near_names import did_you_mean
from lmi_constructs.checks.examples import REMOVED, Example
from lmi_constructs.checks.queries.container_images import release
from lmi_constructs.checks.queries.containers import running
from lmi_constructs.checks.queries.instance_types import instance
from lmi_constructs.checks.queries.variants import variants
from lmi_constructs.checks.rules.base import Rule
from lmi_constructs.checks.rules.model_data import ArchiveExpected
from lmi_constructs.checks.values import literal, number
from lmi_constructs.facts import instance_types, registries
from lmi_constructs.facts.limits import hosting_instance_type_names, limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.findings import Finding

_VARIANT: Final = "Config/Properties/ProductionVariants/0"
_BOTOCORE: Final = "botocore 1.44.8 sagemaker 2017-07-24 "
_REFUSES_VOLUME = re.compile(r"(g5|g6|p5|trn1)|.*d")
"""Families for which AWS's own SDK drops the size (sagemaker-core volume_size_supported)."""


class UnknownInstanceType(Rule):
    """LMI040."""

    id = "LMI040"
    title = "no such instance type"
    why = "CreateEndpointConfig refuses the value"
    fix = "use a SageMaker hosting instance type, such as ml.g6.12xlarge"
    source = _BOTOCORE + "ProductionVariantInstanceType"
    failing = Example({f"{_VARIANT}/InstanceType": "ml.g5.large"})
    passing = Example({f"{_VARIANT}/InstanceType": "ml.g5.24xlarge"})

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield instance types that the API does not take."""
        known = hosting_instance_type_names() | set(instance_types())
        for config, variant in variants(deployment):
            for path, value in variant.instance_types:
                name = literal(value)
                if name is not None and name not in known | deployment.facts.instance_types:
                    fix = did_you_mean(name, known, self.fix, most=3)
                    message = f"the instance type {name!r} does not exist for endpoints"
                    yield self.found(config, path, message, fix=fix)


class InstanceNotInRegion(Rule):
    """LMI041."""

    id = "LMI041"
    title = "the instance type is not offered in the region"
    why = "CreateEndpointConfig or the endpoint fails: the region has no such instances"
    fix = "choose another instance type or region"
    source = "AWS price list, SageMaker hosting, 2026-10-20"
    failing = Example(
        {
            f"{_VARIANT}/InstanceType": "ml.p5.48xlarge",
            "Model/Properties/PrimaryContainer/Image": (
                "111122223333.dkr.ecr.ca-west-1.amazonaws.com/serving:1"
            ),
            "Role/Properties/Policies/0/PolicyDocument/Statement/1/Resource": "*",
        },
        region="ca-west-1",
    )
    passing = Example({f"{_VARIANT}/InstanceType": "ml.p5.48xlarge"})

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield instance types without a hosting price in the region."""
        for config, variant in variants(deployment):
            for path, name in variant.instance_types:
                kind = instance(name)
                if kind is None or variant.reserved or kind.name in deployment.facts.instance_types:
                    continue
                if not kind.regions:
                    message = f"{kind.name} has no on-demand price in any region"
                    fix = "reserve capacity (CapacityReservationConfig), or choose another type"
                    yield self.found(config, path, message, fix=fix, severity="warning")
                elif config.region not in kind.regions and _is_priced(config.region):
                    message = f"{kind.name} is not offered in {config.region}"
                    fix = "it is offered in " + ", ".join(sorted(kind.regions))
                    yield self.found(config, path, message, fix=fix)


class VolumeSizeNotAllowed(Rule):
    """LMI042."""

    id = "LMI042"
    title = "the volume size cannot be set on this instance type"
    why = "CreateEndpointConfig refuses a volume size on types with local storage"
    fix = "remove VolumeSizeInGB: the model is stored on the instance's own disks"
    source = "https://github.com/aws/sagemaker-python-sdk/pull/4828"
    failing = Example({f"{_VARIANT}/VolumeSizeInGB": 256})
    passing = Example(
        {
            f"{_VARIANT}/VolumeSizeInGB": 256,
            f"{_VARIANT}/InstanceType": "ml.inf2.24xlarge",
            f"{_VARIANT}/InferenceAmiVersion": "al2-ami-sagemaker-inference-neuron-2",
            "Model/Properties/PrimaryContainer/Image": (
                "763104351884.dkr.ecr.us-east-1.amazonaws.com/djl-inference:0.30.0-neuronx-sdk2.20.1"
            ),
        }
    )

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield volume sizes on types with an instance store."""
        for config, variant in variants(deployment):
            kinds = [instance(name) for _, name in variant.instance_types]
            stored = [kind for kind in kinds if kind and not kind.volume_size_allowed]
            size = number(variant.volume_size)
            if size is not None and stored:
                kind = stored[0]
                message = (
                    f"VolumeSizeInGB is {size}, but {kind.name} has {kind.local_storage_gb} GB of"
                    " local storage"
                )
                confirmed = _REFUSES_VOLUME.match(kind.family) is not None
                yield self.found(
                    config,
                    f"{variant.path}/VolumeSizeInGB",
                    message,
                    severity="error" if confirmed else "warning",
                )


class KeyWithoutEffect(Rule):
    """LMI043."""

    id = "LMI043"
    title = "the KMS key does not encrypt the local storage"
    severity = "warning"
    why = "the key is for EBS volumes; instance stores are encrypted by the hardware alone"
    fix = "keep it if a policy demands a key, but do not count on it"
    source = "https://github.com/aws/sagemaker-python-sdk/issues/3677"
    failing = Example({"Config/Properties/KmsKeyId": "alias/models"})
    passing = Example(
        {
            **VolumeSizeNotAllowed.passing.change,
            "Config/Properties/KmsKeyId": "alias/models",
        }
    )

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield keys of configurations whose instances all have local storage."""
        for config in deployment.endpoint_configs:
            names = [name for variant in config.variants for _, name in variant.instance_types]
            kinds = [instance(name) for name in names]
            if config.kms_key and kinds and all(kind and kind.local_storage_gb for kind in kinds):
                message = "KmsKeyId is set, but all instances store on local disks"
                yield self.found(config, "KmsKeyId", message)


class VolumeSizeOutOfRange(Rule):
    """LMI044."""

    id = "LMI044"
    title = "the volume size is out of range"
    why = "CreateEndpointConfig refuses the value"
    fix = "use 1 to 512 GB, or an instance type with local storage"
    source = _BOTOCORE + "ProductionVariantVolumeSizeInGB"
    failing = Example({**VolumeSizeNotAllowed.passing.change, f"{_VARIANT}/VolumeSizeInGB": 1024})
    passing = VolumeSizeNotAllowed.passing

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield sizes that the API does not take."""
        limit = limits()["volume_size"]
        for config, variant in variants(deployment):
            size = number(variant.volume_size)
            if size is not None and not limit.allows(size):
                message = f"VolumeSizeInGB is {size}, but must be {limit}"
                yield self.found(config, f"{variant.path}/VolumeSizeInGB", message)


class InstanceCountTooSmall(Rule):
    """LMI045."""

    id = "LMI045"
    title = "an endpoint starts with at least one instance"
    why = "CreateEndpointConfig refuses the value, also for endpoints that scale to zero later"
    fix = "set InitialInstanceCount to 1 or more"
    source = _BOTOCORE + "InitialTaskCount"
    failing = Example({f"{_VARIANT}/InitialInstanceCount": 0})
    passing = Example({f"{_VARIANT}/InitialInstanceCount": 2})

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield counts below one."""
        for config, variant in variants(deployment):
            count = number(variant.initial_instance_count)
            if count is not None and count < 1:
                message = f"InitialInstanceCount is {count}"
                yield self.found(config, f"{variant.path}/InitialInstanceCount", message)


class NoGpuInServerless(Rule):
    """LMI047."""

    id = "LMI047"
    title = "serverless endpoints have no accelerator"
    why = "the engine finds no device and stops at start"
    fix = "use InstanceType and InitialInstanceCount instead of ServerlessConfig"
    source = _BOTOCORE + "ProductionVariantServerlessConfig"
    failing = Example(
        {
            **ArchiveExpected.passing.change,
            f"{_VARIANT}/ServerlessConfig": {"MemorySizeInMB": 6144, "MaxConcurrency": 5},
            f"{_VARIANT}/InstanceType": REMOVED,
            f"{_VARIANT}/InitialInstanceCount": REMOVED,
            f"{_VARIANT}/InferenceAmiVersion": REMOVED,
        }
    )
    passing = Example()

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield LMI containers on serverless variants."""
        for run in running(deployment):
            if run.variant.serverless and release(deployment, run.container) is not None:
                message = "an LMI container runs on a serverless variant"
                yield self.found(run.config, f"{run.variant.path}/ServerlessConfig", message)


@cache
def _is_priced(region: str | None) -> bool:
    """Tell whether the price list covers a region, by its partition."""
    priced: set[str] = set().union(*(kind.regions for kind in instance_types().values()))
    partitions = {registries()[name].partition for name in priced if name in registries()}
    registry = registries().get(region or "")
    return region in priced or (registry is not None and registry.partition in partitions)
