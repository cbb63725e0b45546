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
def test_a_misspelt_model_is_likened_to_known_ones(written: str, meant: tuple[str, ...]) -> None:
    assert similar_models(written)[: len(meant)] == meant
    assert bool(similar_models(written)) == bool(meant)
