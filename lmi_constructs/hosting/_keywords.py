"""Keywords of the constructs: what kind of value each takes, and how to write one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import aws_cdk as cdk
from aws_cdk import aws_sagemaker as sagemaker

from lmi_constructs.container import LmiContainer, LmiSettings
from lmi_constructs.hosting._cdk_tokens import is_resolvable
from lmi_constructs.hosting._kinds import (
    CHOICE,
    COUNT,
    DURATION,
    ENCRYPTION_KEY,
    NUMBER,
    TOPIC,
    Kind,
    check_kinds,
    needed,
    text,
    wrong,
)
from lmi_constructs.hosting.container_image import RELEASE, ContainerImage
from lmi_constructs.hosting.endpoint_features import AsyncInference, DataCapture, EndpointMetrics
from lmi_constructs.hosting.model_data import ModelData
from lmi_constructs.hosting.rollout import Rollout
from lmi_constructs.hosting.s3_location import S3Location
from lmi_constructs.hosting.variant import (
    CapacityReservation,
    CoreDump,
    InstancePool,
    LmiVariant,
    ManagedInstanceScaling,
    Routing,
)

if TYPE_CHECKING:
    from lmi_constructs.findings import Finding

_NO_KEYWORDS: Final = frozenset({"self", "scope", "id", "__class__"})
_VARIANTS: Final = Kind(
    "give a list: [LmiVariant(model=..., instance_type=...)]",
    (LmiVariant,),
    many=True,
    required=True,
)
_ROLE: Final = Kind(
    "give a role: iam.Role(...), or iam.Role.from_role_arn(stack, id, arn)", has="role_arn"
)
_ENDPOINT: Final = Kind(
    "give an endpoint: LmiFleet(...), or LmiEndpoint.from_endpoint_name(stack, id, name)",
    has="openai_base_url",
    required=True,
)
KINDS: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        "model_data": Kind(
            "use ModelData.s3_prefix(bucket, prefix), ModelData.hub(model_id) or"
            " ModelData.from_asset(folder)",
            (ModelData,),
        ),
        "container": Kind(
            'use LmiContainer.V27, LmiContainer.of("v27") or ContainerImage.from_uri(uri)',
            (LmiContainer, ContainerImage),
        ),
        "settings": Kind("use LmiSettings(max_model_len=8192, ...)", (LmiSettings,)),
        "environment": Kind('give a dictionary of texts, such as {"NAME": "1"}', (Mapping,)),
        "instance_type": text("ml.g6.48xlarge"),
        "initial_instance_count": needed(COUNT),
        "variant_name": needed(text("AllTraffic")),
        "weight": needed(NUMBER),
        "endpoint_name": text("chat"),
        "host_image": text("al2023-ami-sagemaker-inference-gpu-4-1"),
        "startup_timeout": DURATION,
        "download_timeout": DURATION,
        "instance_provision_timeout": DURATION,
        "volume_size": Kind("give a size: cdk.Size.gibibytes(500)", (cdk.Size,)),
        "routing": Kind("use Routing.least_outstanding_requests() or another", (Routing,)),
        "managed_instance_scaling": Kind(
            "use ManagedInstanceScaling(min_instance_count=..., max_instance_count=...)",
            (ManagedInstanceScaling,),
        ),
        "capacity_reservation": Kind("use CapacityReservation(arn)", (CapacityReservation,)),
        "instance_pools": Kind(
            'give a list: [InstancePool("ml.g6.48xlarge", priority=1), ...]',
            (InstancePool,),
            many=True,
            required=True,
        ),
        "variants": _VARIANTS,
        "shadow_variants": _VARIANTS,
        "core_dump": Kind("use CoreDump(bucket, prefix)", (CoreDump,)),
        "enable_ssm_access": CHOICE,
        "network_isolation": CHOICE,
        "retain_deployment": CHOICE,
        "role": _ROLE,
        "execution_role": _ROLE,
        "vpc": Kind(
            "give a VPC: ec2.Vpc(...), or ec2.Vpc.from_lookup(stack, id, vpc_id=...)", has="vpc_id"
        ),
        "vpc_subnets": Kind("use ec2.SubnetSelection(...)", has="subnet_type"),
        "security_groups": Kind(
            "give a list of groups: ec2.SecurityGroup(...), or"
            " ec2.SecurityGroup.from_security_group_id(stack, id, group_id)",
            has="security_group_id",
            many=True,
        ),
        "encryption_key": ENCRYPTION_KEY,
        "topic": TOPIC,
        "paging_topic": TOPIC,
        "min_capacity": needed(COUNT),
        "max_capacity": needed(COUNT),
        "target": NUMBER,
        "target_invocations_per_minute": needed(NUMBER),
        "target_per_instance": needed(NUMBER),
        "disable_scale_in": CHOICE,
        "metric": Kind(
            "give a metric: endpoint.metric(...), or cloudwatch.Metric(...)",
            has="metric_name",
            required=True,
        ),
        "scaling_steps": Kind(
            "give a list: [autoscaling.ScalingInterval(upper=4, change=-1), ...]",
            has="change",
            many=True,
            required=True,
        ),
        "adjustment_type": Kind(
            "use autoscaling.AdjustmentType.CHANGE_IN_CAPACITY or another",
            has="CHANGE_IN_CAPACITY",
            required=True,
        ),
        "evaluation_periods": needed(COUNT),
        "schedule": Kind(
            'use autoscaling.Schedule.cron(hour="7", minute="30")',
            has="expression_string",
            required=True,
        ),
        "time_zone": text("Asia/Seoul"),
        "id": needed(text("Morning")),
        "name": needed(text("ModelLatency")),
        "period": DURATION,
        "statistic": text("Maximum"),
        "grantee": Kind("give a role, a user or a function", has="grant_principal", required=True),
        "scale_in_cooldown": DURATION,
        "scale_out_cooldown": DURATION,
        "wake_up_cooldown": DURATION,
        "cooldown": DURATION,
        "p99_latency": DURATION,
        "p99_first_chunk_latency": DURATION,
        "p99_overhead_latency": DURATION,
        "error_rate": NUMBER,
        "client_error_rate": NUMBER,
        "concurrent_requests": Kind('give a number, "engine" or None', (int, float)),
        "disk_utilization": NUMBER,
        "memory_utilization": NUMBER,
        "gpu_memory_utilization": NUMBER,
        "timeout": DURATION,
        "alarms": Kind(
            "give what endpoint.add_alarms(...) returned, or a list of alarms",
            has="alarm_arn",
            many=True,
            required=True,
        ),
        "adapters": Kind('give a list of names: ["legal"]', (str,), many=True, required=True),
        "skip": Kind('give a list of checks: ["chat"]', (str,), many=True, required=True),
        "max_tokens": needed(COUNT),
        "data_capture": Kind("use DataCapture(bucket=..., prefix=...)", (DataCapture,)),
        "async_inference": Kind(
            "use AsyncInference(bucket=..., output_prefix=...)", (AsyncInference,)
        ),
        "metrics": Kind("use EndpointMetrics(...)", (EndpointMetrics,)),
        "endpoint_config": Kind("use LmiEndpointConfig(...)", has="grant_watching_alarms"),
        "deployment": Kind(
            "use Rollout.canary(...) and its like, or CfnEndpoint.DeploymentConfigProperty(...)",
            (Rollout, sagemaker.CfnEndpoint.DeploymentConfigProperty),
            resolvable=True,
        ),
        "rollout": Kind(
            "use Rollout.rolling(percent=..., bake_time=...)", (Rollout,), required=True
        ),
        "fleet": _ENDPOINT,
        "endpoint": _ENDPOINT,
        "base": Kind(
            "give the component of the base model: LmiInferenceComponent(...), or"
            " LmiInferenceComponent.from_component_name(stack, id, name, fleet=...)",
            has="add_adapter",
            required=True,
        ),
        "component": Kind(
            "give a component: LmiInferenceComponent(...), or what add_adapter(...) returned",
            has="metric_no_capacity_invocation_failures",
        ),
        "components": Kind(
            "give a list of components of the fleet: [chat, code]",
            has="metric_no_capacity_invocation_failures",
            many=True,
            required=True,
        ),
        "component_name": text("chat"),
        "inference_component_name": text("chat"),
        "cache_on_instances": CHOICE,
        "adapter_location": Kind("use S3Location(bucket, prefix)", (S3Location,)),
        "model": Kind("use LmiModel(...)", has="image_uri"),
        "min_memory": Kind("give a size: cdk.Size.gibibytes(16)", (cdk.Size,), required=True),
        "max_memory": Kind("give a size: cdk.Size.gibibytes(32)", (cdk.Size,)),
        "accelerator_count": COUNT,
        "cpu_count": NUMBER,
        "initial_copy_count": needed(COUNT),
        "data": Kind("use AdapterData.s3_archive(bucket, key)", has="archive", required=True),
    }
)


KINDS_OF_FLEETS: Final = MappingProxyType({**KINDS, "container": RELEASE})
"""A fleet has no image: of its containers only the release matters, which decides the host image."""


def keywords_of(constructor: Mapping[str, object]) -> dict[str, object]:
    """Return the keywords that a constructor was called with.

    Args:
        constructor: Its `locals()`, before it has variables of its own.
    """
    return {name: value for name, value in constructor.items() if name not in _NO_KEYWORDS}


def check_keywords(
    values: Mapping[str, object], *, required: str = "", kinds: Mapping[str, Kind] = KINDS
) -> list[Finding]:
    """Return what is wrong with the kinds of keywords, before anything is done with them.

    Args:
        values: Values by keyword.
        required: A keyword that must be given here, though not everywhere.
        kinds: What each keyword takes.
    """
    findings = check_kinds(values, kinds)
    if required and values.get(required) is None and KINDS[required].takes(None):
        findings.append(wrong(required, f"{required} is None", KINDS[required].fix))
    environment = values.get("environment")
    if isinstance(environment, Mapping):
        findings += [
            wrong("environment", f"{name} is {value!r}, which is not text", "write it as text")
            for name, value in environment.items()
            if not isinstance(value, str) and not is_resolvable(value)
        ]
    return findings
