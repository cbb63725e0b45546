"""Keywords of the constructs: what kind of value each takes, and how to write one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import aws_cdk as cdk
from aws_cdk import aws_sagemaker as sagemaker

from lmi_constructs.container import LmiContainer, LmiSettings
from lmi_constructs.findings import Finding
from lmi_constructs.hosting._tokens import is_token
from lmi_constructs.hosting.container_image import ContainerImage
from lmi_constructs.hosting.endpoint_features import AsyncInference, DataCapture, EndpointMetrics
from lmi_constructs.hosting.model_data import ModelData
from lmi_constructs.hosting.rollout import Rollout
from lmi_constructs.hosting.variant import (
    CapacityReservation,
    CoreDump,
    InstancePool,
    ManagedInstanceScaling,
    Routing,
)

_PLAIN: Final = (str, bytes, bool, int, float, Mapping, Sequence)


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a keyword takes.

    Attributes:
        fix: How to write a value.
        types: The classes of a value; none for an object of the CDK, whose interfaces cannot be
            asked for.
        many: Whether it takes a sequence of such values.
        required: Whether `None` is no value.
    """

    fix: str
    types: tuple[type, ...] = ()
    many: bool = False
    required: bool = False

    def takes(self, value: object) -> bool:
        """Return whether a value is of this kind; one that is unknown at synth may be."""
        if value is None:
            return not self.required
        if self.many:
            listed = isinstance(value, Sequence) and not isinstance(value, (str, bytes))
            return listed and all(self._takes_one(item) for item in value)  # type: ignore[attr-defined]
        return self._takes_one(value)

    def _takes_one(self, value: object) -> bool:
        if not self.types:
            return not isinstance(value, _PLAIN)
        if isinstance(value, bool):
            return bool in self.types
        return isinstance(value, self.types) or (is_token(value) and not isinstance(value, str))


_TEXT = 'give text, such as "{}"'
_DURATION = _Kind("give a duration: cdk.Duration.seconds(1800)", (cdk.Duration,))
_COUNT = _Kind("give a whole number", (int,), required=True)
_NUMBER = _Kind("give a number", (int, float))
_CHOICE = _Kind("give True or False", (bool,))

