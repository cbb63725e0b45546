"""Which parsers of the engine take apart what a model family writes."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache

from lmi_constructs.facts._data import table


@dataclass(frozen=True, slots=True)
class OutputParsers:
    """The parsers of one model family.

    Which engine versions know a parser says
    [`registered`][lmi_constructs.facts.engine_arguments.registered].

    Attributes:
        family: The family.
        hub_id_pattern: Hub ids of the family, with `*`.
        tool_call_parser: Parser of tool calls, `None` if the family writes none that a parser of
            the engine could read as the model stands.
        reasoning_parser: Parser of reasoning, `None` if the family writes none.
        note: What else there is to know.
        source: Public source of either.
        as_of: ISO date of the research.
    """

    family: str
    hub_id_pattern: str
    tool_call_parser: str | None
    reasoning_parser: str | None
    note: str | None
    source: str
    as_of: str


@cache
def output_parsers() -> tuple[OutputParsers, ...]:
    """Return the rows of all known families, the more special ones first."""
    return tuple(table(OutputParsers, "parsers", "family").values())


def parsers_of(hub_id: str) -> OutputParsers | None:
    """Return the parsers of a model, `None` if its family is not known."""
    return next((row for row in output_parsers() if fnmatchcase(hub_id, row.hub_id_pattern)), None)
