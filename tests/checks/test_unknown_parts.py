"""Values with unknown parts look alike and may differ: two of them never name the same thing."""

from typing import Any

from lmi_constructs.checks.examples import Example
from tests.checks.support import VARIANT, findings


def imported(export: str, beginning: str = "", end: str = "") -> dict[str, Any]:
    return {"Fn::Join": ["", [beginning, {"Fn::ImportValue": export}, end]]}


def test_a_policy_for_one_imported_endpoint_does_not_wait_for_the_target_of_another() -> None:
    policy = {
        "Type": "AWS::ApplicationAutoScaling::ScalingPolicy",
        "Properties": {
            "PolicyName": "steps",
            "PolicyType": "StepScaling",
            "ServiceNamespace": "sagemaker",
            "ScalableDimension": "sagemaker:variant:DesiredInstanceCount",
            "ResourceId": imported("second", "endpoint/", "/variant/AllTraffic"),
        },
    }
    target = imported("first", "endpoint/", "/variant/AllTraffic")
    change = {"Target/Properties/ResourceId": target, "Steps": policy}
    assert [one.rule for one in findings(Example(change, base="scaled"))] == []


def test_a_variant_of_one_imported_name_does_not_run_the_model_of_another() -> None:
    other = {
        "Type": "AWS::SageMaker::Model",
        "Properties": {
            "ModelName": imported("first", end="-model"),
            "ExecutionRoleArn": {"Fn::GetAtt": ["Role", "Arn"]},
            "PrimaryContainer": {"Image": "own-image"},
        },
    }
    change = {"Other": other, f"{VARIANT}/ModelName": imported("second", end="-model")}
    assert [one.rule for one in findings(Example(change))] == []


def test_names_of_the_same_parameter_are_the_same() -> None:
    name = {"Fn::Sub": "${AWS::StackName}-endpoint"}
    change = {
        "Endpoint/Properties/EndpointName": name,
        "Target/Properties/ResourceId": {
            "Fn::Sub": "endpoint/${AWS::StackName}-endpoint/variant/Primary"
        },
        "Target/DependsOn": "Endpoint",
    }
    assert "LMI081" in {one.rule for one in findings(Example(change, base="scaled"))}
