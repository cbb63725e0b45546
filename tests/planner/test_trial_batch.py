"""Sequences and tokens of the batch that the engine tries before it starts."""

from __future__ import annotations

import pytest

from lmi_constructs.container import LmiContainer, verdict
from lmi_constructs.planner import Architecture, EngineConfiguration, plan
from tests.planner.support import errors, in_container


def test_more_sequences_than_tokens_of_a_batch_are_refused():
    p = in_container(
        "Qwen/Qwen3-8B",
        "ml.g6e.2xlarge",
        LmiContainer.V27,
        max_model_len=8192,
        max_num_seqs=3000,
    )
    assert p.setup.sequences == 3000
    (finding,) = [one for one in p.findings if one.rule == "LMI004"]
    assert "max_num_seqs is 3000, but max_num_batched_tokens is 2048" in finding.message
    assert p.grade == "cannot"
    told = EngineConfiguration(max_num_seqs=4096, max_num_batched_tokens=2048)
    assert "LMI004" in errors(plan(p.architecture, "ml.p5.48xlarge", told))


def test_vllms_own_server_assumes_more_on_large_accelerators_than_the_container():
    served = EngineConfiguration(max_num_seqs=3000)
    shape = Architecture.known("Qwen/Qwen3-8B")
    assert shape is not None
    assert plan(shape, "ml.p5.4xlarge", served).setup.batched_tokens == 8192
    inside = in_container("Qwen/Qwen3-8B", "ml.p5.4xlarge", LmiContainer.V27)
    assert inside.setup.batched_tokens == 2048


@pytest.mark.parametrize(
    ("variables", "starts"),
    [
        ({"OPTION_MAX_ROLLING_BATCH_SIZE": "100000"}, False),
        ({"OPTION_MAX_ROLLING_BATCH_SIZE": "2049"}, False),
        ({"OPTION_MAX_ROLLING_BATCH_SIZE": "2048"}, True),
        (
            {
                "OPTION_MAX_ROLLING_BATCH_SIZE": "3000",
                "OPTION_MAX_NUM_BATCHED_TOKENS": "4096",
            },
            True,
        ),
    ],
)
def test_the_container_is_known_to_stop(variables, starts):
    judged = verdict({"HF_MODEL_ID": "Qwen/Qwen3-8B", **variables}, LmiContainer.V27)
    assert judged.starts is starts
    if not starts:
        (finding,) = judged.errors
        assert (finding.rule, finding.where) == ("LMI004", "OPTION_MAX_ROLLING_BATCH_SIZE")
        assert "at most 2048" in finding.fix


def test_older_releases_assume_more_for_models_with_images():
    told = {"HF_MODEL_ID": "any/model", "OPTION_MAX_ROLLING_BATCH_SIZE": "3000"}
    assert verdict(told, LmiContainer.V16).starts is True
    told["OPTION_MAX_ROLLING_BATCH_SIZE"] = "6000"
    assert verdict(told, LmiContainer.V16).starts is False
