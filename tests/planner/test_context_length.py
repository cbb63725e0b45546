"""The longest context: what the config says of it, and what the engine is told."""

from __future__ import annotations

import json

import pytest

from lmi_constructs.container import LmiContainer
from lmi_constructs.planner import Architecture
from tests.planner.support import LLAMA, in_container, of_config, planned, severities


@pytest.mark.parametrize(
    ("changes", "longest"),
    [
        ({"seq_length": 2048}, 2048),
        ({"model_max_length": 2048}, 2048),
        ({"max_seq_len": 4096, "n_positions": 8192}, 4096),
        ({"model_max_length": 262144}, 262144),
        ({"model_max_length": 10**30}, 131072),
    ],
)
def test_the_smallest_key_is_the_longest_context(changes, longest):
    assert Architecture.from_config_json({**LLAMA, **changes}).max_context == longest


def test_refuses_a_context_beyond_the_models_own_unless_it_is_stretched():
    p = planned("Qwen/Qwen3-8B", "ml.p5.4xlarge", max_model_len=131072)
    assert severities(p)["LMI056"] == "error"
    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}
    for told in (
        {"hf_overrides": {"rope_scaling": yarn}},
        {"hf_overrides": json.dumps({"rope_parameters": yarn})},
        {"rope_scaling": yarn},
    ):
        stretched = planned("Qwen/Qwen3-8B", "ml.p5.4xlarge", max_model_len=131072, **told)
        assert (stretched.grade, stretched.max_context) == ("fits", 131072)
        beyond = planned("Qwen/Qwen3-8B", "ml.p5.4xlarge", max_model_len=131073, **told)
        assert severities(beyond)["LMI056"] == "error"


def test_overrides_of_the_shape_are_not_judged():
    p = of_config({}, hf_overrides={"num_hidden_layers": 4})
    assert (p.grade, p.doubt) == ("unknown", "hf_overrides changes num_hidden_layers")


@pytest.mark.parametrize("tokens", [0, -5])
def test_a_context_that_is_none_is_not_planned(tokens):
    p = in_container("Qwen/Qwen3-8B", "ml.g6e.2xlarge", LmiContainer.V27, max_model_len=tokens)
    assert (p.grade, p.doubt) == ("unknown", "max_model_len is no number that an engine takes")


def test_minus_one_leaves_the_context_to_the_engine():
    p = in_container("Qwen/Qwen3-8B", "ml.g6e.2xlarge", LmiContainer.V27, max_model_len=-1)
    assert (p.grade, p.setup.context) == ("fits", None)


def test_no_advice_goes_beyond_the_models_own_context():
    p = planned("Qwen/Qwen3-8B", "ml.g6.12xlarge", tensor_parallel_degree=4, max_model_len=500_000)
    too_large = next(finding for finding in p.findings if finding.rule == "LMI050")
    assert "set max_model_len to 40960 or less" in too_large.fix
