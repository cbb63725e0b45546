"""Hub ids: each row agrees with the other tables, and says what to use where there is none."""

from __future__ import annotations

import re

import pytest

from lmi_constructs.facts import models
from lmi_constructs.facts.hub_models import HubModel, hub_models


@pytest.mark.parametrize("row", hub_models().values(), ids=list(hub_models()))
def test_says_what_to_use_for_an_id_that_does_not_exist(row: HubModel) -> None:
    assert (row.exists is False) == (row.use_instead is not None)
    if row.use_instead is not None:
        assert hub_models()[row.use_instead].exists is True
        assert row.note


@pytest.mark.parametrize("row", hub_models().values(), ids=list(hub_models()))
def test_pins_whole_commits_that_the_source_shows(row: HubModel) -> None:
    if row.revision is not None:
        assert re.fullmatch(r"[0-9a-f]{40}", row.revision)
        assert row.revision in row.source


@pytest.mark.parametrize("row", hub_models().values(), ids=list(hub_models()))
def test_knows_shape_and_gate_of_every_id_that_exists(row: HubModel) -> None:
    assert (row.hub_id.lower() in models()) == (row.exists is True)
