"""Step policies of the local AWS: alarms set them off, and what they did can be seen."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

COPIES = {
    "ServiceNamespace": "sagemaker",
    "ScalableDimension": "sagemaker:inference-component:DesiredCopyCount",
    "ResourceId": "inference-component/llama-copy",
}
INSTANCES = {
    "ServiceNamespace": "sagemaker",
    "ScalableDimension": "sagemaker:variant:DesiredInstanceCount",
    "ResourceId": "endpoint/llama/variant/AllTraffic",
}


@pytest.fixture
def scaling(aws: Any) -> Any:
    return aws.client("application-autoscaling")


@pytest.fixture
def cloudwatch(aws: Any) -> Any:
    return aws.client("cloudwatch")


def step_policy(
    scaling: Any, cloudwatch: Any, target: dict[str, str], kind: str, change: int, **alarm: Any
) -> None:
    """Add a step policy and the alarm `rush` that sets it off."""
    policy = scaling.put_scaling_policy(
        PolicyName="Up",
        PolicyType="StepScaling",
        StepScalingPolicyConfiguration={
            "AdjustmentType": kind,
            "StepAdjustments": [{"MetricIntervalLowerBound": 0, "ScalingAdjustment": change}],
        },
        **target,
    )
    wanted = {"MetricName": "Anything", "Dimensions": [], **alarm}
    cloudwatch.put_metric_alarm(
        AlarmName="rush",
        Namespace="AWS/SageMaker",
        Statistic="Maximum",
        Period=60,
        EvaluationPeriods=1,
        Threshold=1,
        ComparisonOperator="GreaterThanOrEqualToThreshold",
        AlarmActions=[policy["PolicyARN"]],
        **wanted,
    )


def copies(sagemaker: Any) -> int:
    described = sagemaker.describe_inference_component(InferenceComponentName="llama-copy")
    count: int = described["RuntimeConfig"]["CurrentCopyCount"]
    return count


@pytest.fixture
def component(sagemaker: Any, component_endpoint: str, component_request: dict[str, Any]) -> str:
    sagemaker.create_inference_component(**component_request)
    return component_endpoint


@pytest.mark.parametrize(
    ("kind", "change", "after"),
    [("ChangeInCapacity", 1, 2), ("ChangeInCapacity", 9, 3), ("ExactCapacity", 3, 3)],
)
@pytest.mark.usefixtures("component")
def test_an_alarm_changes_copies_within_the_limits(
    sagemaker: Any, scaling: Any, cloudwatch: Any, kind: str, change: int, after: int
) -> None:
    scaling.register_scalable_target(**COPIES, MinCapacity=0, MaxCapacity=3)
    step_policy(scaling, cloudwatch, COPIES, kind, change)
    cloudwatch.set_alarm_state(AlarmName="rush", StateValue="OK", StateReason="calm")
    assert copies(sagemaker) == 1
    cloudwatch.set_alarm_state(AlarmName="rush", StateValue="ALARM", StateReason="by hand")
    assert copies(sagemaker) == after
    (activity,) = scaling.describe_scaling_activities(ServiceNamespace="sagemaker")[
        "ScalingActivities"
    ]
    assert activity["Description"] == f"Setting desired copy count to {after}."
    assert activity["Cause"] == "monitor alarm rush in state ALARM triggered policy Up"
    assert activity["StatusCode"] == "Successful"


@pytest.mark.usefixtures("component")
def test_nothing_is_noted_where_nothing_changes(
    sagemaker: Any, scaling: Any, cloudwatch: Any
) -> None:
    scaling.register_scalable_target(**COPIES, MinCapacity=0, MaxCapacity=1)
    step_policy(scaling, cloudwatch, COPIES, "ChangeInCapacity", 1)
    cloudwatch.set_alarm_state(AlarmName="rush", StateValue="ALARM", StateReason="by hand")
    assert copies(sagemaker) == 1
    assert not scaling.describe_scaling_activities(ServiceNamespace="sagemaker")[
        "ScalingActivities"
    ]


def test_an_alarm_changes_instances(
    sagemaker: Any, scaling: Any, cloudwatch: Any, deployed: str
) -> None:
    target = {**INSTANCES, "ResourceId": f"endpoint/{deployed}/variant/AllTraffic"}
    scaling.register_scalable_target(**target, MinCapacity=1, MaxCapacity=4)
    step_policy(scaling, cloudwatch, target, "ChangeInCapacity", 2)
    cloudwatch.set_alarm_state(AlarmName="rush", StateValue="ALARM", StateReason="by hand")
    (variant,) = sagemaker.describe_endpoint(EndpointName=deployed)["ProductionVariants"]
    assert variant["CurrentInstanceCount"] == 3


def test_a_request_without_a_copy_fails_and_wakes_it_up(
    sagemaker: Any, scaling: Any, cloudwatch: Any, runtime: Any, component: str
) -> None:
    scaling.register_scalable_target(**COPIES, MinCapacity=0, MaxCapacity=3)
    step_policy(
        scaling,
        cloudwatch,
        COPIES,
        "ChangeInCapacity",
        1,
        MetricName="NoCapacityInvocationFailures",
        Dimensions=[{"Name": "InferenceComponentName", "Value": "llama-copy"}],
    )
    sagemaker.update_inference_component_runtime_config(
        InferenceComponentName="llama-copy", DesiredRuntimeConfig={"CopyCount": 0}
    )
    request = {
        "EndpointName": component,
        "InferenceComponentName": "llama-copy",
        "Body": b'{"prompt": "Hello"}',
        "ContentType": "application/json",
    }
    with pytest.raises(ClientError, match="has no capacity to process this request"):
        runtime.invoke_endpoint(**request)
    assert copies(sagemaker) == 1
    assert runtime.invoke_endpoint(**request)["Body"].read()
    (alarm,) = cloudwatch.describe_alarms(AlarmNames=["rush"])["MetricAlarms"]
    assert alarm["StateValue"] == "OK"


@pytest.mark.usefixtures("component")
def test_a_component_of_another_name_wakes_nothing(
    sagemaker: Any, scaling: Any, cloudwatch: Any, runtime: Any, component: str
) -> None:
    scaling.register_scalable_target(**COPIES, MinCapacity=0, MaxCapacity=3)
    step_policy(
        scaling,
        cloudwatch,
        COPIES,
        "ChangeInCapacity",
        1,
        MetricName="NoCapacityInvocationFailures",
        Dimensions=[{"Name": "InferenceComponentName", "Value": "another"}],
    )
    sagemaker.update_inference_component_runtime_config(
        InferenceComponentName="llama-copy", DesiredRuntimeConfig={"CopyCount": 0}
    )
    with pytest.raises(ClientError, match="has no capacity"):
        runtime.invoke_endpoint(
            EndpointName=component, InferenceComponentName="llama-copy", Body=b"{}"
        )
    assert copies(sagemaker) == 0
