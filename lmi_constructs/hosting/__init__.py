"""The CDK constructs: model data, image, model, endpoint configuration, endpoint, scaling."""

from lmi_constructs.hosting.container_image import ContainerImage
from lmi_constructs.hosting.endpoint import LmiEndpoint
from lmi_constructs.hosting.endpoint_base import EndpointBase
from lmi_constructs.hosting.endpoint_config import LmiEndpointConfig
from lmi_constructs.hosting.endpoint_features import AsyncInference, DataCapture, EndpointMetrics
from lmi_constructs.hosting.model import LmiModel
from lmi_constructs.hosting.model_data import ModelData
from lmi_constructs.hosting.s3_location import S3Location
from lmi_constructs.hosting.variant import (
    CapacityReservation,
    CoreDump,
    InstancePool,
    LmiVariant,
    ManagedInstanceScaling,
    Routing,
)

__all__ = [
    "AsyncInference",
    "CapacityReservation",
    "ContainerImage",
    "CoreDump",
    "DataCapture",
    "EndpointBase",
    "EndpointMetrics",
    "InstancePool",
    "LmiEndpoint",
    "LmiEndpointConfig",
    "LmiModel",
    "LmiVariant",
    "ManagedInstanceScaling",
    "ModelData",
    "Routing",
    "S3Location",
]
