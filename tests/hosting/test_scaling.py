"""Scaling: what is rendered is what was said, and updates keep what scaling chose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_applicationautoscaling as autoscaling

from lmi_constructs import AsyncInference, LmiEndpoint, LmiError, LmiSettings, ModelData
from lmi_constructs.hosting.scaling._checks import check_tracked_metric

if TYPE_CHECKING:
    from lmi_constructs.hosting import ScalableInstanceCount

DATA = ModelData.s3_prefix("my-models", "m/")
SCALING_POLICY = "AWS::ApplicationAutoScaling::ScalingPolicy"


@pytest.fixture
def endpoint(stack: cdk.Stack) -> LmiEndpoint:
    return LmiEndpoint(
        stack,
        "Chat",
        model_data=DATA,
        instance_type="ml.g6.12xlarge",
        settings=LmiSettings(max_rolling_batch_size=64),
        startup_timeout=cdk.Duration.seconds(1500),
    )


def policy_of(resources: Any, stack: cdk.Stack) -> dict[str, Any]:
    (policy,) = resources(stack, "AWS::ApplicationAutoScaling::ScalingPolicy")
    return dict(policy["TargetTrackingScalingPolicyConfiguration"])


def test_registers_the_instance_count_of_the_endpoint(
    endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any
) -> None:
    endpoint.auto_scale_instance_count(min_capacity=1, max_capacity=4)
    (target,) = resources(stack, "AWS::ApplicationAutoScaling::ScalableTarget")
    name = {"Fn::GetAtt": ["Chat26DEB33F", "EndpointName"]}
    assert target == {
        "ServiceNamespace": "sagemaker",
        "ScalableDimension": "sagemaker:variant:DesiredInstanceCount",
        "ResourceId": {"Fn::Join": ["", ["endpoint/", name, "/variant/AllTraffic"]]},
        "MinCapacity": 1,
        "MaxCapacity": 4,
    }


def test_depends_on_the_endpoint_even_with_a_fixed_name(stack: cdk.Stack, resources: Any) -> None:
    endpoint = LmiEndpoint(
        stack, "Chat", model_data=DATA, instance_type="ml.g6.12xlarge", endpoint_name="chat"
    )
    endpoint.auto_scale_instance_count(max_capacity=2)
    (target,) = resources(stack, "AWS::ApplicationAutoScaling::ScalableTarget")
    assert "Fn::GetAtt" in str(target["ResourceId"])


def test_makes_no_role_of_its_own(endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any) -> None:
    endpoint.auto_scale_instance_count(max_capacity=2).scale_on_concurrency("Concurrency")
    assert len(resources(stack, "AWS::IAM::Role")) == 1


def test_lets_updates_keep_the_scaled_capacity_and_nothing_else(
    endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any
) -> None:
    endpoint.auto_scale_instance_count(max_capacity=2)
    (rendered,) = resources(stack, "AWS::SageMaker::Endpoint")
    assert rendered["RetainAllVariantProperties"] is True
    assert rendered["ExcludeRetainedVariantProperties"] == [
        {"VariantPropertyType": "DesiredWeight"},
        {"VariantPropertyType": "DataCaptureConfig"},
    ]


def test_lets_updates_change_the_count_of_an_unscaled_endpoint(
    endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any
) -> None:
    (rendered,) = resources(stack, "AWS::SageMaker::Endpoint")
    assert "RetainAllVariantProperties" not in rendered


def test_derives_the_target_from_the_concurrency_of_the_engine(
    endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any
) -> None:
    endpoint.auto_scale_instance_count(max_capacity=2).scale_on_concurrency("Concurrency")
    policy = policy_of(resources, stack)
    assert policy["TargetValue"] == 38
    assert policy["PredefinedMetricSpecification"] == {
        "PredefinedMetricType": "SageMakerVariantConcurrentRequestsPerModelHighResolution"
    }


def test_knows_the_concurrency_of_an_engine_with_default_settings(
    stack: cdk.Stack, resources: Any
) -> None:
    endpoint = LmiEndpoint(stack, "Chat", model_data=DATA, instance_type="ml.g6.12xlarge")
    endpoint.auto_scale_instance_count(max_capacity=2).scale_on_concurrency("Concurrency")
    assert policy_of(resources, stack)["TargetValue"] == 19


def test_renders_a_target_as_it_is_given(
    endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any
) -> None:
    scaling = endpoint.auto_scale_instance_count(max_capacity=2)
    scaling.scale_on_invocations("Invocations", target_invocations_per_minute=2)
    policy = policy_of(resources, stack)
    assert policy["TargetValue"] == 2
    assert policy["PredefinedMetricSpecification"] == {
        "PredefinedMetricType": "SageMakerVariantInvocationsPerInstance"
    }


def test_adds_no_instance_while_the_last_one_starts(
    endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any
) -> None:
    endpoint.auto_scale_instance_count(max_capacity=2).scale_on_concurrency("Concurrency")
    policy = policy_of(resources, stack)
    assert policy["ScaleOutCooldown"] == 1500
    assert policy["ScaleInCooldown"] == 300


def test_waits_no_longer_than_the_container_lets_an_unknown_model_load(
    stack: cdk.Stack, resources: Any
) -> None:
    endpoint = LmiEndpoint(stack, "Chat", model_data=DATA, instance_type="ml.g6.12xlarge")
    endpoint.auto_scale_instance_count(max_capacity=2).scale_on_concurrency("Concurrency")
    (config,) = resources(stack, "AWS::SageMaker::EndpointConfig")
    (variant,) = config["ProductionVariants"]
    assert variant["ContainerStartupHealthCheckTimeoutInSeconds"] == 3600
    assert policy_of(resources, stack)["ScaleOutCooldown"] == 1200


def test_waits_as_long_as_the_size_of_a_known_model_says(stack: cdk.Stack, resources: Any) -> None:
    endpoint = LmiEndpoint(
        stack,
        "Chat",
        model_data=ModelData.s3_prefix("my-models", "m/", architecture="Qwen/Qwen3-8B"),
        instance_type="ml.g6.12xlarge",
    )
    endpoint.auto_scale_instance_count(max_capacity=2).scale_on_concurrency("Concurrency")
    assert policy_of(resources, stack)["ScaleOutCooldown"] == 1800


def test_takes_cooldowns_as_they_are_said(
    endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any
) -> None:
    endpoint.auto_scale_instance_count(max_capacity=2).scale_on_concurrency(
        "Concurrency",
        scale_in_cooldown=cdk.Duration.minutes(20),
        scale_out_cooldown=cdk.Duration.seconds(60),
        disable_scale_in=True,
    )
    policy = policy_of(resources, stack)
    assert (policy["ScaleOutCooldown"], policy["ScaleInCooldown"]) == (60, 1200)
    assert policy["DisableScaleIn"] is True


def test_tracks_any_metric(endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any) -> None:
    scaling = endpoint.auto_scale_instance_count(max_capacity=2)
    scaling.scale_to_track_metric(
        "Latency", metric=endpoint.metric("ModelLatency", statistic="Average"), target=5_000_000
    )
    assert policy_of(resources, stack)["CustomizedMetricSpecification"] == {
        "Namespace": "AWS/SageMaker",
        "MetricName": "ModelLatency",
        "Statistic": "Average",
        "Dimensions": [
            {
                "Name": "EndpointName",
                "Value": {"Fn::GetAtt": ["Chat26DEB33F", "EndpointName"]},
            },
            {"Name": "VariantName", "Value": "AllTraffic"},
        ],
    }


@pytest.mark.parametrize("metric", ["GPUUtilization", "GPUMemoryUtilization"])
def test_warns_of_a_metric_that_one_request_fills(
    endpoint: LmiEndpoint, stack: cdk.Stack, reported: Any, metric: str
) -> None:
    scaling = endpoint.auto_scale_instance_count(max_capacity=2)
    scaling.scale_to_track_metric("Busy", metric=endpoint.metric(metric), target=70)
    (finding,) = check_tracked_metric(endpoint.metric(metric), stack)
    assert (finding.rule, finding.severity, finding.where) == ("LMI084", "warning", "metric")
    assert "scale_on_concurrency" in finding.fix
    found = [place for rule, place in reported(stack) if rule == "LMI084"]
    assert len(found) == 1
    assert found[0].startswith("Stack/Chat/Scaling")


def test_lets_the_warning_about_a_busy_gpu_be_acknowledged(
    endpoint: LmiEndpoint, stack: cdk.Stack, reported: Any
) -> None:
    scaling = endpoint.auto_scale_instance_count(max_capacity=2)
    scaling.scale_to_track_metric("Busy", metric=endpoint.metric("GPUUtilization"), target=70)
    cdk.Validations.of(endpoint).acknowledge(
        cdk.Acknowledgment(id="lmi::LMI084", reason="measured with our traffic")
    )
    assert "LMI084" not in {rule for rule, _ in reported(stack)}


def test_has_nothing_against_a_metric_that_follows_the_load(
    endpoint: LmiEndpoint, stack: cdk.Stack, reported: Any
) -> None:
    scaling = endpoint.auto_scale_instance_count(max_capacity=2)
    average = endpoint.metric("ModelLatency", statistic="Average")
    scaling.scale_to_track_metric("Time", metric=average, target=5_000_000)
    assert "LMI084" not in {rule for rule, _ in reported(stack)}


@pytest.mark.parametrize(("low", "high", "rule"), [(0, 2, "LMI083"), (3, 2, "LMI083")])
def test_refuses_limits_that_cannot_be(
    endpoint: LmiEndpoint, low: int, high: int, rule: str
) -> None:
    with pytest.raises(LmiError, match=rule):
        endpoint.auto_scale_instance_count(min_capacity=low, max_capacity=high)


def test_refuses_a_limit_that_cannot_be_beside_one_that_is_a_token(
    endpoint: LmiEndpoint, stack: cdk.Stack
) -> None:
    token = cdk.CfnParameter(stack, "Limit", type="Number").value_as_number
    for given, keyword in (
        ({"min_capacity": 0, "max_capacity": token}, "min_capacity"),
        ({"min_capacity": token, "max_capacity": 0}, "max_capacity"),
    ):
        with pytest.raises(LmiError) as raised:
            endpoint.auto_scale_instance_count(**given)  # type: ignore[arg-type]
        assert [(one.rule, one.where) for one in raised.value.findings] == [("LMI083", keyword)]
        endpoint.node.try_remove_child("Scaling")


def test_takes_limits_that_are_tokens(endpoint: LmiEndpoint, stack: cdk.Stack) -> None:
    parameter = cdk.CfnParameter(stack, "Most", type="Number")
    endpoint.auto_scale_instance_count(max_capacity=parameter.value_as_number)


def test_refuses_a_target_of_zero(endpoint: LmiEndpoint) -> None:
    scaling = endpoint.auto_scale_instance_count(max_capacity=2)
    with pytest.raises(LmiError, match="LMI083"):
        scaling.scale_on_concurrency("Concurrency", target=0)


def test_warns_of_a_target_above_the_concurrency_of_the_engine(
    endpoint: LmiEndpoint, stack: cdk.Stack, reported: Any
) -> None:
    scaling = endpoint.auto_scale_instance_count(max_capacity=2)
    scaling.scale_on_concurrency("Concurrency", target=100)
    assert "LMI084" in {rule for rule, _ in reported(stack)}


@pytest.fixture
def scaling(stack: cdk.Stack) -> ScalableInstanceCount:
    """The scaling of an asynchronous endpoint."""
    return LmiEndpoint(
        stack,
        "Chat",
        model_data=DATA,
        instance_type="ml.g6.12xlarge",
        async_inference=AsyncInference(bucket="my-answers", output_prefix="ok/"),
    ).auto_scale_instance_count(max_capacity=2)


def test_refuses_concurrency_which_asynchronous_endpoints_do_not_publish(
    scaling: ScalableInstanceCount,
) -> None:
    with pytest.raises(LmiError, match="LMI088"):
        scaling.scale_on_concurrency("Policy", target=4)


def test_refuses_invocations_which_asynchronous_endpoints_do_not_publish(
    scaling: ScalableInstanceCount,
) -> None:
    with pytest.raises(LmiError, match="LMI088"):
        scaling.scale_on_invocations("Policy", target_invocations_per_minute=4)


def test_follows_the_queue_down_to_zero_and_wakes_up(stack: cdk.Stack, resources: Any) -> None:
    endpoint = LmiEndpoint(
        stack,
        "Queue",
        model_data=DATA,
        instance_type="ml.g6.12xlarge",
        async_inference=AsyncInference(bucket="answers", output_prefix="out/"),
    )
    down = endpoint.auto_scale_instance_count(min_capacity=0, max_capacity=3)
    policy = down.scale_on_backlog("Backlog", target_per_instance=4)
    policies = {item["PolicyName"]: item for item in resources(stack, SCALING_POLICY)}
    tracking = policies["Backlog"]["TargetTrackingScalingPolicyConfiguration"]
    metric = tracking["CustomizedMetricSpecification"]
    assert metric["MetricName"] == "ApproximateBacklogSizePerInstance"
    assert [dimension["Name"] for dimension in metric["Dimensions"]] == ["EndpointName"]
    assert tracking["TargetValue"] == 4
    assert policies["WakeUp"]["StepScalingPolicyConfiguration"]["StepAdjustments"] == [
        {"MetricIntervalLowerBound": 0, "ScalingAdjustment": 1}
    ]
    (alarm,) = resources(stack, "AWS::CloudWatch::Alarm")
    assert alarm["MetricName"] == "HasBacklogWithoutCapacity"
    assert down.wake_up_policy is not None
    assert alarm["AlarmActions"] == [stack.resolve(down.wake_up_policy.ref)]
    assert policy.policy_name == "Backlog"


def test_needs_no_waking_where_an_instance_stays(
    scaling: ScalableInstanceCount, stack: cdk.Stack, resources: Any
) -> None:
    scaling.scale_on_backlog("Backlog", target_per_instance=4)
    assert scaling.wake_up_alarm is None
    assert len(resources(stack, SCALING_POLICY)) == 1


def test_refuses_a_backlog_on_a_real_time_endpoint(endpoint: LmiEndpoint) -> None:
    scaling = endpoint.auto_scale_instance_count(max_capacity=2)
    with pytest.raises(LmiError, match="LMI088"):
        scaling.scale_on_backlog("Backlog", target_per_instance=4)


def test_refuses_zero_on_a_real_time_endpoint_only(endpoint: LmiEndpoint) -> None:
    with pytest.raises(LmiError, match="LMI083"):
        endpoint.auto_scale_instance_count(min_capacity=0, max_capacity=2)


def test_changes_the_limits_by_the_clock(
    endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any
) -> None:
    scaling = endpoint.auto_scale_instance_count(max_capacity=8)
    morning = autoscaling.Schedule.cron(hour="7", minute="30", week_day="MON-FRI")
    scaling.scale_on_schedule("Morning", schedule=morning, min_capacity=4, time_zone="Asia/Seoul")
    evening = autoscaling.Schedule.expression("cron(0 19 * * ? *)")
    scaling.scale_on_schedule("Evening", schedule=evening, min_capacity=1, max_capacity=2)
    (target,) = resources(stack, "AWS::ApplicationAutoScaling::ScalableTarget")
    assert target["ScheduledActions"] == [
        {
            "ScheduledActionName": "Morning",
            "Schedule": "cron(30 7 ? * MON-FRI *)",
            "Timezone": "Asia/Seoul",
            "ScalableTargetAction": {"MinCapacity": 4},
        },
        {
            "ScheduledActionName": "Evening",
            "Schedule": "cron(0 19 * * ? *)",
            "ScalableTargetAction": {"MinCapacity": 1, "MaxCapacity": 2},
        },
    ]


@pytest.mark.parametrize(
    "limits",
    [{}, {"min_capacity": 0}, {"max_capacity": 0}, {"min_capacity": 3, "max_capacity": 2}],
)
def test_refuses_a_schedule_that_cannot_be(endpoint: LmiEndpoint, limits: dict[str, int]) -> None:
    scaling = endpoint.auto_scale_instance_count(max_capacity=4)
    noon = autoscaling.Schedule.expression("cron(0 12 * * ? *)")
    with pytest.raises(LmiError, match="LMI083"):
        scaling.scale_on_schedule("Noon", schedule=noon, **limits)
