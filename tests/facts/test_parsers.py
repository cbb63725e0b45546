"""Parsers of a model's output: they exist in the default engine, and the right ones are found."""

from __future__ import annotations

import pytest

from lmi_constructs.facts import container_releases
from lmi_constructs.facts.engine_arguments import registered
from lmi_constructs.facts.parsers import OutputParsers, output_parsers, parsers_of


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
