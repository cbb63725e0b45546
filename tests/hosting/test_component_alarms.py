"""Alarms of one component: its own errors and latencies, whoever shares the instances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns

from lmi_constructs import LmiError, LmiSettings
from tests.hosting.fleets import ARCHIVE, STEPS, component_on, fleet_in, scaling_of

if TYPE_CHECKING:
    from lmi_constructs import LmiInferenceComponent

ALARM = "AWS::CloudWatch::Alarm"


def chat_in(stack: cdk.Stack, **keywords: Any) -> LmiInferenceComponent:
    made: LmiInferenceComponent = component_on(fleet_in(stack), component_name="chat", **keywords)
    return made


def test_watches_errors_and_the_engines_concurrency_by_default(
    stack: cdk.Stack, resources: Any
) -> None:
    chat_in(stack).add_alarms()
    made = {
        alarm["MetricName"]: (alarm["Threshold"], alarm["Dimensions"])
        for alarm in resources(stack, ALARM)
    }
    own = [{"Name": "InferenceComponentName", "Value": "chat"}]
    assert made == {"Invocation5XXErrors": (0.01, own), "ConcurrentRequestsPerCopy": (32, own)}


def test_latencies_are_given_as_durations_and_told_in_words(
    stack: cdk.Stack, resources: Any
) -> None:
    alarms = chat_in(stack).add_alarms(
        error_rate=None, concurrent_requests=None, p99_latency=cdk.Duration.seconds(30)
    )
    (alarm,) = resources(stack, ALARM)
    assert (alarm["Threshold"], alarm["ExtendedStatistic"]) == (30_000_000, "p99")
    assert "longer than 30 s" in alarm["AlarmDescription"]
    assert alarms.error_rate is None


def test_tells_one_topic_of_each_and_pages_once(stack: cdk.Stack, resources: Any) -> None:
    topic = sns.Topic(stack, "Topic")
    alarms = chat_in(stack).add_alarms(topic=topic, paging_topic=topic)
    assert all(len(alarm["AlarmActions"]) == 1 for alarm in resources(stack, ALARM))
    (incident,) = resources(stack, "AWS::CloudWatch::CompositeAlarm")
    assert len(incident["AlarmActions"]) == 1
    assert alarms.composite is not None


def test_a_tenant_has_alarms_of_its_own_and_none_on_copies(
    stack: cdk.Stack, resources: Any
) -> None:
    adapter = chat_in(stack).add_adapter("Acme", ARCHIVE, component_name="acme")
    adapter.add_alarms()
    (alarm,) = resources(stack, ALARM)
    assert alarm["MetricName"] == "Invocation5XXErrors"
    assert alarm["Dimensions"] == [{"Name": "InferenceComponentName", "Value": "acme"}]


@pytest.mark.parametrize(
    "keywords", [{"error_rate": 5}, {"error_rate": 0}, {"concurrent_requests": -1}]
)
def test_refuses_what_would_always_or_never_fire(
    stack: cdk.Stack, keywords: dict[str, Any]
) -> None:
    with pytest.raises(LmiError) as raised:
        chat_in(stack).add_alarms(**keywords)
    assert [(one.rule, one.where) for one in raised.value.findings] == [("LMI088", *keywords)]


def test_takes_a_share_that_is_known_when_deployed_and_no_such_duration(
    stack: cdk.Stack, resources: Any
) -> None:
    given = cdk.CfnParameter(stack, "Given", type="Number").value_as_number
    chat = chat_in(stack)
    with pytest.raises(LmiError, match="LMI088"):
        chat.add_alarms(p99_latency=cdk.Duration.seconds(given))


def test_has_no_alarm_on_a_concurrency_that_nobody_knows(stack: cdk.Stack, resources: Any) -> None:
    token = cdk.CfnParameter(stack, "Given", type="Number").value_as_number
    settings = LmiSettings(tensor_parallel_degree=1, max_rolling_batch_size=token)
    chat_in(stack, settings=settings).add_alarms()
    assert [alarm["MetricName"] for alarm in resources(stack, ALARM)] == ["Invocation5XXErrors"]


def test_the_rules_have_nothing_against_them(stack: cdk.Stack, reported: Any) -> None:
    chat_in(stack).add_alarms(client_error_rate=0.1, p99_latency=cdk.Duration.seconds(30))
    assert not {rule for rule, _ in reported(stack)} & {"LMI085", "LMI086", "LMI088", "LMI089"}


@pytest.mark.parametrize(
    ("period", "count", "most"),
    [(cdk.Duration.minutes(5), 289, 288), (cdk.Duration.days(1), 8, 7)],
    ids=["a day of short periods", "a week of long ones"],
)
def test_an_alarm_looks_no_further_back_than_cloudwatch_does(
    stack: cdk.Stack, period: cdk.Duration, count: int, most: int
) -> None:
    chat = chat_in(stack)
    with pytest.raises(LmiError, match=f"give {most} or fewer") as error:
        chat.add_no_capacity_alarm(period=period, evaluation_periods=count)
    assert [(one.rule, one.where) for one in error.value.findings] == [
        ("LMI088", "evaluation_periods")
    ]
    assert chat.add_no_capacity_alarm(period=period, evaluation_periods=most) is not None


def test_steps_look_no_further_back_either(stack: cdk.Stack) -> None:
    scaling = scaling_of(stack)
    metric = cloudwatch.Metric(
        namespace="Mine", metric_name="Waiting", period=cdk.Duration.minutes(5)
    )
    with pytest.raises(LmiError, match="give 288 or fewer"):
        scaling.scale_on_metric("Steps", metric=metric, scaling_steps=STEPS, evaluation_periods=300)
