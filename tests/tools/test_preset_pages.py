"""Pages and examples follow the presets."""

from __future__ import annotations

from lmi_constructs.presets import PRESETS
from tools import preset_pages


def test_the_committed_files_are_those_the_presets_give() -> None:
    for name, text in preset_pages.files().items():
        path = preset_pages.ROOT / name
        assert path.is_file(), f"run python -m tools.preset_pages: {name} is missing"
        assert path.read_text("utf-8") == text, f"run python -m tools.preset_pages: {name}"


def test_a_page_shows_every_setting_of_the_guide_and_why_one_departs() -> None:
    files = preset_pages.files()
    for name, preset in PRESETS.items():
        page = files[f"docs/presets/{name}.md"]
        assert all(f"`{key}={value}`" in page for key, value in preset.table.guide.items())
        assert all(departure.why in page for departure in preset.departures)
