"""The reference of settings and commands follows the code."""

from __future__ import annotations

from lmi_constructs.container import LmiSettings
from tools import reference_pages


def test_the_committed_pages_are_those_the_code_gives() -> None:
    for name, text in reference_pages.pages().items():
        committed = (reference_pages.FOLDER / name).read_text("utf-8")
        assert committed == text, f"run python -m tools.reference_pages: {name}"


def test_every_field_of_the_settings_is_described() -> None:
    page = reference_pages.pages()["settings.md"]
    assert all(f"| `{name}` |" in page for name in LmiSettings.model_fields)
