"""What to change: each suggestion is what the planner itself says of the change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lmi_constructs.container import LmiContainer
from lmi_constructs.facts import instance_types
from lmi_constructs.planner import (
    Architecture,
    EngineConfiguration,
    Plan,
    Suggestion,
    advised_findings,
    plan,
    suggest,
)
from tests.planner.support import LLAMA, in_container, known


def contained(instance_type: str, **told: Any) -> EngineConfiguration:
    count = instance_types()[instance_type].accelerator_count
    return EngineConfiguration.in_container(LmiContainer.V27, count, **told)


def ways(hub_id: str, instance_type: str, **told: Any) -> dict[str, Suggestion]:
    found = suggest(known(hub_id), instance_type, contained(instance_type, **told))
    return {way.change: way for way in found}


def changed(hub_id: str, instance_type: str, changes: dict[str, Any], **told: Any) -> Plan:
    """Plan anew what a suggestion's changes say, as a user would write them."""
    own = dict(changes)
    model, where = own.pop("model", hub_id), own.pop("instance_type", instance_type)
    if "enable_expert_parallel" in own:
        own["expert_parallel"] = own.pop("enable_expert_parallel")
    return plan(known(model), where, replace(contained(instance_type, **told), **own))


HARD = [
    ("Qwen/Qwen3-8B", "ml.g6.2xlarge", {"max_num_seqs": 1024, "max_model_len": 8192}),
    ("Qwen/Qwen3-8B", "ml.g6.2xlarge", {"gpu_memory_utilization": 0.7}),
    ("Qwen/Qwen3-8B", "ml.g6.2xlarge", {"gpu_memory_utilization": 1.0, "max_model_len": 8192}),
    ("Qwen/Qwen3-8B", "ml.g6.2xlarge", {}),
    ("Qwen/Qwen3-32B", "ml.g6.12xlarge", {"tensor_parallel_degree": 3}),
    ("Qwen/Qwen3-32B", "ml.g6.12xlarge", {"tensor_parallel_degree": 8}),
    ("Qwen/Qwen3-32B", "ml.g5.2xlarge", {}),
    ("Qwen/Qwen3-30B-A3B-FP8", "ml.g6e.12xlarge", {}),
    ("Qwen/Qwen3-8B", "ml.g5.12xlarge", {"quantization": "awq"}),
]


@pytest.mark.parametrize(("hub_id", "instance_type", "told"), HARD)
def test_every_change_has_the_grade_that_it_is_said_to_have(hub_id, instance_type, told) -> None:
    found = ways(hub_id, instance_type, **told)
    assert any(way.plan.grade == "fits" for way in found.values())
    for way in found.values():
        again = changed(hub_id, instance_type, dict(way.changes), **told)
        assert again.grade == way.plan.grade, way
        assert again.max_concurrency == way.plan.max_concurrency


def test_names_fewer_sequences_where_these_are_to_blame() -> None:
    found = ways("Qwen/Qwen3-8B", "ml.g6.2xlarge", max_num_seqs=1024, max_model_len=8192)
    way = found["max_num_seqs=128"]
    assert (way.kind, way.plan.grade) == ("max_num_seqs", "fits")
    more = {"max_num_seqs": 256}
    assert changed("Qwen/Qwen3-8B", "ml.g6.2xlarge", more, max_model_len=8192).grade != "fits"


def test_names_a_larger_share_where_it_is_to_blame() -> None:
    found = ways("Qwen/Qwen3-8B", "ml.g6.2xlarge", gpu_memory_utilization=0.75, max_model_len=8192)
    assert found["gpu_memory_utilization=0.9"].plan.grade == "fits"


def test_names_a_smaller_share_where_nothing_is_left_free() -> None:
    found = ways("Qwen/Qwen3-8B", "ml.g6.2xlarge", gpu_memory_utilization=1.0, max_model_len=8192)
    assert next(iter(found)) == "gpu_memory_utilization=0.95"


def test_names_two_changes_where_no_single_one_is_enough() -> None:
    found = ways("Qwen/Qwen3-8B", "ml.g6.2xlarge", max_num_seqs=1024)
    pair = next(
        way for way in found.values() if len(way.changes) == 2 and way.kind == "max_num_seqs"
    )
    assert pair.changes["max_num_seqs"] == 32
    assert pair.plan.grade == "fits"
    assert pair.change == f"max_num_seqs=32, max_model_len={pair.changes['max_model_len']}"


def test_the_longest_context_that_surely_fits_is_one_number_everywhere() -> None:
    p = plan(known("Qwen/Qwen3-8B"), "ml.g6.2xlarge", contained("ml.g6.2xlarge"))
    sure = p.sure_context
    assert sure is not None
    assert p.max_context is not None
    assert sure < p.max_context
    assert f"set max_model_len to {sure} or less, which surely fits" in p.findings[0].fix
    found = ways("Qwen/Qwen3-8B", "ml.g6.2xlarge")
    assert found[f"max_model_len={sure}"].plan.grade == "fits"
    beyond = {"max_model_len": sure + 16}
    assert changed("Qwen/Qwen3-8B", "ml.g6.2xlarge", beyond).grade == "marginal"


