"""What stops an engine, what may, and what does not."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lmi_constructs.facts import find_accelerator, instance_types
from lmi_constructs.findings import LmiError
from lmi_constructs.planner import Architecture, EngineConfiguration, Plan, plan, suggest
from tests.planner.test_architecture import LLAMA


def planned(hub_id: str, where: str, **settings) -> Plan:
    architecture = Architecture.known(hub_id)
    assert architecture is not None
    found = where if where.startswith("ml.") else find_accelerator(where)
    assert found is not None
    return plan(architecture, found, EngineConfiguration(**settings))


def rules(p: Plan) -> dict[str, str]:
    return {finding.rule: finding.severity for finding in p.findings}


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
    assert rules(p) == {"LMI051": "warning"}


def test_warns_of_graphs_that_find_no_room_outside_the_budget():
    p = planned(
        "Qwen/Qwen3-0.6B", "ml.g6.2xlarge", gpu_memory_utilization=0.98, engine_version=(0, 8, 5)
    )
    assert p.grade == "marginal"
    assert p.findings[0].where == "gpu_memory_utilization"
    later = planned("Qwen/Qwen3-0.6B", "ml.g6.2xlarge", gpu_memory_utilization=0.98)
    assert later.grade == "fits"


@pytest.mark.parametrize(
    ("share", "version", "severity"),
    [
        (1.0, (0, 23, 0), "error"),
        (1.0, (0, 10, 2), "error"),
        (0.99, (0, 23, 0), "warning"),
        (0.98, (0, 23, 0), None),
        (1.0, (0, 7, 3), None),
    ],
)
def test_refuses_a_share_that_is_never_free(share, version, severity):
    p = planned(
        "Qwen/Qwen3-0.6B", "ml.g6.2xlarge", gpu_memory_utilization=share, engine_version=version
    )
    assert rules(p).get("LMI102") == severity
    if severity:
        assert p.grade == ("cannot" if severity == "error" else "marginal")
        assert "0.95" in p.findings[0].fix


def test_takes_the_share_with_which_a_large_accelerator_started():
    # https://github.com/vllm-project/vllm/issues/33155: 0.97 on an H100 of 80 GB
    p = planned("openai/gpt-oss-20b", "H100", gpu_memory_utilization=0.97, max_model_len=8192)
    assert "LMI102" not in rules(p)


@pytest.mark.parametrize(
    ("hub_id", "ranks"),
    [
        ("meta-llama/Llama-2-13b-hf", 3),
        ("Qwen/Qwen2.5-7B-Instruct", 8),
        ("tiiuae/falcon-7b-instruct", 4),
        ("mistralai/Mixtral-8x22B-Instruct-v0.1", 5),
        ("gpt2-xl", 2),
    ],
)
def test_refuses_heads_that_cannot_be_shared(hub_id, ranks):
    p = planned(hub_id, "H200", tensor_parallel_degree=ranks)
    assert p.grade == "cannot"
    assert rules(p)["LMI052"] == "error"


@pytest.mark.parametrize(
    ("hub_id", "ranks", "grade"),
    [
        ("Qwen/Qwen3-235B-A22B-FP8", 8, "cannot"),
        ("Qwen/Qwen3-235B-A22B-FP8", 4, "fits"),
        ("Qwen/Qwen3-30B-A3B-FP8", 4, "cannot"),
        ("Qwen/Qwen3-30B-A3B-FP8", 2, "fits"),
        ("Qwen/Qwen2.5-72B-Instruct-AWQ", 8, "fits"),
        ("MiniMaxAI/MiniMax-M2.5", 8, "cannot"),
    ],
)
def test_refuses_blocks_and_groups_that_ranks_cut(hub_id, ranks, grade):
    p = planned(hub_id, "H200", tensor_parallel_degree=ranks, max_model_len=8192)
    assert p.grade == grade, p.findings
    assert ("LMI053" in rules(p)) == (grade == "cannot")


def test_only_warns_of_groups_that_are_guessed():
    shape = Architecture.known("Qwen/Qwen2.5-72B-Instruct")
    h200 = find_accelerator("H200")
    assert shape is not None
    assert h200 is not None
    named = replace(shape, name="own/qwen2.5-72b-awq")  # its config says no group
    told = EngineConfiguration(tensor_parallel_degree=2, quantization="awq")
    p = plan(named, h200, told)
    assert rules(p)["LMI053"] == "warning"
    assert p.grade == "marginal"


@pytest.mark.parametrize(
    ("hub_id", "where", "settings"),
    [
        ("Qwen/Qwen3-0.6B", "T4", {"dtype": "bfloat16"}),
        ("TheBloke/Llama-2-70B-AWQ", "V100", {}),
        ("openai/gpt-oss-20b", "T4", {"dtype": "float16"}),
        ("openai/gpt-oss-20b", "RTX 3090", {"engine_version": (0, 10, 1)}),
        ("Qwen/Qwen3-30B-A3B-FP8", "V100", {"dtype": "float16"}),
    ],
)
def test_refuses_formats_that_the_accelerator_does_not_know(hub_id, where, settings):
    p = planned(hub_id, where, **settings)
    assert p.grade == "cannot"
    assert ("LMI054", "error") in [(finding.rule, finding.severity) for finding in p.findings]


def test_takes_mxfp4_on_ampere_once_the_engine_does():
    p = planned("openai/gpt-oss-20b", "RTX 3090", max_model_len=8192, max_num_seqs=32)
    assert "LMI054" not in rules(p)


def test_refuses_more_ranks_than_accelerators():
    p = planned("Qwen/Qwen3-8B", "ml.g6.12xlarge", tensor_parallel_degree=8)
    assert rules(p)["LMI055"] == "error"
    assert "at most 4" in p.findings[0].fix


def test_refuses_a_context_beyond_the_models_own_unless_it_is_stretched():
    p = planned("Qwen/Qwen3-8B", "ml.p5.4xlarge", max_model_len=131072)
    assert rules(p)["LMI056"] == "error"
    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}
    for told in (
        {"hf_overrides": {"rope_scaling": yarn}},
        {"hf_overrides": json.dumps({"rope_parameters": yarn})},
        {"rope_scaling": yarn},
    ):
        stretched = planned("Qwen/Qwen3-8B", "ml.p5.4xlarge", max_model_len=131072, **told)
        assert (stretched.grade, stretched.max_context) == ("fits", 131072)
        beyond = planned("Qwen/Qwen3-8B", "ml.p5.4xlarge", max_model_len=131073, **told)
        assert rules(beyond)["LMI056"] == "error"


def test_no_advice_goes_beyond_the_models_own_context():
    p = planned("Qwen/Qwen3-8B", "ml.g6.12xlarge", tensor_parallel_degree=4, max_model_len=500_000)
    too_large = next(finding for finding in p.findings if finding.rule == "LMI050")
    assert "set max_model_len to 40960 or less" in too_large.fix


def test_refuses_weights_larger_than_the_local_storage():
    p = planned("Qwen/Qwen3-235B-A22B", "ml.g6.xlarge")
    assert rules(p)["LMI057"] == "error"
    assert p.repository_bytes == pytest.approx(470e9, rel=0.01)


def test_warns_of_an_engine_older_than_the_family():
    p = planned("Qwen/Qwen3-8B", "ml.g6.12xlarge", engine_version=(0, 7, 3), max_model_len=4096)
    assert rules(p) == {"LMI017": "warning"}
    assert p.grade == "marginal"


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


def test_an_unknown_instance_type_is_an_error_with_the_known_ones():
    with pytest.raises(LmiError, match=r"ml\.g6\.12xlarge") as caught:
        planned("Qwen/Qwen3-8B", "ml.g99.large")
    assert caught.value.findings[0].rule == "LMI040"


class TestSuggestions:
    def suggested(self, hub_id: str, instance: str, region: str | None = None, **settings):
        architecture = Architecture.known(hub_id)
        assert architecture is not None
        return suggest(architecture, instance, EngineConfiguration(**settings), region)

    def test_nothing_is_suggested_where_it_fits(self):
        assert self.suggested("Qwen/Qwen3-8B", "ml.g6.12xlarge", tensor_parallel_degree=4) == ()

    def test_more_ranks_come_before_another_instance(self):
        found = self.suggested(
            "Qwen/Qwen3-32B", "ml.g6.12xlarge", max_model_len=8192, max_num_seqs=32
        )
        assert found[0].change == "tensor_parallel_degree=4"
        assert found[0].plan.grade == "fits"

    def test_whole_experts_solve_blocks_that_ranks_cut(self):
        found = self.suggested(
            "Qwen/Qwen3-235B-A22B-FP8", "ml.p5.48xlarge", tensor_parallel_degree=8
        )
        assert found[0].kind == "expert_parallel"
        assert found[0].plan.grade == "fits"

    def test_a_shorter_context_is_the_longest_that_surely_fits(self):
        found = self.suggested("meta-llama/Llama-3.1-8B-Instruct", "ml.g6.2xlarge", max_num_seqs=32)
        (shorter,) = [s for s in found if s.kind == "context"]
        tokens = shorter.plan.setup.context
        assert shorter.plan.grade == "fits"
        longer = replace(shorter.plan.configuration, max_model_len=tokens + 1024)
        assert plan(shorter.plan.architecture, "ml.g6.2xlarge", longer).grade != "fits"

    def test_a_quantised_copy_of_the_same_model_is_suggested(self):
        found = self.suggested("Qwen/Qwen3-14B", "ml.g6.2xlarge", max_model_len=8192)
        assert any("Qwen/Qwen3-14B-" in s.change and s.plan.grade == "fits" for s in found)
        assert all("Qwen/Qwen3-14B-" in s.change for s in found if s.kind == "model")

    def test_instances_are_of_the_region(self):
        (found,) = [
            s
            for s in self.suggested("Qwen/Qwen3-32B", "ml.g5.xlarge", "eu-central-1")
            if s.kind == "instance_type"
        ]
        assert "eu-central-1" in instance_types()[found.plan.instance_type].regions

    def test_every_suggestion_is_better_than_what_there_is(self):
        for hub_id in ("meta-llama/Llama-3.3-70B-Instruct", "deepseek-ai/DeepSeek-R1"):
            found = self.suggested(hub_id, "ml.g6.48xlarge", tensor_parallel_degree=8)
            assert found
            assert all(s.plan.grade in ("fits", "marginal") for s in found)
            grades = [s.plan.grade for s in found]
            assert grades == sorted(grades)


def test_a_degree_beyond_all_reason_is_refused_at_once():
    p = planned("Qwen/Qwen3-8B", "ml.g6.12xlarge", tensor_parallel_degree=10**18)
    assert p.grade == "cannot"
    assert rules(p)["LMI052"] == "error"


NO_NUMBERS = (-1, 0.5, float("nan"), float("inf"), -float("inf"), 10**400, True)


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


def test_trying_degrees_of_a_huge_model_takes_no_time():
    config = {**LLAMA, "num_attention_heads": 2**30, "head_dim": 128, "num_key_value_heads": 8}
    architecture = Architecture.from_config_json(config)
    configuration = EngineConfiguration(tensor_parallel_degree=999_999_999_999)
    (finding,) = [
        finding
        for finding in plan(architecture, "ml.g6.12xlarge", configuration).findings
        if finding.where == "tensor_parallel_degree"
    ][:1]
    assert finding.rule == "LMI055"
