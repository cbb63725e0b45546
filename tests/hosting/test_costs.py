"""What an endpoint costs at synth: calls over the bridge and resources. Counts do not wobble."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest

from lmi_constructs import LmiEndpoint, LmiSettings, ModelData

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = ModelData.s3_prefix("my-models", "m/")
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(autouse=True)
def _without_nag(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count as in an app without cdk-nag, whatever other tests of the process have loaded."""
    monkeypatch.delitem(sys.modules, "cdk_nag", raising=False)


def plain_endpoint(stack: cdk.Stack, id: str = "Chat") -> LmiEndpoint:
    return LmiEndpoint(
        stack,
        id,
        model_data=DATA,
        instance_type="ml.g6.12xlarge",
        settings=LmiSettings(max_rolling_batch_size=64),
    )


def test_makes_a_plain_endpoint_with_few_calls_over_the_bridge(
    stack: cdk.Stack, bridge_calls: list[str]
) -> None:
    plain_endpoint(stack, "Warm")
    bridge_calls.clear()
    plain_endpoint(stack)
    assert 0 < len(bridge_calls) <= 12


def test_makes_scaling_and_two_alarms_with_few_calls_over_the_bridge(
    stack: cdk.Stack, bridge_calls: list[str]
) -> None:
    latency = cdk.Duration.seconds(30)
    plain_endpoint(stack, "Warm").add_alarms()
    bridge_calls.clear()
    endpoint = plain_endpoint(stack)
    endpoint.auto_scale_instance_count(max_capacity=4).scale_on_concurrency("Concurrency")
    endpoint.add_alarms(
        p99_latency=latency,
        concurrent_requests=None,
        disk_utilization=None,
        memory_utilization=None,
    )
    assert 0 < len(bridge_calls) <= 25


def test_loads_the_rules_only_at_synth() -> None:
    program = """
import sys
from lmi_constructs import LmiEndpoint, LmiSettings, ModelData
late = ["lmi_constructs.checks.rules", "lmi_constructs.planner"]
late += ["boto3", "moto", "click", "jinja2"]
assert not [name for name in late if name in sys.modules], sys.modules.keys()
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT, capture_output=True)


def test_makes_eight_resources_with_scaling_and_two_alarms(
    stack: cdk.Stack, template: Callable[[cdk.Stack], dict[str, Any]]
) -> None:
    endpoint = plain_endpoint(stack)
    endpoint.auto_scale_instance_count(max_capacity=4).scale_on_concurrency("Concurrency")
    endpoint.add_alarms(concurrent_requests=None, disk_utilization=None)
    assert sorted(item["Type"] for item in template(stack)["Resources"].values()) == [
        "AWS::ApplicationAutoScaling::ScalableTarget",
        "AWS::ApplicationAutoScaling::ScalingPolicy",
        "AWS::CloudWatch::Alarm",
        "AWS::CloudWatch::Alarm",
        "AWS::IAM::Role",
        "AWS::SageMaker::Endpoint",
        "AWS::SageMaker::EndpointConfig",
        "AWS::SageMaker::Model",
    ]


def test_loads_heavy_cdk_modules_only_when_they_are_used() -> None:
    program = """
import sys
import aws_cdk as cdk
from lmi_constructs import LmiEndpoint, ModelData
stack = cdk.Stack(cdk.App(), "S", env=cdk.Environment(account="111122223333", region="us-west-2"))
LmiEndpoint(stack, "E", model_data=ModelData.s3_prefix("b1b", "m/"), instance_type="ml.g6.12xlarge")
heavy = ["ec2", "kms", "lambda", "secretsmanager", "s3_assets", "cloudwatch", "sns"]
assert not [name for name in heavy if f"aws_cdk.aws_{name}" in sys.modules], sys.modules.keys()
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT, capture_output=True)


def test_acknowledges_at_once_where_cdk_nag_is_loaded(
    stack: cdk.Stack, bridge_calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain_endpoint(stack, "Warm")
    bridge_calls.clear()
    plain_endpoint(stack, "Without")
    without = len(bridge_calls)
    monkeypatch.setitem(sys.modules, "cdk_nag", ModuleType("cdk_nag"))
    bridge_calls.clear()
    plain_endpoint(stack, "With")
    assert bridge_calls.count("InvokeRequest") == 1
    assert without < len(bridge_calls) <= without + 4
