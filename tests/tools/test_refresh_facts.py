"""The refresh folds tables into spans, and the parser of an engine is read without installing it."""

from __future__ import annotations

import json
import textwrap

from lmi_constructs.facts._data import load
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
