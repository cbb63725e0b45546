"""The refresh folds tables into spans, and the parser of an engine is read without installing it."""

from __future__ import annotations

import json
import sys
import textwrap

import pytest

from lmi_constructs.facts._data import load
from lmi_constructs.facts.limits import hosting_instance_type_names
from tools.refresh_facts import __main__, engine_arguments, platform_enums
from tools.refresh_facts.packages import RefreshError, wheel


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


def test_equal_neighbors_become_one_span():
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


def test_a_new_version_is_added_to_what_is_shipped():
    size, share = {"action": "store", "type": "int"}, {"action": "store", "type": "float"}
    merged = engine_arguments.merge({"1": table(size=size, share=share)}, "2026-12-01")
    both = engine_arguments.add(merged, "2", table(size=size), "2027-01-01")
    assert merged["engines"] == ["1"]
    assert both["engines"] == ["1", "2"]
    assert both["arguments"]["size"]["spans"][0]["until"] == "2"
    assert both["arguments"]["size"]["as_of"] == "2027-01-01"
    assert both["arguments"]["share"] == merged["arguments"]["share"]
    assert both["tool_parsers"]["hermes"]["engines"] == ["1", "2"]


def test_what_the_probe_could_not_do_is_said(tmp_path):
    engine = tmp_path / "vllm" / "engine"
    engine.mkdir(parents=True)
    (engine / "arg_utils.py").write_text('raise ImportError("Please upgrade to Transformers v9")')
    with pytest.raises(
        RefreshError, match=r"cannot build the parser(?s:.)*upgrade to Transformers v9"
    ):
        engine_arguments.probe(tmp_path)


def test_a_stand_in_is_no_older_than_what_vllm_asks_for(tmp_path):
    engine = tmp_path / "vllm" / "engine"
    engine.mkdir(parents=True)
    (engine / "arg_utils.py").write_text(
        textwrap.dedent(
            """
            from importlib.metadata import version
            from packaging.version import Version
            if Version(version("transformers-of-nobody")) < Version("5.0.0"):
                raise ImportError("Transformers v4 was removed")
            raise ImportError("new enough")
            """
        )
    )
    with pytest.raises(RefreshError, match="new enough"):
        engine_arguments.probe(tmp_path)


def run(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["refresh_facts", *words])
    return __main__.main()


def test_a_package_that_cannot_be_downloaded_is_a_plain_message(monkeypatch, capsys):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with (
        pytest.raises(RefreshError, match=r"pip cannot download vllm==0\.28\.0"),
        wheel("vllm==0.28.0"),
    ):
        pass
    assert run(monkeypatch, "--only", "engines", "--engine", "0.28.0", "--write") == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("pip cannot download vllm==0.28.0:\n")
    assert "Traceback" not in printed.err


def test_an_engine_that_no_release_carries_is_refused(monkeypatch, capsys):
    with pytest.raises(SystemExit) as caught:
        run(monkeypatch, "--engine", "0.99.0")
    assert caught.value.code == 2
    assert "no release in containers.json carries vLLM 0.99.0" in capsys.readouterr().err


def test_a_version_that_is_shipped_is_not_written_alone(monkeypatch, capsys):
    monkeypatch.setattr(engine_arguments, "derive", lambda _: table())
    assert run(monkeypatch, "--only", "engines", "--engine", "0.28.0", "--write") == 2
    assert "0.28.0: shipped already" in capsys.readouterr().err


def test_new_instance_types_are_noticed(monkeypatch, capsys):
    shipped = {
        kind: {row["name"] for row in load(kind)["rows"]} for kind in ("instances", "host_images")
    }
    every = {"ml.g9.xlarge", *hosting_instance_type_names()}
    published = {"hosting_instance_types": every, **shipped}
    monkeypatch.setattr(platform_enums, "platform_names", lambda: published)
    assert run(monkeypatch, "--only", "platform") == 1
    text = "hosting_instance_types: ml.g9.xlarge is published and not shipped\n"
    assert capsys.readouterr().out == text
