"""What fits: from a model's shape, an instance and the engine's settings to memory and requests."""

from lmi_constructs.planner.advice import advised_findings
from lmi_constructs.planner.architecture import (
    Architecture,
    Experts,
    LatentAttention,
    VisionTower,
    similar_models,
)
from lmi_constructs.planner.configuration import EngineConfiguration, is_planned
from lmi_constructs.planner.grading import Grade
from lmi_constructs.planner.plan import Plan, plan
from lmi_constructs.planner.quantization import Quantization
from lmi_constructs.planner.start_up import Span, StartUp
from lmi_constructs.planner.suggestions import Suggestion, suggest

__all__ = [
    "Architecture",
    "EngineConfiguration",
    "Experts",
    "Grade",
    "LatentAttention",
    "Plan",
    "Quantization",
    "Span",
    "StartUp",
    "Suggestion",
    "VisionTower",
    "advised_findings",
    "is_planned",
    "plan",
    "similar_models",
    "suggest",
]
