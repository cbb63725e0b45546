"""Rules of the two stages that recorded verdicts do not show, and the whole recording."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from lmi_constructs.checks import check_template
from lmi_constructs.checks.examples import Example
from lmi_constructs.container import LmiContainer, verdict
from tests.conformance.container_verdicts import compare

RECORDED = Path(__file__).parents[1] / "conformance" / "data" / "container_verdicts.json"
V15, V16, V17, V25, V27 = (LmiContainer.of(name) for name in ("v15", "v16", "v17", "v25", "v27"))
BASE = {"HF_MODEL_ID": "Qwen/Qwen3-8B", "TENSOR_PARALLEL_DEGREE": "max"}


def rules(found) -> dict[str, list[str]]:
    result: dict[str, list[str]] = {}
    for finding in found.findings:
        result.setdefault(finding.rule, []).append(finding.where)
    return result


def test_agrees_with_every_recorded_verdict():
    cases = json.loads(RECORDED.read_text(encoding="utf-8"))["cases"]
    results = list(compare(cases))
    assert [pair for pair in results if pair[2] != pair[3]] == []
    assert len(results) == 1260


@pytest.mark.parametrize(
    ("name", "value", "release", "expected"),
    [
        ("OPTION_MAX_MODEL_LEN", "16k", V15, "accepted"),
        ("OPTION_MAX_MODEL_LEN", "1.5M", V27, "rejected"),
        ("OPTION_MAX_MODEL_LEN", "1.5m", V27, "accepted"),
        ("OPTION_MAX_MODEL_LEN", "auto", V17, "rejected"),
        ("OPTION_MAX_MODEL_LEN", "auto", V27, "accepted"),
        ("OPTION_MAX_NUM_BATCHED_TOKENS", "16k", V27, "rejected"),
        ("OPTION_GPU_MEMORY_UTILIZATION", "90%", V27, "rejected"),
        ("OPTION_SPECULATIVE_CONFIG", "{model: x}", V27, "rejected"),
        ("OPTION_STRUCTURED_OUTPUTS_CONFIG", '{"backend": "nope"}', V27, "rejected"),
        ("OPTION_STRUCTURED_OUTPUTS_CONFIG", '{"backends": "outlines"}', V27, "rejected"),
        ("OPTION_ENFORCE_EAGER", "yes", V27, "rejected"),
        ("OPTION_TRUST_REMOTE_CODE", "yes", V27, "accepted"),
        ("OPTION_TRUST_REMOTE_CODE", "maybe", V27, "rejected"),
        ("OPTION_DISABLE_LOG_STATS", "false", V25, "accepted"),
        ("OPTION_DISABLE_LOG_STATS", "false", V27, "rejected"),
        ("OPTION_MAX_LOGPROBS", "true", V27, "rejected"),
        ("OPTION_ENABLE_LOG_REQUESTS", "true", V27, "accepted-ignoring"),
        ("OPTION_DTYPE", "BF16", V27, "rejected"),
        ("OPTION_ENGINE", "MPI", V27, "rejected"),
        ("OPTION_QUANTIZATION", "bitsandbytes8", V27, "accepted"),
        ("OPTION_ASYNC_MODE", "true", V16, "accepted"),
        ("SM_NUM_GPUS", "4", V27, "accepted"),
    ],
)
def test_reads_a_value_as_the_release_does(name, value, release, expected):
    assert verdict({**BASE, name: value}, release, 8).arguments == expected


@pytest.mark.parametrize(
    ("environment", "rule"),
    [
        ({"OPTION_GPU_MEMORY_UTILIZATION": "1.5"}, "LMI004"),
        ({"OPTION_GPU_MEMORY_UTILIZATION": "0"}, "LMI004"),
        ({"OPTION_MAX_ROLLING_BATCH_SIZE": "0"}, "LMI004"),
        ({"OPTION_MAX_MODEL_LEN": "-5"}, "LMI004"),
        ({"OPTION_ENABLE_LORA": "true", "OPTION_MAX_CPU_LORAS": "2"}, "LMI004"),
        ({"OPTION_MAX_NUM_BATCHED_TOKENS": "16"}, "LMI004"),
        ({"SERVING_LOAD_MODELS": "test::vLLM=/opt/ml/model"}, "LMI004"),
        ({"TENSOR_PARALLEL_DEGREE": "16"}, "LMI055"),
        ({"OPTION_QUANTIZE": "squeezellm"}, "LMI004"),
        ({"OPTION_REASONING_PARSER": "nope"}, "LMI004"),
    ],
)
def test_arguments_pass_but_the_start_fails(environment, rule):
    found = verdict({**BASE, **environment}, V27, 8)
    assert found.arguments == "accepted"
    assert found.starts is False
    assert rule in rules(found)


def test_a_good_environment_starts_without_findings():
    found = verdict({**BASE, "OPTION_MAX_MODEL_LEN": "8192"}, V27, 8)
    assert (found.starts, found.findings, found.backend) == (True, (), "vllm-async")
    assert found.effective["max_num_seqs"] == 32
    assert found.effective["max_model_len"] == 8192


def test_lora_limits_count_only_with_lora_on():
    assert verdict({**BASE, "OPTION_MAX_CPU_LORAS": "2"}, V27, 8).starts is True


def test_a_hub_id_beside_mounted_data_is_two_models():
    found = verdict(BASE, V27, 8, model_mounted=True)
    assert found.starts is False
    assert rules(found)["LMI009"] == ["HF_MODEL_ID"]
    assert verdict({**BASE, "HF_MODEL_ID": "/opt/ml/model"}, V27, 8, model_mounted=True).starts


def test_the_file_beats_the_environment_and_says_so():
    text = "option.dtype=bf16\noption.max_model_len=4096\n"
    environment = {**BASE, "OPTION_DTYPE": "fp8", "OPTION_MAX_MODEL_LEN": "4096"}
    found = verdict(environment, V27, 8, serving_properties=text)
    assert found.arguments == "accepted"
    assert rules(found)["LMI011"] == ["OPTION_DTYPE"]
    assert found.effective["dtype"] == "bfloat16"


def test_unknown_values_are_skipped():
    token = "${Token[TOKEN.12]}"
    found = verdict({"HF_MODEL_ID": token, "OPTION_DTYPE": token, "OPTION_NOPE": {"Ref": "X"}}, V27)
    assert found.arguments == "accepted-ignoring"
    assert found.ignored == {"nope"}
    assert found.errors == ()


@pytest.mark.parametrize(
    ("variable", "setting"),
    [
        ("TENSOR_PARALLEL_DEGREE", "tensor_parallel_degree"),
        ("OPTION_MAX_ROLLING_BATCH_SIZE", "max_num_seqs"),
        ("OPTION_QUANTIZE", "quantization"),
        ("OPTION_MAX_MODEL_LEN", "max_model_len"),
    ],
)
@pytest.mark.parametrize("release", ["v12", "v16", "v27"])
def test_says_which_settings_are_not_known_yet(variable: str, setting: str, release: str):
    found = verdict({**BASE, variable: "${Token[TOKEN.12]}"}, LmiContainer.of(release), 8)
    assert found.unknown == {setting}
    assert setting not in found.effective or setting == "max_num_seqs"
    assert verdict(BASE, LmiContainer.of(release), 8).unknown == frozenset()


def test_a_dropped_false_is_told_where_the_default_is_not_false():
    found = verdict({**BASE, "OPTION_ENABLE_PREFIX_CACHING": "false"}, V25, 8)
    assert rules(found) == {"LMI002": ["OPTION_ENABLE_PREFIX_CACHING"]}
    assert verdict({**BASE, "OPTION_ENFORCE_EAGER": "false"}, V25, 8).findings == ()


@pytest.mark.parametrize(
    ("name", "value", "rule", "word"),
    [
        ("OPTION_MAX_MODEL_LENGHT", "1", "LMI007", "OPTION_MAX_MODEL_LEN"),
        ("GPU_MEMORY_UTILIZATION", "0.9", "LMI007", "OPTION_GPU_MEMORY_UTILIZATION"),
        ("HF_API_TOKEN", "x", "LMI007", "HF_TOKEN"),
        ("MAX_TOTAL_TOKENS", "8192", "LMI007", "write OPTION_MAX_MODEL_LEN"),
        ("MAX_INPUT_LENGTH", "4096", "LMI007", "OPTION_MAX_MODEL_LEN (prompt and answer together)"),
        ("MESSAGES_API_ENABLED", "true", "LMI007", "remove it"),
        ("OPTIONS_DTYPE", "fp16", "LMI007", "write OPTION_DTYPE"),
        ("OPTON_MAX_MODEL_LENGHT", "1", "LMI007", "did you mean OPTION_MAX_MODEL_LEN?"),
        ("OPTION_MAX_LORAS", "4", "LMI002", "OPTION_ENABLE_LORA=true"),
        ("OPTION_MAX_CPU_LORAS", "4", "LMI002", "OPTION_ENABLE_LORA=true"),
        ("OPTION_LORA_TARGET_MODULES", "q_proj", "LMI002", "remove OPTION_LORA_TARGET_MODULES"),
        ("OPTION_Max_Model_Len", "1", "LMI007", "OPTION_MAX_MODEL_LEN"),
        ("OPTION_SERVED_MODEL_NAME", '"llama"', "LMI008", "remove"),
        ("OPTION_DTYPE", '"bf16"', "LMI001", "remove the quotes"),
        ("OPTION_MAX_MODEL_LEN", '"16384"', "LMI001", "remove the quotes"),
        ("OPTION_MODEL_ID", "other", "LMI009", "HF_MODEL_ID"),
        ("HF_TOKEN", "hf_" + "a" * 30, "LMI006", "secret"),
        ("OPTION.DTYPE", "bf16", "LMI005", "letters"),
        ("LONG", "é" * 600, "LMI005", "serving.properties"),
    ],
)
def test_names_the_variable_and_what_to_write(name, value, rule, word):
    (found,) = (f for f in verdict({**BASE, name: value}, V27, 8).findings if f.where == name)
    assert found.rule == rule
    assert word in found.fix


@pytest.mark.parametrize(
    "name",
    ["MY_APP", "OPTIMIZE", "OPTIONAL_FEATURE", "NCCL_DEBUG", "MAX_BATCH_SIZE", "SM_NUM_GPUS"],
)
def test_variables_of_others_and_those_the_entry_script_translates_are_no_slips(name):
    assert verdict({**BASE, name: "8"}, V27, 8).findings == ()


@pytest.mark.parametrize("switch", ["true", "${Token[TOKEN.12]}"])
def test_settings_of_adapters_are_right_where_adapters_are_on_or_may_be(switch):
    adapters = {"OPTION_MAX_LORAS": "4", "OPTION_MAX_LORA_RANK": "16"}
    assert "LMI002" not in rules(verdict({**BASE, **adapters, "OPTION_ENABLE_LORA": switch}, V27))
    said = verdict({**BASE, **adapters, "OPTION_ENABLE_LORA": "false"}, V27)
    assert rules(said) == {"LMI002": ["OPTION_MAX_LORAS", "OPTION_MAX_LORA_RANK"]}


def test_settings_of_adapters_are_right_where_the_file_beside_the_model_turns_them_on():
    told = verdict(
        {**BASE, "OPTION_MAX_LORAS": "4"}, V27, 8, serving_properties="option.enable_lora=true"
    )
    assert "LMI002" not in rules(told)


def test_two_faults_of_one_variable_are_two():
    found = verdict({**BASE, "option.max_model_lenght": "x" * 1200}, V27, 8).findings
    assert {one.rule for one in found} == {"LMI005"}
    assert len(found) == 2


@pytest.mark.parametrize(("value", "severity"), [("é" * 600, "warning"), ("x" * 1025, "error")])
def test_a_value_that_is_long_in_bytes_only_is_no_certain_fault_behind_either_door(value, severity):
    (found,) = (f for f in verdict({**BASE, "LONG": value}, V27, 8).findings if f.rule == "LMI005")
    example = Example({"Model/Properties/PrimaryContainer/Environment/LONG": value})
    (placed,) = check_template(example.template(), region="us-east-1")
    assert (found.severity, placed.severity) == (severity, severity)
    assert (found.message, found.fix) == (placed.message, placed.fix)
    assert placed.path == "PrimaryContainer/Environment/LONG"


def test_an_older_mode_is_told_where_the_release_would_serve_asynchronously():
    assert rules(verdict({**BASE, "OPTION_ROLLING_BATCH": "vllm"}, V27, 8)) == {
        "LMI015": ["OPTION_ROLLING_BATCH"]
    }
    assert rules(verdict({**BASE, "OPTION_ROLLING_BATCH": "lmi-dist"}, V15, 8)) == {
        "LMI015": ["OPTION_ROLLING_BATCH"]
    }
    assert rules(verdict({**BASE, "OPTION_ROLLING_BATCH": "vllm"}, V15, 8)) == {}


def test_dynamic_batching_excludes_the_old_streaming_switch():
    environment = {**BASE, "OPTION_BATCH_SIZE": "4", "OPTION_ENABLE_STREAMING": "true"}
    assert verdict(environment, V27, 8).arguments == "rejected"
    assert verdict({**environment, "OPTION_BATCH_SIZE": "1"}, V27, 8).arguments == "accepted"


def test_a_misspelled_option_is_told_once():
    found = verdict({**BASE, "OPTION_MAX_MODEL_LENGHT": "1"}, V27, 8)
    assert list(rules(found)) == ["LMI007"]


def test_other_images_are_judged_by_their_back_end():
    assert verdict({"OPTION_ROLLING_BATCH": "trtllm"}, LmiContainer.TRTLLM).backend == "trtllm"
    assert verdict({"OPTION_ROLLING_BATCH": "vllm"}, LmiContainer.TRTLLM).arguments == "rejected"
    assert verdict({"OPTION_ROLLING_BATCH": "lmi-dist"}, LmiContainer.V12).backend == "lmi-dist"
    assert verdict({}, LmiContainer.NEURONX).starts is None


def test_a_verdict_takes_less_than_a_millisecond_once_the_facts_are_read():
    environment = {**BASE, "OPTION_ENABLE_LORA": "true"}
    verdict(environment, V27, 8)
    best = float("inf")
    for length in range(1024, 1074):  # each is another environment, as equal ones are remembered
        begin = time.perf_counter()
        verdict({**environment, "OPTION_MAX_MODEL_LEN": str(length)}, V27, 8)
        best = min(best, time.perf_counter() - begin)
    assert best < 0.001


def test_reads_of_an_old_image_what_means_the_same_on_every_release() -> None:
    judged = verdict(
        {
            "OPTION_ROLLING_BATCH": "lmi-dist",
            "TENSOR_PARALLEL_DEGREE": "4",
            "OPTION_MAX_ROLLING_BATCH_SIZE": "32",
            "OPTION_MAX_MODEL_LEN": "4096",
            "OPTION_GPU_MEMORY_UTILIZATION": "most",
        },
        LmiContainer.V14,
        model_mounted=True,
    )
    assert judged.effective == {
        "tensor_parallel_degree": 4,
        "max_num_seqs": 32,
        "max_model_len": 4096,
    }
