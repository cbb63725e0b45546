"""The assertions that platform teams use: each passes on what is right and says what is wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from lmi_constructs import LmiEndpoint, LmiSettings, ModelData
from lmi_constructs.findings import LmiError
from lmi_constructs.testing import (
    assert_fits,
    assert_no_findings,
    assert_updates_in_place,
    replacements,
)

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
    with pytest.raises(AssertionError, match=r"LMI001[\s\S]*OPTION_DTYPE=fp8[\s\S]*quantise"):
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
    ("text", "error", "words"),
    [("Resources: {}", ValueError, "template in JSON"), ("[]", TypeError, "but a list")],
)
def test_a_file_that_holds_no_template_is_named(
    tmp_path: Path, text: str, error: type[Exception], words: str
) -> None:
    file = tmp_path / "Llm.template.json"
    file.write_text(text)
    with pytest.raises(error, match=rf"Llm\.template\.json holds .*{words}"):
        assert_updates_in_place(file, endpoint_stack())


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
