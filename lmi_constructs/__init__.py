"""Constructs for open-weight LLMs on SageMaker endpoints with the LMI container.

Importing this package loads neither the CDK nor pydantic: a name is imported when it is used, so
that the runtime client and the command line stay light.
"""

from typing import TYPE_CHECKING

from lmi_constructs._exports import lazy
from lmi_constructs._version import __version__

if TYPE_CHECKING:
    from lmi_constructs import presets
    from lmi_constructs.container import LmiContainer, LmiSettings
    from lmi_constructs.findings import Finding, LmiError
    from lmi_constructs.hosting import (
        AdapterData,
        AsyncInference,
        CapacityReservation,
        ContainerImage,
        CoreDump,
        DataCapture,
        EndpointMetrics,
        InstancePool,
        LmiAdapter,
        LmiEndpoint,
        LmiEndpointConfig,
        LmiFleet,
        LmiInferenceComponent,
        LmiModel,
        LmiVariant,
        ManagedInstanceScaling,
        ModelData,
        Rollout,
        Routing,
        S3Location,
    )

__all__ = [
    "AdapterData",
    "AsyncInference",
    "CapacityReservation",
    "ContainerImage",
    "CoreDump",
    "DataCapture",
    "EndpointMetrics",
    "Finding",
    "InstancePool",
    "LmiAdapter",
    "LmiContainer",
    "LmiEndpoint",
    "LmiEndpointConfig",
    "LmiError",
    "LmiFleet",
    "LmiInferenceComponent",
    "LmiModel",
    "LmiSettings",
    "LmiVariant",
    "ManagedInstanceScaling",
    "ModelData",
    "Rollout",
    "Routing",
    "S3Location",
    "__version__",
    "presets",
]

_ELSEWHERE = {
    "Finding": "lmi_constructs.findings",
    "LmiError": "lmi_constructs.findings",
    "LmiContainer": "lmi_constructs.container",
    "LmiSettings": "lmi_constructs.container",
    "presets": "lmi_constructs.presets",
}

__getattr__, __dir__ = lazy(
    __name__,
    {
        name: _ELSEWHERE.get(name, "lmi_constructs.hosting")
        for name in __all__
        if name != "__version__"
    },
)
