"""The rows that the page for contributors shows are complete, and as they are shipped."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from lmi_constructs.facts._data import load

PAGE = Path(__file__).parents[2] / "docs" / "contributing.md"
_ROW = re.compile(r"of\s+`(?:\S*/)?(\w+)\.json`[^\n]*:\n\n```json\n(.*?)```", re.DOTALL)
_SHORTENED = {"source", "regions"}
ROWS = [(file, json.loads(text)) for file, text in _ROW.findall(PAGE.read_text("utf-8"))]


def test_three_kinds_of_rows_are_shown() -> None:
    assert [file for file, _ in ROWS] == ["containers", "instances", "models"]


@pytest.mark.parametrize(("file", "shown"), ROWS, ids=[file for file, _ in ROWS])
def test_a_row_is_as_it_is_shipped(file: str, shown: dict[str, Any]) -> None:
    key = next(iter(shown))
    (row,) = (row for row in load(file)["rows"] if row[key] == shown[key])
    assert set(shown) == set(row)
    for name in set(shown) - _SHORTENED:
        assert shown[name] == row[name], name
