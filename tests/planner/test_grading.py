"""Whether a plan fits, may fit or cannot, and where the planner abstains."""

from __future__ import annotations

import pytest

from tests.planner.support import planned, severities


@pytest.mark.parametrize(
    ("hub_id", "where", "settings"),
    [
        ("openai/gpt-oss-120b", "ml.g6.48xlarge", {"tensor_parallel_degree": 8}),
        ("Qwen/Qwen3-8B", "ml.g6.2xlarge", {"max_model_len": 8192, "max_num_seqs": 32}),
        ("deepseek-ai/DeepSeek-R1", "ml.p5en.48xlarge", {"tensor_parallel_degree": 8}),
        ("casperhansen/llama-3-70b-instruct-awq", "ml.g6.12xlarge", {"tensor_parallel_degree": 4}),
    ],
)
def test_fits_where_it_is_known_to_run(hub_id, where, settings):
    p = planned(hub_id, where, **settings)
    assert p.grade == "fits", p.findings
    assert p.findings == ()


def test_refuses_weights_larger_than_the_accelerator():
    p = planned("Qwen/Qwen3-32B", "ml.g6.2xlarge")
    assert p.grade == "cannot"
    (finding,) = p.findings
    assert finding.rule == "LMI050"
    assert "weights 61.0 GiB" in finding.message
    assert p.kv_tokens == 0


def test_refuses_a_context_larger_than_the_cache():
    p = planned("meta-llama/Llama-3.1-8B-Instruct", "A10", max_model_len=131072)
    assert p.grade == "cannot"
    assert p.max_context < 131072
    assert p.findings[0].fix.startswith("set max_model_len to ")


def test_warns_where_the_estimate_decides():
    p = planned("meta-llama/Llama-3.1-8B-Instruct", "ml.g5.2xlarge", max_model_len=34816)
    assert p.grade == "marginal"
    assert severities(p) == {"LMI051": "warning"}


def test_warns_of_graphs_that_find_no_room_outside_the_budget():
    p = planned(
        "Qwen/Qwen3-0.6B", "ml.g6.2xlarge", gpu_memory_utilization=0.98, engine_version=(0, 8, 5)
    )
    assert p.grade == "marginal"
    assert p.findings[0].where == "gpu_memory_utilization"
    later = planned("Qwen/Qwen3-0.6B", "ml.g6.2xlarge", gpu_memory_utilization=0.98)
    assert later.grade == "fits"


def test_refuses_weights_larger_than_the_local_storage():
    p = planned("Qwen/Qwen3-235B-A22B", "ml.g6.xlarge")
    assert severities(p)["LMI057"] == "error"
    assert p.repository_bytes == pytest.approx(470e9, rel=0.01)


@pytest.mark.parametrize(
    ("hub_id", "settings"),
    [
        ("Qwen/Qwen3.5-27B", {}),
        ("google/gemma-4-26B-A4B", {}),
        ("Qwen/Qwen3-8B", {"speculative_config": {"method": "eagle3"}}),
        ("Qwen/Qwen3-8B", {"cpu_offload_gb": 4.0}),
        ("Qwen/Qwen3-8B", {"quantization": "something-new", "engine_version": (0, 21, 0)}),
    ],
)
def test_abstains_out_of_its_depth_and_says_why(hub_id, settings):
    p = planned(hub_id, "ml.g6.12xlarge", tensor_parallel_degree=4, **settings)
    assert p.grade == "unknown"
    assert p.findings == ()
    assert p.weights_gib is None
    assert p.doubt
    assert p.doubt in p.explain()[-1]


def test_checks_hard_rules_also_out_of_its_depth():
    assert planned("Qwen/Qwen3.5-27B", "H200", tensor_parallel_degree=5).grade == "cannot"


def test_grades_what_is_sure_whatever_the_driver_shows():
    fits = planned("Qwen/Qwen3-8B", "ml.p6-b300.48xlarge", tensor_parallel_degree=8)
    assert (fits.grade, fits.findings) == ("fits", ())
    assert fits.doubt == "what the driver shows of B300 is not known"
    assert fits.budget_gib is None
    cannot = planned("Qwen/Qwen3-32B", "ml.p3.2xlarge", dtype="float16", engine_version=(0, 17, 0))
    assert cannot.grade == "cannot"
    (finding,) = cannot.findings
    assert finding.rule == "LMI050"
    assert "does not fit on V100 with all of its nominal 16 GiB" in finding.message


def test_abstains_where_what_the_driver_shows_decides():
    tight = {
        "dtype": "float16",
        "max_model_len": 2048,
        "engine_version": (0, 17, 0),
        "gpu_memory_utilization": 0.92,
    }
    p = planned("meta-llama/Llama-3.1-8B-Instruct", "ml.p3.2xlarge", **tight)
    assert (p.grade, p.findings) == ("unknown", ())
    assert p.doubt == "what the driver shows of V100 is not known"


def test_abstains_on_neuron_devices():
    assert planned("Qwen/Qwen3-8B", "ml.inf2.48xlarge").grade == "unknown"
