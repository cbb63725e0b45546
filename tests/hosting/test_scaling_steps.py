"""Step scaling: what the CDK would refuse in its own words, or render though it harms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_applicationautoscaling as autoscaling

from lmi_constructs import LmiEndpoint, LmiError, LmiSettings, ModelData

if TYPE_CHECKING:
    from lmi_constructs.hosting import ScalableInstanceCount

Step = autoscaling.ScalingInterval
UP_AND_DOWN = [Step(upper=5, change=-1), Step(lower=40, change=+1), Step(lower=80, change=+3)]


@pytest.fixture
def endpoint(stack: cdk.Stack) -> LmiEndpoint:
    return LmiEndpoint(
        stack,
        "Chat",
        model_data=ModelData.s3_prefix("my-models", "m/"),
        instance_type="ml.g6.12xlarge",
        settings=LmiSettings(max_rolling_batch_size=64),
        startup_timeout=cdk.Duration.seconds(1500),
    )


@pytest.fixture
def scaling(endpoint: LmiEndpoint) -> ScalableInstanceCount:
    return endpoint.auto_scale_instance_count(max_capacity=8)


def test_renders_a_policy_and_an_alarm_for_each_direction(
    scaling: ScalableInstanceCount, endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any
) -> None:
    metric = endpoint.metric_concurrent_requests()
    scaling.scale_on_metric("Steps", metric=metric, scaling_steps=UP_AND_DOWN)
    policies = [
        item["StepScalingPolicyConfiguration"]
        for item in resources(stack, "AWS::ApplicationAutoScaling::ScalingPolicy")
    ]
    assert [item["StepAdjustments"] for item in policies] == [
        [{"MetricIntervalUpperBound": 0, "ScalingAdjustment": -1}],
        [
            {
                "MetricIntervalLowerBound": 0,
                "MetricIntervalUpperBound": 40,
                "ScalingAdjustment": 1,
            },
            {"MetricIntervalLowerBound": 40, "ScalingAdjustment": 3},
        ],
    ]
    assert {item["Cooldown"] for item in policies} == {1500}
    thresholds = {item["Threshold"] for item in resources(stack, "AWS::CloudWatch::Alarm")}
    assert thresholds == {5, 40}


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([Step(lower=40, change=1)], "1 of at least 2 changes"),
        ([Step(upper=5, change=0), Step(lower=40, change=1)], "1 of at least 2 changes"),
        ([Step(change=1), Step(lower=40, change=1)], "neither lower nor upper"),
        ([Step(lower=0, upper=20, change=-1), Step(lower=10, change=1)], "overlap"),
        ([Step(upper=20, change=-1), Step(lower=10, change=1)], "overlap"),
        (
            [
                Step(upper=5, change=-1),
                Step(lower=40, upper=60, change=1),
                Step(lower=80, change=3),
            ],
            "nothing changes at 5 to 40 and at 60 to 80",
        ),
        ([Step(upper=5, change=-1), Step(lower=40, upper=30, change=1)], "ends before it begins"),
    ],
)
def test_refuses_steps_that_cannot_be(
    scaling: ScalableInstanceCount, endpoint: LmiEndpoint, steps: list[Step], words: str
) -> None:
    metric = endpoint.metric_concurrent_requests()
    with pytest.raises(LmiError, match=words) as caught:
        scaling.scale_on_metric("Steps", metric=metric, scaling_steps=steps)
    assert {finding.rule for finding in caught.value.findings} == {"LMI083"}


@pytest.mark.parametrize(
    "steps",
    [
        [Step(upper=5, change=+1), Step(lower=40, change=-1)],
        [Step(upper=5, change=-1), Step(lower=40, upper=80, change=3), Step(lower=80, change=1)],
    ],
    ids=["the wrong way round", "up and down"],
)
def test_warns_of_steps_that_harm(
    scaling: ScalableInstanceCount,
    endpoint: LmiEndpoint,
    stack: cdk.Stack,
    reported: Any,
    steps: list[Step],
) -> None:
    metric = endpoint.metric_concurrent_requests()
    scaling.scale_on_metric("Steps", metric=metric, scaling_steps=steps)
    assert "LMI084" in {rule for rule, _ in reported(stack)}


def test_says_nothing_of_good_steps(
    scaling: ScalableInstanceCount, endpoint: LmiEndpoint, stack: cdk.Stack, reported: Any
) -> None:
    metric = endpoint.metric_concurrent_requests()
    scaling.scale_on_metric("Steps", metric=metric, scaling_steps=UP_AND_DOWN)
    assert not {rule for rule, _ in reported(stack)} & {"LMI083", "LMI084"}


def test_takes_steps_that_are_known_only_when_deployed(
    scaling: ScalableInstanceCount, endpoint: LmiEndpoint, stack: cdk.Stack
) -> None:
    change = cdk.CfnParameter(stack, "Change", type="Number").value_as_number
    scaling.scale_on_metric(
        "Steps",
        metric=endpoint.metric_concurrent_requests(),
        scaling_steps=[Step(upper=5, change=-1), Step(lower=40, change=change)],
    )


@pytest.mark.parametrize("name", ["GPUUtilization", "GPUMemoryUtilization"])
def test_warns_of_gpus_as_a_scaling_signal(
    scaling: ScalableInstanceCount,
    endpoint: LmiEndpoint,
    stack: cdk.Stack,
    reported: Any,
    name: str,
) -> None:
    steps = [Step(upper=10, change=-1), Step(lower=90, change=+1)]
    scaling.scale_on_metric("Steps", metric=endpoint.metric(name), scaling_steps=steps)
    assert "LMI084" in {rule for rule, _ in reported(stack)}


def test_warns_of_tracking_gpus(
    scaling: ScalableInstanceCount, endpoint: LmiEndpoint, stack: cdk.Stack, reported: Any
) -> None:
    scaling.scale_to_track_metric("Gpu", metric=endpoint.metric("GPUUtilization"), target=90)
    assert "LMI084" in {rule for rule, _ in reported(stack)}
