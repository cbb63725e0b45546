"""`lmi verdict` tells a newcomer on one screen what is wrong and what to write."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from lmi_constructs.cli._group import lmi
from lmi_constructs.cli.verdict import verdict
from lmi_constructs.container.snippets import read_snippet

PASTED = """
베이스라인 세팅 2: GPT-OSS-120B
"HF_MODEL_ID": "openai/gpt-oss-120b",
"TENSOR_PARALLEL_DEGREE": "8",
"OPTION_ROLLING_BATCH": "vllm",
"OPTION_DTYPE": "fp8", # 또는 bf16
"OPTION_MAX_MODEL_LEN": "8192",
}
"""


def run(*arguments: str, text: str | None = None):
    return CliRunner().invoke(verdict, list(arguments), input=text)


def test_a_pasted_snippet_of_the_guide_is_told_what_to_write():
    result = run("-", "--container", "v27", "--gpus", "8", text=PASTED)
    assert result.exit_code == 1
    assert "v27 (vllm 0.23.0, 8 GPUs): rejected" in result.output
    assert "error LMI001: OPTION_DTYPE=fp8" in result.output
    assert "OPTION_QUANTIZE=fp8" in result.output
    assert len(result.output.splitlines()) < 25


def test_good_settings_say_so_and_exit_with_0():
    result = run("HF_MODEL_ID=a/b", "OPTION_MAX_MODEL_LEN=8k", "--container", "v27")
    assert result.exit_code == 0
    assert "nothing is wrong" in result.output


def test_the_table_shows_every_studied_release():
    result = run("HF_MODEL_ID=a/b", "OPTION_SWAP_SPACE=4", "--all-containers")
    lines = result.output.splitlines()
    assert len(lines) == 15
    assert lines[0].startswith("v15")
    assert "ignoring swap_space" in lines[-1]
    assert "ignoring" not in lines[0]


def test_json_carries_the_findings(tmp_path):
    file = tmp_path / "env.json"
    file.write_text(json.dumps({"HF_MODEL_ID": "a/b", "OPTION_MAX_NUM_SEQS": 64}))
    result = run(str(file), "--container", "v27", "--format", "json")
    found = json.loads(result.output)["v27"]
    assert found["arguments"] == "rejected"
    assert found["findings"][0]["where"] == "OPTION_MAX_NUM_SEQS"


def test_reads_a_properties_file(tmp_path):
    file = tmp_path / "serving.properties"
    file.write_text("engine=Python\noption.dtype=fp8\n")
    result = run(str(file), "--container", "v27")
    assert result.exit_code == 1
    assert "option.dtype=fp8" in result.output


def test_refuses_input_without_settings():
    assert run("nothing-here").exit_code == 2
    assert run("-", text="hello").exit_code == 2


@pytest.mark.parametrize(
    "text",
    [
        '{"A": "1", "B": "x=y"}',
        "{'A': '1', 'B': 'x=y'}",
        "A=1\nB=x=y\n",
        "export A=1\nexport B='x=y'",
        '"A": "1", // one\n"B": "x=y" # two',
        '{"Environment": {"A": "1", "B": "x=y"}}',
    ],
)
def test_reads_every_usual_form(text):
    assert read_snippet(text) == ({"A": "1", "B": "x=y"}, None)


def test_old_images_are_told_the_values_that_they_know():
    result = run("OPTION_ROLLING_BATCH=tnx", "--container", "v14")
    assert result.exit_code == 1
    assert "use one of vllm, lmi-dist, scheduler" in result.output


def test_families_are_known_by_name():
    result = run("OPTION_ROLLING_BATCH=disable", "--container", "trtllm")
    assert "served by huggingface" in result.output


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'\xff\xfe{"a"', "is not text in UTF-8"),
        (b"", "no settings were found"),
        (b"[1, 2]", "no settings were found"),
        (b"[" * 5000, "no settings were found"),
    ],
)
def test_files_without_settings_are_told_apart(tmp_path, content, words):
    file = tmp_path / "settings"
    file.write_bytes(content)
    result = run(str(file))
    assert result.exit_code == 2
    assert words in result.output


@pytest.mark.parametrize(
    "arguments",
    [("=x",), ("",), ("nofile",), ("A=1", "--all-containers", "--container", "v27")],
)
def test_wrong_use_ends_with_2(arguments):
    assert run(*arguments).exit_code == 2


def test_a_broken_properties_file_is_told_without_a_traceback(tmp_path):
    file = tmp_path / "serving.properties"
    file.write_text("option.dtype=\\uZZZZ\n", encoding="utf-8")
    result = CliRunner().invoke(lmi, ["verdict", str(file)])
    assert result.exit_code == 1
    assert "broken escape" in result.output


def test_files_may_begin_with_a_byte_order_mark(tmp_path):
    file = tmp_path / "serving.properties"
    file.write_text("option.dtype=fp8\n", encoding="utf-8-sig")
    assert "option.dtype=fp8 is not a data type" in run(str(file)).output


def test_very_long_values_are_no_file_names():
    result = run("OPTION_A=" + "x" * 6000)
    assert result.exit_code == 1
    assert "LMI005" in result.output


def test_json_has_no_bare_nan():
    result = run("OPTION_GPU_MEMORY_UTILIZATION=nan", "--format", "json")
    assert json.loads(result.output, parse_constant=pytest.fail)


def test_an_unknown_release_is_refused_also_if_empty():
    assert CliRunner().invoke(lmi, ["verdict", "A=1", "--container", ""]).exit_code == 1
