"""Arguments of another kind are refused in words, and the container's own defaults are known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lmi_constructs.container import LmiContainer
from lmi_constructs.findings import LmiError
from lmi_constructs.planner import (
    Architecture,
    EngineConfiguration,
    plan,
    similar_models,
    suggest,
)
from tests.planner.support import planned

QWEN = Architecture.known("Qwen/Qwen3-8B")


@pytest.mark.parametrize(
    ("settings", "named", "fix"),
    [
        ({"max_model_len": "16K"}, ["max_model_len"], "a number, such as 16384"),
        ({"max_num_seqs": "32", "dtype": 16}, ["dtype", "max_num_seqs"], 'a text, such as "fp8"'),
        ({"enforce_eager": "true"}, ["enforce_eager"], "True or False"),
        ({"engine_version": "0.23.0"}, ["engine_version"], "its numbers, such as (0, 23, 0)"),
        ({"engine_version": ("0", "23")}, ["engine_version"], "its numbers, such as (0, 23, 0)"),
    ],
)
def test_settings_of_another_kind_are_refused_all_at_once(
    settings: dict[str, Any], named: list[str], fix: str
) -> None:
    with pytest.raises(LmiError) as caught:
        EngineConfiguration(**settings)
    assert [finding.where for finding in caught.value.findings] == named
    assert {finding.rule for finding in caught.value.findings} == {"LMI010"}
    assert fix in caught.value.findings[0].fix


@pytest.mark.parametrize(
    ("arguments", "named", "fix"),
    [
        (("Qwen/Qwen3-8B", "ml.g6.2xlarge"), "architecture", 'Architecture.known("Qwen/Qwen3-8B")'),
        ((None, "ml.g6.2xlarge"), "architecture", "is None for a model that the planner"),
        ((QWEN, None), "where", '"ml.g6.12xlarge"'),
        ((QWEN, "ml.g6.2xlarge", {"max_model_len": 4096}), "configuration", "EngineConfiguration("),
    ],
)
@pytest.mark.parametrize("function", [plan, suggest])
def test_arguments_of_another_kind_are_refused(function, arguments, named: str, fix: str) -> None:
    with pytest.raises(LmiError) as caught:
        function(*arguments)
    (finding,) = caught.value.findings
    assert (finding.rule, finding.where) == ("LMI010", named)
    assert fix in finding.fix


def test_what_a_container_hands_on_in_another_kind_makes_the_plan_abstain() -> None:
    assert QWEN is not None
    configuration = EngineConfiguration.from_effective(
        {"max_model_len": "16K"}, accelerator_count=1, engine_version=(0, 23, 0)
    )
    p = plan(QWEN, "ml.g6.2xlarge", configuration)
    assert p.grade == "unknown"
    assert "max_model_len" in (p.doubt or "")


def test_a_container_has_other_defaults_than_its_engine() -> None:
    assert QWEN is not None
    alone = plan(QWEN, "ml.g6.12xlarge")
    assert (alone.setup.tensor, alone.setup.sequences) == (1, 256)
    contained = EngineConfiguration.in_container(LmiContainer.V27, 4, max_model_len=8192)
    p = plan(QWEN, "ml.g6.12xlarge", contained)
    assert (p.setup.tensor, p.setup.sequences, p.setup.context) == (4, 32, 8192)
    assert p.setup.version == (0, 23, 0)
    told = EngineConfiguration.in_container(
        LmiContainer.V16, 4, tensor_parallel_degree=2, max_num_seqs=8
    )
    assert (told.tensor_parallel_degree, told.max_num_seqs) == (2, 8)


@pytest.mark.parametrize(
    ("container", "doubt"),
    [
        (LmiContainer.V9, "the version of the container's engine is not known"),
        (LmiContainer.NEURONX, "neuronx-0.30.0 serves with tnx: only vLLM is planned"),
        (LmiContainer.TRTLLM, "only vLLM is planned"),
    ],
)
def test_a_container_whose_engine_is_not_planned_makes_the_plan_abstain(container, doubt) -> None:
    assert QWEN is not None
    configuration = EngineConfiguration.in_container(container, 1, gpu_memory_utilization=1.0)
    p = plan(QWEN, "ml.g6.2xlarge", configuration)
    assert (p.grade, p.findings, p.weights_gib) == ("unknown", (), None)
    assert doubt in (p.doubt or "")


@pytest.mark.parametrize("version", [(0,), (0, 0), (-1, 2), (0, 23), (99,)])
def test_a_version_of_fewer_numbers_is_planned_too(version: tuple[int, ...]) -> None:
    assert QWEN is not None
    told = EngineConfiguration(engine_version=version, max_model_len=4096)
    assert plan(QWEN, "ml.g6.12xlarge", told).weights_gib is not None


@pytest.mark.parametrize(
    ("overrides", "doubt"),
    [
        ("[" * 100_000, "hf_overrides or rope_scaling is no JSON object"),
        ({1: 2, "num_hidden_layers": 3}, "hf_overrides changes 1, num_hidden_layers"),
    ],
)
def test_overrides_that_cannot_be_read_make_the_plan_abstain(overrides: Any, doubt: str) -> None:
    assert QWEN is not None
    p = plan(QWEN, "ml.g6.12xlarge", EngineConfiguration(hf_overrides=overrides))
    assert (p.grade, p.doubt) == ("unknown", doubt)


@pytest.mark.parametrize(
    "size", ["layers", "hidden", "heads", "kv_heads", "head_dim", "vocabulary"]
)
def test_a_shape_that_lacks_a_size_makes_the_plan_abstain(size: str) -> None:
    assert QWEN is not None
    p = plan(replace(QWEN, **{size: 0}), "ml.g6.12xlarge")
    assert (p.weights_gib, p.doubt) == (None, f"its {size} is 0")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("qwen3-32b", ("Qwen/Qwen3-32B",)),
        ("Qwen/Qwen3-23B", ("Qwen/Qwen3-32B",)),
        ("QWEN/QWEN3-8B", ("Qwen/Qwen3-8B",)),
        ("something-else-entirely", ()),
    ],
)
def test_a_misspelled_model_is_likened_to_known_ones(written: str, meant: tuple[str, ...]) -> None:
    assert similar_models(written)[: len(meant)] == meant
    assert bool(similar_models(written)) == bool(meant)


NO_NUMBERS = (-1, 0.5, float("nan"), float("inf"), -float("inf"), 10**400, True)


@pytest.mark.parametrize("measured", [-1, 0, "3", True, float("nan"), 100])
def test_a_measurement_that_cannot_be_is_refused(measured):
    shape = Architecture.known("Qwen/Qwen3-8B")
    with pytest.raises(LmiError) as caught:
        plan(shape, "ml.g6.2xlarge", measured_cache_gib=measured)
    (finding,) = caught.value.findings
    assert (finding.rule, finding.where) == ("LMI010", "measured_cache_gib")


def test_a_count_beside_an_instance_type_is_refused():
    shape = Architecture.known("Qwen/Qwen3-8B")
    with pytest.raises(LmiError, match="has its own number of accelerators"):
        plan(shape, "ml.g6.12xlarge", count=2)


@pytest.mark.parametrize("given", [5, None, ["config.json"]])
def test_what_is_no_config_and_no_name_is_refused(given):
    for read in (Architecture.from_config_json, Architecture.known):
        with pytest.raises(LmiError) as caught:
            read(given)
        assert caught.value.findings[0].rule == "LMI010"


def test_an_unknown_instance_type_is_an_error_with_the_known_ones():
    with pytest.raises(LmiError, match=r"ml\.g6\.12xlarge") as caught:
        planned("Qwen/Qwen3-8B", "ml.g99.large")
    assert caught.value.findings[0].rule == "LMI040"


@pytest.mark.parametrize(
    "value", NO_NUMBERS, ids=["negative", "half", "nan", "inf", "-inf", "huge", "truth"]
)
@pytest.mark.parametrize(
    "name",
    [
        "tensor_parallel_degree",
        "pipeline_parallel_degree",
        "data_parallel_size",
        "max_num_seqs",
        "max_num_batched_tokens",
        "max_lora_rank",
    ],
)
def test_abstains_from_a_count_that_no_engine_takes(name, value):
    p = planned("Qwen/Qwen3-8B", "ml.g6.12xlarge", **{name: value})
    assert (p.grade, p.doubt) == ("unknown", f"{name} is no number that an engine takes")
    assert suggest(p.architecture, "ml.g6.12xlarge", p.configuration) == ()


@pytest.mark.parametrize(
    "share", [-0.5, 0, 1.01, float("nan"), float("inf"), 10**400], ids=range(6)
)
def test_abstains_from_a_share_of_the_memory_that_no_engine_takes(share):
    p = planned("Qwen/Qwen3-8B", "ml.g6.12xlarge", gpu_memory_utilization=share)
    assert (p.grade, p.weights_gib) == ("unknown", None)
