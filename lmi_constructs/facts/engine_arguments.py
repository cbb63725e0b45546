"""The arguments of the engine of each release, as its own parser defines them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from lmi_constructs.facts._data import load

Action = Literal["store", "append", "boolean_optional", "store_true", "store_boolean", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineArgument:
    """One argument of one vLLM version.

    Attributes:
        name: Name in `EngineArgs`.
        action: Kind of the command-line flag; `none` if the field has no flag, which makes it
            unusable from the container.
        type: Conversion of the value, by the name that vLLM gives it.
        optional: Whether the text `None` means unset.
        nargs: Number of values, as in `argparse`.
        choices: Allowed values after conversion.
        default: The engine's own default, where it is a plain value.
        bounds: Numeric limits that the engine's configuration checks at start (`ge`, `gt`, `le`,
            `lt`).
        schema: JSON Schema of a structured value.
        suffixes: Unit suffixes that a readable integer may carry.
        passed: Whether the container passes the name on at all.
        source: Public source of the row.
        as_of: ISO date of the research.
    """

    name: str
    action: Action
    type: str | None = None
    optional: bool = False
    nargs: str | None = None
    choices: tuple[Any, ...] = ()
    default: Any = None
    bounds: dict[str, float] = field(default_factory=dict)
    schema: dict[str, Any] | None = None
    suffixes: str = ""
    passed: bool = True
    source: str
    as_of: str


def derived_engines() -> tuple[str, ...]:
    """Return the vLLM versions whose arguments are known, oldest first."""
    return tuple(load("engine_arguments")["engines"])


@cache
def engine_arguments(version: str) -> dict[str, EngineArgument] | None:
    """Return the arguments of a vLLM version, or `None` for a version that was not derived."""
    data = load("engine_arguments")
    engines: list[str] = data["engines"]
    if version not in engines:
        return None
    position = engines.index(version)
    found = {}
    for name, argument in data["arguments"].items():
        for span in argument["spans"]:
            if engines.index(span["since"]) <= position <= engines.index(span["until"]):
                found[name] = _argument(name, span["is"], argument, data["schemas"])
    return found


@cache
def registered(kind: str, version: str) -> frozenset[str] | None:
    """Return names that a vLLM version knows.

    Args:
        kind: `tool_parsers`, `reasoning_parsers` or `quantization_methods`.
        version: Version of vLLM.
    """
    data = load("engine_arguments")
    if version not in data["engines"]:
        return None
    return frozenset(name for name, row in data[kind].items() if version in row["engines"])


def _argument(
    name: str, row: dict[str, Any], argument: dict[str, Any], schemas: dict[str, Any]
) -> EngineArgument:
    return EngineArgument(
        name=name,
        action=row["action"],
        type=row.get("type"),
        optional=row.get("optional", False),
        nargs=row.get("nargs"),
        choices=tuple(row.get("choices", ())),
        default=row.get("default"),
        bounds=row.get("bounds", {}),
        schema=schemas[row["schema"]] if "schema" in row else None,
        suffixes=row.get("suffixes", ""),
        passed=not row.get("asynchronous_only", False),
        source=argument["source"],
        as_of=argument["as_of"],
    )
