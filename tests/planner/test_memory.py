"""The figures of a plan, held against public start-up logs."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmi_constructs.facts import accelerators, find_accelerator, instance_types
from lmi_constructs.planner import Architecture, EngineConfiguration, plan
from lmi_constructs.planner.quantization import quantization_named
from lmi_constructs.planner.weights import parameters

VLLM = "https://github.com/vllm-project/vllm/"


def known(hub_id: str, quantization: str | None = None) -> Architecture:
    found = Architecture.known(hub_id)
    assert found is not None
    if quantization is None:
        return found
    return replace(found, quantization=quantization_named(quantization))


@pytest.mark.parametrize(
    ("hub_id", "billions"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", 8.03),
        ("meta-llama/Meta-Llama-3.1-405B", 405.85),
        ("deepseek-ai/DeepSeek-R1", 671.03),
        ("Qwen/Qwen3-235B-A22B", 235.09),
        ("openai/gpt-oss-120b", 116.83),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", 46.70),
        ("moonshotai/Kimi-K2-Instruct", 1026.4),
        ("meta-llama/Llama-4-Maverick-17B-128E-Instruct", 400.7),
    ],
)
def test_parameters_are_the_published_ones(hub_id, billions):
    assert parameters(known(hub_id)) / 1e9 == pytest.approx(billions, rel=0.001)


@pytest.mark.parametrize(
    ("hub_id", "quantization", "ranks", "version", "logged", "source"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", None, 1, (0, 6, 4), 14.9888, "issues/10517"),
        ("meta-llama/Meta-Llama-3-8B-Instruct", None, 2, (0, 6, 5), 7.48, "pull/10511"),
        ("Qwen/Qwen2.5-32B-Instruct", None, 1, (0, 8, 5), 61.0374, "public log"),
        ("Qwen/Qwen3-30B-A3B-FP8", None, 1, (0, 10, 2), 29.0972, "public log"),
        ("TechxGenus/DeepSeek-Coder-V2-Lite-Instruct-AWQ", None, 1, (0, 7, 3), 10.45, "pull/13109"),
        ("deepseek-ai/DeepSeek-R1", "awq", 16, (0, 8, 0), 22.34, "issues/15014"),
        ("google/gemma-3-27b-it", None, 4, (0, 8, 2), 13.1665, "issues/15676"),
        ("gaunernst/gemma-3-27b-it-int4-awq", None, 1, (0, 8, 3), 17.611, "issues/16199"),
        ("openai/gpt-oss-20b", None, 1, (0, 10, 0), 12.8848, "public log"),
        ("microsoft/phi-4", "bitsandbytes", 1, (0, 7, 3), 8.6253, "public log"),
    ],
)
def test_weights_are_those_that_logs_show(hub_id, quantization, ranks, version, logged, source):
    configuration = EngineConfiguration(tensor_parallel_degree=ranks, engine_version=version)
    planned = plan(known(hub_id, quantization), find_accelerator("H200"), configuration)
    assert planned.weights_gib == pytest.approx(logged, rel=0.06), source


@pytest.mark.parametrize(
    ("hub_id", "ranks", "settings", "length", "logged"),
    [
        ("meta-llama/Llama-4-Scout-17B-16E-Instruct", 8, {}, 10485760, 240.0),
        ("openai/gpt-oss-120b", 1, {"max_num_batched_tokens": 1024}, 131072, 4.54),
        ("openai/gpt-oss-120b", 1, {"max_num_batched_tokens": 8192}, 131072, 4.79),
        ("Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8", 1, {"data_parallel_size": 8}, 262144, 62.0),
        ("Qwen/Qwen3-30B-A3B", 1, {"kv_cache_dtype": "fp8"}, 221000, 10.12),
    ],
)
def test_one_request_takes_the_cache_that_logs_show(hub_id, ranks, settings, length, logged):
    configuration = EngineConfiguration(
        tensor_parallel_degree=ranks,
        max_model_len=length,
        engine_version=(0, 11, 0) if "gpt" in hub_id else (0, 10, 1),
        **settings,
    )
    planned = plan(known(hub_id), find_accelerator("H200"), configuration)
    assert planned.kv_needed_gib == pytest.approx(logged, abs=0.01)


@pytest.mark.parametrize(
    ("hub_id", "device", "settings", "tokens"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", "RTX 3090", {"max_model_len": 20000}, 31232),
        ("meta-llama/Llama-3.1-8B-Instruct", "RTX 3090", {"max_model_len": 29000}, 23648),
        ("meta-llama/Llama-3.1-8B-Instruct", "A10", {"max_model_len": 131072}, 37696),
        ("Qwen/Qwen2.5-Math-1.5B", "L4", {"max_model_len": 4096}, 581312),
    ],
)
def test_the_cache_holds_the_tokens_that_logs_show(hub_id, device, settings, tokens):
    configuration = EngineConfiguration(engine_version=(0, 6, 4), **settings)
    planned = plan(known(hub_id), find_accelerator(device), configuration)
    assert planned.kv_tokens == pytest.approx(tokens, rel=0.06)


def test_a_longer_context_can_start_where_a_shorter_one_fails():
    """The old engine profiles contexts beyond 32768 tokens in chunks (issue 10517)."""
    model, device = known("meta-llama/Llama-3.1-8B-Instruct"), find_accelerator("RTX 3090")

    def tokens(length: int) -> int:
        told = EngineConfiguration(max_model_len=length, engine_version=(0, 6, 4))
        return plan(model, device, told).kv_tokens

    assert tokens(29000) < 29000
    assert tokens(35000) > 35000


def test_key_value_heads_are_repeated_beyond_their_number():
    model = known("Qwen/Qwen3-30B-A3B")  # 4 heads of keys and values

    def cache(ranks: int) -> float:
        told = EngineConfiguration(tensor_parallel_degree=ranks, max_model_len=8192)
        return plan(model, "ml.g6e.48xlarge", told).kv_needed_gib

    assert cache(4) == cache(8) == cache(1) / 4


def test_the_latent_cache_is_whole_on_each_rank():
    model = known("deepseek-ai/DeepSeek-R1")
    told = EngineConfiguration(tensor_parallel_degree=8, max_model_len=16384)
    planned = plan(model, "ml.p5en.48xlarge", told)
    assert planned.kv_needed_gib == pytest.approx(61 * 576 * 2 * 16384 / 2**30)


def test_windows_spare_cache_on_new_engines_only():
    model = known("google/gemma-3-27b-it")

    def needed(version: tuple[int, int, int]) -> float:
        told = EngineConfiguration(max_model_len=65536, engine_version=version)
        return plan(model, "ml.p5.4xlarge", told).kv_needed_gib

    assert needed((0, 23, 0)) < needed((0, 8, 2)) / 3


def test_adapter_slots_take_weights():
    model = known("Qwen/Qwen2.5-7B-Instruct")

    def weights(**settings) -> float:
        return plan(model, "ml.g6.2xlarge", EngineConfiguration(**settings)).weights_gib

    slot = weights(enable_lora=True, max_loras=1, max_lora_rank=64) - weights()
    assert slot == pytest.approx(0.3, abs=0.02)
    assert weights(enable_lora=True, max_loras=4, max_lora_rank=64) - weights() == pytest.approx(
        4 * slot
    )


def test_expert_parallelism_does_not_change_the_size_of_weights():
    model = known("Qwen/Qwen3-235B-A22B-FP8")
    told = EngineConfiguration(tensor_parallel_degree=8)
    cut = plan(model, "ml.p5.48xlarge", told)
    whole = plan(model, "ml.p5.48xlarge", replace(told, expert_parallel=True))
    assert whole.weights_gib == cut.weights_gib
    assert (cut.grade, whole.grade) == ("cannot", "fits")


def test_mxfp4_experts_are_padded_by_the_kernel():
    model = known("openai/gpt-oss-120b")

    def weights(version: tuple[int, int, int]) -> float:
        return plan(model, "ml.p5.4xlarge", EngineConfiguration(engine_version=version)).weights_gib

    assert weights((0, 11, 0)) == pytest.approx(65.97, rel=0.01)
    assert weights((0, 10, 0)) == pytest.approx(60.7, rel=0.01)


def test_the_budget_is_of_what_the_driver_shows():
    told = EngineConfiguration(gpu_memory_utilization=0.9)
    planned = plan(known("Qwen/Qwen3-8B"), "ml.g6.2xlarge", told)
    assert planned.usable_gib == 22.0
    assert planned.budget_gib == pytest.approx(19.8)


def test_terms_add_up_to_the_budget():
    told = EngineConfiguration(tensor_parallel_degree=4, max_num_seqs=32)
    p = plan(known("Qwen/Qwen3-32B"), "ml.g6.12xlarge", told)
    parts = p.weights_gib + p.activation_gib + p.overhead_gib + p.cuda_graph_gib + p.kv_cache_gib
    assert parts == pytest.approx(p.budget_gib)
    assert p.total_gib == pytest.approx(p.budget_gib)
    assert p.concurrency_at(16384) == pytest.approx(p.kv_tokens / 16384, rel=0.01)


def test_the_default_utilization_follows_the_engine():
    model = known("Qwen/Qwen3-8B")
    old, new = (
        plan(model, "ml.g6.2xlarge", EngineConfiguration(engine_version=version)).budget_gib
        for version in ((0, 19, 0), (0, 20, 1))
    )
    assert (old, new) == (pytest.approx(0.9 * 22), pytest.approx(0.92 * 22))


@given(
    hub_id=st.sampled_from(["Qwen/Qwen3-8B", "openai/gpt-oss-120b", "deepseek-ai/DeepSeek-R1"]),
    instance=st.sampled_from(sorted(instance_types())),
    degree=st.integers(1, 16),
    length=st.one_of(st.none(), st.integers(-1, 40960)),
    sequences=st.one_of(st.none(), st.integers(1, 2048)),
    version=st.tuples(st.integers(0, 1), st.integers(0, 30), st.integers(0, 9)),
    eager=st.booleans(),
)
def test_any_settings_get_a_grade(hub_id, instance, degree, length, sequences, version, eager):
    configuration = EngineConfiguration(
        tensor_parallel_degree=degree,
        max_model_len=length,
        max_num_seqs=sequences,
        engine_version=version,
        enforce_eager=eager,
    )
    planned = plan(known(hub_id), instance, configuration)
    assert planned.grade in ("fits", "marginal", "cannot", "unknown")
    severities = {finding.severity for finding in planned.findings}
    assert ("error" in severities) == (planned.grade == "cannot")
    assert planned.explain()


@given(length=st.integers(1, 131072), less=st.integers(0, 131072))
def test_a_shorter_context_never_fits_worse(length, less):
    order = ["fits", "marginal", "cannot"]
    model = known("meta-llama/Llama-3.1-8B-Instruct")
    grades = [
        plan(model, "ml.g6.2xlarge", EngineConfiguration(max_model_len=tokens)).grade
        for tokens in (max(1, length - less), length)
    ]
    assert order.index(grades[0]) <= order.index(grades[1])


def test_a_plan_takes_less_than_a_millisecond():
    model = known("deepseek-ai/DeepSeek-R1")
    told = EngineConfiguration(tensor_parallel_degree=8)
    best = float("inf")
    for _ in range(20):
        start = time.perf_counter()
        plan(model, "ml.p5en.48xlarge", told)
        best = min(best, time.perf_counter() - start)
    assert best < 0.001


def test_every_gpu_with_known_memory_can_be_planned():
    model = known("Qwen/Qwen3-0.6B")
    for device in accelerators().values():
        planned = plan(model, device, EngineConfiguration(max_model_len=2048))
        knows = device.usable_memory_gib is not None and device.compute_capability is not None
        assert (planned.doubt is None) == knows
        assert (planned.weights_gib is not None) == knows
        assert planned.grade != "unknown" or not knows
