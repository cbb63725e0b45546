"""Identity of hub models: whether an id exists, and the commit to pin."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from lmi_constructs.facts._data import table


@dataclass(frozen=True, slots=True)
class HubModel:
    """One id on the model hub.

    Gate and configuration are in [`ModelFacts`][lmi_constructs.facts.ModelFacts].

    Attributes:
        hub_id: The id.
        named_in_guide: Where the LMI guide names it, `None` if it does not.
        exists: Whether the hub has it, `None` if it is not known.
        use_instead: The id to use if it does not exist.
        revision: A commit that public material pins, `None` if none was found.
        note: What else there is to know.
        source: Public source of the row.
        as_of: ISO date of the research.
    """

    hub_id: str
    named_in_guide: str | None
    exists: bool | None
    use_instead: str | None
    revision: str | None
    note: str | None
    source: str
    as_of: str


@cache
def hub_models() -> dict[str, HubModel]:
    """Return the known ids."""
    return table(HubModel, "hub_models", "hub_id")