def test_what_cannot_be_shared_is_one_finding_that_names_the_degree_that_fits() -> None:
    p = plan(
        known("Qwen/Qwen3-32B"),
        "ml.g6.12xlarge",
        contained("ml.g6.12xlarge", tensor_parallel_degree=3),
    )
    (finding,) = p.findings
    assert finding.rule == "LMI052"
    assert "64 attention heads, 8 key-value heads and 25600 columns of the MLP" in finding.message
    assert finding.fix == "set tensor_parallel_degree to what divides them: 1, 2 or 4"
    (advised,) = advised_findings(p)
    assert advised.fix.startswith("set tensor_parallel_degree to 4")
    assert advised.fix.count("tensor_parallel_degree to") == 1


def test_groups_that_ranks_cut_are_mended_by_the_degree_that_fits() -> None:
    thirteen = {**LLAMA, "hidden_size": 5120, "intermediate_size": 13824, "num_hidden_layers": 40}
    heads = {"num_attention_heads": 40, "num_key_value_heads": 40, "max_position_embeddings": 4096}
    described = {"quant_method": "gptq", "bits": 4, "group_size": 128}
    model = Architecture.from_config_json({**thirteen, **heads, "quantization_config": described})
    p = plan(model, "ml.g5.48xlarge", contained("ml.g5.48xlarge"))
    (finding,) = advised_findings(p)
    assert finding.rule == "LMI053"
    assert finding.fix.startswith("set tensor_parallel_degree to 4")


def test_what_fits_only_just_says_what_fits() -> None:
    p = plan(known("Qwen/Qwen3-8B"), "ml.g6.2xlarge", contained("ml.g6.2xlarge"))
    (finding,) = advised_findings(p)
    assert finding.rule == "LMI051"
    assert 'it fits with kv_cache_dtype="fp8" or with max_model_len=' in finding.fix


def suggested(
    hub_id: str, instance: str, region: str | None = None, **settings: Any
) -> tuple[Suggestion, ...]:
    return suggest(known(hub_id), instance, EngineConfiguration(**settings), region)


def test_no_suggestion_holds_less_than_a_request():
    for hub_id, instance in (
        ("Qwen/Qwen3-14B", "ml.g5.2xlarge"),
        ("Qwen/Qwen3-32B", "ml.g6.xlarge"),
    ):
        p = in_container(hub_id, instance, LmiContainer.V27)
        for way in suggest(p.architecture, instance, p.configuration):
            assert way.plan.max_concurrency is None or way.plan.max_concurrency >= 1


def test_nothing_is_suggested_where_it_fits():
    assert suggested("Qwen/Qwen3-8B", "ml.g6.12xlarge", tensor_parallel_degree=4) == ()


def test_more_ranks_come_before_another_instance():
    found = suggested("Qwen/Qwen3-32B", "ml.g6.12xlarge", max_model_len=8192, max_num_seqs=32)
    assert found[0].change == "tensor_parallel_degree=4"
    assert found[0].plan.grade == "fits"


def test_whole_experts_solve_blocks_that_ranks_cut():
    found = suggested("Qwen/Qwen3-235B-A22B-FP8", "ml.p5.48xlarge", tensor_parallel_degree=8)
    assert found[0].kind == "expert_parallel"
    assert found[0].plan.grade == "fits"


def test_a_shorter_context_is_the_longest_that_surely_fits():
    found = suggested("meta-llama/Llama-3.1-8B-Instruct", "ml.g6.2xlarge", max_num_seqs=32)
    (shorter,) = [s for s in found if s.kind == "context"]
    tokens = shorter.plan.setup.context
    assert shorter.plan.grade == "fits"
    longer = replace(shorter.plan.configuration, max_model_len=tokens + 1024)
    assert plan(shorter.plan.architecture, "ml.g6.2xlarge", longer).grade != "fits"


def test_a_quantized_copy_of_the_same_model_is_suggested():
    found = suggested("Qwen/Qwen3-14B", "ml.g6.2xlarge", max_model_len=8192)
    assert any("Qwen/Qwen3-14B-" in s.change and s.plan.grade == "fits" for s in found)
    assert all("Qwen/Qwen3-14B-" in s.change for s in found if s.kind == "model")


def test_instances_are_of_the_region():
    (found,) = [
        s
        for s in suggested("Qwen/Qwen3-32B", "ml.g5.xlarge", "eu-central-1")
        if s.kind == "instance_type"
    ]
    assert "eu-central-1" in instance_types()[found.plan.instance_type].regions


def test_every_suggestion_is_better_than_what_there_is():
    for hub_id in ("meta-llama/Llama-3.3-70B-Instruct", "deepseek-ai/DeepSeek-R1"):
        found = suggested(hub_id, "ml.g6.48xlarge", tensor_parallel_degree=8)
        assert found
        assert all(s.plan.grade in ("fits", "marginal") for s in found)
        grades = [s.plan.grade for s in found]
        assert grades == sorted(grades)
