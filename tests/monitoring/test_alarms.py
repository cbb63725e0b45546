"""Alarms and metrics: units, dimensions, words for an operator."""

from __future__ import annotations

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_sns as sns

from lmi_constructs import (
    AsyncInference,
    ContainerImage,
    LmiEndpoint,
    LmiError,
    LmiSettings,
    ModelData,
)
from lmi_constructs.facts.metrics import endpoint_metrics
from lmi_constructs.monitoring.alarms import ALARM_KINDS, EndpointAlarms

DATA = ModelData.s3_prefix("my-models", "m/")


@pytest.fixture
def endpoint(stack: cdk.Stack) -> LmiEndpoint:
    return LmiEndpoint(stack, "Chat", model_data=DATA, instance_type="ml.g6.12xlarge")


def alarms_of(resources: Any, stack: cdk.Stack) -> dict[str, dict[str, Any]]:
    return {alarm["MetricName"]: alarm for alarm in resources(stack, "AWS::CloudWatch::Alarm")}


def test_converts_seconds_to_the_microseconds_of_the_metric(
    endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any
) -> None:
    endpoint.add_alarms(
        p99_latency=cdk.Duration.seconds(30),
        p99_first_chunk_latency=cdk.Duration.millis(1500),
        p99_overhead_latency=cdk.Duration.millis(500),
    )
    found = alarms_of(resources, stack)
    assert found["ModelLatency"]["Threshold"] == 30_000_000
    assert found["ModelLatency"]["ExtendedStatistic"] == "p99"
    assert found["FirstChunkLatency"]["Threshold"] == 1_500_000
    assert found["OverheadLatency"]["Threshold"] == 500_000
    assert found["OverheadLatency"]["ExtendedStatistic"] == "p99"


def test_adds_gpu_percentages_up_as_cloudwatch_does(
    endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any
) -> None:
    endpoint.add_alarms(gpu_memory_utilization=97)
    assert alarms_of(resources, stack)["GPUMemoryUtilization"]["Threshold"] == 97 * 4


def test_makes_a_reasoned_set_by_default(
    endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any
) -> None:
    alarms = endpoint.add_alarms()
    found = alarms_of(resources, stack)
    assert sorted(found) == [
        "ConcurrentRequestsPerModel",
        "DiskUtilization",
        "Invocation5XXErrors",
        "MemoryUtilization",
    ]
    assert found["Invocation5XXErrors"]["Statistic"] == "Average"
    assert found["Invocation5XXErrors"]["Namespace"] == "AWS/SageMaker"
    assert found["DiskUtilization"]["Namespace"] == "/aws/sagemaker/Endpoints"
    assert len(alarms.all) == 4
    assert alarms.error_rate is not None
    assert alarms.p99_latency is None
    assert alarms.p99_overhead_latency is None


def queueing(resources: Any, stack: cdk.Stack) -> dict[str, Any] | None:
    return alarms_of(resources, stack).get("ConcurrentRequestsPerModel")