_KINDS: Final[Mapping[str, _Kind]] = MappingProxyType(
    {
        "model_data": _Kind(
            "use ModelData.s3_prefix(bucket, prefix), ModelData.hub(model_id) or"
            " ModelData.from_asset(folder)",
            (ModelData,),
        ),
        "container": _Kind(
            'use LmiContainer.V27, LmiContainer.of("v27") or ContainerImage.from_uri(uri)',
            (LmiContainer, ContainerImage),
        ),
        "settings": _Kind("use LmiSettings(max_model_len=8192, ...)", (LmiSettings,)),
        "environment": _Kind('give a dictionary of texts, such as {"NAME": "1"}', (Mapping,)),
        "instance_type": _Kind(_TEXT.format("ml.g6.48xlarge"), (str,)),
        "initial_instance_count": _COUNT,
        "variant_name": _Kind(_TEXT.format("AllTraffic"), (str,), required=True),
        "weight": _NUMBER,
        "endpoint_name": _Kind(_TEXT.format("chat"), (str,)),
        "host_image": _Kind(_TEXT.format("al2023-ami-sagemaker-inference-gpu-4-1"), (str,)),
        "startup_timeout": _DURATION,
        "download_timeout": _DURATION,
        "instance_provision_timeout": _DURATION,
        "volume_size": _Kind("give a size: cdk.Size.gibibytes(500)", (cdk.Size,)),
        "routing": _Kind("use Routing.least_outstanding_requests() or another", (Routing,)),
        "managed_instance_scaling": _Kind(
            "use ManagedInstanceScaling(min_instance_count=..., max_instance_count=...)",
            (ManagedInstanceScaling,),
        ),
        "capacity_reservation": _Kind("use CapacityReservation(arn)", (CapacityReservation,)),
        "instance_pools": _Kind(
            'give a list: [InstancePool("ml.g6.48xlarge", priority=1), ...]',
            (InstancePool,),
            many=True,
            required=True,
        ),
        "core_dump": _Kind("use CoreDump(bucket, prefix)", (CoreDump,)),
        "enable_ssm_access": _CHOICE,
        "network_isolation": _CHOICE,
        "retain_deployment": _CHOICE,
        "role": _Kind("give a role: iam.Role(...), or iam.Role.from_role_arn(stack, id, arn)"),
        "vpc": _Kind("give a VPC: ec2.Vpc(...), or ec2.Vpc.from_lookup(stack, id, vpc_id=...)"),
        "vpc_subnets": _Kind("use ec2.SubnetSelection(...)"),
        "security_groups": _Kind(
            "give a list of groups: ec2.SecurityGroup(...), or"
            " ec2.SecurityGroup.from_security_group_id(stack, id, group_id)",
            many=True,
        ),
        "encryption_key": _Kind(
            "give a key: kms.Key(...), or kms.Key.from_key_arn(stack, id, arn)"
        ),
        "topic": _Kind("give a topic: sns.Topic(...), or sns.Topic.from_topic_arn(stack, id, arn)"),
        "paging_topic": _Kind(
            "give a topic: sns.Topic(...), or sns.Topic.from_topic_arn(stack, id, arn)"
        ),
        "min_capacity": _COUNT,
        "max_capacity": _COUNT,
        "target": _NUMBER,
        "scale_in_cooldown": _DURATION,
        "scale_out_cooldown": _DURATION,
        "wake_up_cooldown": _DURATION,
        "cooldown": _DURATION,
        "p99_latency": _DURATION,
        "p99_first_chunk_latency": _DURATION,
        "p99_overhead_latency": _DURATION,
        "error_rate": _NUMBER,
        "client_error_rate": _NUMBER,
        "concurrent_requests": _Kind('give a number, "engine" or None', (int, float)),
        "disk_utilization": _NUMBER,
        "memory_utilization": _NUMBER,
        "gpu_memory_utilization": _NUMBER,
        "timeout": _DURATION,
        "data_capture": _Kind("use DataCapture(bucket, prefix)", (DataCapture,)),
        "async_inference": _Kind("use AsyncInference(bucket, output_prefix)", (AsyncInference,)),
        "metrics": _Kind("use EndpointMetrics(...)", (EndpointMetrics,)),
        "endpoint_config": _Kind("use LmiEndpointConfig(...)"),
        "deployment": _Kind(
            "use Rollout.canary(...) and its like, or CfnEndpoint.DeploymentConfigProperty(...)",
            (Rollout, sagemaker.CfnEndpoint.DeploymentConfigProperty),
        ),
        "model": _Kind("use LmiModel(...)"),
        "min_memory": _Kind("give a size: cdk.Size.gibibytes(16)", (cdk.Size,), required=True),
        "max_memory": _Kind("give a size: cdk.Size.gibibytes(32)", (cdk.Size,)),
        "accelerator_count": _Kind("give a whole number", (int,)),
        "cpu_count": _NUMBER,
        "initial_copy_count": _COUNT,
        "adapter_data": _Kind(
            "use AdapterData.s3_archive(bucket, key)",
            required=True,
        ),
    }
)


def check_keywords(values: Mapping[str, object], *, required: str = "") -> list[Finding]:
    """Return what is wrong with the kinds of keywords, before anything is done with them.

    Args:
        values: Values by keyword.
        required: A keyword that must be given here, though not everywhere.
    """
    findings = [
        _wrong(name, f"{name} is {value!r}", kind.fix)
        for name, value in values.items()
        if (kind := _KINDS.get(name)) is not None
        and (not kind.takes(value) or (value is None and name == required))
    ]
    environment = values.get("environment")
    if isinstance(environment, Mapping):
        findings += [
            _wrong("environment", f"{name} is {value!r}, which is not text", "write it as text")
            for name, value in environment.items()
            if not isinstance(value, str) and not hasattr(value, "resolve")
        ]
    return findings


def _wrong(name: str, message: str, fix: str) -> Finding:
    return Finding(
        rule="LMI010",
        message=message,
        why="the construct can make nothing of a value of another kind",
        fix=fix,
        where=name,
    )
