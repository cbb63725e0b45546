"""Fleets and tenants through the real CDK CLI: updates touch what changed, and all goes away."""

from __future__ import annotations

import json
import re
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest

from lmi_constructs.local import CdkCli, CdkError, LocalAws

if TYPE_CHECKING:
    from pathlib import Path

APP = """
import json
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from lmi_constructs import (
    AdapterData, LmiAdapter, LmiFleet, LmiInferenceComponent, LmiSettings, ModelData, S3Location,
    ManagedInstanceScaling, Rollout,
)

given = json.loads(Path("given.json").read_text())
app = cdk.App()
where = cdk.Environment(account="123456789012", region="us-east-1")


def base_on(stack, id, **keywords):
    fleet = LmiFleet(
        stack, f"{id}Fleet", instance_type="ml.g6.12xlarge",
        managed_instance_scaling=ManagedInstanceScaling(1, 3),
    )
    base = LmiInferenceComponent(
        stack, id, fleet=fleet, min_memory=cdk.Size.gibibytes(32),
        model_data=ModelData.s3_prefix("models", "qwen3-8b/", architecture="Qwen/Qwen3-8B"),
        settings=LmiSettings(
            tensor_parallel_degree=2, enable_lora=True, max_lora_rank=32, max_loras=4,
            max_cpu_loras=16, max_rolling_batch_size=32, max_model_len=given["length"],
        ),
        **keywords,
    )
    base.auto_scale_copy_count(max_capacity=2).scale_on_concurrency("Concurrency")
    fleet.add_alarms()
    base.add_no_capacity_alarm()
    rolling = Rollout.rolling(percent=50, bake_time=cdk.Duration.minutes(0))
    base.roll_back_on(base.add_alarms(), rollout=rolling)
    cdk.CfnOutput(stack, "EndpointName", value=fleet.endpoint_name)
    cdk.CfnOutput(stack, "EndpointArn", value=fleet.endpoint_arn)
    return base


def serve(scope, base, tenant):
    data = AdapterData.s3_archive("models", f"adapters/{tenant}.tar.gz", rank=16)
    adapter = LmiAdapter(scope, tenant, base=base, data=data)
    adapter.add_no_capacity_alarm()
    role = iam.Role(scope, f"{tenant}-caller", assumed_by=iam.AccountRootPrincipal())
    adapter.grant_invoke(role)


shared = cdk.Stack(app, "Shared", env=where)
of_shared = base_on(shared, "Base", adapter_location=S3Location("models", "adapters/"))
inside = cdk.Stack(app, "Inside", env=where)
of_inside = base_on(inside, "Base")
apart = cdk.Stack(app, "Apart", env=where)
for tenant in given["tenants"]:
    serve(inside, of_inside, tenant)
    serve(apart, of_shared, tenant)
app.synth()
"""


OLD_MODEL = "BaseModel9ECA5495"
"""What is cleaned up is named by its logical id."""
SHARED_IN_USE = r"Export Shared:\S+ cannot be deleted as it is in use by Apart"


def touched(output: str, stack: str) -> set[str]:
    """Return the construct paths or logical ids that a deployment made, changed or deleted."""
    row = rf"^{stack} +\|[^|]*\|[^|]*\| \w+_IN_PROGRESS +\| (?!AWS::CloudFormation)[^|]*\| (\S+)"
    return set(re.findall(row, output, re.MULTILINE))


@pytest.mark.deploy
@pytest.mark.skipif(shutil.which("npx") is None, reason="needs Node.js")
def test_a_tenant_comes_and_goes_alone_and_stacks_go_in_any_order(
    aws: LocalAws, tmp_path: Path
) -> None:
    def give(*tenants: str, length: int = 8192) -> None:
        given = {"tenants": tenants, "length": length}
        (tmp_path / "given.json").write_text(json.dumps(given))

    def deploy(*tenants: str, length: int = 8192) -> str:
        give(*tenants, length=length)
        return cdk.deploy().output

    (tmp_path / "app.py").write_text(APP)
    give()
    cdk = CdkCli(aws, app=f"{sys.executable} app.py", directory=tmp_path)
    cdk.bootstrap()
    deploy("acme")
    for now in (("acme", "globex"), ("globex",)):
        output = deploy(*now)
        for stack in ("Inside", "Apart"):
            name = "globex" if len(now) > 1 else "acme"
            assert touched(output, stack)
            assert all(one.startswith(name) for one in touched(output, stack)), output
        assert not touched(output, "Shared")
    output = deploy("globex", length=4096)
    assert {one.partition("/")[0] for one in touched(output, "Inside")} <= {"Base", OLD_MODEL}
    assert not touched(output, "Apart")
    cdk.destroy("Inside")
    with pytest.raises(CdkError, match=SHARED_IN_USE):
        cdk.destroy("Shared", "--exclusively")
    cdk.destroy("Shared")
    assert left(aws) == {"endpoints": 0, "components": 0, "alarms": 0, "stacks": 1}


def left(aws: LocalAws) -> dict[str, int]:
    """Return how much there is; the one stack is the bootstrap's."""
    sagemaker: Any = aws.client("sagemaker")
    return {
        "endpoints": len(sagemaker.list_endpoints()["Endpoints"]),
        "components": len(sagemaker.list_inference_components()["InferenceComponents"]),
        "alarms": len(aws.client("cloudwatch").describe_alarms()["MetricAlarms"]),
        "stacks": len(aws.client("cloudformation").describe_stacks()["Stacks"]),
    }
