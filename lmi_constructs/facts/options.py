"""What is known of each setting of the container, across its releases and back ends."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from lmi_constructs.facts._data import load, table


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One setting.

    Attributes:
        name: Option name, as in `option.<name>`, or the whole variable if it is not an option.
        variable: Environment variable that sets it.
        type: Kind of value, with its unit.
        allowed: Allowed values, in words.
        default: Default, in words.
        backends: Back ends that read it.
        since: First release, such as `v14`.
        until: Last release, or `None` if it is still there.
        fate: What the newest release does with it.
        effect: What it does.
        replacement: What to write instead, where it went.
        in_guide: Whether the guide names it.
        guide_problem: What is wrong about it in the guide.
        source: Public source of the row.
        evidence: How it was learned.
        as_of: ISO date of the research.
    """

    name: str
    variable: str
    type: str
    effect: str
    fate: str
    source: str
    evidence: str
    as_of: str
    allowed: str | None = None
    default: str | None = None
    backends: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    replacement: str | None = None
    in_guide: bool = False
    guide_problem: str | None = None


@cache
def options() -> dict[str, Option]:
    """Return all known settings by environment variable."""
    return table(Option, "options", "variable")


@cache
def _by_name() -> dict[str, Option]:
    rows = options()
    named = {row.name.lower(): row for row in rows.values() if row.variable.startswith("OPTION_")}
    return named | {variable.lower(): row for variable, row in rows.items()}


def option(name: str) -> Option | None:
    """Return a setting by variable (`OPTION_DTYPE`), property (`option.dtype`) or name (`dtype`)."""
    wanted = name.strip().lower().removeprefix("option.")
    return _by_name().get(wanted) or _by_name().get(wanted.removeprefix("option_"))


@cache
def option_names() -> frozenset[str]:
    """Return the names of everything that can be an option on some release or back end."""
    engine = load("engine_arguments")["arguments"]
    handler = (row["name"] for row in load("handler")["properties"])
    known = (row.name for row in options().values() if row.variable.startswith("OPTION_"))
    return frozenset({*engine, *handler, *known, "engine"})
