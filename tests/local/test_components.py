"""Inference components of the local SageMaker."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError
from click.testing import CliRunner

from lmi_constructs.cli.check import check
from lmi_constructs.runtime import AsleepError, LmiClient


def test_creates_describes_lists_and_deletes(
    sagemaker: Any, component_endpoint: str, component_request: dict[str, Any]
) -> None:
    created = sagemaker.create_inference_component(**component_request)
    described = sagemaker.describe_inference_component(InferenceComponentName="llama-copy")
    assert created["InferenceComponentArn"].endswith(":inference-component/llama-copy")
    assert described["InferenceComponentStatus"] == "InService"
    assert described["EndpointName"] == component_endpoint
    assert described["RuntimeConfig"] == {"DesiredCopyCount": 1, "CurrentCopyCount": 1}
    listed = sagemaker.list_inference_components(EndpointNameEquals=component_endpoint)
    assert [item["InferenceComponentName"] for item in listed["InferenceComponents"]] == [
        "llama-copy"
    ]
    assert not sagemaker.list_inference_components(EndpointNameEquals="x")["InferenceComponents"]
    sagemaker.delete_inference_component(InferenceComponentName="llama-copy")
    assert sagemaker.list_inference_components()["InferenceComponents"] == []


def test_updates_copies_and_specification_in_place(
    sagemaker: Any, component_endpoint: str, component_request: dict[str, Any]
) -> None:
    arn = sagemaker.create_inference_component(**component_request)["InferenceComponentArn"]
    sagemaker.update_inference_component_runtime_config(
        InferenceComponentName="llama-copy", DesiredRuntimeConfig={"CopyCount": 0}
    )
    described = sagemaker.describe_inference_component(InferenceComponentName="llama-copy")
    assert described["RuntimeConfig"]["CurrentCopyCount"] == 0
    specification = component_request["Specification"]
    specification["ComputeResourceRequirements"]["NumberOfAcceleratorDevicesRequired"] = 8
    sagemaker.update_inference_component(
        InferenceComponentName="llama-copy",
        Specification=specification,
        RuntimeConfig={"CopyCount": 2},
    )
    described = sagemaker.describe_inference_component(InferenceComponentName="llama-copy")
    assert described["RuntimeConfig"]["DesiredCopyCount"] == 2
    assert described["InferenceComponentArn"] == arn
    assert (
        described["Specification"]["ComputeResourceRequirements"][
            "NumberOfAcceleratorDevicesRequired"
        ]
        == 8
    )


def test_shows_the_image_of_a_component_as_deployed_which_the_checks_read(
    aws: Any,
    sagemaker: Any,
    component_endpoint: str,
    component_request: dict[str, Any],
    model_request: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    container = model_request["PrimaryContainer"]
    specification = component_request["Specification"]
    del specification["ModelName"]
    specification["Container"] = {"Image": container["Image"], "Environment": {"OPTION_DTYPE": "x"}}
    sagemaker.create_inference_component(**component_request)
    described = sagemaker.describe_inference_component(InferenceComponentName="llama-copy")
    shown = described["Specification"]["Container"]
    assert shown["DeployedImage"] == {"SpecifiedImage": container["Image"]}
    assert "Image" not in shown
    for name, value in aws.environment().items():
        monkeypatch.setenv(name, value)
    result = CliRunner().invoke(check, ["--endpoint", component_endpoint, "--format", "json"])
    found = json.loads(result.output)["findings"]
    assert ("LMI001", "llama-copy") in [(one["rule"], one["construct"]) for one in found]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"RuntimeConfig": {"CopyCount": 0}}, "CopyCount must be at least 1"),
        ({"EndpointName": "none"}, "Could not find endpoint"),
        ({"VariantName": "Other"}, 'variant "Other" is not present'),
        ({"Specification": {"ModelName": "llama"}}, "ComputeResourceRequirements must be given"),
        (
            {
                "Specification": {
                    "ModelName": "other",
                    "ComputeResourceRequirements": {"MinMemoryRequiredInMb": 1024},
                }
            },
            "Could not find model",
        ),
        (
            {
                "Specification": {
                    "ModelName": "llama",
                    "ComputeResourceRequirements": {"MinMemoryRequiredInMb": 64},
                }
            },
            "greater than or equal to 128",
        ),
        (
            {"Specification": {"BaseInferenceComponentName": "none"}},
            "Could not find inference component",
        ),
    ],
)
def test_refuses_a_component_the_service_would_refuse(
    sagemaker: Any,
    component_endpoint: str,
    component_request: dict[str, Any],
    changes: dict[str, Any],
    words: str,
) -> None:
    with pytest.raises(ClientError) as caught:
        sagemaker.create_inference_component(**{**component_request, **changes})
    assert caught.value.response["Error"]["Code"] == "ValidationException"
    assert words in caught.value.response["Error"]["Message"]


def test_refuses_a_component_on_a_variant_with_a_model(
    sagemaker: Any, deployed: str, component_request: dict[str, Any]
) -> None:
    with pytest.raises(ClientError, match="the variant has a ModelName"):
        sagemaker.create_inference_component(**{**component_request, "EndpointName": deployed})


def test_an_adapter_component_has_no_compute_of_its_own(
    sagemaker: Any, component_endpoint: str, component_request: dict[str, Any]
) -> None:
    sagemaker.create_inference_component(**component_request)
    adapter = {
        "InferenceComponentName": "legal",
        "EndpointName": component_endpoint,
        "Specification": {
            "BaseInferenceComponentName": "llama-copy",
            "Container": {"ArtifactUrl": "s3://adapters/legal.tar.gz"},
        },
    }
    sagemaker.create_inference_component(**adapter)
    adapter["InferenceComponentName"] = "tax"
    adapter["Specification"]["ComputeResourceRequirements"] = {"MinMemoryRequiredInMb": 1024}
    with pytest.raises(ClientError, match="must not be given with a Base"):
        sagemaker.create_inference_component(**adapter)


def test_the_copies_of_a_component_can_be_a_scalable_target(
    aws: Any, sagemaker: Any, component_endpoint: str, component_request: dict[str, Any]
) -> None:
    scaling = aws.client("application-autoscaling")
    target = {
        "ServiceNamespace": "sagemaker",
        "ScalableDimension": "sagemaker:inference-component:DesiredCopyCount",
        "ResourceId": "inference-component/llama-copy",
    }
    with pytest.raises(ClientError, match="does not exist"):
        scaling.register_scalable_target(**target, MinCapacity=1, MaxCapacity=2)
    sagemaker.create_inference_component(**component_request)
    scaling.register_scalable_target(**target, MinCapacity=1, MaxCapacity=2)
    found = scaling.describe_scalable_targets(ServiceNamespace="sagemaker")["ScalableTargets"]
    assert [item["ResourceId"] for item in found] == ["inference-component/llama-copy"]
    sagemaker.delete_endpoint(EndpointName=component_endpoint)
    assert not scaling.describe_scalable_targets(ServiceNamespace="sagemaker")["ScalableTargets"]
    assert sagemaker.list_inference_components()["InferenceComponents"] == []


def test_deleting_an_endpoint_deregisters_its_target(
    aws: Any, sagemaker: Any, deployed: str
) -> None:
    scaling = aws.client("application-autoscaling")
    target = {
        "ServiceNamespace": "sagemaker",
        "ScalableDimension": "sagemaker:variant:DesiredInstanceCount",
        "ResourceId": f"endpoint/{deployed}/variant/AllTraffic",
    }
    scaling.register_scalable_target(**target, MinCapacity=1, MaxCapacity=2)
    sagemaker.delete_endpoint(EndpointName=deployed)
    assert not scaling.describe_scalable_targets(ServiceNamespace="sagemaker")["ScalableTargets"]


@pytest.mark.parametrize(
    ("capacity", "words"),
    [
        ({"MinCapacity": 3, "MaxCapacity": 2}, "cannot be less than minimum capacity"),
        ({"MaxCapacity": 2}, "MinCapacity and MaxCapacity are required"),
    ],
)
def test_refuses_a_target_with_impossible_capacities(
    aws: Any, deployed: str, capacity: dict[str, int], words: str
) -> None:
    with pytest.raises(ClientError, match=words):
        aws.client("application-autoscaling").register_scalable_target(
            ServiceNamespace="sagemaker",
            ScalableDimension="sagemaker:variant:DesiredInstanceCount",
            ResourceId=f"endpoint/{deployed}/variant/AllTraffic",
            **capacity,
        )


def test_refuses_a_policy_without_a_registered_target(aws: Any, deployed: str) -> None:
    with pytest.raises(ClientError, match="No scalable target registered") as caught:
        aws.client("application-autoscaling").put_scaling_policy(
            PolicyName="track",
            ServiceNamespace="sagemaker",
            ScalableDimension="sagemaker:variant:DesiredInstanceCount",
            ResourceId=f"endpoint/{deployed}/variant/AllTraffic",
            PolicyType="TargetTrackingScaling",
            TargetTrackingScalingPolicyConfiguration={"TargetValue": 1.0},
        )
    assert caught.value.response["Error"]["Code"] == "ObjectNotFoundException"


def test_a_request_to_a_sleeping_component_says_that_it_sleeps(
    aws: Any, sagemaker: Any, component_endpoint: str, component_request: dict[str, Any]
) -> None:
    sagemaker.create_inference_component(**component_request)
    client = LmiClient(component_endpoint, client=aws.client("sagemaker-runtime")).using(
        inference_component="llama-copy"
    )
    assert client.generate("Hi").text
    sagemaker.update_inference_component_runtime_config(
        InferenceComponentName="llama-copy", DesiredRuntimeConfig={"CopyCount": 0}
    )
    with pytest.raises(AsleepError, match="no capacity"):
        client.generate("Hi")
