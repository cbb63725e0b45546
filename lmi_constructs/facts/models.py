"""Open-weight models: their published configuration and gate; and their families."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.facts._data import load, table

if TYPE_CHECKING:
    from collections.abc import Mapping

_FILE: Final = "models"
_ABOUT_THE_CONFIG: Final = frozenset({"like", "changes", "source_kind"})
"""Keys of a row that say how its configuration came about."""


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """One repository of the model hub.

    Attributes:
        hub_id: Id on the hub, such as `Qwen/Qwen3-32B`.
        config: What its `config.json` says, in the names of that file.
        shares_shape_with: Hub id of the row whose shape it has, such as its unquantized original.
        gated: Whether the hub asks for a token, `None` if it is not known.
        source: Public source of the configuration.
        inferred: What was not read in a published configuration.
        as_of: ISO date of the research.
    """

    hub_id: str
    config: Mapping[str, Any]
    shares_shape_with: str | None
    gated: bool | None
    source: str
    inferred: tuple[str, ...]
    as_of: str


@dataclass(frozen=True, slots=True)
class ModelFamily:
    """What models of one `model_type` have in common.

    Attributes:
        model_type: Name in `config.json`.
        mlp: `gated` (three matrices) or `plain` (two).
        qkv_bias: Whether the projections to query, key and value have a bias.
        planned: `yes`, or `shape only` where its memory is not what the planner computes.
        least_engine: First vLLM version that serves it, where a source says so.
        note: Why it is not planned.
        source: Public source of the row.
        as_of: ISO date of the research.
    """

    model_type: str
    mlp: str
    qkv_bias: bool
    planned: str
    least_engine: str | None
    note: str | None
    source: str
    as_of: str


@cache
def models() -> dict[str, ModelFacts]:
    """Return the known models by hub id in lower case."""
    data = load(_FILE)
    rows = {row["hub_id"]: row for row in data["rows"]}
    complete = (_with_config(row, rows, data["meta"]["as_of"]) for row in data["rows"])
    found = table(ModelFacts, _FILE, "hub_id", complete)
    return {name.lower(): facts for name, facts in found.items()}


@cache
def model_families() -> dict[str, ModelFamily]:
    """Return the known families by `model_type`."""
    return table(ModelFamily, "model_families", "model_type")


def _with_config(
    row: dict[str, Any], rows: dict[str, dict[str, Any]], as_of: str
) -> dict[str, Any]:
    """Return a row with its whole configuration, also where it says only what it changes."""
    given = {name: value for name, value in row.items() if name not in _ABOUT_THE_CONFIG}
    like = row.get("like")
    if like is not None and "config" not in rows.get(like, {}):
        raise ValueError(
            f"facts/data/{_FILE}.json: the row of {row['hub_id']!r} is like {like!r}, which has no row"
            " with a config"
        )
    if like is not None:
        given["config"] = {**rows[like]["config"], **row.get("changes", {})}
    if "config" in given:
        given["config"] = MappingProxyType(given["config"])
    given.setdefault("inferred", ())
    return {**given, "shares_shape_with": like, "as_of": as_of}
