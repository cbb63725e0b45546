"""How long weights take to arrive: a range, as published measurements differ a hundredfold."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from lmi_constructs.facts.loading_times import loading_times
from lmi_constructs.planner.profile import GIB

if TYPE_CHECKING:
    from lmi_constructs.facts.loading_times import Phase


@dataclass(frozen=True, slots=True)
class Span:
    """A time between that of the fastest and that of the slowest published measurement.

    Attributes:
        shortest: Seconds at the rate of the fastest.
        longest: Seconds at the rate of the slowest; what is slower still is not excluded.
    """

    shortest: float
    longest: float

    def __add__(self, other: Span) -> Span:
        """Return the time of one after the other."""
        return Span(self.shortest + other.shortest, self.longest + other.longest)

    def __str__(self) -> str:
        """Return the time as a person reads it, never shorter than it is."""
        return f"{_words(self.shortest)} to {_words(self.longest)}"


@dataclass(frozen=True, slots=True)
class StartUp:
    """What is known of the time until a model is loaded.

    What the engine does afterward (compiling, capturing CUDA graphs) is not in it.

    Attributes:
        download: From S3 to the instance. SageMaker's download time-out bounds it where the model
            is mounted; where the container downloads by itself, the health check's does.
        load: From there into the accelerators; the health check's time-out bounds it.
    """

    download: Span
    load: Span


def start_up_of(size: int) -> StartUp:
    """Return how long weights of this many bytes take."""
    return StartUp(_span("download", size), _span("load", size))


def _span(phase: Phase, size: int) -> Span:
    rates = [time.gib_per_second for time in loading_times(phase)]
    return Span(size / GIB / max(rates), size / GIB / min(rates))


def _words(seconds: float) -> str:
    return f"{ceil(seconds)} s" if seconds < 120 else f"{ceil(seconds / 60)} min"
