"""What holds between plans: an easier setting is never worse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lmi_constructs.facts import instance_types, models
from lmi_constructs.planner import Architecture, EngineConfiguration, Plan, plan, suggest

PLANNED: Final = [
    architecture
    for name in models()
    if (architecture := Architecture.known(name)) is not None and architecture.understood
]
RANK: Final = {"cannot": 0, "marginal": 1, "fits": 2}

CONFIGURATIONS: Final = st.builds(
    EngineConfiguration,
    tensor_parallel_degree=st.sampled_from([1, 2, 4, 8]),
    max_model_len=st.sampled_from([2048, 8192, 32768, 100_000]),
    max_num_seqs=st.sampled_from([None, 16, 256]),
    max_num_batched_tokens=st.sampled_from([None, 2048, 8192]),
    gpu_memory_utilization=st.sampled_from([0.5, 0.8, 0.9]),
    kv_cache_dtype=st.sampled_from([None, "fp8"]),
    expert_parallel=st.booleans(),
    enable_lora=st.sampled_from([None, True]),
    engine_version=st.sampled_from([(0, 8, 4), (0, 10, 2), (0, 14, 0), (0, 20, 0), (0, 23, 0)]),
)
PLACES: Final = st.sampled_from(list(instance_types()))


@st.composite
def planned(draw: Any) -> Plan:
    """Return a plan with figures."""
    found = plan(draw(st.sampled_from(PLANNED)), draw(PLACES), draw(CONFIGURATIONS))
    if found.weights_gib is None:
        found = plan(found.architecture, "ml.g6e.12xlarge", found.configuration)
    return found


def told(current: Plan, **changes: Any) -> Plan:
    where = current.instance_type or current.accelerator
    return plan(current.architecture, where, replace(current.configuration, **changes))


@given(current=planned())
def test_more_ranks_hold_no_more_weights_each(current):
    other = told(current, tensor_parallel_degree=2 * current.setup.tensor)
    assert other.weights_gib <= current.weights_gib * 1.0001


@given(current=planned())
def test_a_longer_context_is_held_by_no_more_requests_and_graded_no_better(current):
    other = told(current, max_model_len=2 * current.setup.context)
    assert other.max_concurrency <= current.max_concurrency * 1.0001
    assert RANK[other.grade] <= RANK[current.grade]


@given(current=planned())
def test_a_cache_in_fp8_holds_no_fewer_tokens(current):
    sixteen, eight = told(current, kv_cache_dtype=None), told(current, kv_cache_dtype="fp8")
    assert eight.kv_tokens >= sixteen.kv_tokens
    assume(not any(finding.where == "kv_cache_dtype" for finding in eight.findings))
    assert RANK[eight.grade] >= RANK[sixteen.grade]


@given(current=planned())
def test_a_larger_share_of_the_memory_holds_no_fewer_tokens(current):
    other = told(current, gpu_memory_utilization=current.setup.utilization + 0.05)
    assert other.kv_tokens >= current.kv_tokens
    assert RANK[other.grade] >= RANK[current.grade]


@given(current=planned(), factor=st.sampled_from([1.01, 1.3, 4.0]))
def test_more_memory_is_graded_no_worse(current, factor):
    usable = current.accelerator.usable_memory_gib
    larger = replace(current.accelerator, usable_memory_gib=usable * factor)
    count = current.accelerator_count
    other = plan(current.architecture, larger, current.configuration, count=count)
    assert RANK[other.grade] >= RANK[current.grade]
    assert other.kv_tokens >= current.kv_tokens


@given(current=planned())
def test_the_terms_add_up_to_the_budget(current):
    terms = [current.weights_gib, current.activation_gib, current.overhead_gib]
    if current.setup.graphs_in_budget:
        terms.append(current.cuda_graph_gib)
    left = current.budget_gib - sum(terms)
    assert current.kv_cache_gib == pytest.approx(max(0.0, left), abs=1e-9)


@given(current=planned())
def test_what_fits_holds_a_request_of_its_whole_context(current):
    if current.grade == "fits":
        assert current.max_concurrency >= 1
        assert current.max_context >= current.setup.context


@settings(max_examples=40)
@given(current=planned())
def test_each_suggestion_is_graded_alike_when_it_is_planned_again(current):
    for way in suggest(current.architecture, current.instance_type, current.configuration):
        again = plan(way.plan.architecture, way.plan.instance_type, way.plan.configuration)
        assert again.grade == way.plan.grade
        assert again.grade in ("fits", "marginal")
