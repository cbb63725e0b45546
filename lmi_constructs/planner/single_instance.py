"""The limit of one instance: an endpoint never spreads one copy of a model over several."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from lmi_constructs.facts import accelerators, instance_types
from lmi_constructs.findings import Finding
from lmi_constructs.planner.profile import GIB

if TYPE_CHECKING:
    from lmi_constructs.planner.architecture import Architecture


def fits_nowhere(architecture: Architecture, size: int | None) -> tuple[Finding, ...]:
    """Return that no instance type has the memory for the weights alone, if so.

    Args:
        architecture: The model.
        size: Size of its weights in bytes, `None` if it is not known.
    """
    name, memory_gib = _largest()
    if size is None or size <= memory_gib * GIB:
        return ()
    return (
        Finding(
            rule="LMI058",
            message=f"{architecture.name} fits on no single instance: its weights take"
            f" {size / GIB:.0f} GiB, and the largest, {name}, has {memory_gib:.0f} GiB",
            why="an endpoint runs each copy of a model on one instance; more instances are more"
            " copies, and nothing is spread over them",
            fix="use a quantized checkpoint or a distilled model, or serve it from several nodes with"
            " SageMaker HyperPod on EKS",
            where="instance_type",
            source="LMI guide 1.3;"
            " https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks.html",
        ),
    )


@cache
def _largest() -> tuple[str, float]:
    """Return the instance type with the most accelerator memory, as its maker states it, in GiB."""
    sizes = {
        name: accelerators()[instance.accelerator].memory_gib * instance.accelerator_count
        for name, instance in instance_types().items()
    }
    largest = max(sizes, key=lambda name: sizes[name])
    return largest, sizes[largest]
