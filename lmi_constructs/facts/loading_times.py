"""How long weights took to arrive, as published."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from lmi_constructs.facts._data import load, row

Phase = Literal["download", "load"]


@dataclass(frozen=True, slots=True)
class LoadingTime:
    """One published measurement.

    Attributes:
        phase: `download` to the machine, or `load` from there into the accelerators.
        gib: Size of the weights in GiB.
        seconds: How long it took.
        what: What was measured.
        source: Public source of the row.
        as_of: ISO date of the research.
    """

    phase: Phase
    gib: float
    seconds: float
    what: str
    source: str
    as_of: str

    @property
    def gib_per_second(self) -> float:
        """GiB that arrived in a second."""
        return self.gib / self.seconds


@cache
def loading_times(phase: Phase) -> tuple[LoadingTime, ...]:
    """Return the measurements of a phase, the fastest first."""
    file = "loading_times"
    times = (row(LoadingTime, values, file) for values in load(file)["rows"])
    of_phase = (time for time in times if time.phase == phase)
    return tuple(sorted(of_phase, key=lambda time: time.gib_per_second, reverse=True))
