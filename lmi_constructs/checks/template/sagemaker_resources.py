"""Reading SageMaker's own resources out of evaluated properties."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lmi_constructs.checks.metadata import (
    ARCHITECTURE_METADATA,
    MODEL_METADATA,
    PROPERTIES_METADATA,
    RELEASE_METADATA,
)
from lmi_constructs.checks.resources import (
    Capacity,
    Component,
    ComponentSpecification,
    Container,
    Endpoint,
    EndpointConfig,
    InstancePool,
    Key,
    ManagedScaling,
    Model,
    S3DataSource,
    UpdatePolicy,
    Variant,
    Vpc,
)
from lmi_constructs.checks.values import (
    UNKNOWN,
    Flag,
    String,
    Unknown,
    as_flag,
    as_mapping,
    as_number,
    as_sequence,
    as_string,
    literal,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Context:
    """Where a resource stands."""

    template: str
    logical_id: str
    construct_path: str | None
    region: str | None
    refers_to: frozenset[Key]
    conditional: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)
    name_parameters: frozenset[str] = frozenset()

    def common(self, name: object) -> dict[str, Any]:
        """Return what all resources have."""
        return {
            "template": self.template,
            "logical_id": self.logical_id,
            "construct_path": self.construct_path,
            "region": self.region,
            "refers_to": self.refers_to,
            "conditional": self.conditional,
            "name": as_string(name),
            "name_parameters": self.name_parameters,
        }


def read_model(properties: Mapping[str, Any], context: Context) -> Model:
    """Read an `AWS::SageMaker::Model`."""
    containers = []
    if "PrimaryContainer" in properties:
        primary = read_container(properties["PrimaryContainer"], "PrimaryContainer")
        behaves_like = literal(context.metadata.get(RELEASE_METADATA))
        containers.append(replace(primary, behaves_like=behaves_like))
    for index, container in enumerate(as_sequence(properties.get("Containers"))):
        containers.append(read_container(container, f"Containers/{index}"))
    vpc = properties.get("VpcConfig")
    return Model(
        **context.common(properties.get("ModelName")),
        mounted_model=literal(context.metadata.get(MODEL_METADATA)),
        architecture=as_mapping(context.metadata.get(ARCHITECTURE_METADATA)) or None,
        serving_properties=_texts(context.metadata.get(PROPERTIES_METADATA)),
        role=as_string(properties.get("ExecutionRoleArn")),
        containers=tuple(containers),
        network_isolation=as_flag(properties.get("EnableNetworkIsolation")),
        vpc=_vpc(vpc),
    )


def read_container(value: object, path: str) -> Container:
    """Read a container definition."""
    container = as_mapping(value)
    environment = container.get("Environment")
    known: Mapping[str, String] | Unknown | None = _texts(environment)
    if known is None and environment is not None:
        known = UNKNOWN
    return Container(
        path=path,
        image=as_string(container.get("Image")),
        environment=known,
        model_data_url=as_string(container.get("ModelDataUrl", container.get("ArtifactUrl"))),
        s3_data_source=_s3_data_source(container.get("ModelDataSource"), path),
        mode=as_string(container.get("Mode")),
        model_package=as_string(container.get("ModelPackageName")),
    )


def _texts(value: object) -> Mapping[str, String] | None:
    """Return the texts of an object by name, `None` if it is none."""
    if not isinstance(value, dict):
        return None
    read = {name: as_string(item) for name, item in value.items()}
    return {name: item for name, item in read.items() if item is not None}


def read_endpoint_config(properties: Mapping[str, Any], context: Context) -> EndpointConfig:
    """Read an `AWS::SageMaker::EndpointConfig`."""
    asynchronous = properties.get("AsyncInferenceConfig")
    variants = properties.get("ProductionVariants")
    return EndpointConfig(
        **context.common(properties.get("EndpointConfigName")),
        variants=_variants(variants, "ProductionVariants"),
        variants_complete=isinstance(variants, list) and all(map(_is_mapping, variants)),
        shadow_variants=_variants(
            properties.get("ShadowProductionVariants"), "ShadowProductionVariants"
        ),
        role=as_string(properties.get("ExecutionRoleArn")),
        kms_key=as_string(properties.get("KmsKeyId")),
        asynchronous=_present(asynchronous),
        network_isolation=as_flag(properties.get("EnableNetworkIsolation")),
        vpc=_vpc(properties.get("VpcConfig")),
        output_paths=_output_paths(properties),
        enhanced_metrics=_enhanced(properties.get("MetricsConfig")),
    )


def _enhanced(metrics: object) -> Flag:
    """Return whether metrics are published by instance, container and accelerator."""
    if metrics is None or isinstance(metrics, dict):
        enhanced = as_flag(as_mapping(metrics).get("EnableEnhancedMetrics"))
        return False if enhanced is None else enhanced
    return UNKNOWN


def read_endpoint(properties: Mapping[str, Any], context: Context) -> Endpoint:
    """Read an `AWS::SageMaker::Endpoint`."""
    return Endpoint(
        **context.common(properties.get("EndpointName")),
        config=as_string(properties.get("EndpointConfigName")),
        update_policy=_update_policy(properties.get("DeploymentConfig")),
        retains_variant_properties=as_flag(properties.get("RetainAllVariantProperties")),
    )


def read_component(properties: Mapping[str, Any], context: Context) -> Component:
    """Read an `AWS::SageMaker::InferenceComponent`."""
    specifications = []
    if "Specification" in properties:
        specifications.append(_specification(properties["Specification"], "Specification"))
    for index, one in enumerate(as_sequence(properties.get("Specifications"))):
        specifications.append(_specification(one, f"Specifications/{index}"))
    runtime = as_mapping(properties.get("RuntimeConfig"))
    return Component(
        **context.common(properties.get("InferenceComponentName")),
        endpoint=as_string(properties.get("EndpointName", properties.get("EndpointArn"))),
        endpoint_by_arn="EndpointName" not in properties,
        variant=as_string(properties.get("VariantName")),
        specifications=tuple(specifications),
        copies=as_number(runtime.get("CopyCount")),
    )


def _specification(value: object, path: str) -> ComponentSpecification:
    one = as_mapping(value)
    needs = as_mapping(one.get("ComputeResourceRequirements"))
    startup = as_mapping(one.get("StartupParameters"))
    container = one.get("Container")
    return ComponentSpecification(
        path=path,
        model=as_string(one.get("ModelName")),
        container=read_container(container, f"{path}/Container") if container else None,
        instance_type=as_string(one.get("InstanceType")),
        base_component=as_string(one.get("BaseInferenceComponentName")),
        accelerators=as_number(needs.get("NumberOfAcceleratorDevicesRequired")),
        cpus=as_number(needs.get("NumberOfCpuCoresRequired")),
        memory_mib=as_number(needs.get("MinMemoryRequiredInMb")),
        download_timeout=as_number(startup.get("ModelDataDownloadTimeoutInSeconds")),
        health_check_timeout=as_number(startup.get("ContainerStartupHealthCheckTimeoutInSeconds")),
    )


def _variants(value: object, path: str) -> tuple[Variant, ...]:
    return tuple(
        _variant(one, f"{path}/{index}")
        for index, one in enumerate(as_sequence(value))
        if isinstance(one, dict)
    )


def _variant(variant: Mapping[str, Any], path: str) -> Variant:
    pools = enumerate(as_sequence(variant.get("InstancePools")))
    return Variant(
        path=path,
        name=as_string(variant.get("VariantName")),
        model=as_string(variant.get("ModelName")),
        instance_type=as_string(variant.get("InstanceType")),
        instance_pools=tuple(
            _pool(as_mapping(pool), f"{path}/InstancePools/{index}") for index, pool in pools
        ),
        initial_instance_count=as_number(variant.get("InitialInstanceCount")),
        volume_size=as_number(variant.get("VolumeSizeInGB")),
        download_timeout=as_number(variant.get("ModelDataDownloadTimeoutInSeconds")),
        health_check_timeout=as_number(variant.get("ContainerStartupHealthCheckTimeoutInSeconds")),
        provision_timeout=as_number(variant.get("VariantInstanceProvisionTimeoutInSeconds")),
        host_image=as_string(variant.get("InferenceAmiVersion")),
        managed_scaling=_managed_scaling(variant.get("ManagedInstanceScaling")),
        serverless=variant.get("ServerlessConfig") is not None,
        reserved=variant.get("CapacityReservationConfig") is not None,
    )


def _pool(pool: Mapping[str, Any], path: str) -> InstancePool:
    return InstancePool(
        path=f"{path}/InstanceType",
        instance_type=as_string(pool.get("InstanceType")),
        model=as_string(pool.get("ModelNameOverride")),
    )


def _managed_scaling(value: object) -> ManagedScaling | Unknown | None:
    if not isinstance(value, dict):
        return None if value is None else UNKNOWN
    return ManagedScaling(
        status=as_string(value.get("Status")),
        minimum=as_number(value.get("MinInstanceCount")),
        maximum=as_number(value.get("MaxInstanceCount")),
    )


def _s3_data_source(value: object, path: str) -> S3DataSource | Unknown | None:
    if value is None:
        return None
    source = as_mapping(value).get("S3DataSource")
    if not isinstance(source, dict):
        return UNKNOWN
    return S3DataSource(
        path=f"{path}/ModelDataSource/S3DataSource",
        uri=as_string(source.get("S3Uri")),
        data_type=as_string(source.get("S3DataType")),
        compression=as_string(source.get("CompressionType")),
    )


def _vpc(value: object) -> Vpc | Unknown | None:
    if not isinstance(value, dict):
        return None if value is None else UNKNOWN
    groups, subnets = value.get("SecurityGroupIds"), value.get("Subnets")
    return Vpc(
        security_groups=_count(groups),
        subnets=_count(subnets),
        subnet_ids=tuple(map(as_string, subnets)) if isinstance(subnets, list) else (),
    )


def _count(value: object) -> int | None:
    """Count a list; an element may itself be a parameter that holds a list."""
    if not isinstance(value, list) or any(not isinstance(one, str) for one in value):
        return len(value) if isinstance(value, list) and len(value) > 16 else None
    return len(value)


def _output_paths(properties: Mapping[str, Any]) -> tuple[tuple[str, String], ...]:
    output = as_mapping(as_mapping(properties.get("AsyncInferenceConfig")).get("OutputConfig"))
    capture = as_mapping(properties.get("DataCaptureConfig"))
    rows = (
        ("AsyncInferenceConfig/OutputConfig/S3OutputPath", output.get("S3OutputPath")),
        ("AsyncInferenceConfig/OutputConfig/S3FailurePath", output.get("S3FailurePath")),
        ("DataCaptureConfig/DestinationS3Uri", capture.get("DestinationS3Uri")),
    )
    read = ((path, as_string(value)) for path, value in rows)
    return tuple((path, value) for path, value in read if value is not None)


def _update_policy(value: object) -> UpdatePolicy | Unknown | None:
    if not isinstance(value, dict):
        return None if value is None else UNKNOWN
    blue_green, rolling = value.get("BlueGreenUpdatePolicy"), value.get("RollingUpdatePolicy")
    rollback = as_mapping(value.get("AutoRollbackConfiguration"))
    colors, roll = as_mapping(blue_green), as_mapping(rolling)
    routing = as_mapping(colors.get("TrafficRoutingConfiguration"))
    base = "DeploymentConfig/BlueGreenUpdatePolicy/TrafficRoutingConfiguration"
    chosen = colors or roll
    alarms = (as_mapping(one).get("AlarmName") for one in as_sequence(rollback.get("Alarms")))
    return UpdatePolicy(
        blue_green=blue_green is not None,
        rolling=rolling is not None,
        routing=as_string(routing.get("Type")),
        canary=_capacity(routing.get("CanarySize"), f"{base}/CanarySize"),
        linear=_capacity(routing.get("LinearStepSize"), f"{base}/LinearStepSize"),
        batch=_capacity(
            roll.get("MaximumBatchSize"), "DeploymentConfig/RollingUpdatePolicy/MaximumBatchSize"
        ),
        wait_seconds=as_number(
            routing.get("WaitIntervalInSeconds", roll.get("WaitIntervalInSeconds"))
        ),
        termination_wait_seconds=as_number(colors.get("TerminationWaitInSeconds")),
        longest_seconds=as_number(chosen.get("MaximumExecutionTimeoutInSeconds")),
        alarms=tuple(name for name in map(as_string, alarms) if name is not None),
    )


def _capacity(value: object, path: str) -> Capacity | None:
    if not isinstance(value, dict):
        return None if value is None else Capacity(path=path, kind=UNKNOWN, value=UNKNOWN)
    return Capacity(
        path=path, kind=as_string(value.get("Type")), value=as_number(value.get("Value"))
    )


def _present(value: object) -> bool | Unknown:
    return isinstance(value, dict) if value is None or isinstance(value, dict) else UNKNOWN


def _is_mapping(value: object) -> bool:
    return isinstance(value, dict)
