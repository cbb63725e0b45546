"""Every preset, deployed by the real CDK CLI onto the local AWS in one run."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lmi_constructs.local import CdkCli
from lmi_constructs.presets import PRESETS

if TYPE_CHECKING:
    from lmi_constructs.local import LocalAws

ROOT = Path(__file__).resolve().parents[2]
APP = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
import aws_cdk as cdk
from lmi_constructs.presets import PRESETS
from stacks import PresetStack
app = cdk.App()
env = cdk.Environment(account="123456789012", region="us-east-1")
for name in PRESETS:
    PresetStack(app, "Try-" + name.replace(".", "-"), preset=name, model_bucket="my-models", env=env)
app.synth()
"""

pytestmark = [
    pytest.mark.deploy,
    pytest.mark.skipif(shutil.which("npx") is None, reason="needs Node.js"),
    pytest.mark.xdist_group("every-preset"),
]


@pytest.fixture(scope="module")
def deployed(
    running_aws: LocalAws, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    """The endpoints by preset, with their config and model, from one deployment of all stacks."""
    directory: Path = tmp_path_factory.mktemp("every-preset")
    (directory / "app.py").write_text(APP)
    running_aws.reset()
    cdk = CdkCli(running_aws, app=f"{sys.executable} app.py", directory=directory)
    cdk.bootstrap()
    cdk.deploy()
    return {name: _described(running_aws, name) for name in PRESETS}


def _described(aws: LocalAws, preset: str) -> dict[str, Any]:
    name = f"Try-{preset.replace('.', '-')}"
    (stack,) = aws.client("cloudformation").describe_stacks(StackName=name)["Stacks"]
    outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
    sagemaker = aws.client("sagemaker")
    endpoint = sagemaker.describe_endpoint(EndpointName=outputs["EndpointName"])
    config = sagemaker.describe_endpoint_config(EndpointConfigName=endpoint["EndpointConfigName"])
    (variant,) = config["ProductionVariants"]
    answer = aws.client("sagemaker-runtime").invoke_endpoint(
        EndpointName=endpoint["EndpointName"], Body=json.dumps({"inputs": "Hello"})
    )
    return {
        "endpoint": endpoint,
        "variant": variant,
        "model": sagemaker.describe_model(ModelName=variant["ModelName"]),
        "answer": answer["Body"].read(),
    }


@pytest.mark.parametrize("name", PRESETS)
def test_is_in_service_on_its_instance_and_answers(
    deployed: dict[str, dict[str, Any]], name: str
) -> None:
    found, table = deployed[name], PRESETS[name].table
    assert found["endpoint"]["EndpointStatus"] == "InService"
    assert found["variant"]["InstanceType"] == table.instance_type.value
    source = found["model"]["PrimaryContainer"]["ModelDataSource"]["S3DataSource"]
    assert source["S3Uri"] == f"s3://my-models/{name}/"
    assert found["answer"]
