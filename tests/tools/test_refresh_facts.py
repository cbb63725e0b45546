"""The refresh folds tables into spans, and the parser of an engine is read without installing it."""

from __future__ import annotations

import json
import textwrap
from dataclasses import replace

import pytest

from lmi_constructs.facts._data import load
from lmi_constructs.facts.containers import container_releases
from tools.refresh_facts import __main__ as tool
from tools.refresh_facts import engine_arguments


def table(**arguments):
    rows = {
        name: {"flags": ["--" + name.replace("_", "-")], "default": None, **row}
        for name, row in arguments.items()
    }
    return {
        "annotations": [*rows, "without_flag"],
        "arguments": rows,
        "bounds": {"CacheConfig": {"share": {"gt": 0}}},
        "tool_parsers": ["hermes"],
        "reasoning_parsers": [],
        "quantization_methods": ["fp8"],
    }


def test_equal_neighbours_become_one_span():
    store = {"action": "store", "type": "int"}
    merged = engine_arguments.merge(
        {
            "1": table(size=store, share={"action": "store", "type": "float"}),
            "2": table(size=store),
            "3": table(size={**store, "choices": [1, 2]}),
        },
        "2026-12-01",
    )
    spans = merged["arguments"]["size"]["spans"]
    assert [(span["since"], span["until"]) for span in spans] == [("1", "2"), ("3", "3")]
    assert merged["arguments"]["share"]["spans"][0]["is"]["bounds"] == {"gt": 0}
    assert merged["arguments"]["without_flag"]["spans"][0]["is"] == {"action": "none"}
    assert merged["tool_parsers"]["hermes"]["engines"] == ["1", "2", "3"]


def test_an_argument_that_comes_back_has_two_spans():
    row = {"action": "store", "type": "int"}
    merged = engine_arguments.merge(
        {"1": table(size=row), "2": table(), "3": table(size=row)}, "2026-12-01"
    )
    spans = merged["arguments"]["size"]["spans"]
    assert [(span["since"], span["until"]) for span in spans] == [("1", "1"), ("3", "3")]


def test_one_more_version_makes_the_table_that_all_together_make():
    store = {"action": "store", "type": "int"}
    schema = {"action": "store", "schema": {"b": 1, "a": [2]}, "config": "CacheConfig"}
    tables = {
        "1": table(size=store, cache=schema),
        "2": table(cache=schema),
        "3": {**table(size=store, cache=schema), "tool_parsers": ["llama"]},
    }
    first = engine_arguments.merge({"1": tables["1"], "2": tables["2"]}, "2026-12-01")
    written = json.loads(engine_arguments.dump(first))
    added = engine_arguments.extended(written, "3", tables["3"], "2026-12-01")
    assert added == engine_arguments.merge(tables, "2026-12-01")
    assert added["tool_parsers"]["hermes"]["engines"] == ["1", "2"]
    assert written["engines"] == ["1", "2"]


def derived(version):
    assert version == "0.29.0"
    return table(max_model_len={"action": "store", "type": "int"})


@pytest.fixture
def refresh(monkeypatch, tmp_path):
    """Run the tool with a release that carries vLLM 0.29.0, and return its status and the table."""
    release = replace(container_releases()["v29"], engine_version="0.29.0", lmi=30)
    releases = {**container_releases(), "v30": release}
    monkeypatch.setattr(tool, "container_releases", lambda: releases)
    monkeypatch.setattr(tool, "DATA", tmp_path)
    monkeypatch.setattr(engine_arguments, "derive", derived)
    file = tmp_path / "engine_arguments.json"

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["refresh_facts", "--only", "engines", *arguments])
        status = tool.main()
        return status, json.loads(file.read_text()) if file.exists() else None

    return run


def test_a_new_version_is_added_to_the_table(refresh):
    status, written = refresh("--engine", "0.29.0", "--write")
    assert status == 1
    assert written["engines"] == [*load("engine_arguments")["engines"], "0.29.0"]
    spans = written["arguments"]["max_model_len"]["spans"]
    assert spans[:-1] == load("engine_arguments")["arguments"]["max_model_len"]["spans"]
    assert spans[-1]["since"] == "0.29.0"
    assert written["arguments"]["dtype"] == load("engine_arguments")["arguments"]["dtype"]


def test_without_write_nothing_is_written(refresh):
    assert refresh("--engine", "0.29.0") == (1, None)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--engine", "0.28.0", "--write"], "newer than the table can be added to it (0.29.0)"),
        (["--engine", "9.9"], "no release carries vLLM 9.9"),
    ],
)
def test_versions_that_cannot_be_derived_or_added_are_refused(refresh, capsys, arguments, words):
    with pytest.raises(SystemExit):
        refresh(*arguments)
    assert words in capsys.readouterr().err


def test_what_is_written_is_what_is_shipped():
    shipped = load("engine_arguments")
    assert json.loads(engine_arguments.dump(shipped)) == shipped


def test_the_probe_reads_a_parser_and_stands_in_for_what_is_missing(tmp_path):
    engine = tmp_path / "vllm" / "engine"
    engine.mkdir(parents=True)
    (tmp_path / "vllm" / "model_executor" / "layers" / "quantization").mkdir(parents=True)
    (tmp_path / "vllm/model_executor/layers/quantization/__init__.py").write_text(
        'QUANTIZATION_METHODS = ["fp8", "old"]\nDEPRECATED_QUANTIZATION_METHODS = ["old"]\n'
    )
    (engine / "arg_utils.py").write_text(
        textwrap.dedent(
            """
            import argparse
            import torch
            from dataclasses import dataclass
            from vllm.logger import init_logger
            logger = init_logger(__name__)

            @dataclass
            class EngineArgs:
                size: int = 1
                dtype: torch.dtype = None

                @staticmethod
                def add_cli_args(parser):
                    parser.add_argument("--size", type=int, choices=[1, 2], default=1)
                    parser.add_argument("--eager", action=argparse.BooleanOptionalAction)
                    return parser

            @dataclass
            class AsyncEngineArgs(EngineArgs):
                pass
            """
        )
    )
    found = engine_arguments.probe(tmp_path)
    assert found["annotations"] == ["size", "dtype"]
    assert found["arguments"]["size"]["choices"] == [1, 2]
    assert found["arguments"]["eager"]["action"] == "boolean_optional"
    assert found["quantization_methods"] == ["fp8"]
