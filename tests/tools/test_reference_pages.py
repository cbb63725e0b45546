"""The reference of settings and commands follows the code."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from lmi_constructs.container import LmiSettings
from tools import reference_pages


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """The pages from a process of their own: click keeps a command's help option as first used."""
    program = "import json; from tools import reference_pages as r; print(json.dumps(r.pages()))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=reference_pages.FOLDER.parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    read: dict[str, str] = json.loads(done.stdout)
    return read


def test_the_committed_pages_are_those_the_code_gives(pages: dict[str, str]) -> None:
    for name, text in pages.items():
        committed = (reference_pages.FOLDER / name).read_text("utf-8")
        assert committed == text, f"run python -m tools.reference_pages: {name}"


def test_every_field_of_the_settings_is_described(pages: dict[str, str]) -> None:
    assert all(f"| `{name}` |" in pages["settings.md"] for name in LmiSettings.model_fields)
