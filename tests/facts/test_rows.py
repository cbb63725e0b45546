"""Every fact that is shipped says where it comes from and how old it is."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import lmi_constructs

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOMS = Path(lmi_constructs.__file__).parent
DATA = sorted(ROOMS.glob("facts/data/*.json"))


def _rows(document: dict[str, Any]) -> Iterator[Any]:
    for name, table in document.items():
        if name not in ("meta", "schemas"):  # a schema belongs to the arguments that name it
            yield from table.values() if isinstance(table, dict) else table


@pytest.mark.parametrize("path", DATA, ids=lambda path: path.stem)
def test_every_row_has_a_source_and_a_date(path: Path) -> None:
    document = json.loads(path.read_text())
    meta = document.get("meta", {})
    rows = list(_rows(document))
    assert rows, "a data file without rows"
    for row in rows:
        own = row if isinstance(row, dict) else {}
        source = own.get("source") if own else meta.get("source")
        assert isinstance(source, str), row
        assert len(source) > 8, row
        assert datetime.date.fromisoformat(own.get("as_of") or meta["as_of"])


@pytest.mark.parametrize("path", DATA, ids=lambda path: path.stem)
def test_data_files_do_not_say_that_somebody_remembered_it(path: Path) -> None:
    assert "remembered" not in path.read_text()
    assert "[MEM]" not in path.read_text()
    assert "general knowledge" not in path.read_text()
