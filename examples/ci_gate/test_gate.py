"""The gate lets good templates through, stops bad ones, and leaves a file for the review."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lmi_constructs._version import __version__
from lmi_constructs.checks.examples import Example

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
FAULTY = ROOT / "examples" / "templates" / "faulty.yaml"


def gate(target: str | Path, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the gate with an `lmi` of this very code."""
    lmi = folder / "lmi"
    lmi.write_text(f"#!{sys.executable}\nfrom lmi_constructs.cli import main\nmain()\n")
    lmi.chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT), "AWS_REGION": "us-east-1"}
    return subprocess.run(  # noqa: S603 (a script of this folder)
        [str(FOLDER / "gate.sh"), str(target), *options],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_stops_a_template_that_would_fail(tmp_path: Path) -> None:
    done = gate(FAULTY, tmp_path)
    assert done.returncode == 1, done.stderr
    assert "LMI001" in done.stdout
    sarif = json.loads((tmp_path / "lmi.sarif").read_text())
    assert "LMI001" in {result["ruleId"] for result in sarif["runs"][0]["results"]}


def test_lets_a_good_template_through(tmp_path: Path) -> None:
    good = tmp_path / "good.json"
    good.write_text('{"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}')
    done = gate(good, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("missing", ["cdk.out", "nothing.yaml"])
def test_stops_when_there_is_nothing_to_check(tmp_path: Path, missing: str) -> None:
    assert gate(missing, tmp_path).returncode == 2
    assert not (tmp_path / "lmi.sarif").exists()  # a code scanner refuses an empty file


def test_hands_options_on(tmp_path: Path) -> None:
    example = Example(
        {"Model/Properties/PrimaryContainer/Environment/GPU_MEMORY_UTILIZATION": "0.9"}
    )
    warned = tmp_path / "warned.json"
    warned.write_text(json.dumps(example.template()))
    assert gate(warned, tmp_path).returncode == 0
    assert gate(warned, tmp_path, "--fail-on", "warning").returncode == 1
    assert gate(warned, tmp_path, "--fail-on", "nothing-like-that").returncode == 2


def test_the_workflow_installs_a_wheel_of_this_version() -> None:
    workflow = (FOLDER / ".github" / "workflows" / "check.yml").read_text()
    assert "pip install -r requirements.txt" in workflow
    *comments, wheel = (FOLDER / "requirements.txt").read_text().splitlines()
    assert wheel == f"./wheels/lmi_constructs-{__version__}-py3-none-any.whl[cli]"
    assert any(f"lmi-constructs[cli]=={__version__} " in comment for comment in comments)
