"""`lmi presets` lists, shows, writes a file and checks a folder."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from click.testing import CliRunner

from lmi_constructs.cli._group import lmi
from lmi_constructs.presets.tables import TABLES

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


def run(*arguments: str, input: str | bytes | None = None) -> Result:
    return CliRunner().invoke(lmi, ["presets", *arguments], input=input)


def test_lists_every_preset_with_its_instance_and_figures() -> None:
    lines = run().output.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(TABLES)
    row = next(line for line in lines if line.startswith("qwen3-235b"))
    assert "ml.p5.48xlarge" in row
    assert "8 x H100" in row
    assert "16384" in row
    assert "48" in row


def test_lists_them_as_json() -> None:
    rows = json.loads(run("--format", "json").output)
    assert [row["name"] for row in rows] == list(TABLES)
    assert rows[0]["max_model_len"] == 32768


def test_shows_one_with_its_settings_and_departures() -> None:
    output = run("qwen3-235b").output
    assert "OPTION_ENABLE_EXPERT_PARALLEL=true" in output
    assert "OPTION_DTYPE=fp8: not set" in output
    shown = json.loads(run("qwen3-235b", "--format", "json").output)
    assert shown["environment"]["OPTION_TOOL_CALL_PARSER"] == "hermes"
    assert shown["revision"]


def test_writes_the_file_to_lie_beside_the_model() -> None:
    lines = run("gpt-oss-20b", "--serving-properties").output.splitlines()
    assert "engine=Python" in lines
    assert "option.max_model_len=8192" in lines
    assert run("--serving-properties").exit_code == 2


def test_names_near_presets_for_an_unknown_one() -> None:
    for name in ("gpt-oss", "GPT_OSS_120B"):
        result = run(name)
        assert result.exit_code == 2
        assert re.search("did you mean .*gpt-oss-120b", result.output)


def test_checks_a_folder_alone_and_nothing_but_a_folder(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text("{}")
    assert run("--layout", str(file)).exit_code == 2
    for more in (["gpt-oss-20b"], ["--format", "json"], ["--serving-properties"]):
        result = run("--layout", str(tmp_path), *more)
        assert result.exit_code == 2
        assert "give it alone" in result.output


def test_checks_a_folder_and_a_listing(tmp_path: Path) -> None:
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).touch()
    assert run("--layout", str(tmp_path)).exit_code == 0
    (tmp_path / "model.zip").touch()
    assert run("--layout", str(tmp_path)).exit_code == 1
    assert run("--layout", "-", input="config.json\nmodel.safetensors\n").exit_code == 0
    assert run("--layout", "-", input="model.safetensors\n").exit_code == 1
    assert run("--layout", "-", input=b"\xff\n").exit_code == 2


def test_reads_settings_beside_a_model_whatever_bytes_they_have(tmp_path: Path) -> None:
    (tmp_path / "serving.properties").write_bytes(b"# caf\xe9\noption.model_id=Qwen/Qwen3-8B\n")
    assert run("--layout", str(tmp_path)).exit_code == 0
