"""What the READMEs say of releases and presets is what the facts say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lmi_constructs import LmiContainer
from lmi_constructs.container import verdict
from lmi_constructs.facts import container_releases
from lmi_constructs.presets import PRESETS

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "README.ko.md"]


@pytest.mark.parametrize("page", PAGES)
def test_the_releases_of_the_compatibility_table_are_those_that_are_known(page: str) -> None:
    (row,) = re.findall(r"^\| LMI .*v9.*$", (ROOT / page).read_text("utf-8"), re.MULTILINE)
    checked = verdict({}, container=LmiContainer.of("v14")).findings[-1].fix
    first, last = re.findall(r"v\d+", checked)
    plain = [name for name in container_releases() if name.startswith("v")]
    before = plain[plain.index(first) - 1]
    newest = {
        kind: [name for name in container_releases() if name.startswith(f"{kind}-")][-1]
        for kind in ("trtllm", "neuronx")
    }
    assert re.findall(r"v\d+", row) == [first, last, plain[0], before]
    assert re.findall(r"\d+\.\d+\.\d+", row) == [
        newest["trtllm"].partition("-")[2],
        newest["neuronx"].partition("-")[2],
    ]


@pytest.mark.parametrize("page", PAGES)
def test_the_default_release_is_the_one_that_is_named(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    assert re.search(rf"^\| [^|]+ \| {LmiContainer.default().name}[: ,]", text, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_the_number_of_presets_is_theirs(page: str) -> None:
    (number,) = re.findall(r'"Chat"\)  # \D*(\d+)', (ROOT / page).read_text("utf-8"))
    assert int(number) == len(PRESETS)
