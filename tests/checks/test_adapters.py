"""Adapters as components: on which bases they are served, and in which form."""

from __future__ import annotations

from typing import Any

from lmi_constructs.checks.examples import REMOVED, Example
from lmi_constructs.checks.rules.adapters import ImpossibleAdapter
from tests.checks.support import findings

SERVED = ImpossibleAdapter.passing.change
ADAPTER = "Adapter/Properties/Specification"
ENVIRONMENT = "Model/Properties/PrimaryContainer/Environment"
CONTAINER = "Model/Properties/PrimaryContainer"


def said(change: dict[str, Any]) -> list[tuple[str, str]]:
    """Return severity and message of what LMI059 finds in a good template after a change."""
    example = Example({**SERVED, **change}, base="components")
    return [
        (found.severity, found.message) for found in findings(example) if found.rule == "LMI059"
    ]


def test_a_base_without_adapters_is_doubted_if_a_file_may_set_it_up() -> None:
    ((severity, message),) = said({f"{ENVIRONMENT}/OPTION_ENABLE_LORA": REMOVED})
    assert (severity, "serving.properties" in message) == ("warning", True)


def test_a_base_without_adapters_is_refused_if_nothing_is_mounted() -> None:
    hub = {
        f"{ENVIRONMENT}/OPTION_ENABLE_LORA": "false",
        f"{ENVIRONMENT}/HF_MODEL_ID": "Qwen/Qwen3-8B",
        f"{CONTAINER}/ModelDataSource": REMOVED,
    }
    assert said(hub) == [("error", "nothing sets up Component for adapters")]


def test_an_unknown_base_or_flag_is_no_fault() -> None:
    assert said({f"{ADAPTER}/BaseInferenceComponentName": "elsewhere"}) == []
    assert said({f"{ADAPTER}/BaseInferenceComponentName": {"Ref": "Name"}}) == []
    assert said({f"{ENVIRONMENT}/OPTION_ENABLE_LORA": {"Ref": "Flag"}}) == []


def test_compute_of_its_own_is_refused() -> None:
    asked = {f"{ADAPTER}/ComputeResourceRequirements": {"MinMemoryRequiredInMb": 1024}}
    assert said(asked) == [("error", "an adapter asks for compute resources of its own")]


def test_files_are_one_archive() -> None:
    url = f"{ADAPTER}/Container/ArtifactUrl"
    prefix = Example({**SERVED, url: "s3://example-models/a/"}, base="components")
    assert {found.rule for found in findings(prefix)} == {"LMI024"}
    assert said({url: {"Fn::Sub": "s3://${Bucket}/a.tar.gz"}}) == []
    assert said({url: {"Ref": "Archive"}}) == []


def test_a_base_is_no_adapter_itself() -> None:
    second = {
        "Type": "AWS::SageMaker::InferenceComponent",
        "Properties": {
            "EndpointName": {"Fn::GetAtt": ["Endpoint", "EndpointName"]},
            "InferenceComponentName": "tenant-b",
            "Specification": {
                "BaseInferenceComponentName": "tenant-a",
                "Container": {"ArtifactUrl": "s3://example-models/adapters/tenant-b.tar.gz"},
            },
        },
        "DependsOn": "Adapter",
    }
    assert said({"Second": second}) == [("error", "the base Adapter is an adapter itself")]


def test_a_base_is_on_the_same_endpoint() -> None:
    other = {
        "Other": {
            "Type": "AWS::SageMaker::Endpoint",
            "Properties": {"EndpointConfigName": {"Fn::GetAtt": ["Config", "EndpointConfigName"]}},
        },
        "Adapter/Properties/EndpointName": {"Fn::GetAtt": ["Other", "EndpointName"]},
    }
    assert said(other) == [("error", "the base Component is on Endpoint, not Other")]
    unknown = {"Adapter/Properties/EndpointName": {"Ref": "Name"}}
    assert said(unknown) == []


def test_an_adapter_that_only_names_its_base_is_made_too_early() -> None:
    """BaseInferenceComponentName is the name of an existing component (botocore)."""
    example = Example({**SERVED, "Adapter/DependsOn": REMOVED}, base="components")
    (finding,) = [one for one in findings(example) if one.rule == "LMI082"]
    assert (finding.resource, finding.path) == (
        "Adapter",
        "Specification/BaseInferenceComponentName",
    )
    assert "DependsOn: Component" in finding.fix
