"""SageMaker hosting instance types with accelerators."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from lmi_constructs.facts._data import load, table
from lmi_constructs.facts.accelerators import accelerators

_FILE: Final = "instances"


@dataclass(frozen=True, slots=True)
class InstanceType:
    """One hosting instance type.

    Attributes:
        name: SageMaker's name, such as `ml.g6.48xlarge`.
        accelerator: Name of the accelerator, such as `L4`.
        architecture: Accelerator architecture, such as `Ada`.
        accelerator_count: Number of accelerators.
        accelerator_memory_gib: Nominal memory of one accelerator in GiB.
        usable_accelerator_memory_gib: What the driver shows to the engine in GiB, if known.
        usable_memory_measured: Whether a public log shows that figure for this accelerator.
        compute_capability: CUDA compute capability such as `8.9`, `None` for Neuron devices.
        vcpu: Number of virtual CPUs.
        host_memory_gib: Host memory in GiB.
        local_storage_gb: Instance-store size in GB, `None` if the type has EBS storage only.
        volume_size_allowed: Whether `VolumeSizeInGB` may be given.
        default_host_driver: Major NVIDIA driver version when no host image is chosen, if known.
        regions: Regions with an on-demand hosting price; empty if there is none anywhere.
        source: Public sources of the row.
        as_of: ISO date of the research.
    """

    name: str
    accelerator: str
    architecture: str
    accelerator_count: int
    accelerator_memory_gib: float
    usable_accelerator_memory_gib: float | None
    usable_memory_measured: bool
    compute_capability: str | None
    vcpu: int | None
    host_memory_gib: float | None
    local_storage_gb: float | None
    volume_size_allowed: bool
    default_host_driver: int | None
    regions: frozenset[str]
    source: str
    as_of: str

    @property
    def family(self) -> str:
        """Family of the type, such as `g6`."""
        return self.name.split(".")[1]

    @property
    def accelerator_kind(self) -> str:
        """`gpu` or `neuron`."""
        return "neuron" if self.compute_capability is None else "gpu"


@cache
def instance_types() -> dict[str, InstanceType]:
    """Return the known accelerated hosting types by name."""
    rows = (_with_accelerator(row) for row in load(_FILE)["rows"])
    return table(InstanceType, _FILE, "name", rows)


def _with_accelerator(row: dict[str, Any]) -> dict[str, Any]:
    name = row.get("accelerator")
    accelerator = accelerators().get(name or "")
    if accelerator is None:
        raise ValueError(
            f"facts/data/{_FILE}.json: the row of {row.get('name')!r} has the accelerator {name!r},"
            " which has no row in accelerators.json"
        )
    return {
        **row,
        "architecture": accelerator.architecture,
        "accelerator_memory_gib": accelerator.memory_gib,
        "usable_accelerator_memory_gib": accelerator.usable_memory_gib,
        "usable_memory_measured": accelerator.measured,
        "compute_capability": accelerator.compute_capability,
    }
