"""What an app acknowledges, as its cloud assembly says it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

PLUGIN: Final = "lmi"
"""Name that findings are acknowledged under."""


@dataclass(frozen=True, slots=True)
class Acknowledgment:
    """Findings of a rule that somebody accepts, below a construct.

    Attributes:
        id: Id of the rule as the CDK writes it, such as `lmi::LMI043`.
        scope: Construct path that it holds at and below; empty for the whole app.
        reason: Why it is accepted.
    """

    id: str
    scope: str
    reason: str


def reason_for(
    acknowledgments: Iterable[Acknowledgment], rule: str, construct_path: str | None
) -> str | None:
    """Return why a finding is accepted, in the words that stand nearest; `None` if it is not.

    Args:
        acknowledgments: All that the app acknowledges.
        rule: Id of the finding's rule.
        construct_path: Where the finding is.
    """
    holding = [
        one
        for one in acknowledgments
        if one.id == f"{PLUGIN}::{rule}" and is_at(construct_path or "", one.scope)
    ]
    return max(holding, key=lambda one: len(one.scope)).reason if holding else None


def is_at(path: str, place: str) -> bool:
    """Tell whether a construct path is a place or lies below it; all lie below the empty one."""
    return not place or path == place or path.startswith(f"{place}/")
