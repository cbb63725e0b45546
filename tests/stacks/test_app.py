"""The app as the CDK CLI runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest

from lmi_constructs.presets import PRESETS
from lmi_constructs.testing import stable_template
from stacks import PresetStack

if TYPE_CHECKING:
    from collections.abc import Callable

    from syrupy.assertion import SnapshotAssertion

ROOT = Path(__file__).parent.parent.parent


def run_app(output: Path, *, validate: bool = False, **context: str) -> Any:
    """Run app.py as the CLI does, with the context of cdk.json and of the command line."""
    settings = json.loads((ROOT / "cdk.json").read_text())["context"]
    environment = {
        **os.environ,
        "CDK_OUTDIR": str(output),
        "CDK_CONTEXT_JSON": json.dumps({**settings, **context}),
        "CDK_DEFAULT_ACCOUNT": "111122223333",
        "CDK_DEFAULT_REGION": "us-west-2",
    }
    if validate:
        del environment["CDK_VALIDATION"]
    return subprocess.run(
        [sys.executable, "app.py"], cwd=ROOT, env=environment, capture_output=True, text=True
    )


def template_in(output: Path) -> dict[str, Any]:
    (file,) = output.glob("*.template.json")
    rendered: dict[str, Any] = json.loads(file.read_text())
    return rendered


def test_deploys_a_preset_by_context(tmp_path: Path) -> None:
    done = run_app(
        tmp_path, preset="gpt-oss-120b", model_bucket="my-models", model_prefix="weights/oss/"
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "GptOss120B.template.json").exists()
    template = template_in(tmp_path)
    assert "s3://my-models/weights/oss/" in json.dumps(template)
    assert set(template["Outputs"]) == {"EndpointName", "EndpointArn", "Image", "InstanceType"}


def test_changes_a_setting_by_context(tmp_path: Path) -> None:
    done = run_app(tmp_path, preset="gpt-oss-120b", max_rolling_batch_size="32")
    assert done.returncode == 0, done.stderr
    assert '"OPTION_MAX_ROLLING_BATCH_SIZE": "32"' in json.dumps(template_in(tmp_path))


@pytest.mark.parametrize(
    ("context", "says"),
    [
        ({"preset": "gpt-os-120b"}, "did you mean gpt-oss-120b?"),
        ({"preset": "llama-9"}, "known are: gpt-oss-120b"),
        ({"model_bucket": "my-models", "model_prefix": "oss"}, "LMI020"),
        ({"max_model_len": "many"}, "max_model_len"),
        ({"tensor_parallel_degree": "16"}, "LMI"),
    ],
)
def test_says_what_is_wrong_without_a_traceback(
    tmp_path: Path, context: dict[str, str], says: str
) -> None:
    done = run_app(tmp_path, **context)
    assert done.returncode == 1
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.cdk_validation
@pytest.mark.parametrize("context", [{}, {"model_bucket": "my-models"}])
def test_passes_the_strict_validation_of_the_cdk(tmp_path: Path, context: dict[str, str]) -> None:
    done = run_app(tmp_path, validate=True, **context)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "validation-report.json").read_text())
    (plugin,) = report["pluginReports"]
    assert plugin["conclusion"] == "success"
    assert plugin["violations"] == []


@pytest.mark.cdk_validation
def test_runs_cfn_lint_clean(tmp_path: Path) -> None:
    run_app(tmp_path, model_bucket="my-models")
    (file,) = tmp_path.glob("*.template.json")
    done = subprocess.run(
        [sys.executable, "-m", "cfnlint", str(file)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_turns_the_strict_validation_on() -> None:
    settings = json.loads((ROOT / "cdk.json").read_text())
    assert settings["app"] == "python3 app.py"
    assert settings["context"]["@aws-cdk/core:validateAgainstDefaultRules"] is True


@pytest.mark.parametrize("preset", list(PRESETS))
def test_is_deployed_as_reviewed(
    preset: str,
    template: Callable[[cdk.Stack], dict[str, Any]],
    snapshot: SnapshotAssertion,
) -> None:
    stack = PresetStack(
        cdk.App(),
        "Stack",
        preset=preset,
        model_bucket="my-models",
        env=cdk.Environment(account="111122223333", region="us-west-2"),
    )
    assert stable_template(template(stack)) == snapshot
