"""What users give is printed as they gave it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from click.testing import CliRunner

from lmi_constructs.checks.examples import llama_config
from lmi_constructs.cli._console import console
from lmi_constructs.cli._group import lmi

if TYPE_CHECKING:
    import pytest

ODD = "arn:aws:secretsmanager:us-east-1:1:secret:x [red]a[/] [b :warning:"


def test_the_console_takes_nothing_for_markup_or_an_emoji(
    capsys: pytest.CaptureFixture[str],
) -> None:
    console(soft_wrap=True).print(ODD)
    assert capsys.readouterr().out == f"{ODD}\n"


def test_no_command_makes_a_console_of_its_own() -> None:
    import lmi_constructs.cli

    room = Path(lmi_constructs.cli.__file__).parent
    own = [
        file.name
        for file in room.glob("*.py")
        if re.search(r"import Console|rich\.print|from rich import", file.read_text("utf-8"))
    ]
    assert own == ["_console.py"]


def test_check_prints_ids_as_they_are(tmp_path: Path) -> None:
    body = {
        "Resources": {
            "Config": {
                "Type": "AWS::SageMaker::EndpointConfig",
                "Properties": {
                    "ProductionVariants": [
                        {"VariantName": "a", "InstanceType": "ml.g5:secret:[b]", "ModelName": "m"}
                    ]
                },
                "Metadata": {"aws:cdk:path": "Stack/:secret:[red]x[/]"},
            }
        }
    }
    file = tmp_path / "t:secret:[b].json"
    file.write_text(json.dumps(body))
    said = CliRunner().invoke(lmi, ["check", str(file), "--region", "us-east-1"]).output
    assert ":secret:" in said
    assert "🈲" not in said
    assert file.name in said


def test_plan_prints_names_as_they_are(tmp_path: Path) -> None:
    config = llama_config(
        _name_or_path="me/:secret:[b]", quantization_config={"quant_method": "[red]:warning:"}
    )
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config))
    done = CliRunner().invoke(
        lmi,
        ["plan", "--config", str(file), "--instance", "ml.g6.12xlarge", "--max-model-len", "8k"],
    )
    assert "⚠" not in done.output
    assert "[red]:warning:" in done.output
