"""What is read of a start-up log, and what is not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.planner.evaluate import evaluate, grade_of, summary
from tests.planner.start_up_logs import completed, device_of, stands_in_the_refusal_only

LLAMA = {"model_id": "meta-llama/Llama-3.1-8B-Instruct", "tp": 1}


def graded(**fields) -> str:
    return grade_of(evaluate(completed({**LLAMA, "outcome": "ok", **fields})))


@pytest.mark.parametrize(
    ("observed", "grade"),
    [
        ({"kv_gib": 5.03}, "cannot"),
        ({"kv_gib": 16.0}, "fits"),
        ({"gpu_blocks": 2575}, "cannot"),
        ({"gpu_blocks": 8192, "block_size": 16}, "fits"),
        ({"kv_tokens": 131056}, "cannot"),
        ({"kv_tokens": 131072}, "fits"),
        ({}, "unknown"),
    ],
)
def test_a_log_without_an_accelerator_is_judged_by_the_cache_it_shows(observed, grade):
    assert graded(max_model_len=131072, observed=observed) == grade
    assert graded(max_model_len=131072, observed=observed, outcome="kv_too_small") == grade


def test_a_context_that_is_not_stated_refuses_nothing():
    assert graded(observed={"kv_tokens": 3440}) == "marginal"


def test_the_cache_of_the_log_is_not_counted_as_planned():
    case = {**LLAMA, "outcome": "ok", "observed": {"kv_tokens": 148096}}
    result = evaluate(completed(case))
    assert result.by_log
    assert "kv_tokens" not in result.errors
    assert summary([result])["kv_tokens_median"] is None


def test_a_named_accelerator_is_planned_and_its_log_not_asked():
    case = {**LLAMA, "gpu": "L4", "max_model_len": 8192, "observed": {"kv_tokens": 16}}
    result = evaluate(completed(case))
    assert not result.by_log
    assert grade_of(result) == "fits"


@pytest.mark.parametrize(
    ("observed", "only"),
    [
        ({"kv_tokens": 6048, "kv_capacity_in_error": 6048}, True),
        ({"kv_tokens": 6048, "kv_capacity_in_error": 6048, "gpu_blocks": 378}, False),
        ({"kv_gib": 5.59, "kv_needed_gib": 10.12}, True),
        ({"kv_tokens": 148096}, False),
    ],
)
def test_tells_what_stands_in_the_refusal_only(observed, only):
    assert stands_in_the_refusal_only(completed({"observed": observed})) == only


@pytest.mark.parametrize(
    ("error", "total", "capability"),
    [
        ("GPU 0 has a total capacity of 79.10 GiB of which 1.2 GiB is free", 79.10, "9.0"),
        ("GPU 0 has a total capacty of 44.31 GiB", 44.31, "8.9"),
        ("(GPU 0; 14.56 GiB total capacity; 13 GiB already allocated)", 14.56, "7.5"),
    ],
)
def test_reads_the_memory_from_an_out_of_memory_message(error, total, capability):
    device = device_of(completed({"error": error}))
    assert device.usable_memory_gib == total
    assert device.compute_capability == capability


_ODD = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
_FIELDS = st.sampled_from(
    [
        "gpu",
        "gpu_count",
        "tp",
        "pp",
        "dp",
        "dtype",
        "quantization",
        "kv_cache_dtype",
        "gpu_memory_utilization",
        "max_model_len",
        "max_num_seqs",
        "max_num_batched_tokens",
        "lora",
        "engine",
        "vllm_version",
        "error",
        "notes",
        "source",
        "outcome",
        "arch_ref",
    ]
)
_SEEN = st.sampled_from(
    [
        "kv_gib",
        "kv_tokens",
        "gpu_blocks",
        "block_size",
        "weights_gib",
        "total_gpu_gib",
        "kv_needed_gib",
    ]
)


@settings(max_examples=60, deadline=None)
@given(
    fields=st.dictionaries(_FIELDS, _ODD | st.lists(_ODD, max_size=2), max_size=5),
    seen=_ODD | st.dictionaries(_SEEN, _ODD, max_size=4),
)
def test_no_odd_log_crashes_the_evaluation(fields, seen):
    result = evaluate(completed({**LLAMA, **fields, "observed": seen}))
    assert grade_of(result) in ("fits", "marginal", "cannot", "unknown")
    assert summary([result])["cases"] == 1
