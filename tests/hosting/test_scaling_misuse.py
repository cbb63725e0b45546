"""Scaling as it is misused: metrics that cannot be tracked, steps that cannot be, nights at zero."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_applicationautoscaling as autoscaling
from aws_cdk import aws_cloudwatch as cloudwatch

from lmi_constructs import AsyncInference, LmiEndpoint, LmiError, LmiSettings, ModelData
from tests.hosting.fleets import NIGHTLY, STEPS, component_on, fleet_in, refused

ANSWERS = AsyncInference(bucket="answers", output_prefix="a/")
ALARM, POLICY = "AWS::CloudWatch::Alarm", "AWS::ApplicationAutoScaling::ScalingPolicy"
EXACT = autoscaling.AdjustmentType.EXACT_CAPACITY
TOKEN: Any = cdk.Token.as_number({"Fn::ImportValue": "Least"})


def endpoint_in(stack: cdk.Stack, **keywords: Any) -> LmiEndpoint:
    return LmiEndpoint(
        stack,
        "Chat",
        model_data=ModelData.s3_prefix("my-models", "m/"),
        instance_type="ml.g6.12xlarge",
        settings=LmiSettings(max_rolling_batch_size=64),
        **keywords,
    )


def test_what_is_written_instead_of_fewer_than_none_is_possible(stack: cdk.Stack) -> None:
    with pytest.raises(LmiError) as error:
        endpoint_in(stack).auto_scale_instance_count(min_capacity=-1, max_capacity=-2)
    assert [one.fix for one in error.value.findings if one.where == "max_capacity"] == [
        "give max_capacity at least 1"
    ]


@pytest.mark.parametrize(
    "metric",
    [
        cloudwatch.Metric(namespace="Mine", metric_name="Waiting", statistic="p99"),
        cloudwatch.Metric(namespace="Mine", metric_name="Waiting", region="eu-west-1"),
        cloudwatch.Metric(namespace="Mine", metric_name="Waiting", account="999922223333"),
    ],
    ids=["percentile", "region", "account"],
)
def test_refuses_to_track_what_a_policy_cannot_name(
    stack: cdk.Stack, metric: cloudwatch.Metric
) -> None:
    scaling = endpoint_in(stack).auto_scale_instance_count(max_capacity=2)
    assert refused(lambda: scaling.scale_to_track_metric("W", metric=metric, target=2)) == {
        ("LMI083", "metric")
    }


def test_steps_follow_a_metric_of_this_region(stack: cdk.Stack) -> None:
    scaling = endpoint_in(stack).auto_scale_instance_count(max_capacity=2)
    metric = cloudwatch.Metric(namespace="Mine", metric_name="Waiting", region="eu-west-1")
    assert refused(
        lambda: scaling.scale_on_metric("Steps", metric=metric, scaling_steps=STEPS)
    ) == {("LMI083", "metric")}


def test_tracks_a_metric_that_says_where_it_is_and_is_here(
    stack: cdk.Stack, resources: Any
) -> None:
    metric = cloudwatch.Metric(
        namespace="Mine", metric_name="Waiting", region=stack.region, account=stack.account
    )
    scaling = endpoint_in(stack).auto_scale_instance_count(max_capacity=2)
    scaling.scale_to_track_metric("Waiting", metric=metric, target=2)
    (policy,) = resources(stack, POLICY)
    tracked = policy["TargetTrackingScalingPolicyConfiguration"]["CustomizedMetricSpecification"]
    assert (tracked["MetricName"], tracked["Statistic"]) == ("Waiting", "Average")


@pytest.mark.parametrize(
    ("kind", "high", "message"),
    [
        (autoscaling.AdjustmentType.CHANGE_IN_CAPACITY, 1.5, "changes by 1.5"),
        (EXACT, -1, "sets the exact capacity -1"),
    ],
)
def test_refuses_steps_to_a_number_that_there_cannot_be(
    stack: cdk.Stack, kind: autoscaling.AdjustmentType, high: float, message: str
) -> None:
    endpoint = endpoint_in(stack)
    scaling = endpoint.auto_scale_instance_count(max_capacity=4)
    steps = [
        autoscaling.ScalingInterval(upper=4, change=-1 if kind != EXACT else 1),
        autoscaling.ScalingInterval(lower=20, change=high),
    ]
    with pytest.raises(LmiError, match=message) as error:
        scaling.scale_on_metric(
            "Steps",
            metric=endpoint.metric_concurrent_requests(),
            scaling_steps=steps,
            adjustment_type=kind,
        )
    (finding,) = error.value.findings
    assert (finding.rule, finding.where) == ("LMI083", "scaling_steps")


def test_an_exact_capacity_of_zero_is_a_change(stack: cdk.Stack, resources: Any) -> None:
    chat = component_on(fleet_in(stack))
    scaling = chat.auto_scale_copy_count(min_capacity=0, max_capacity=4)
    scaling.scale_to_zero()
    scaling.scale_on_metric(
        "Exact",
        metric=chat.metric_concurrent_requests_per_copy(),
        scaling_steps=[
            autoscaling.ScalingInterval(upper=1, change=0),
            autoscaling.ScalingInterval(lower=20, change=4),
        ],
        adjustment_type=EXACT,
    )
    adjusted = [
        step["ScalingAdjustment"]
        for policy in resources(stack, POLICY)
        for step in policy.get("StepScalingPolicyConfiguration", {}).get("StepAdjustments", ())
    ]
    assert {0, 4} <= set(adjusted)


@pytest.mark.parametrize("backlog_first", [True, False])
def test_a_night_at_zero_is_woken_up_from(
    stack: cdk.Stack, resources: Any, reported: Any, backlog_first: bool
) -> None:
    endpoint = endpoint_in(stack, async_inference=ANSWERS)
    scaling = endpoint.auto_scale_instance_count(min_capacity=1, max_capacity=2)
    if backlog_first:
        scaling.scale_on_backlog("Backlog", target_per_instance=4)
    scaling.scale_on_schedule("Night", schedule=NIGHTLY, min_capacity=0)
    if not backlog_first:
        scaling.scale_on_backlog("Backlog", target_per_instance=4)
    assert [one["MetricName"] for one in resources(stack, ALARM)] == ["HasBacklogWithoutCapacity"]
    assert "LMI083" not in {rule for rule, _ in reported(stack)}


def test_a_fewest_that_is_a_token_may_be_zero(stack: cdk.Stack, resources: Any) -> None:
    endpoint = endpoint_in(stack, async_inference=ANSWERS)
    scaling = endpoint.auto_scale_instance_count(min_capacity=TOKEN, max_capacity=2)
    scaling.scale_on_backlog("Backlog", target_per_instance=4)
    assert [one["MetricName"] for one in resources(stack, ALARM)] == ["HasBacklogWithoutCapacity"]


def test_days_and_nights_above_zero_need_nothing_to_wake_up(
    stack: cdk.Stack, resources: Any
) -> None:
    endpoint = endpoint_in(stack, async_inference=ANSWERS)
    scaling = endpoint.auto_scale_instance_count(min_capacity=1, max_capacity=2)
    scaling.scale_on_backlog("Backlog", target_per_instance=4)
    scaling.scale_on_schedule("Night", schedule=NIGHTLY, max_capacity=1)
    assert resources(stack, ALARM) == []


def test_warns_of_copies_that_a_schedule_takes_to_zero_and_nothing_brings_back(
    stack: cdk.Stack, reported: Any
) -> None:
    chat = component_on(fleet_in(stack))
    scaling = chat.auto_scale_copy_count(min_capacity=1, max_capacity=2)
    scaling.scale_on_concurrency("Concurrency")
    scaling.scale_on_schedule("Night", schedule=NIGHTLY, min_capacity=0)
    assert "LMI083" in {rule for rule, _ in reported(stack)}


@pytest.mark.parametrize(
    "expression",
    ["", "cron(0 7 * * *)", "rate(0 minutes)", "rate(5 weeks)", "rate(5)", "at(tomorrow)", "at()"],
)
def test_refuses_a_schedule_that_is_none(stack: cdk.Stack, expression: str) -> None:
    scaling = endpoint_in(stack).auto_scale_instance_count(max_capacity=2)
    schedule = autoscaling.Schedule.expression(expression)
    assert refused(
        lambda: scaling.scale_on_schedule("Morning", schedule=schedule, min_capacity=1)
    ) == {("LMI083", "schedule")}


@pytest.mark.parametrize(
    "expression",
    ["cron(0 7 ? * MON-FRI *)", "rate(1 hour)", "rate(5 minutes)", "at(2027-01-31T07:30:00)"],
)
def test_takes_each_kind_of_schedule(stack: cdk.Stack, resources: Any, expression: str) -> None:
    scaling = endpoint_in(stack).auto_scale_instance_count(max_capacity=2)
    schedule = autoscaling.Schedule.expression(expression)
    scaling.scale_on_schedule("Morning", schedule=schedule, min_capacity=1)
    (target,) = resources(stack, "AWS::ApplicationAutoScaling::ScalableTarget")
    assert target["ScheduledActions"][0]["Schedule"] == expression


def test_takes_what_the_cdk_makes_of_times(stack: cdk.Stack) -> None:
    scaling = endpoint_in(stack).auto_scale_instance_count(max_capacity=2)
    made = [
        autoscaling.Schedule.at(datetime(2027, 1, 31, 7, 30, tzinfo=timezone.utc)),
        autoscaling.Schedule.rate(cdk.Duration.hours(1)),
        autoscaling.Schedule.rate(cdk.Duration.minutes(90)),
        autoscaling.Schedule.cron(hour="7"),
    ]
    for number, schedule in enumerate(made):
        scaling.scale_on_schedule(f"Action{number}", schedule=schedule, min_capacity=1)
