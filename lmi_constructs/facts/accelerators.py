"""Accelerators: the memory that the driver shows, and what they can compute with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from lmi_constructs.facts._data import table


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One kind of accelerator, on SageMaker or elsewhere.

    Attributes:
        name: Short name, such as `L4` or `A100-80`.
        architecture: Accelerator architecture, such as `Ada`.
        memory_gib: Nominal memory in GiB.
        usable_memory_gib: What the driver shows to the engine in GiB, `None` if it is not known.
        measured: Whether a public log shows that figure.
        compute_capability: CUDA compute capability such as `8.9`, `None` for Neuron devices.
        nvlink: Whether servers join these accelerators by NVLink.
        aliases: Other spellings of the name.
        source: Public source of the row.
        as_of: ISO date of the research.
    """

    name: str
    architecture: str
    memory_gib: float
    usable_memory_gib: float | None
    measured: bool
    compute_capability: str | None
    nvlink: bool = False
    aliases: tuple[str, ...] = ()
    source: str = ""
    as_of: str = ""

    @property
    def capability(self) -> tuple[int, int] | None:
        """Compute capability as numbers, `None` for Neuron devices."""
        if self.compute_capability is None:
            return None
        major, _, minor = self.compute_capability.partition(".")
        return int(major), int(minor or 0)


@cache
def accelerators() -> dict[str, Accelerator]:
    """Return the known accelerators by name."""
    return table(Accelerator, "accelerators", "name")


def find_accelerator(name: str) -> Accelerator | None:
    """Return an accelerator by its name or another spelling, whatever the case."""
    return _by_spelling().get(name.strip().casefold())


@cache
def _by_spelling() -> dict[str, Accelerator]:
    return {
        spelling.casefold(): accelerator
        for accelerator in accelerators().values()
        for spelling in (accelerator.name, *accelerator.aliases)
    }
