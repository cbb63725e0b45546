"""The pytest plugin, run in a platform repository of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
STACK = """
import aws_cdk as cdk
import pytest
from lmi_constructs import LmiEndpoint, ModelData

@pytest.fixture
def stack():
    stack = cdk.Stack(cdk.App(), "Llm")
    LmiEndpoint(
        stack, "Chat",
        model_data=ModelData.s3_prefix("my-models", "m/"), instance_type="{instance_type}",
    )
    return stack
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "conftest.py").write_text(STACK.format(instance_type="ml.g6.12xlarge"))
    (tmp_path / "pytest.ini").write_text("[pytest]\nlmi_cdk_validation = off\n")
    (tmp_path / "test_stack.py").write_text(
        "def test_is_unchanged(stack, lmi_snapshot):\n    assert stack == lmi_snapshot\n"
    )
    return tmp_path


def run(repository: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "lmi_constructs.testing.plugin", *arguments]
    return subprocess.run(
        command,
        cwd=repository,
        env=os.environ | {"PYTHONPATH": str(ROOT), "CDK_VALIDATION": "surely unset"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_snapshot_is_written_kept_and_compared_line_by_line(repository: Path) -> None:
    missing = run(repository)
    assert missing.returncode == 1, missing.stdout
    assert run(repository, "--snapshot-update").returncode == 0
    (file,) = (repository / "__snapshots__").rglob("*.template.json")
    assert "BootstrapVersion" not in file.read_text()
    assert "AWS::SageMaker::Endpoint" in {
        resource["Type"] for resource in json.loads(file.read_text())["Resources"].values()
    }
    assert run(repository).returncode == 0
    (repository / "conftest.py").write_text(STACK.format(instance_type="ml.g6.48xlarge"))
    changed = run(repository)
    assert changed.returncode == 1
    # Where `CI` is set, pytest repeats the difference in its summary, without the "E".
    report = [line for line in changed.stdout.splitlines() if line.startswith("E ")]
    shown = [line for line in report if "InstanceType" in line]
    assert len(shown) == 2, changed.stdout


def test_the_choice_of_the_validator_reaches_the_cdk(repository: Path) -> None:
    (repository / "test_stack.py").write_text(
        "import os\ndef test_it(): assert os.environ['CDK_VALIDATION'] == 'false'\n"
    )
    assert run(repository).returncode == 0
    assert run(repository, "--lmi-cdk-validation", "on").returncode == 1
    (repository / "pytest.ini").write_text("[pytest]\nlmi_cdk_validation = maybe\n")
    unknown = run(repository)
    assert unknown.returncode == 4
    assert "write one of on, off" in unknown.stderr


@pytest.mark.deploy
def test_a_stack_is_deployed_and_answers(
    lmi_deploy: Callable[[Any], dict[str, str]], local_aws: Any
) -> None:
    import aws_cdk as cdk

    from lmi_constructs import LmiEndpoint, ModelData

    stack = cdk.Stack(cdk.App(), "Llm")
    data = ModelData.s3_prefix("my-models", "m/")
    endpoint = LmiEndpoint(stack, "Chat", model_data=data, instance_type="ml.g6.12xlarge")
    cdk.CfnOutput(stack, "Name", value=endpoint.endpoint_name)
    outputs = lmi_deploy(stack)
    described = local_aws.client("sagemaker").describe_endpoint(EndpointName=outputs["Name"])
    assert described["EndpointStatus"] == "InService"
