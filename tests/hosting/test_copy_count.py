"""Scaling of an inference component's copies: to zero and back takes one call."""

from __future__ import annotations

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_sagemaker as sagemaker

from lmi_constructs import LmiError, LmiSettings, ModelData
from lmi_constructs.hosting import ScalableCopyCount
from tests.hosting.fleets import NIGHTLY, component_on, fleet_in

POLICY = "AWS::ApplicationAutoScaling::ScalingPolicy"
CONCURRENCY = "SageMakerInferenceComponentConcurrentRequestsPerCopyHighResolution"


@pytest.fixture
def component(stack: cdk.Stack) -> sagemaker.CfnInferenceComponent:
    return sagemaker.CfnInferenceComponent(
        stack, "Component", endpoint_name="fleet", inference_component_name="chat"
    )


def copies(
    stack: cdk.Stack, component: sagemaker.CfnInferenceComponent, **values: Any
) -> ScalableCopyCount:
    """Return the scaling of a component by its literal name, which needs the dependency."""
    wanted = {"min_capacity": 0, "max_capacity": 4, "concurrency": 32, **values}
    return ScalableCopyCount(stack, "Copies", component_name="chat", depends_on=component, **wanted)


def test_registers_the_copies_of_a_component_once_there_are_any(
    stack: cdk.Stack, component: sagemaker.CfnInferenceComponent, template: Any
) -> None:
    copies(stack, component, min_capacity=1)
    (target,) = (
        item
        for item in template(stack)["Resources"].values()
        if item["Type"] == "AWS::ApplicationAutoScaling::ScalableTarget"
    )
    assert target["DependsOn"] == ["Component"]
    assert target["Properties"] == {
        "ServiceNamespace": "sagemaker",
        "ScalableDimension": "sagemaker:inference-component:DesiredCopyCount",
        "ResourceId": "inference-component/chat",
        "MinCapacity": 1,
        "MaxCapacity": 4,
    }


def test_scales_to_zero_and_back_by_tracking_a_step_and_an_alarm(
    stack: cdk.Stack, component: sagemaker.CfnInferenceComponent, resources: Any
) -> None:
    scaling = copies(stack, component, startup_seconds=900)
    scaling.scale_to_zero()
    policies = {item["PolicyName"]: item for item in resources(stack, POLICY)}
    assert policies["ScaleToZero"]["TargetTrackingScalingPolicyConfiguration"] == {
        "TargetValue": 19,
        "PredefinedMetricSpecification": {"PredefinedMetricType": CONCURRENCY},
        "ScaleInCooldown": 300,
        "ScaleOutCooldown": 900,
    }
    assert policies["WakeUp"]["StepScalingPolicyConfiguration"] == {
        "AdjustmentType": "ChangeInCapacity",
        "MetricAggregationType": "Maximum",
        "Cooldown": 60,
        "StepAdjustments": [{"MetricIntervalLowerBound": 0, "ScalingAdjustment": 1}],
    }
    (alarm,) = resources(stack, "AWS::CloudWatch::Alarm")
    assert scaling.wake_up_policy is not None
    assert alarm["AlarmActions"] == [stack.resolve(scaling.wake_up_policy.ref)]
    del alarm["AlarmActions"], alarm["AlarmDescription"]
    assert alarm == {
        "Namespace": "AWS/SageMaker",
        "MetricName": "NoCapacityInvocationFailures",
        "Dimensions": [{"Name": "InferenceComponentName", "Value": "chat"}],
        "Statistic": "Maximum",
        "Period": 30,
        "EvaluationPeriods": 1,
        "Threshold": 1,
        "ComparisonOperator": "GreaterThanOrEqualToThreshold",
        "TreatMissingData": "missing",
    }


