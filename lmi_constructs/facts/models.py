"""Published models: their config.json, reduced to what sizes their memory."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from lmi_constructs.facts._data import load

if TYPE_CHECKING:
    from collections.abc import Mapping


@cache
def model_configs() -> dict[str, Mapping[str, Any]]:
    """Return the known models' rows by hub id in lower case; ids are not case-sensitive."""
    return {row["id"].lower(): row for row in load("models")["rows"]}
