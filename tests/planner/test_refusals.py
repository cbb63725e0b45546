"""Shapes and settings that the engine refuses however much memory there is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lmi_constructs.container import LmiContainer
from lmi_constructs.facts import find_accelerator
from lmi_constructs.planner import Architecture, EngineConfiguration, Plan, plan, suggest
from tests.planner.support import LLAMA, errors, in_container, of_config, planned, severities

QWEN2: dict[str, Any] = {
    **LLAMA,
    "model_type": "qwen2",
    "architectures": ["Qwen2ForCausalLM"],
    "use_sliding_window": True,
    "sliding_window": 4096,
}


@pytest.mark.parametrize(
    ("hub_id", "ranks"),
    [
        ("meta-llama/Llama-2-13b-hf", 3),
        ("Qwen/Qwen2.5-7B-Instruct", 8),
        ("tiiuae/falcon-7b-instruct", 4),
        ("mistralai/Mixtral-8x22B-Instruct-v0.1", 5),
        ("gpt2-xl", 2),
    ],
)
def test_refuses_heads_that_cannot_be_shared(hub_id, ranks):
    p = planned(hub_id, "H200", tensor_parallel_degree=ranks)
    assert p.grade == "cannot"
    assert severities(p)["LMI052"] == "error"


@pytest.mark.parametrize(("heads", "keys"), [(30, 8), (32, 3)])
def test_heads_that_do_not_group_are_refused_whatever_the_degree(heads, keys):
    changes = {"num_attention_heads": heads, "num_key_value_heads": keys, "head_dim": 128}
    p = of_config(changes, "ml.g6e.12xlarge", tensor_parallel_degree=4)
    (finding,) = [one for one in p.findings if one.rule == "LMI052"]
    assert "cannot share evenly" in finding.message
    assert "config.json" in finding.fix
    assert suggest(p.architecture, "ml.g6e.12xlarge", p.configuration) == ()


@pytest.mark.parametrize(
    ("hub_id", "ranks", "grade"),
    [
        ("Qwen/Qwen3-235B-A22B-FP8", 8, "cannot"),
        ("Qwen/Qwen3-235B-A22B-FP8", 4, "fits"),
        ("Qwen/Qwen3-30B-A3B-FP8", 4, "cannot"),
        ("Qwen/Qwen3-30B-A3B-FP8", 2, "fits"),
        ("Qwen/Qwen2.5-72B-Instruct-AWQ", 8, "fits"),
        ("MiniMaxAI/MiniMax-M2.5", 8, "cannot"),
    ],
)
def test_refuses_blocks_and_groups_that_ranks_cut(hub_id, ranks, grade):
    p = planned(hub_id, "H200", tensor_parallel_degree=ranks, max_model_len=8192)
    assert p.grade == grade, p.findings
    assert ("LMI053" in severities(p)) == (grade == "cannot")


def test_only_warns_of_groups_that_are_guessed():
    shape = Architecture.known("Qwen/Qwen2.5-72B-Instruct")
    h200 = find_accelerator("H200")
    assert shape is not None
    assert h200 is not None
    named = replace(shape, name="own/qwen2.5-72b-awq")  # its config says no group
    told = EngineConfiguration(tensor_parallel_degree=2, quantization="awq")
    p = plan(named, h200, told)
    assert severities(p)["LMI053"] == "warning"
    assert p.grade == "marginal"


def test_refuses_more_ranks_than_accelerators():
    p = planned("Qwen/Qwen3-8B", "ml.g6.12xlarge", tensor_parallel_degree=8)
    assert severities(p)["LMI055"] == "error"
    assert "at most 4" in p.findings[0].fix


def test_a_degree_beyond_all_reason_is_refused_at_once():
    p = planned("Qwen/Qwen3-8B", "ml.g6.12xlarge", tensor_parallel_degree=10**18)
    assert p.grade == "cannot"
    assert severities(p)["LMI052"] == "error"


def test_trying_degrees_of_a_huge_model_takes_no_time():
    config = {**LLAMA, "num_attention_heads": 2**30, "head_dim": 128, "num_key_value_heads": 8}
    architecture = Architecture.from_config_json(config)
    configuration = EngineConfiguration(tensor_parallel_degree=999_999_999_999)
    (finding,) = [
        finding
        for finding in plan(architecture, "ml.g6.12xlarge", configuration).findings
        if finding.where == "tensor_parallel_degree"
    ][:1]
    assert finding.rule == "LMI055"


@pytest.mark.parametrize(
    ("share", "version", "severity"),
    [
        (1.0, (0, 23, 0), "error"),
        (1.0, (0, 10, 2), "error"),
        (0.99, (0, 23, 0), "warning"),
        (0.98, (0, 23, 0), None),
        (1.0, (0, 7, 3), None),
    ],
)
def test_refuses_a_share_that_is_never_free(share, version, severity):
    p = planned(
        "Qwen/Qwen3-0.6B", "ml.g6.2xlarge", gpu_memory_utilization=share, engine_version=version
    )
    assert severities(p).get("LMI102") == severity
    if severity:
        assert p.grade == ("cannot" if severity == "error" else "marginal")
        assert "0.95" in p.findings[0].fix


def test_takes_the_share_with_which_a_large_accelerator_started():
    # https://github.com/vllm-project/vllm/issues/33155: 0.97 on an H100 of 80 GB
    p = planned("openai/gpt-oss-20b", "H100", gpu_memory_utilization=0.97, max_model_len=8192)
    assert "LMI102" not in severities(p)


def test_a_window_in_some_layers_is_refused():
    some = {**QWEN2, "max_window_layers": 16}
    p = of_config(some)
    assert errors(p) == ["LMI004"]
    assert "16 of the 32 layers" in p.findings[0].message
    assert of_config({**QWEN2, "max_window_layers": 32}).grade == "fits"
    assert of_config({**some, "use_sliding_window": False}).grade == "fits"


def test_ranks_are_those_of_the_engine():
    shape = Architecture.known("Qwen/Qwen3-8B")
    assert shape is not None

    def ranked(rank: int, container: LmiContainer) -> Plan:
        told = {"enable_lora": True, "max_lora_rank": rank, "max_model_len": 4096}
        return in_container("Qwen/Qwen3-8B", "ml.g6e.2xlarge", container, **told)

    assert errors(ranked(7, LmiContainer.V27)) == ["LMI001"]
    assert "set max_lora_rank to 8" in ranked(7, LmiContainer.V27).findings[0].fix
    assert ranked(1, LmiContainer.V27).grade == "fits"
    assert errors(ranked(1, LmiContainer.V15)) == ["LMI001"]


def test_warns_of_an_engine_older_than_the_family():
    p = planned("Qwen/Qwen3-8B", "ml.g6.12xlarge", engine_version=(0, 7, 3), max_model_len=4096)
    assert severities(p) == {"LMI017": "warning"}
    assert p.grade == "marginal"


def test_an_old_release_is_told_the_first_that_serves_the_family():
    p = in_container(
        "Qwen/Qwen3-8B", "ml.g6e.2xlarge", LmiContainer.V14, max_model_len=4096, max_num_seqs=32
    )
    (finding,) = [one for one in p.findings if one.rule == "LMI017"]
    assert "v16 or a later" in finding.fix
