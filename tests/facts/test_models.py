"""What is said of models, families and accelerators can be used and has a source."""

from __future__ import annotations

import pytest

from lmi_constructs.facts import (
    accelerators,
    find_accelerator,
    model_families,
    models,
)
from lmi_constructs.planner import Architecture
from lmi_constructs.planner.weights import parameters

NAMED_IN_THE_GUIDE = [
    "meta-llama/Llama-3.2-3B",
    "meta-llama/Llama-3.3-70B-Instruct",
    "meta-llama/Meta-Llama-3-8B",
    "meta-llama/Meta-Llama-3-8B-Instruct",
    "meta-llama/Meta-Llama-3-70B-Instruct",
    "casperhansen/llama-3-70b-instruct-awq",
    "TheBloke/Llama-2-70B-AWQ",
    "TheBloke/Llama-2-70B-Chat-GPTQ",
    "openai/gpt-oss-20b",
    "openai/gpt-oss-120b",
    "Qwen/Qwen3-235B-A22B",
    "Qwen/Qwen3-235B-A22B-FP8",
    "Qwen/Qwen3-235B-A22B-Instruct-2507",
    "deepseek-ai/DeepSeek-R1",
]


@pytest.mark.parametrize("hub_id", NAMED_IN_THE_GUIDE)
def test_every_model_of_the_guide_is_understood(hub_id):
    architecture = Architecture.known(hub_id)
    assert architecture is not None
    assert architecture.understood, architecture.doubt
    assert architecture.max_context


@pytest.mark.parametrize("facts", models().values(), ids=lambda facts: facts.hub_id)
def test_every_model_has_a_source_and_a_family(facts):
    assert facts.source
    assert facts.config["model_type"] in model_families()


def test_models_that_need_a_token_say_so():
    assert models()["meta-llama/llama-3.3-70b-instruct"].gated is True
    assert models()["openai/gpt-oss-120b"].gated is False


def test_a_quantized_copy_has_the_parameters_of_its_original():
    for hub_id in ("casperhansen/llama-3-70b-instruct-awq", "TheBloke/Llama-2-70B-AWQ"):
        facts = models()[hub_id.lower()]
        copy, original = Architecture.known(hub_id), Architecture.known(facts.shares_shape_with)
        assert copy.quantization is not None
        assert parameters(copy) == parameters(original)


def test_published_padding_makes_a_copy_larger():
    padded = Architecture.known("Qwen/Qwen2.5-72B-Instruct-AWQ")
    assert padded.intermediate == 29696


def test_families_that_are_not_planned_say_why():
    assert all(row.note for row in model_families().values() if row.planned != "yes")
    assert all(row.source for row in model_families().values())


@pytest.mark.parametrize("accelerator", accelerators().values(), ids=lambda found: found.name)
def test_the_driver_shows_less_than_the_nominal_memory(accelerator):
    assert accelerator.source
    if accelerator.usable_memory_gib is not None:
        assert 0.85 < accelerator.usable_memory_gib / accelerator.memory_gib < 1


@pytest.mark.parametrize("name", ["l4", "L4 24GB", " A100 80GB ", "H100 80GB", "RTX 3090"])
def test_accelerators_are_found_by_other_spellings(name):
    assert find_accelerator(name) is not None


def test_an_unknown_accelerator_is_none():
    assert find_accelerator("Voodoo 2") is None
