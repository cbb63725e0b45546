"""Accelerators by what the driver shows to the engine, not by the brochure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from lmi_constructs.facts._data import load


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One kind of accelerator.

    Attributes:
        name: Its name, such as `L4` or `A100 80GB`.
        aliases: Other names found in logs.
        usable_memory_gib: Memory in GiB that the driver shows, `None` if no log was seen.
        compute_capability: CUDA compute capability, if it has one.
        source: Public source of the row.
        as_of: ISO date of the research.
    """

    name: str
    aliases: tuple[str, ...]
    usable_memory_gib: float | None
    compute_capability: str | None
    source: str
    as_of: str


@cache
def accelerators() -> dict[str, Accelerator]:
    """Return the known accelerators by name and by each alias."""
    found: dict[str, Accelerator] = {}
    for row in load("accelerators")["rows"]:
        accelerator = Accelerator(**{**row, "aliases": tuple(row["aliases"])})
        found.update(dict.fromkeys((accelerator.name, *accelerator.aliases), accelerator))
    return found
