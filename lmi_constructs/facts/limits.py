"""Bounds of the SageMaker hosting API."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from lmi_constructs.facts._data import load, table


@dataclass(frozen=True, slots=True)
class Limit:
    """One bound of a value.

    Attributes:
        name: What is bounded.
        minimum: Smallest value, `None` if there is no bound.
        maximum: Largest value, `None` if there is no bound.
        unit: Unit of the value.
        source: Public source of the row.
        as_of: ISO date of the research.
    """

    name: str
    minimum: int | None
    maximum: int | None
    unit: str
    source: str
    as_of: str

    def allows(self, value: float) -> bool:
        """Tell whether a value is within the bounds."""
        above = self.minimum is None or value >= self.minimum
        return above and (self.maximum is None or value <= self.maximum)

    def __str__(self) -> str:
        """Return the bounds as a message shows them."""
        if self.maximum is None:
            return f"at least {self.minimum} {self.unit}"
        return f"{self.minimum} to {self.maximum} {self.unit}"


@cache
def limits() -> dict[str, Limit]:
    """Return all bounds by name."""
    return table(Limit, "limits", "name")


@cache
def hosting_instance_type_names() -> frozenset[str]:
    """Return every instance type that the API takes for a production variant."""
    return frozenset(load("hosting_instance_types")["names"])
