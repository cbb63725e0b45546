"""Updates: what is rendered, what is refused, and what takes one back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest

from lmi_constructs import LmiEndpoint, LmiError, ModelData, Rollout

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = ModelData.s3_prefix("my-models", "m/")
TEN_MINUTES = cdk.Duration.minutes(10)


def endpoint_of(
    stack: cdk.Stack, rollout: Rollout, *, count: int = 4, name: str | None = None
) -> LmiEndpoint:
    return LmiEndpoint(
        stack,
        "Chat",
        model_data=DATA,
        instance_type="ml.g6.12xlarge",
        initial_instance_count=count,
        deployment=rollout,
        endpoint_name=name,
    )


@pytest.mark.parametrize(
    ("rollout", "rendered"),
    [
        (
            Rollout.canary(percent=25, bake_time=TEN_MINUTES, termination_wait=TEN_MINUTES),
            {
                "BlueGreenUpdatePolicy": {
                    "TrafficRoutingConfiguration": {
                        "Type": "CANARY",
                        "CanarySize": {"Type": "CAPACITY_PERCENT", "Value": 25},
                        "WaitIntervalInSeconds": 600,
                    },
                    "TerminationWaitInSeconds": 600,
                }
            },
        ),
        (
            Rollout.linear(percent=50, bake_time=TEN_MINUTES),
            {
                "BlueGreenUpdatePolicy": {
                    "TrafficRoutingConfiguration": {
                        "Type": "LINEAR",
                        "LinearStepSize": {"Type": "CAPACITY_PERCENT", "Value": 50},
                        "WaitIntervalInSeconds": 600,
                    }
                }
            },
        ),
        (
            Rollout.rolling(percent=25, bake_time=TEN_MINUTES),
            {
                "RollingUpdatePolicy": {
                    "MaximumBatchSize": {"Type": "CAPACITY_PERCENT", "Value": 25},
                    "WaitIntervalInSeconds": 600,
                }
            },
        ),
        (
            Rollout.blue_green(),
            {
                "BlueGreenUpdatePolicy": {
                    "TrafficRoutingConfiguration": {
                        "Type": "ALL_AT_ONCE",
                        "WaitIntervalInSeconds": 0,
                    }
                }
            },
        ),
    ],
    ids=["canary", "linear", "rolling", "blue-green"],
)
def test_renders_the_policy(
    stack: cdk.Stack, resources: Any, rollout: Rollout, rendered: dict[str, Any]
) -> None:
    endpoint_of(stack, rollout)
    (endpoint,) = resources(stack, "AWS::SageMaker::Endpoint")
    assert endpoint["DeploymentConfig"] == rendered


def test_rolls_back_on_errors_and_latencies_without_a_circle(
    stack: cdk.Stack, template: Callable[[cdk.Stack], dict[str, Any]]
) -> None:
    endpoint = endpoint_of(stack, Rollout.canary(percent=25, bake_time=TEN_MINUTES))
    alarms = endpoint.add_alarms(
        p99_latency=cdk.Duration.seconds(30), client_error_rate=0.1, disk_utilization=80
    )
    endpoint.roll_back_on(alarms)
    found = template(stack)["Resources"]
    (rendered,) = (item for item in found.values() if item["Type"] == "AWS::SageMaker::Endpoint")
    names = rendered["Properties"]["DeploymentConfig"]["AutoRollbackConfiguration"]["Alarms"]
    assert [found[name["AlarmName"]["Ref"]]["Properties"]["MetricName"] for name in names] == [
        "Invocation5XXErrors",
        "ModelLatency",
    ]
    name = rendered["Properties"]["EndpointName"]
    for item in found.values():
        if item["Type"] == "AWS::CloudWatch::Alarm":
            assert {"Name": "EndpointName", "Value": name} in item["Properties"]["Dimensions"]
    policies = [item for item in found.values() if item["Type"] == "AWS::IAM::Policy"]
    assert "cloudwatch:DescribeAlarms" in str(policies)


def test_the_name_follows_from_the_place_or_is_the_users(stack: cdk.Stack, resources: Any) -> None:
    endpoint_of(stack, Rollout.blue_green(), name="chat")
    (endpoint,) = resources(stack, "AWS::SageMaker::Endpoint")
    assert endpoint["EndpointName"] == "chat"
    other = cdk.Stack(cdk.App(), "Other")
    endpoint_of(other, Rollout.blue_green())
    (generated,) = resources(other, "AWS::SageMaker::Endpoint")
    assert generated["EndpointName"].startswith("Other-Chat")


def test_alarms_of_ones_own_take_an_update_back(stack: cdk.Stack, resources: Any) -> None:
    endpoint = endpoint_of(stack, Rollout.blue_green())
    alarm = endpoint.metric_first_chunk_latency().create_alarm(
        stack, "Slow", threshold=3_000_000, evaluation_periods=1
    )
    endpoint.roll_back_on([alarm])
    (rendered,) = resources(stack, "AWS::SageMaker::Endpoint")
    (named,) = rendered["DeploymentConfig"]["AutoRollbackConfiguration"]["Alarms"]
    assert named == {"AlarmName": stack.resolve(alarm.alarm_name)}


def test_refuses_to_roll_back_without_a_rollout_or_alarms(stack: cdk.Stack) -> None:
    plain = LmiEndpoint(stack, "Plain", model_data=DATA, instance_type="ml.g6.12xlarge")
    with pytest.raises(LmiError, match="LMI073"):
        plain.roll_back_on(plain.add_alarms())
    with pytest.raises(LmiError, match="0 alarms"):
        endpoint_of(stack, Rollout.blue_green()).roll_back_on([])


@pytest.mark.parametrize(
    ("rollout", "rule"),
    [
        (Rollout.canary(percent=60, bake_time=TEN_MINUTES), "LMI071"),
        (Rollout.linear(percent=5, bake_time=TEN_MINUTES), "LMI071"),
        (Rollout.rolling(percent=4, bake_time=TEN_MINUTES), "LMI071"),
        (Rollout.canary(percent=25, bake_time=cdk.Duration.hours(2)), "LMI071"),
    ],
)
def test_refuses_what_sagemaker_does_not_take(
    stack: cdk.Stack, rollout: Rollout, rule: str
) -> None:
    with pytest.raises(LmiError, match=rule):
        endpoint_of(stack, rollout)


def test_warns_of_a_step_that_is_no_whole_instance(stack: cdk.Stack, reported: Any) -> None:
    endpoint_of(stack, Rollout.canary(percent=25, bake_time=TEN_MINUTES), count=2)
    assert "LMI072" in {rule for rule, _ in reported(stack)}


def test_leaves_a_count_that_is_not_known_alone(stack: cdk.Stack) -> None:
    count = cdk.CfnParameter(stack, "Count", type="Number").value_as_number
    rollout = Rollout.canary(percent=25, bake_time=TEN_MINUTES)
    endpoint_of(stack, rollout, count=count)  # type: ignore[arg-type]
