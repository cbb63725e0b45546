"""The assertions that platform teams use: each passes on what is right and says what is wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
import yaml
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Template

from lmi_constructs import LmiEndpoint, LmiSettings, ModelData
from lmi_constructs.checks import UnreadableError
from lmi_constructs.findings import LmiError
from lmi_constructs.testing import (
    assert_fits,
    assert_no_findings,
    assert_updates_in_place,
    replacements,
    stable_template,
)
from lmi_constructs.testing.templates import template_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def endpoint_stack(
    *,
    max_model_len: int = 16384,
    name: str | None = None,
    id: str = "Chat",
    model: str | None = None,
    instance_type: str = "ml.g6e.12xlarge",
    degree: int = 4,
) -> cdk.Stack:
    environment = cdk.Environment(account="111122223333", region="us-west-2")
    stack = cdk.Stack(cdk.App(), "Llm", env=environment)
    LmiEndpoint(
        stack,
        id,
        model_data=ModelData.s3_prefix("my-models", "qwen3-32b/", architecture=model),
        instance_type=instance_type,
        settings=LmiSettings(tensor_parallel_degree=degree, max_model_len=max_model_len),
        endpoint_name=name,
    ).auto_scale_instance_count(max_capacity=2).scale_on_concurrency("Concurrency")
    return stack


def faulty() -> Mapping[str, Any]:
    template: dict[str, Any] = Template.from_stack(endpoint_stack()).to_json()
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::SageMaker::Model":
            resource["Properties"]["PrimaryContainer"]["Environment"]["OPTION_DTYPE"] = "fp8"
    return template


def test_a_good_stack_has_no_findings() -> None:
    assert_no_findings(endpoint_stack())


def test_findings_are_listed_with_rule_and_remedy() -> None:
    with pytest.raises(AssertionError, match=r"LMI001[\s\S]*OPTION_DTYPE=fp8[\s\S]*quantize"):
        assert_no_findings(faulty())


def test_an_accepted_rule_is_no_finding() -> None:
    assert_no_findings(faulty(), acknowledged=["LMI001"])


@pytest.mark.parametrize(
    ("written", "fix"),
    [("LMI999", "give ids such as LMI043"), ("LMI01", "did you mean"), ("lmi001", "write LMI001")],
)
def test_an_accepted_rule_that_there_is_not_is_refused(written: str, fix: str) -> None:
    with pytest.raises(LmiError, match=f"LMI010 acknowledged: there is no rule '{written}'") as no:
        assert_no_findings(endpoint_stack(), acknowledged=[written])
    assert fix in no.value.findings[0].fix


def test_one_text_is_no_list_of_accepted_rules() -> None:
    with pytest.raises(TypeError, match=r"\['LMI001'\]"):
        assert_no_findings(faulty(), acknowledged="LMI001")


def test_a_stack_without_sagemaker_is_not_taken_to_be_right() -> None:
    with pytest.raises(AssertionError, match="no SageMaker resource in Empty"):
        assert_no_findings(cdk.Stack(cdk.App(), "Empty"))
    with pytest.raises(AssertionError, match="no SageMaker resource in the template"):
        assert_no_findings({"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}})


def test_a_planned_endpoint_that_fits_passes() -> None:
    assert_fits(endpoint_stack(model="Qwen/Qwen3-32B"))


def test_what_does_not_surely_fit_says_what_would_in_the_fields_of_its_settings() -> None:
    with pytest.raises(AssertionError, match="marginal") as caught:
        assert_fits(
            endpoint_stack(
                model="Qwen/Qwen3-8B",
                instance_type="ml.g5.2xlarge",
                degree=1,
                max_model_len=34816,
            )
        )
    assert "it fits with max_model_len=" in str(caught.value)
    assert "0.9 requests" in str(caught.value)


def test_an_endpoint_that_cannot_be_planned_is_not_taken_to_fit() -> None:
    with pytest.raises(AssertionError, match="Llm/Chat, variant AllTraffic: not planned") as no:
        assert_fits(endpoint_stack())
    assert "give architecture= to its model data" in str(no.value)


def test_a_stack_without_endpoints_is_not_taken_to_fit() -> None:
    with pytest.raises(AssertionError, match="or LmiInferenceComponent below Empty"):
        assert_fits(cdk.Stack(cdk.App(), "Empty"))


def test_changed_settings_update_the_endpoint_in_place() -> None:
    old, new = endpoint_stack(), endpoint_stack(max_model_len=8192)
    assert {item.type for item in replacements(old, new)} == {
        "AWS::SageMaker::Model",
        "AWS::SageMaker::EndpointConfig",
    }
    assert_updates_in_place(old, new)


def test_a_new_name_replaces_the_endpoint_and_its_scaling() -> None:
    with pytest.raises(AssertionError) as refused:
        assert_updates_in_place(endpoint_stack(name="chat-1"), endpoint_stack(name="chat-2"))
    lines = str(refused.value).splitlines()
    assert lines[0].startswith("Chat")
    assert "(AWS::SageMaker::Endpoint) would be replaced: EndpointName changed" in lines[0]
    assert any("ScalableTarget) would be replaced: ResourceId changed" in line for line in lines)


def test_a_new_construct_id_deletes_the_endpoint() -> None:
    with pytest.raises(AssertionError, match=r"SageMaker::Endpoint\) would be deleted"):
        assert_updates_in_place(endpoint_stack(), endpoint_stack(id="Talk"))


def test_a_template_may_be_a_file(tmp_path: Path) -> None:
    file = tmp_path / "Llm.template.json"
    file.write_text(json.dumps(Template.from_stack(endpoint_stack(name="chat-1")).to_json()))
    assert_updates_in_place(file, endpoint_stack(name="chat-1"))
    assert_no_findings(file)
    with pytest.raises(AssertionError, match="EndpointName changed"):
        assert_updates_in_place(old=file, new=endpoint_stack(name="chat-2"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Resources: {}", "not JSON"),
        ("[]", "no CloudFormation template"),
        ("", "the file is empty"),
    ],
)
def test_a_file_that_holds_no_template_is_named(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "Llm.template.json"
    file.write_text(text)
    with pytest.raises(UnreadableError, match=rf"Llm\.template\.json: {words}"):
        assert_updates_in_place(file, endpoint_stack())


def test_a_template_may_be_in_yaml_or_a_template_of_the_cdk(tmp_path: Path) -> None:
    file = tmp_path / "Llm.yaml"
    file.write_text(yaml.safe_dump(dict(faulty())))
    with pytest.raises(AssertionError, match="LMI001"):
        assert_no_findings(file)
    assert_updates_in_place(file, Template.from_stack(endpoint_stack()))


def nested_stack(*, name: str | None = None, dtype: str | None = None) -> cdk.NestedStack:
    environment = cdk.Environment(account="111122223333", region="us-west-2")
    parent = cdk.Stack(cdk.App(), "Llm", env=environment)
    nested = cdk.NestedStack(parent, "Nested")
    endpoint = LmiEndpoint(
        nested,
        "Chat",
        model_data=ModelData.s3_prefix("my-models", "qwen3-32b/"),
        instance_type="ml.g6e.12xlarge",
        settings=LmiSettings(tensor_parallel_degree=4, max_model_len=16384),
        endpoint_name=name,
    )
    if dtype:
        resource: Any = endpoint.model.resource
        resource.add_property_override("PrimaryContainer.Environment.OPTION_DTYPE", dtype)
    return nested


def test_nested_stacks_are_checked_with_their_parent_and_alone() -> None:
    good = nested_stack()
    assert_no_findings(good)
    assert_no_findings(good.node.scope)  # type: ignore[arg-type]
    for stack in (nested_stack(dtype="fp8"), nested_stack(dtype="fp8").node.scope):
        with pytest.raises(AssertionError, match="LMI001"):
            assert_no_findings(stack)  # type: ignore[arg-type]


def test_what_is_replaced_in_a_nested_stack_is_found_from_its_parent_and_from_a_snapshot(
    tmp_path: Path,
) -> None:
    old: Any = nested_stack(name="chat-1").node.scope
    new: Any = nested_stack(name="chat-2").node.scope
    snapshot = tmp_path / "test_is_unchanged.template.json"
    snapshot.write_text(json.dumps(stable_template(template_of(old))))
    assert_updates_in_place(snapshot, old)
    for before in (old, snapshot):
        with pytest.raises(AssertionError, match=r"Nested\w+/Chat\w+ .*: EndpointName changed"):
            assert_updates_in_place(before, new)


def test_an_error_that_stops_synth_is_said_in_words() -> None:
    stack = endpoint_stack()
    endpoint: Any = stack.node.find_child("Chat")
    endpoint.model.resource.add_property_override(
        "PrimaryContainer.Environment.OPTION_DTYPE", "fp8"
    )
    with pytest.raises(AssertionError, match=r"LMI001[\s\S]*quantize"):
        assert_no_findings(stack)
    with pytest.raises(RuntimeError, match="ValidationFailed"):  # it stops `cdk synth` all the same
        assert_no_findings(stack, acknowledged=["LMI001"])
    accepted = cdk.Acknowledgment(id="lmi::LMI001", reason="tried out")
    cdk.Validations.of(endpoint).acknowledge(accepted)
    assert_no_findings(stack)


def granted_elsewhere() -> tuple[cdk.Stack, Any]:
    """A stack that remarks on itself (LMI069), and its endpoint."""
    stack = endpoint_stack()
    endpoint: Any = stack.node.find_child("Chat")
    arn = "arn:aws:iam::210987654321:role/theirs"
    endpoint.grant_invoke(iam.Role.from_role_arn(stack, "Theirs", arn))
    return stack, endpoint


def test_what_a_construct_says_of_itself_is_a_finding() -> None:
    stack, _ = granted_elsewhere()
    with pytest.raises(AssertionError, match=r"LMI069 Llm/Chat .*the grantee is in account"):
        assert_no_findings(stack)
    assert_no_findings(stack, acknowledged=["LMI069"])


@pytest.mark.parametrize("at", ["endpoint", "stack", "app"])
def test_what_the_app_acknowledges_is_no_finding(at: str) -> None:
    stack, endpoint = granted_elsewhere()
    where = {"endpoint": endpoint, "stack": stack, "app": stack.node.root}[at]
    accepted = cdk.Acknowledgment(id="lmi::LMI069", reason="their team grants it")
    cdk.Validations.of(where).acknowledge(accepted)
    assert_no_findings(stack)


def template(properties: Mapping[str, Any], **attributes: Any) -> dict[str, Any]:
    chat = {"Type": "AWS::SageMaker::Endpoint", "Properties": properties, **attributes}
    return {"Resources": {"Chat": chat}}


def test_a_replaced_resource_that_keeps_its_own_name_is_refused_though_it_may_be_replaced() -> None:
    def named(name: str, image: str) -> dict[str, Any]:
        properties = {"ModelName": name, "PrimaryContainer": {"Image": image}}
        return {"Resources": {"Model": {"Type": "AWS::SageMaker::Model", "Properties": properties}}}

    assert_updates_in_place(named("m-1", "a"), named("m-2", "b"))
    with pytest.raises(AssertionError) as refused:
        assert_updates_in_place(named("m-1", "a"), named("m-1", "b"))
    assert str(refused.value) == (
        "Model (AWS::SageMaker::Model) cannot be updated: PrimaryContainer changed, and ModelName did"
        " not: what has a name of its own is replaced only under another name"
    )


def test_another_type_under_a_logical_id_is_refused() -> None:
    old = template({"EndpointConfigName": "c"})
    new = template({}, Type="AWS::SageMaker::Model")
    with pytest.raises(AssertionError, match="permits no other type under a logical id"):
        assert_updates_in_place(old, new, accepted=["AWS::SageMaker::Endpoint"])


def test_a_retained_resource_is_left_behind_not_deleted() -> None:
    with pytest.raises(AssertionError, match="would be left behind, in no stack"):
        assert_updates_in_place(template({}, DeletionPolicy="Retain"), {"Resources": {}})
    with pytest.raises(AssertionError, match="would be deleted"):
        assert_updates_in_place(template({}), {"Resources": {}})


def test_what_the_cdk_command_adds_is_nothing_that_is_deleted() -> None:
    metadata = {"CDKMetadata": {"Type": "AWS::CDK::Metadata", "Properties": {"Analytics": "x"}}}
    assert_updates_in_place({"Resources": metadata}, {"Resources": {}})


@pytest.mark.parametrize(
    "reference",
    [
        {"Fn::Sub": "endpoint/${Chat.EndpointName}/variant/AllTraffic"},
        {"Fn::Sub": ["endpoint/${Chat}/${v}", {"v": "x"}]},
        {"Fn::GetAtt": "Chat.EndpointName"},
        {"Fn::GetAtt": ["Chat", "EndpointName"]},
        {"Fn::Join": ["/", ["endpoint", {"Ref": "Chat"}]]},
    ],
)
def test_what_refers_to_a_replaced_resource_is_replaced_too(reference: dict[str, Any]) -> None:
    target = {
        "Type": "AWS::ApplicationAutoScaling::ScalableTarget",
        "Properties": {"ResourceId": reference},
    }
    old, new = template({"EndpointName": "chat-1"}), template({"EndpointName": "chat-2"})
    old["Resources"]["Target"] = new["Resources"]["Target"] = target
    assert [item.logical_id for item in replacements(old, new)] == ["Chat", "Target"]


def test_a_path_through_a_list_is_followed() -> None:
    """The schema has `/properties/ReplicationInfoList/*/SourceKafkaClusterArn`."""

    def replicator(arn: str) -> dict[str, Any]:
        properties = {"ReplicationInfoList": [{"SourceKafkaClusterArn": arn}]}
        return {"Resources": {"R": {"Type": "AWS::MSK::Replicator", "Properties": properties}}}

    assert not replacements(replicator("a"), replicator("a"))
    (found,) = replacements(replicator("a"), replicator("b"))
    assert found.because == ("ReplicationInfoList/*/SourceKafkaClusterArn",)


def test_a_snapshot_says_nothing_of_hashes_of_assets() -> None:
    def layer(hash: str) -> dict[str, Any]:
        properties = {"Content": {"S3Bucket": "assets", "S3Key": f"{hash}.zip"}}
        return {"Resources": {"L": {"Type": "AWS::Lambda::LayerVersion", "Properties": properties}}}

    old, new = layer("0af1" * 16), layer("1bcd" * 16)
    assert not replacements(stable_template(old), new)
    assert [item.because for item in replacements(old, new)] == [("Content",)]


def test_a_token_in_a_template_is_refused_in_words() -> None:
    with pytest.raises(TypeError, match=r"give the stack, or stack\.resolve\(template\)"):
        assert_no_findings(template({"EndpointName": cdk.Aws.STACK_NAME}))


@pytest.mark.parametrize("odd", [cdk.App(), "Llm.template.json"])
def test_refuses_what_is_neither_stack_nor_template(odd: Any) -> None:
    with pytest.raises(
        TypeError, match=f"Path of a template file is needed, not {type(odd).__name__}"
    ):
        assert_no_findings(odd)


@pytest.mark.parametrize("odd", ["x", None, 3])
def test_what_is_no_construct_is_refused_in_words(odd: Any) -> None:
    with pytest.raises(TypeError, match="an endpoint, a stack or an app is needed, not"):
        assert_fits(odd)
