"""Every fact that is shipped says where it comes from and how old it is."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest

import lmi_constructs.facts

DATA = sorted((Path(lmi_constructs.facts.__file__).parent / "data").glob("*.json"))


@pytest.mark.parametrize("path", DATA, ids=lambda path: path.stem)
def test_every_row_has_a_source_and_a_date(path: Path) -> None:
    document = json.loads(path.read_text())
    sources = document["meta"].get("sources", {})
    assert document["rows"], "a data file without rows"
    for row in document["rows"]:
        source = sources.get(row["source"], row["source"])
        assert isinstance(source, str), row
        assert len(source) > 8, row
        assert datetime.date.fromisoformat(row.get("as_of") or document["meta"]["as_of"])


@pytest.mark.parametrize("path", DATA, ids=lambda path: path.stem)
def test_data_files_name_no_place_of_the_machine_they_were_made_on(path: Path) -> None:
    text = path.read_text()
    assert "/work/" not in text
    assert "/tmp/" not in text.replace("/tmp/.djl.ai", "").replace("/tmp/.cache", "")
