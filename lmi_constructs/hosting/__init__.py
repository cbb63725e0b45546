"""The CDK constructs: model data, image, model, endpoint configuration, endpoint, scaling."""

from typing import TYPE_CHECKING

from lmi_constructs._exports import lazy

if TYPE_CHECKING:
    from lmi_constructs.hosting.components import (
        AdapterData,
        LmiAdapter,
        LmiFleet,
        LmiInferenceComponent,
    )
    from lmi_constructs.hosting.container_image import ContainerImage
    from lmi_constructs.hosting.endpoint import LmiEndpoint
    from lmi_constructs.hosting.endpoint_base import EndpointBase
    from lmi_constructs.hosting.endpoint_config import LmiEndpointConfig
    from lmi_constructs.hosting.endpoint_features import (
        AsyncInference,
        DataCapture,
        EndpointMetrics,
    )
    from lmi_constructs.hosting.model import LmiModel
    from lmi_constructs.hosting.model_data import ModelData
    from lmi_constructs.hosting.rollout import Rollout
    from lmi_constructs.hosting.s3_location import S3Location
    from lmi_constructs.hosting.scaling import ScalableCopyCount, ScalableInstanceCount
    from lmi_constructs.hosting.smoke_test import LmiSmokeTest
    from lmi_constructs.hosting.variant import (
        CapacityReservation,
        CoreDump,
        InstancePool,
        LmiVariant,
        ManagedInstanceScaling,
        Routing,
    )

__all__ = [
    "AdapterData",
    "AsyncInference",
    "CapacityReservation",
    "ContainerImage",
    "CoreDump",
    "DataCapture",
    "EndpointBase",
    "EndpointMetrics",
    "InstancePool",
    "LmiAdapter",
    "LmiEndpoint",
    "LmiEndpointConfig",
    "LmiFleet",
    "LmiInferenceComponent",
    "LmiModel",
    "LmiSmokeTest",
    "LmiVariant",
    "ManagedInstanceScaling",
    "ModelData",
    "Rollout",
    "Routing",
    "S3Location",
    "ScalableCopyCount",
    "ScalableInstanceCount",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "AdapterData": "lmi_constructs.hosting.components",
        "AsyncInference": "lmi_constructs.hosting.endpoint_features",
        "CapacityReservation": "lmi_constructs.hosting.variant",
        "ContainerImage": "lmi_constructs.hosting.container_image",
        "CoreDump": "lmi_constructs.hosting.variant",
        "DataCapture": "lmi_constructs.hosting.endpoint_features",
        "EndpointBase": "lmi_constructs.hosting.endpoint_base",
        "EndpointMetrics": "lmi_constructs.hosting.endpoint_features",
        "InstancePool": "lmi_constructs.hosting.variant",
        "LmiAdapter": "lmi_constructs.hosting.components",
        "LmiEndpoint": "lmi_constructs.hosting.endpoint",
        "LmiEndpointConfig": "lmi_constructs.hosting.endpoint_config",
        "LmiFleet": "lmi_constructs.hosting.components",
        "LmiInferenceComponent": "lmi_constructs.hosting.components",
        "LmiModel": "lmi_constructs.hosting.model",
        "LmiSmokeTest": "lmi_constructs.hosting.smoke_test",
        "LmiVariant": "lmi_constructs.hosting.variant",
        "ManagedInstanceScaling": "lmi_constructs.hosting.variant",
        "ModelData": "lmi_constructs.hosting.model_data",
        "Rollout": "lmi_constructs.hosting.rollout",
        "Routing": "lmi_constructs.hosting.variant",
        "S3Location": "lmi_constructs.hosting.s3_location",
        "ScalableCopyCount": "lmi_constructs.hosting.scaling",
        "ScalableInstanceCount": "lmi_constructs.hosting.scaling",
    },
)