def test_hears_when_requests_queue_in_front_of_the_engine(stack: cdk.Stack, resources: Any) -> None:
    settings = LmiSettings(max_rolling_batch_size=48)
    endpoint = LmiEndpoint(
        stack, "Chat", model_data=DATA, instance_type="ml.g6.12xlarge", settings=settings
    )
    endpoint.add_alarms()
    alarm = queueing(resources, stack)
    assert alarm is not None
    assert (alarm["Threshold"], alarm["Statistic"]) == (48, "Maximum")
    assert alarm["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"
    assert "At least 48 requests are open at once" in alarm["AlarmDescription"]


@pytest.mark.parametrize(("given", "threshold"), [(20, 20), (None, None)])
def test_takes_another_number_of_open_requests_or_none(
    endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any, given: Any, threshold: Any
) -> None:
    endpoint.add_alarms(concurrent_requests=given)
    alarm = queueing(resources, stack)
    assert (alarm and alarm["Threshold"]) == threshold


@pytest.mark.parametrize(
    "keywords",
    [
        pytest.param({"container": ContainerImage.from_uri("vllm/vllm-openai:latest")}, id="image"),
        pytest.param(
            {"async_inference": AsyncInference(bucket="my-answers", output_prefix="ok/")},
            id="asynchronous endpoint",
        ),
    ],
)
def test_has_no_alarm_on_a_concurrency_that_is_not_known_or_not_published(
    stack: cdk.Stack, resources: Any, keywords: dict[str, Any]
) -> None:
    endpoint = LmiEndpoint(
        stack, "Chat", model_data=DATA, instance_type="ml.g6.12xlarge", **keywords
    )
    assert endpoint.add_alarms().concurrent_requests is None
    assert queueing(resources, stack) is None


def test_says_what_open_requests_are_given_as(endpoint: LmiEndpoint) -> None:
    wrong: Any = "queue"
    with pytest.raises(LmiError, match=r'LMI010 \S+ concurrent_requests(.|\n)*"engine" or None'):
        endpoint.add_alarms(concurrent_requests=wrong)


def test_never_fires_without_data(endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any) -> None:
    endpoint.add_alarms()
    for alarm in resources(stack, "AWS::CloudWatch::Alarm"):
        assert alarm["TreatMissingData"] == "notBreaching"


def test_tells_an_operator_what_to_do(
    endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any
) -> None:
    endpoint.add_alarms(p99_latency=cdk.Duration.seconds(30))
    found = alarms_of(resources, stack)
    assert "longer than 30 s" in found["ModelLatency"]["AlarmDescription"]
    assert "At least 1 % of requests" in found["Invocation5XXErrors"]["AlarmDescription"]
    for alarm in found.values():
        assert 60 < len(alarm["AlarmDescription"]) <= 1024


def test_says_a_small_share_as_it_is(
    endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any
) -> None:
    endpoint.add_alarms(error_rate=0.0004, client_error_rate=0.0125)
    found = alarms_of(resources, stack)
    assert "At least 0.04 % of" in found["Invocation5XXErrors"]["AlarmDescription"]
    assert "At least 1.25 % of" in found["Invocation4XXErrors"]["AlarmDescription"]


@pytest.mark.parametrize("seconds", [1, 5, 45])
def test_refuses_periods_that_no_alarm_can_have(endpoint: LmiEndpoint, seconds: int) -> None:
    with pytest.raises(LmiError, match="LMI088"):
        endpoint.metric("ModelLatency", period=cdk.Duration.seconds(seconds))


def test_notifies_a_topic(endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any) -> None:
    topic = sns.Topic(stack, "Pager")
    endpoint.add_alarms(topic=topic)
    for alarm in resources(stack, "AWS::CloudWatch::Alarm"):
        assert alarm["AlarmActions"] == [stack.resolve(topic.topic_arn)]


@pytest.mark.parametrize(
    "threshold",
    [
        {"error_rate": 5},
        {"error_rate": 0},
        {"client_error_rate": -1},
        {"disk_utilization": 101},
        {"memory_utilization": 0},
        {"gpu_memory_utilization": 360},
    ],
)
def test_refuses_a_threshold_that_cannot_be(
    endpoint: LmiEndpoint, threshold: dict[str, float]
) -> None:
    with pytest.raises(LmiError) as raised:
        endpoint.add_alarms(**threshold)  # type: ignore[arg-type]
    (finding,) = raised.value.findings
    assert (finding.rule, finding.where) == ("LMI088", next(iter(threshold)))


def test_refuses_alarms_on_what_asynchronous_endpoints_do_not_publish(stack: cdk.Stack) -> None:
    endpoint = LmiEndpoint(
        stack,
        "Chat",
        model_data=DATA,
        instance_type="ml.g6.12xlarge",
        async_inference=AsyncInference(bucket="my-answers", output_prefix="ok/"),
    )
    with pytest.raises(LmiError) as raised:
        endpoint.add_alarms(concurrent_requests=32, p99_overhead_latency=cdk.Duration.seconds(1))
    assert {(finding.rule, finding.where) for finding in raised.value.findings} == {
        ("LMI088", "concurrent_requests"),
        ("LMI088", "p99_overhead_latency"),
    }


def test_needs_the_number_of_gpus_for_their_memory(stack: cdk.Stack) -> None:
    endpoint = LmiEndpoint(stack, "Chat", model_data=DATA, instance_type="ml.g99.48xlarge")
    with pytest.raises(LmiError, match="LMI087"):
        endpoint.add_alarms(gpu_memory_utilization=97)


def test_refuses_a_metric_that_does_not_exist_and_names_the_nearest(endpoint: LmiEndpoint) -> None:
    with pytest.raises(LmiError, match=r"LMI085(.|\n)*did you mean ModelLatency?"):
        endpoint.metric("ModelLatencies")


@pytest.mark.parametrize(
    ("method", "metric", "statistic"),
    [
        ("metric_invocations", "Invocations", "Sum"),
        ("metric_invocations_per_instance", "InvocationsPerInstance", "Sum"),
        ("metric_concurrent_requests", "ConcurrentRequestsPerModel", "Maximum"),
        ("metric_model_latency", "ModelLatency", "p99"),
        ("metric_overhead_latency", "OverheadLatency", "p99"),
        ("metric_first_chunk_latency", "FirstChunkLatency", "p99"),
        ("metric_4xx_errors", "Invocation4XXErrors", "Average"),
        ("metric_5xx_errors", "Invocation5XXErrors", "Average"),
        ("metric_gpu_utilization", "GPUUtilization", "Average"),
        ("metric_gpu_memory_utilization", "GPUMemoryUtilization", "Average"),
        ("metric_memory_utilization", "MemoryUtilization", "Average"),
        ("metric_disk_utilization", "DiskUtilization", "Average"),
    ],
)
def test_offers_metrics_as_methods(
    endpoint: LmiEndpoint, method: str, metric: str, statistic: str
) -> None:
    made = getattr(endpoint, method)(period=cdk.Duration.minutes(5))
    assert made.metric_name == metric
    assert made.statistic == statistic
    assert made.period.to_minutes() == 5
    assert made.namespace == endpoint_metrics()[metric].namespace


def test_gives_every_metric_a_source_and_a_date() -> None:
    for row in endpoint_metrics().values():
        assert row.source
        assert row.as_of
        assert row.dimensions[0] in ("EndpointName", "InferenceComponentName")


def test_keeps_alarms_and_attributes_in_step() -> None:
    names = [kind.name for kind in ALARM_KINDS]
    assert set(names) == {name for name in EndpointAlarms.__annotations__ if name != "resource"}
    assert all(kind.metric in endpoint_metrics() for kind in ALARM_KINDS)


def test_takes_thresholds_that_are_known_at_deploy_time_only(
    endpoint: LmiEndpoint, resources: Any
) -> None:
    stack = cdk.Stack.of(endpoint)
    number = cdk.CfnParameter(stack, "Number", type="Number").value_as_number
    endpoint.add_alarms(
        error_rate=number,
        concurrent_requests=None,
        disk_utilization=None,
        memory_utilization=None,
    )
    (alarm,) = resources(stack, "AWS::CloudWatch::Alarm")
    assert alarm["Threshold"] == {"Ref": "Number"}
    assert {"Ref": "Number"} in alarm["AlarmDescription"]["Fn::Join"][1]


def test_refuses_thresholds_that_deploying_would_have_to_multiply(endpoint: LmiEndpoint) -> None:
    number = cdk.CfnParameter(cdk.Stack.of(endpoint), "Number", type="Number").value_as_number
    with pytest.raises(LmiError) as raised:
        endpoint.add_alarms(p99_latency=cdk.Duration.seconds(number), gpu_memory_utilization=number)
    assert {(finding.rule, finding.where) for finding in raised.value.findings} == {
        ("LMI088", "p99_latency"),
        ("LMI088", "gpu_memory_utilization"),
    }
