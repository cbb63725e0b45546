"""Settings mean the same on every release, and survive rendering and parsing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmi_constructs.container import LmiContainer, LmiSettings, verdict
from lmi_constructs.facts.options import option_names, options
from lmi_constructs.findings import LmiError

V15, V16, V17, V25, V27, V29 = (
    LmiContainer.of(name) for name in ("v15", "v16", "v17", "v25", "v27", "v29")
)
STUDIED = [c for c in LmiContainer.all() if 15 <= (c.release.lmi or 0) <= 29]
TOKEN = "${Token[TOKEN.7]}"

# The guide's baselines, as somebody would write them today.
BASELINES = {
    "asynchronous": LmiSettings(
        dtype="fp16",
        tensor_parallel_degree="max",
        max_model_len=4096,
        gpu_memory_utilization=0.9,
        model_loading_timeout=1800,
    ),
    "gpt-oss-120b": LmiSettings(
        dtype="bf16",
        tensor_parallel_degree=8,
        max_rolling_batch_size=64,
        max_model_len=8192,
        trust_remote_code=True,
    ),
    "qwen3-235b": LmiSettings(
        quantize="fp8",
        tensor_parallel_degree=8,
        max_rolling_batch_size=48,
        max_model_len=16384,
        trust_remote_code=True,
        gpu_memory_utilization=0.92,
    ),
    "awq": LmiSettings(
        quantize="awq", tensor_parallel_degree=4, max_model_len=4096, gpu_memory_utilization=0.95
    ),
    "lora": LmiSettings(enable_lora=True, max_loras=4, max_lora_rank=64, tensor_parallel_degree=1),
}


@pytest.mark.parametrize("container", STUDIED, ids=lambda container: container.name)
@pytest.mark.parametrize("name", BASELINES)
def test_each_baseline_is_accepted_and_served_asynchronously(name, container):
    environment = {"HF_MODEL_ID": "a/b", **BASELINES[name].to_environment(container)}
    found = verdict(environment, container, 8)
    assert (found.arguments, found.starts, found.backend) == ("accepted", True, "vllm-async")
    assert found.findings == ()


def test_reaches_asynchronous_mode_in_the_way_of_the_release():
    assert LmiSettings().to_environment(V17) == {}
    assert LmiSettings().to_environment(V16) == {
        "OPTION_ASYNC_MODE": "true",
        "OPTION_ROLLING_BATCH": "disable",
        "OPTION_ENTRYPOINT": "djl_python.lmi_vllm.vllm_async_service",
    }
    assert LmiSettings(async_mode=False).to_environment(V27) == {"OPTION_ROLLING_BATCH": "vllm"}


def test_structured_outputs_and_media_limits_take_the_form_of_the_release():
    settings = LmiSettings(structured_outputs_backend="outlines", limit_mm_per_prompt={"image": 4})
    old, new = settings.to_environment(V15), settings.to_environment(V27)
    assert old["OPTION_GUIDED_DECODING_BACKEND"] == "outlines"
    assert old["OPTION_LIMIT_MM_PER_PROMPT"] == "image=4"
    assert new["OPTION_STRUCTURED_OUTPUTS_CONFIG"] == '{"backend": "outlines"}'
    assert new["OPTION_LIMIT_MM_PER_PROMPT"] == '{"image": 4}'


def test_renders_nothing_that_the_release_drops_and_warns():
    settings = LmiSettings(swap_space=4, enable_prefix_caching=False)
    assert settings.to_environment(V25) == {}
    assert [(f.rule, f.severity, f.where) for f in settings.check(V25)] == [
        ("LMI002", "warning", "settings.enable_prefix_caching"),
        ("LMI002", "warning", "settings.swap_space"),
    ]
    assert settings.to_environment(V29) == {"OPTION_ENABLE_PREFIX_CACHING": "false"}


def test_settings_of_adapters_without_their_switch_are_told_in_fields():
    (found,) = LmiSettings(max_loras=4).check(V27)
    assert (found.rule, found.severity, found.where) == (
        "LMI002",
        "warning",
        "settings.max_loras",
    )
    assert found.fix == "set enable_lora=true, or remove max_loras"
    assert LmiSettings(max_loras=4, enable_lora=True).check(V27) == ()


def test_a_false_that_the_parser_would_refuse_is_left_out():
    assert LmiSettings(disable_log_stats=False).to_environment(V27) == {}
    assert LmiSettings(disable_log_stats=True).to_environment(V27) == {
        "OPTION_DISABLE_LOG_STATS": "true"
    }


def test_refuses_what_the_release_would_refuse_all_at_once():
    settings = LmiSettings(max_lora_rank=100, enable_lora=True, rolling_batch="trtllm")
    with pytest.raises(LmiError) as error:
        settings.to_environment(V27)
    assert {f.where for f in error.value.findings} == {
        "settings.rolling_batch",
        "settings.max_lora_rank",
    }
    with pytest.raises(LmiError) as error:
        settings.replace(rolling_batch=None).to_environment(V27)
    assert [f.where for f in error.value.findings] == ["settings.max_lora_rank"]
    assert settings.replace(rolling_batch=None, max_lora_rank=64).to_environment(V27)


def test_engine_arguments_are_checked_by_the_release():
    good = LmiSettings(engine_args={"max_num_partial_prefills": 2})
    assert good.to_environment(V27) == {"OPTION_MAX_NUM_PARTIAL_PREFILLS": "2"}
    bad = LmiSettings(engine_args={"stream_interval": "often"})
    assert [f.where for f in bad.check(V27)] == ["settings.engine_args['stream_interval']"]


@pytest.mark.parametrize(
    ("values", "where", "words"),
    [
        ({"dtype": "fp8"}, "settings.dtype", "quantize='fp8'"),
        ({"gpu_memory_utilization": 90}, "settings.gpu_memory_utilization", "0.9"),
        ({"max_modl_len": 1}, "settings.max_modl_len", "max_model_len"),
        ({"max_num_seqs": 1}, "settings.max_num_seqs", "max_rolling_batch_size"),
        ({"scheduler_policy": "fcfs"}, "settings.scheduler_policy", "SCHEDULING_POLICY"),
        ({"async_mode": True, "rolling_batch": "vllm"}, "settings.rolling_batch", "remove"),
        (
            {"engine_args": {"quantization": "fp8"}},
            "settings.engine_args['quantization']",
            "quantize=",
        ),
        (
            {"environment": {"OPTION_DTYPE": "bf16"}},
            "settings.environment['OPTION_DTYPE']",
            "dtype=",
        ),
        ({"tensor_parallel_degree": "all"}, "settings.tensor_parallel_degree", "max"),
    ],
)
def test_says_what_to_write_instead(values, where, words):
    with pytest.raises(LmiError) as error:
        LmiSettings(**values)
    (finding,) = error.value.findings
    assert (finding.rule, finding.where) == ("LMI010", where)
    assert words in finding.fix


def test_tokens_pass_through():
    settings = LmiSettings(max_model_len=TOKEN, enforce_eager=TOKEN, dtype=TOKEN)
    assert set(settings.to_environment(V27).values()) == {TOKEN}
    with pytest.raises(LmiError, match="stringify_number"):
        LmiSettings(max_model_len=-1.8881545897087626e289).to_environment(V27)


def test_reads_numbers_with_units():
    assert LmiSettings(max_model_len="16k").max_model_len == 16_000
    assert LmiSettings(max_model_len="16K").max_model_len == 16_384


GIVEN = st.fixed_dictionaries(
    {},
    optional={
        "tensor_parallel_degree": st.one_of(st.just("max"), st.integers(1, 8)),
        "max_model_len": st.one_of(st.just("auto"), st.integers(1024, 10**6)),
        "max_rolling_batch_size": st.integers(1, 512),
        "gpu_memory_utilization": st.floats(0.1, 1.0),
        "enable_prefix_caching": st.booleans(),
        "enforce_eager": st.booleans(),
        "enable_lora": st.booleans(),
        "dtype": st.sampled_from(["auto", "fp16", "bf16", "fp32"]),
        "served_model_name": st.text(st.characters(exclude_categories=["C"]), min_size=1).filter(
            lambda text: (
                text.strip() == text
                and not text.startswith("-")
                and text.lower() not in ("true", "false", "none")
            )
        ),
        "chat_template": st.text(
            st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1
        ).filter(lambda text: text.lower() not in ("true", "false")),
        "speculative_config": st.dictionaries(
            st.text(max_size=8), st.integers() | st.text(max_size=8), min_size=1, max_size=4
        ),
        "async_mode": st.just(True),
        "fail_fast": st.booleans(),
        "environment": st.dictionaries(
            st.sampled_from(["NCCL_DEBUG", "OMP_NUM_THREADS"]), st.text(min_size=1), min_size=1
        ),
    },
)


@given(GIVEN)
def test_environment_round_trip(values):
    settings = LmiSettings(**values)
    rendered = settings.to_environment(V29)
    expected = {**settings.given()}
    expected.pop("async_mode", None)
    assert LmiSettings.from_environment(rendered).given() == expected


@given(GIVEN)
def test_file_round_trip_with_java_escapes(values):
    values = {k: v for k, v in values.items() if k not in ("environment", "fail_fast")}
    settings = LmiSettings(**values)
    text = settings.to_serving_properties(V29)
    expected = settings.given()
    expected.pop("async_mode", None)
    assert LmiSettings.from_serving_properties(text).given() == expected


def test_the_file_names_what_it_cannot_carry():
    text = LmiSettings(environment={"NCCL_DEBUG": "INFO"}, max_loras=2).to_serving_properties(
        V27, model_id="s3://bucket/prefix/"
    )
    assert "NCCL_DEBUG" in text.splitlines()[0]
    assert "option.model_id=s3\\://bucket/prefix/" in text
    assert "option.max_loras=2" in text


ODD = st.sampled_from(
    ["", "true", "false", "None", "{}", "[1]", "{", "abc", "-1", "0.5", "16k", '"q"', "a=b", TOKEN]
) | st.sampled_from([{"Ref": "X"}, None, True, 7, 2.5, ["x"]])
NAMES = st.sampled_from(sorted({*options(), *(f"OPTION_{n.upper()}" for n in option_names())}))


@given(st.dictionaries(NAMES, ODD, max_size=5), st.sampled_from(LmiContainer.all()))
def test_no_environment_crashes_the_verdict_or_the_settings(environment, container):
    assert verdict(environment, container, 8).arguments
    assert all(finding.fix for finding in findings_of(environment, container))


def findings_of(environment, container):
    try:
        return LmiSettings.from_environment(environment).check(container)
    except LmiError as error:
        return error.findings


def test_limits_of_variables_do_not_count_in_the_file():
    settings = LmiSettings(chat_template="x" * 2000)
    with pytest.raises(LmiError, match="LMI005"):
        settings.to_environment(V27)
    assert "x" * 2000 in settings.to_serving_properties(V27)


def test_merging_and_replacing():
    base = LmiSettings(dtype="bf16", engine_args={"seed_x": 1}, environment={"A": "1"})
    merged = base.merged(LmiSettings(dtype="fp16", environment={"B": "2"}))
    assert (merged.dtype, merged.environment) == ("fp16", {"A": "1", "B": "2"})
    assert merged.engine_args == {"seed_x": 1}
    assert base.replace(dtype=None).dtype is None
    assert base == LmiSettings(dtype="bf16", engine_args={"seed_x": 1}, environment={"A": "1"})
    assert hash(base) != hash(merged)
    assert repr(LmiSettings(max_loras=2)) == "LmiSettings(max_loras=2)"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"engine_args": {"a": 1, "b": 2}}, {"engine_args": {"b": 2, "a": 1}}),
        ({"speculative_config": {"n": 1}}, {"speculative_config": {"n": 1.0}}),
        ({"gpu_memory_utilization": 1}, {"gpu_memory_utilization": 1.0}),
    ],
)
def test_equal_settings_are_one_key(one, other):
    assert {LmiSettings(**one), LmiSettings(**other)} == {LmiSettings(**one)}


def refusals(environment) -> set[str]:
    try:
        LmiSettings.from_environment(environment)
    except LmiError as error:
        return {finding.where for finding in error.findings}
    return set()


def test_every_environment_of_the_recording_is_read_or_refused_with_a_reason():
    path = Path(__file__).parents[1] / "conformance" / "data" / "container_verdicts.json"
    cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
    refused = {name: refusals(case["env"]) for name, case in cases.items()}
    assert set().union(*refused.values()) <= {
        "settings.dtype",
        "settings.gpu_memory_utilization",
        "settings.max_model_len",
        "settings.scheduling_policy",
        "settings.enable_prefix_caching",
    }


def test_the_model_location_and_its_token_are_no_settings():
    settings = LmiSettings.from_environment(
        {"HF_MODEL_ID": "a/b", "HF_TOKEN": "x", "SM_NUM_GPUS": "4", "NCCL_DEBUG": "INFO"}
    )
    assert settings == LmiSettings(tensor_parallel_degree=4, environment={"NCCL_DEBUG": "INFO"})


def test_a_verdict_needs_no_pydantic():
    code = (
        "import sys; sys.modules['pydantic'] = None\n"
        "from lmi_constructs.container import LmiContainer, verdict\n"
        "assert verdict({'OPTION_DTYPE': 'fp8'}, LmiContainer.V27).arguments == 'rejected'"
    )
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root)
