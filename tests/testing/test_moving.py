"""Moving a deployed endpoint of the alpha L2 to ours: what may go, and what may not.

`aws_sagemaker_alpha.template.json` is what aws-cdk.aws-sagemaker-alpha 2.275.0a0 makes of a Model, an
EndpointConfig and an Endpoint with `scale_on_invocations` (synthesized 2026-12-03).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest

from lmi_constructs import LmiEndpoint, ModelData
from lmi_constructs.testing import assert_updates_in_place, replacements

OLD = Path(__file__).parent / "aws_sagemaker_alpha.template.json"
ENDPOINT, TARGET = "Endpoint8024A810", "EndpointInstanceCountTargetDA8C8EDB"
GOING = ("AWS::IAM::Role", "AWS::IAM::Policy", "AWS::ApplicationAutoScaling::ScalingPolicy")


def moved(
    *, target: str | None = TARGET, variant_name: str = "main", name: str | None = None
) -> cdk.Stack:
    stack = cdk.Stack(
        cdk.App(), "Llm", env=cdk.Environment(account="111122223333", region="us-west-2")
    )
    endpoint: Any = LmiEndpoint(
        stack,
        "Chat",
        model_data=ModelData.s3_prefix("my-models", "qwen3-8b/"),
        instance_type="ml.g6.12xlarge",
        variant_name=variant_name,
        endpoint_name=name,
    )
    scaling: Any = endpoint.auto_scale_instance_count(max_capacity=4)
    scaling.scale_on_concurrency("Concurrency", target=8)
    endpoint.resource.override_logical_id(ENDPOINT)
    if target:
        scaling.resource.override_logical_id(target)
    return stack


def test_endpoint_and_scalable_target_live_on_and_the_rest_is_accepted() -> None:
    assert_updates_in_place(OLD, moved(), accepted=GOING)
    gone = {item.logical_id for item in replacements(OLD, moved())}
    assert gone == {
        "ModelRole3E65CE92",
        "ModelRoleDefaultPolicy52564B59",
        "Model2AD80A05",
        "ConfigEndpointConfigAC70824B",
        "EndpointInstanceCountTargetInvocations26628966",
    }


def test_what_is_not_accepted_is_named() -> None:
    with pytest.raises(AssertionError) as refused:
        assert_updates_in_place(OLD, moved(), accepted=["AWS::IAM::Role", "AWS::IAM::Policy"])
    assert str(refused.value) == (
        "EndpointInstanceCountTargetInvocations26628966 (AWS::ApplicationAutoScaling::ScalingPolicy)"
        " would be deleted: the new template lacks it"
    )


def test_a_second_registration_of_the_same_target_cannot_be_accepted() -> None:
    going = [*GOING, "AWS::ApplicationAutoScaling::ScalableTarget", TARGET]
    with pytest.raises(AssertionError, match="the deletion takes away what ChatScaling") as refused:
        assert_updates_in_place(OLD, moved(target=None), accepted=going)
    assert f"override_logical_id('{TARGET}') on the resource of ChatScaling" in str(refused.value)


def test_another_variant_name_replaces_the_scalable_target() -> None:
    with pytest.raises(AssertionError, match=f"{TARGET} .*would be replaced: ResourceId changed"):
        assert_updates_in_place(OLD, moved(variant_name="AllTraffic"), accepted=GOING)


def test_a_target_of_a_replaced_endpoint_is_another_one() -> None:
    (target,) = [
        item
        for item in replacements(OLD, moved(target=None, name="chat"))
        if item.logical_id == TARGET
    ]
    assert not target.same_as


def test_what_is_accepted_and_does_not_occur_is_an_error() -> None:
    with pytest.raises(AssertionError, match="accepted has 'AWS::KMS::Key', and no such thing"):
        assert_updates_in_place(OLD, moved(), accepted=[*GOING, "AWS::KMS::Key"])


def test_one_text_is_no_list_of_what_is_accepted() -> None:
    with pytest.raises(TypeError, match=r"such as \['AWS::IAM::Role'\]"):
        assert_updates_in_place(OLD, moved(), accepted="AWS::IAM::Role")


def endpoint(name: Any, **sections: Any) -> dict[str, Any]:
    chat = {"Type": "AWS::SageMaker::Endpoint", "Properties": {"EndpointName": name}}
    return {"Resources": {"Chat": chat}, **sections}


def by_mapping(name: str, other: str = "x") -> dict[str, Any]:
    names = {"prod": {"Name": name}, "test": {"Name": other}}
    return endpoint({"Fn::FindInMap": ["Names", "prod", "Name"]}, Mappings={"Names": names})


def by_account(name: str) -> dict[str, Any]:
    lookup = {"Fn::FindInMap": ["Names", {"Ref": "AWS::AccountId"}, "Name"]}
    return endpoint(lookup, Mappings={"Names": {"1": {"Name": name}}})


def by_parameter(name: str) -> dict[str, Any]:
    return endpoint({"Ref": "Name"}, Parameters={"Name": {"Type": "String", "Default": name}})


def by_substitution(name: str) -> dict[str, Any]:
    parameters = {"Name": {"Type": "String", "Default": name}}
    return endpoint({"Fn::Sub": "llm-${Name}"}, Parameters=parameters)


def by_condition(stage: str) -> dict[str, Any]:
    conditions = {
        "Inner": {"Fn::Equals": [{"Ref": "AWS::Region"}, stage]},
        "Outer": {"Fn::Not": [{"Condition": "Inner"}]},
    }
    return endpoint({"Fn::If": ["Outer", "a", "b"]}, Conditions=conditions)


@pytest.mark.parametrize(
    "made", [by_mapping, by_account, by_parameter, by_substitution, by_condition]
)
def test_a_name_that_changes_elsewhere_in_the_template_replaces(made: Any) -> None:
    assert not replacements(made("one"), made("one"))
    (found,) = replacements(made("one"), made("two"))
    assert found.because == ("EndpointName",)


def test_a_mapping_is_what_it_says_and_its_other_rows_do_not_matter() -> None:
    assert not replacements(by_mapping("one", "x"), by_mapping("one", "y"))
    assert not replacements(by_mapping("one"), endpoint("one"))


def test_a_circle_of_conditions_does_not_hang() -> None:
    circle = {"A": {"Condition": "B"}, "B": {"Condition": "A"}}
    template = endpoint({"Fn::If": ["A", "a", "b"]}, Conditions=circle)
    assert not replacements(template, template)


def test_a_changed_condition_of_its_own_may_delete_a_resource() -> None:
    def under(region: str) -> dict[str, Any]:
        template = endpoint(
            "one", Conditions={"Here": {"Fn::Equals": [{"Ref": "AWS::Region"}, region]}}
        )
        template["Resources"]["Chat"]["Condition"] = "Here"
        return template

    assert_updates_in_place(under("eu-west-1"), under("eu-west-1"))
    assert_updates_in_place(under("eu-west-1"), endpoint("one"))
    for old in (endpoint("one"), under("us-east-1")):
        with pytest.raises(AssertionError, match=r"Chat .*may be deleted: its condition changed"):
            assert_updates_in_place(old, under("eu-west-1"))


@pytest.mark.parametrize("name", ["EndpointName", "VariantName", "InferenceComponentName"])
def test_a_component_keeps_its_endpoint_variant_and_name(name: str) -> None:
    def component(value: str) -> dict[str, Any]:
        one = {"Type": "AWS::SageMaker::InferenceComponent", "Properties": {name: value}}
        return {"Resources": {"Part": one}}

    with pytest.raises(AssertionError, match=rf"Part .*cannot be updated: {name} changed, and the"):
        assert_updates_in_place(
            component("a"), component("b"), accepted=["AWS::SageMaker::InferenceComponent"]
        )


def test_the_api_has_no_parameter_for_what_a_component_cannot_change() -> None:
    import botocore.session

    service = botocore.session.get_session().get_service_model("sagemaker")
    members = set(service.operation_model("UpdateInferenceComponent").input_shape.members)
    assert not members & {"EndpointName", "EndpointArn", "VariantName"}
    assert "InferenceComponentName" in members, "it says which one is updated"


def test_a_component_of_a_replaced_endpoint_cannot_follow_it() -> None:
    old, new = endpoint("one"), endpoint("two")
    part = {
        "Type": "AWS::SageMaker::InferenceComponent",
        "Properties": {"EndpointName": {"Fn::GetAtt": ["Chat", "EndpointName"]}},
    }
    old["Resources"]["Part"] = new["Resources"]["Part"] = part
    found = {item.logical_id: item.refused for item in replacements(old, new)}
    assert "no parameter" in found["Part"]
