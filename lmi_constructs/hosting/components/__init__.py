"""Several models on one fleet: the fleet, inference components, and adapters on them."""

from lmi_constructs.hosting.components.adapter import AdapterData, LmiAdapter
from lmi_constructs.hosting.components.component_base import ComponentBase
from lmi_constructs.hosting.components.fleet import LmiFleet
from lmi_constructs.hosting.components.inference_component import LmiInferenceComponent

__all__ = ["AdapterData", "ComponentBase", "LmiAdapter", "LmiFleet", "LmiInferenceComponent"]
