"""Hub ids and parsers: every row says where it comes from, and agrees with the other tables."""

from __future__ import annotations

import re

import pytest

from lmi_constructs.facts import container_releases, models
from lmi_constructs.facts.engine_arguments import registered
from lmi_constructs.facts.hub_models import HubModel, hub_models
from lmi_constructs.facts.parsers import OutputParsers, output_parsers, parsers_of


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


@pytest.mark.parametrize("row", output_parsers(), ids=[row.family for row in output_parsers()])
def test_names_parsers_that_the_default_engine_registers(row: OutputParsers) -> None:
    version = container_releases()["v27"].engine_version or ""
    for kind, name in (
        ("tool_parsers", row.tool_call_parser),
        ("reasoning_parsers", row.reasoning_parser),
    ):
        assert name is None or name in (registered(kind, version) or ())


@pytest.mark.parametrize(
    ("hub_id", "tool", "reasoning"),
    [
        ("openai/gpt-oss-20b", "openai", "openai_gptoss"),
        ("deepseek-ai/DeepSeek-R1", None, "deepseek_r1"),
        ("Qwen/Qwen3-235B-A22B-Instruct-2507-FP8", "hermes", None),
        ("Qwen/Qwen3-32B", "hermes", "qwen3"),
        ("meta-llama/Llama-3.3-70B-Instruct", "llama3_json", None),
        ("meta-llama/Meta-Llama-3-8B-Instruct", None, None),
    ],
)
def test_finds_the_parsers_of_a_model(hub_id: str, tool: str, reasoning: str) -> None:
    row = parsers_of(hub_id)
    assert row is not None
    assert (row.tool_call_parser, row.reasoning_parser) == (tool, reasoning)


def test_knows_nothing_of_a_foreign_family() -> None:
    assert parsers_of("someone/something") is None
