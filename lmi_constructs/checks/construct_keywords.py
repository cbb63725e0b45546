"""The keyword of our constructs that a CloudFormation property comes from."""

from __future__ import annotations

from typing import Final

_KEYWORDS: Final = {
    "ContainerStartupHealthCheckTimeoutInSeconds": "startup_timeout",
    "ModelDataDownloadTimeoutInSeconds": "download_timeout",
    "VariantInstanceProvisionTimeoutInSeconds": "instance_provision_timeout",
    "InferenceAmiVersion": "host_image",
    "VolumeSizeInGB": "volume_size",
    "InstancePools": "instance_pools",
    "InstanceType": "instance_type",
    "InitialInstanceCount": "initial_instance_count",
    "VariantName": "variant_name",
    "ManagedInstanceScaling": "managed_instance_scaling",
    "RoutingConfig": "routing",
    "CapacityReservationConfig": "capacity_reservation",
    "Environment": "settings",
    "ModelDataSource": "model_data",
    "ModelDataUrl": "model_data",
    "Image": "container",
    "EnableNetworkIsolation": "network_isolation",
    "ExecutionRoleArn": "role",
    "Policies": "role",
    "ManagedPolicyArns": "role",
    "VpcConfig": "vpc",
    "KmsKeyId": "encryption_key",
    "DataCaptureConfig": "data_capture",
    "CoreDumpConfig": "core_dump",
    "AsyncInferenceConfig": "async_inference",
    "MetricsConfig": "metrics",
    "EndpointName": "endpoint_name",
    "DeploymentConfig": "deployment",
    "NumberOfAcceleratorDevicesRequired": "accelerator_count",
    "NumberOfCpuCoresRequired": "cpu_count",
    "MinMemoryRequiredInMb": "min_memory",
    "MaxMemoryRequiredInMb": "max_memory",
    "CopyCount": "initial_copy_count",
    "InferenceComponentName": "component_name",
    "BaseInferenceComponentName": "base",
    "ArtifactUrl": "data",
    "MinCapacity": "min_capacity",
    "MaxCapacity": "max_capacity",
    "ScaleOutCooldown": "scale_out_cooldown",
}


def keyword_of(path: str | None) -> str | None:
    """Return the keyword that the value at a path of a template was given by.

    Args:
        path: Path inside a resource's properties, parts joined by `/`.
    """
    parts = reversed((path or "").split("/"))
    return next((_KEYWORDS[part] for part in parts if part in _KEYWORDS), None)