def test_takes_the_cooldowns_and_target_of_scaling_to_zero_as_they_are_said(
    stack: cdk.Stack, component: sagemaker.CfnInferenceComponent, resources: Any
) -> None:
    copies(stack, component, concurrency=None).scale_to_zero(
        target=5,
        scale_in_cooldown=cdk.Duration.minutes(20),
        scale_out_cooldown=cdk.Duration.minutes(7),
        wake_up_cooldown=cdk.Duration.minutes(2),
    )
    policies = {item["PolicyName"]: item for item in resources(stack, POLICY)}
    tracking = policies["ScaleToZero"]["TargetTrackingScalingPolicyConfiguration"]
    assert (tracking["TargetValue"], tracking["ScaleInCooldown"]) == (5, 1200)
    assert tracking["ScaleOutCooldown"] == 420
    assert policies["WakeUp"]["StepScalingPolicyConfiguration"]["Cooldown"] == 120


def test_refuses_to_scale_to_zero_where_copies_must_stay(
    stack: cdk.Stack, component: sagemaker.CfnInferenceComponent
) -> None:
    with pytest.raises(LmiError, match="min_capacity is 1") as caught:
        copies(stack, component, min_capacity=1).scale_to_zero()
    assert [finding.rule for finding in caught.value.findings] == ["LMI083"]


def test_refuses_to_scale_to_zero_twice(
    stack: cdk.Stack, component: sagemaker.CfnInferenceComponent
) -> None:
    scaling = copies(stack, component)
    scaling.scale_to_zero()
    with pytest.raises(LmiError, match="called twice"):
        scaling.scale_to_zero("Again")


def test_refuses_to_scale_to_zero_without_a_target(
    stack: cdk.Stack, component: sagemaker.CfnInferenceComponent
) -> None:
    with pytest.raises(LmiError, match="no target follows"):
        copies(stack, component, concurrency=None).scale_to_zero()


def test_refuses_fewer_copies_than_none(
    stack: cdk.Stack, component: sagemaker.CfnInferenceComponent
) -> None:
    with pytest.raises(LmiError, match="fewer than none"):
        copies(stack, component, min_capacity=-1)


def test_counts_requests_a_minute_on_a_copy(
    stack: cdk.Stack, component: sagemaker.CfnInferenceComponent, resources: Any
) -> None:
    scaling = copies(stack, component, min_capacity=1)
    scaling.scale_on_invocations("Invocations", target_invocations_per_minute=60)
    (policy,) = resources(stack, POLICY)
    specification = policy["TargetTrackingScalingPolicyConfiguration"][
        "PredefinedMetricSpecification"
    ]
    assert specification == {
        "PredefinedMetricType": "SageMakerInferenceComponentInvocationsPerCopy"
    }


def test_what_a_clock_wakes_needs_no_alarm(stack: cdk.Stack, reported: Any) -> None:
    chat = component_on(fleet_in(stack))
    scaling = chat.auto_scale_copy_count(min_capacity=0, max_capacity=2)
    scaling.scale_on_schedule("Morning", schedule=NIGHTLY, min_capacity=1)
    assert ("LMI083", "Stack/Chat/Scaling/Resource") not in reported(stack)


def test_warns_of_a_pause_that_ends_before_the_weights_can_have_arrived(
    stack: cdk.Stack, reported: Any
) -> None:
    large = ModelData.s3_prefix("my-models", "r1/", architecture="deepseek-ai/DeepSeek-R1")
    settings = LmiSettings(tensor_parallel_degree=8, max_model_len=8192, max_rolling_batch_size=32)
    fleet = fleet_in(stack, instance_type="ml.p5en.48xlarge")
    chat = component_on(fleet, model_data=large, settings=settings)
    scaling = chat.auto_scale_copy_count(max_capacity=2)
    scaling.scale_on_concurrency("Slow")
    quick = cdk.Duration.seconds(30)
    scaling.scale_on_invocations(
        "Quick", target_invocations_per_minute=60, scale_out_cooldown=quick
    )
    places = {place for rule, place in reported(stack) if rule == "LMI100"}
    assert places == {"Stack/Chat/Scaling/Quick"}
