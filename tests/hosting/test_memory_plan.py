"""What endpoints say of the memory plan, and of having none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aws_cdk as cdk
import pytest
from aws_cdk import assertions

from lmi_constructs import LmiContainer, LmiEndpoint, LmiError, LmiSettings, ModelData

if TYPE_CHECKING:
    from lmi_constructs.planner import Architecture


def endpoint(stack: cdk.Stack, architecture: Architecture | str, **keywords: object) -> LmiEndpoint:
    data = ModelData.s3_prefix("my-models", "m/", architecture=architecture)
    return LmiEndpoint(stack, "Chat", model_data=data, instance_type="ml.g6.12xlarge", **keywords)


def infos(stack: cdk.Stack) -> list[str]:
    found = assertions.Annotations.from_stack(stack).find_info("*", assertions.Match.any_value())
    return [str(one.entry.data) for one in found]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("qwen3-32b", "did you mean Qwen/Qwen3-32B"),
        ("Qwen/Qwen3-33B", "did you mean Qwen/Qwen3-32B"),
        ("acme/own", "give architecture=Architecture.from_config_json"),
    ],
)
def test_warns_of_a_name_that_is_no_models(stack: cdk.Stack, written: str, meant: str) -> None:
    made = endpoint(stack, written)
    (finding,) = [one for one in made.model.findings if one.rule == "LMI103"]
    assert (finding.severity, finding.where) == ("warning", "architecture")
    assert f"knows no model {written!r}" in finding.message
    assert meant in finding.fix
    assert "lmi plan --list-models" in finding.fix
    assert made.plan is None


def test_says_nothing_of_names_that_are_known(stack: cdk.Stack) -> None:
    made = endpoint(stack, "Qwen/Qwen3-32B")
    assert made.plan is not None
    assert not [one for one in made.model.findings if one.rule == "LMI103"]


def test_a_model_of_the_hub_that_is_not_known_is_no_slip(stack: cdk.Stack) -> None:
    made = LmiEndpoint(
        stack, "Chat", model_data=ModelData.hub("own/model"), instance_type="ml.g6.12xlarge"
    )
    assert not [one for one in made.model.findings if one.rule == "LMI103"]
    assert any("the planner does not know own/model" in text for text in infos(stack))


def test_says_that_another_engine_is_not_planned(stack: cdk.Stack) -> None:
    made = endpoint(stack, "Qwen/Qwen3-32B", container=LmiContainer.TRTLLM)
    assert made.plan is None
    assert any("trtllm serves the model, and only vLLM is planned" in text for text in infos(stack))


def test_an_engine_of_unknown_version_is_planned_with_no_others_defaults(stack: cdk.Stack) -> None:
    made = endpoint(stack, "Qwen/Qwen3-32B", container=LmiContainer.V9)
    assert made.plan is not None
    assert made.plan.grade == "unknown"
    assert made.plan.doubt == "the version of the container's engine is not known"


def test_stops_synth_where_nothing_is_left_free(stack: cdk.Stack) -> None:
    with pytest.raises(LmiError) as caught:
        endpoint(stack, "Qwen/Qwen3-32B", settings=LmiSettings(gpu_memory_utilization=1.0))
    (finding,) = caught.value.findings
    assert finding.rule == "LMI102"
    assert "it fits with gpu_memory_utilization=0.95" in finding.fix


def test_stops_synth_with_the_one_degree_that_fits(stack: cdk.Stack) -> None:
    with pytest.raises(LmiError) as caught:
        endpoint(stack, "Qwen/Qwen3-32B", settings=LmiSettings(tensor_parallel_degree=3))
    (finding,) = caught.value.findings
    assert finding.rule == "LMI052"
    assert finding.fix.startswith("set tensor_parallel_degree to 4")
