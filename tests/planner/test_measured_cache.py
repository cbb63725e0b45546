"""Plans that judge the cache an engine has measured, and those of a model whose shape is unknown."""

from __future__ import annotations

import pytest

from lmi_constructs.facts import Accelerator, find_accelerator
from lmi_constructs.planner import Architecture, EngineConfiguration, Plan, plan

NOWHERE = Accelerator("unknown", "unknown", 0, None, False, None)
TOKEN_GIB = 2 * 32 * 8 * 128 * 2 / 2**30
"""Llama 3.1 8B: keys and values of 32 layers with 8 heads of 128 in 16 bits."""


def measured(tokens: int, **settings) -> Plan:
    architecture = Architecture.known("meta-llama/Llama-3.1-8B-Instruct")
    assert architecture is not None
    configuration = EngineConfiguration(**settings)
    return plan(architecture, NOWHERE, configuration, measured_cache_gib=tokens * TOKEN_GIB)


def test_abstains_where_neither_accelerator_nor_cache_is_known():
    architecture = Architecture.known("meta-llama/Llama-3.1-8B-Instruct")
    assert architecture is not None
    assert plan(architecture, NOWHERE).grade == "unknown"


def test_refuses_a_context_that_the_measured_cache_does_not_hold():
    p = measured(41200, max_model_len=131072)
    assert p.grade == "cannot"
    (finding,) = p.findings
    assert (finding.rule, finding.severity) == ("LMI050", "error")
    assert finding.message == (
        "one request of 131072 tokens takes 16.00 GiB of cache for"
        " meta-llama/Llama-3.1-8B-Instruct, the engine has 5.03 GiB"
    )
    assert finding.fix.startswith("set max_model_len to 41200 or less")
    assert (p.kv_tokens, p.max_context) == (41200, 41200)


def test_a_measured_plan_explains_its_cache_and_no_budget():
    lines = measured(41200, max_model_len=8192).explain()
    assert lines[1:] == [
        "cache 5.03 GiB: 41200 tokens; one request of 8192 tokens needs 1.00 GiB, 5.0 requests of"
        " it; measured by the engine"
    ]


def test_accepts_a_context_that_fills_the_measured_cache_to_the_last_token():
    p = measured(41200, max_model_len=41200)
    assert (p.grade, p.findings) == ("fits", ())
    assert p.max_concurrency == 1
    assert measured(41184, max_model_len=41200).grade == "cannot"


def test_does_not_refuse_where_the_engine_does_not_compare_cache_and_context():
    p = measured(592, max_model_len=1600, engine_version=(0, 2, 6))
    assert p.grade == "marginal"
    assert [(f.rule, f.severity) for f in p.findings] == [("LMI051", "warning")]
    assert measured(592, max_model_len=1600, engine_version=(0, 2, 7)).grade == "cannot"


def test_a_hard_rule_refuses_whatever_the_measured_cache():
    p = measured(10**6, max_model_len=4096, tensor_parallel_degree=3)
    assert p.grade == "cannot"
    assert {finding.rule for finding in p.findings} == {"LMI052"}


def test_a_measured_cache_does_not_settle_speculative_decoding():
    assert measured(10**6, max_model_len=4096, speculative_config={}).grade == "fits"
    assert measured(10**6, max_model_len=4096, speculative_config={"n": 1}).grade == "unknown"


@pytest.mark.parametrize(("quantization", "grade"), [("awq", "cannot"), (None, "unknown")])
def test_a_format_is_refused_by_the_accelerator_also_for_a_model_of_unknown_shape(
    quantization, grade
):
    volta = find_accelerator("V100")
    assert volta is not None
    configuration = EngineConfiguration(
        quantization=quantization, tensor_parallel_degree=7, engine_version=(0, 17, 0)
    )
    p = plan(Architecture.unknown("somebody/something"), volta, configuration)
    assert p.grade == grade
    assert [finding.rule for finding in p.findings if finding.severity == "error"] == (
        ["LMI054"] if quantization else []
    )
    assert p.doubt == "its shape is not known"
