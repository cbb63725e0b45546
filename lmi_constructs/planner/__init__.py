"""What fits: weights, KV cache and concurrency of a model on an instance, before it is deployed."""

from lmi_constructs.planner.architecture import Architecture, Experts, LatentAttention
from lmi_constructs.planner.configuration import EngineConfiguration
from lmi_constructs.planner.plan import Grade, Place, Plan, plan
from lmi_constructs.planner.quantization import Quantization

__all__ = [
    "Architecture",
    "EngineConfiguration",
    "Experts",
    "Grade",
    "LatentAttention",
    "Place",
    "Plan",
    "Quantization",
    "plan",
]
