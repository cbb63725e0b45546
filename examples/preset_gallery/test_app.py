"""The gallery shows every preset, and none of them has anything wrong."""

from __future__ import annotations

import runpy
from pathlib import Path

from lmi_constructs.presets import PRESETS
from lmi_constructs.testing import assert_no_findings


def test_every_preset_is_there_without_a_finding_of_an_error() -> None:
    stacks = runpy.run_path(str(Path(__file__).with_name("app.py")))["stacks"]
    assert set(stacks) == set(PRESETS)
    for name, stack in stacks.items():
        assert_no_findings(stack, acknowledged=PRESETS[name].table.acknowledged)
