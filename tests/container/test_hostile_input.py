"""Input that nobody should write and somebody will: it is told, never a crash and never lost."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmi_constructs.container import LmiContainer, LmiSettings, verdict
from lmi_constructs.container.snippets import read_snippet
from lmi_constructs.findings import LmiError

NUMBER_TOKEN = -1.8881545897087e289
TEXT_TOKEN = "${Token[Len.12]}"
V15, V16, V27 = LmiContainer.V15, LmiContainer.V16, LmiContainer.V27
BASE: dict[str, object] = {"HF_MODEL_ID": "a/b"}


def rules(
    environment: dict[str, object], container: LmiContainer = V27, **more: object
) -> set[str]:
    found = verdict({**BASE, **environment}, container, 8, **more).findings  # type: ignore[arg-type]
    return {f"{finding.severity} {finding.rule} {finding.where}" for finding in found}


@pytest.mark.parametrize("token", [NUMBER_TOKEN, TEXT_TOKEN])
@pytest.mark.parametrize(
    "name",
    ["OPTION_MAX_MODEL_LEN", "OPTION_ENFORCE_EAGER", "OPTION_REASONING_PARSER", "SM_NUM_GPUS"],
)
def test_accepts_tokens_in_any_variable(name, token):
    assert verdict({**BASE, name: token}, V27, 8).findings == ()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPTION_HF_OVERRIDES", "[" * 5000),
        ("OPTION_BATCH_SIZE", "9" * 5000),
        ("TENSOR_PARALLEL_DEGREE", "9" * 5000),
        ("OPTION_LONG_LORA_SCALING_FACTORS", "1" + "0" * 400),
        ("OPTION_MAX_MODEL_LEN", "9" * 400 + "k"),
        ("OPTION_SERVED_MODEL_NAME", "\ud800"),
        ("OPTION_STRUCTURED_OUTPUTS_CONFIG", 10**400),
        ("OPTION_STRUCTURED_OUTPUTS_CONFIG", json.dumps({"backend": "x" * 900})),
        ("OPTION_STRUCTURED_OUTPUTS_CONFIG", json.dumps({"x" * 900: 1})),
        pytest.param("OPTION_SEED", 10**5000, id="more digits than Python writes"),
    ],
)
def test_survives_values_that_break_parsers_and_cuts_them_in_messages(name, value):
    for container in (V15, V27):
        found = verdict({**BASE, name: value}, container, 8).findings
        assert all(len(finding.message) < 700 for finding in found)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (1, "the name 1 is not text but int"),
        (None, "the name None is not text but NoneType"),
        (b"OPTION_DTYPE", "the name b'OPTION_DTYPE' is not text but bytes"),
        (("a",), "the name ('a',) is not text but tuple"),
    ],
)
@pytest.mark.parametrize("value", ["text", 8])
@pytest.mark.parametrize("container", [V15, V27])
def test_names_that_are_not_text_are_an_error_and_the_rest_is_judged(
    name, message, value, container
):
    found = verdict({**BASE, name: value, "OPTION_DTYPE": "fp99"}, container, 8)
    (of_name,) = (one for one in found.errors if one.rule == "LMI005")
    assert of_name.message == message
    assert of_name.fix == "write the name as a string of letters, digits and _, no digit first"
    assert {one.where for one in found.errors} == {repr(name), "OPTION_DTYPE"}
    assert found.starts is False


def test_a_property_name_that_is_not_text_is_told():
    with pytest.raises(LmiError, match=r"the name 1, which is not text but int") as caught:
        verdict(BASE, V27, serving_properties={1: "x"})  # type: ignore[dict-item]
    assert [one.rule for one in caught.value.findings] == ["LMI011"]


@given(value=st.text(max_size=40) | st.integers() | st.floats() | st.booleans() | st.none())
def test_every_finding_says_what_to_write(value):
    for name in ("OPTION_MAX_MODEL_LEN", "OPTION_DTYPE", "OPTION_HF_OVERRIDES", "HF_MODEL_ID"):
        for finding in verdict({**BASE, name: value}, V27, 8).findings:
            assert finding.fix
            assert finding.message


@pytest.mark.parametrize(
    ("environment", "mounted", "found"),
    [
        ({"SERVING_LOAD_MODELS": "t::Python=/opt/ml/model"}, None, {"error LMI009 HF_MODEL_ID"}),
        ({"SERVING_LOAD_MODELS": "NONE"}, True, set()),
        ({"SERVING_LOAD_MODELS": "none", "HF_MODEL_ID": ""}, True, {"error LMI004 HF_MODEL_ID"}),
        ({"HF_MODEL_ID": "/opt/ml/model"}, False, {"error LMI009 HF_MODEL_ID"}),
        ({"HF_MODEL_ID": "/opt/ml/model"}, True, set()),
        (
            {"HF_MODEL_ID": "", "SERVING_LOAD_MODELS": "a=/opt/ml/model,b=/opt/ml/other"},
            True,
            {"warning LMI009 SERVING_LOAD_MODELS"},
        ),
        (
            {"HF_MODEL_ID": "", "OPTION_MODEL_ID": "s3://b/p/"},
            None,
            {"warning LMI009 OPTION_MODEL_ID"},
        ),
    ],
)
def test_counts_the_models_that_the_server_registers(environment, mounted, found):
    assert rules(environment, model_mounted=mounted) == found


@pytest.mark.parametrize(
    ("container", "environment", "words"),
    [
        (V15, {"OPTION_ASYNC_MODE": "true"}, "OPTION_ENTRYPOINT"),
        (V16, {"OPTION_ASYNC_MODE": "true"}, "OPTION_ENTRYPOINT"),
        (V27, {"OPTION_ASYNC_MODE": "false"}, "OPTION_ROLLING_BATCH=vllm"),
        (V27, {"OPTION_ENTRYPOINT": "my.py"}, "remove the entry point"),
        (V27, {"OPTION_BATCH_SIZE": "4", "OPTION_ROLLING_BATCH": "disable"}, "serves asynchro"),
        (V27, {"OPTION_OUTPUT_FORMATTER": "sse"}, "remove it"),
        (V27, {"OPTION_QUANTIZE": "awq", "OPTION_QUANTIZATION": "gptq"}, "keep one of them"),
        (V27, {"HF_TOKEN": "<your-token>"}, "in its place"),
        (V27, {"option_dtype": "bf16"}, "OPTION_DTYPE"),
    ],
)
def test_warns_about_what_does_not_do_what_it_says(container, environment, words):
    (finding,) = verdict({**BASE, **environment}, container, 8).findings
    assert finding.severity == "warning"
    assert words in finding.fix


def test_names_no_option_that_never_was_one():
    assert verdict({**BASE, "MAX_NEW_TOKENS": "5"}, V27, 8).findings == ()


@pytest.mark.parametrize(
    ("line", "fix"),
    [
        ("dtype=bf16", "option.dtype"),
        ("OPTION_DTYPE=bf16", "option.dtype"),
        ("option.DTYPE=bf16", "option.dtype"),
        ("option.max_modl_len=1", "option.max_model_len"),
    ],
)
def test_tells_misspelled_names_in_the_file(line, fix):
    (finding,) = verdict(BASE, V27, 8, serving_properties=line).findings
    assert finding.rule == "LMI007"
    assert fix in finding.fix


def test_takes_the_names_of_the_server_in_the_file():
    lines = (
        "engine=Python\njob_queue_size=4\nmax_batch_delay=1\nminWorkers=1\noption.entryPoint=a.py"
    )
    found = verdict(BASE, V27, 8, serving_properties=lines).findings
    assert {finding.rule for finding in found} == {"LMI003"}


def test_refuses_a_broken_file_with_a_finding():
    with pytest.raises(LmiError, match="escape"):
        verdict(BASE, V27, serving_properties="option.dtype=\\uZZZZ")


@pytest.mark.parametrize(
    ("environment", "where", "words"),
    [
        ({"MAX_BATCH_SIZE": "0"}, "MAX_BATCH_SIZE", "set MAX_BATCH_SIZE"),
        ({"SM_NUM_GPUS": "16"}, "SM_NUM_GPUS", "set it to 8"),
        ({"PIPELINE_PARALLEL_DEGREE": "2"}, "PIPELINE_PARALLEL_DEGREE", "remove it"),
        (
            {"OPTION_MAX_ROLLING_BATCH_SIZE": "0"},
            "OPTION_MAX_ROLLING_BATCH_SIZE",
            "set OPTION_MAX_ROLLING_BATCH_SIZE",
        ),
        ({"OPTION_QUANTIZE": "bitsandbytes4"}, "OPTION_QUANTIZE", "bitsandbytes"),
    ],
)
def test_points_once_at_the_variable_that_was_written(environment, where, words):
    (error,) = verdict({**BASE, **environment}, V27, 8).errors
    assert error.where == where
    assert words in error.fix


def test_asks_for_gpus_where_there_are_none():
    (error,) = verdict({**BASE, "TENSOR_PARALLEL_DEGREE": "4"}, V27, 0).errors
    assert error.fix == "take an instance with GPUs"


@pytest.mark.parametrize("name", ["", "none", "None", "v", "-"])
def test_knows_no_release_of_an_empty_name(name):
    with pytest.raises(LmiError):
        LmiContainer.of(name)


def test_knows_families_by_name():
    assert LmiContainer.of("trtllm") == LmiContainer.TRTLLM
    assert LmiContainer.of("NeuronX") == LmiContainer.NEURONX


@pytest.mark.parametrize(
    "values",
    [
        {"tensor_parallel_degree": True},
        {"gpu_memory_utilization": True},
        {"swap_space": float("inf")},
        {"hf_overrides": {"a": {1}}},
        {"hf_overrides": {"a": float("nan")}},
        {"engine_args": {"a": b"x"}},
        {"engine_args": {"a": None}},
        {"engine_args": {"max-num-partial-prefills": 1}},
        {"engine_args": {"OPTION_A": 1}},
        {"engine_args": {"model_id": "a/b"}},
        {"engine_args": {"structured_outputs_config": {}}, "structured_outputs_backend": "a"},
        {"environment": {"SAGEMAKER_STARTUP_TIMEOUT": "1"}},
        {"environment": {"A": 1}},
    ],
)
def test_refuses_values_that_cannot_be_rendered_as_meant(values):
    with pytest.raises(LmiError) as error:
        LmiSettings(**values)
    assert {finding.rule for finding in error.value.findings} == {"LMI010"}


def test_tells_every_clash_at_once():
    with pytest.raises(LmiError) as error:
        LmiSettings(
            async_mode=True,
            rolling_batch="vllm",
            engine_args={"dtype": "bf16"},
            environment={"OPTION_DTYPE": "bf16"},
        )
    assert [finding.where for finding in error.value.findings] == [
        "settings.rolling_batch",
        "settings.engine_args['dtype']",
        "settings.environment['OPTION_DTYPE']",
    ]


def test_writes_whole_numbers_in_full():
    rendered = LmiSettings(cpu_offload_gb=1234567.0).to_environment(V27)
    assert rendered == {"OPTION_CPU_OFFLOAD_GB": "1234567"}


def test_takes_tokens_for_objects_and_choices():
    settings = LmiSettings(speculative_config=TEXT_TOKEN, scheduling_policy=TEXT_TOKEN)  # type: ignore[arg-type]
    assert settings.to_environment(V27) == {
        "OPTION_SPECULATIVE_CONFIG": TEXT_TOKEN,
        "OPTION_SCHEDULING_POLICY": TEXT_TOKEN,
    }


def test_says_which_field_holds_a_number_token_outside_a_construct():
    settings = LmiSettings(max_model_len=NUMBER_TOKEN, hf_overrides={"a": [NUMBER_TOKEN]})  # type: ignore[arg-type]
    assert [(f.rule, f.where) for f in settings.check(V27)] == [
        ("LMI010", "settings.max_model_len"),
        ("LMI010", "settings.hf_overrides"),
    ]


@pytest.mark.parametrize(
    "environment",
    [
        {"TENSOR_PARALLEL_DEGREE": TEXT_TOKEN},
        {"SERVING_FAIL_FAST": TEXT_TOKEN},
        {"SERVING_JOB_QUEUE_SIZE": TEXT_TOKEN},
        {"OPTION_ROLLING_BATCH": TEXT_TOKEN},
        {"OPTION_SPECULATIVE_CONFIG": TEXT_TOKEN},
        {"OPTION_STRUCTURED_OUTPUTS_CONFIG": TEXT_TOKEN},
        {"OPTION_ENTRYPOINT": TEXT_TOKEN},
        {"OPTION_MAX_MODEL_LEN": TEXT_TOKEN},
        {"ENABLE_CUDA_GRAPHS": TEXT_TOKEN},
        {"OPTION_REVISION": "true"},
        {"OPTION_CHAT_TEMPLATE": "false"},
    ],
)
def test_reads_back_tokens_and_texts_that_look_like_switches(environment):
    assert LmiSettings.from_environment(environment).to_environment(V27) == environment


def test_reads_tokens_in_a_file():
    text = f"option.max_model_len={TEXT_TOKEN}\njob_queue_size={TEXT_TOKEN}"
    settings = LmiSettings.from_serving_properties(text)
    assert (settings.max_model_len, settings.job_queue_size) == (TEXT_TOKEN, TEXT_TOKEN)


@pytest.mark.parametrize(
    ("environment", "text"),
    [
        ({"OPTION_QUANTIZE": "awq", "OPTION_QUANTIZATION": "gptq"}, ""),
        ({"OPTION_ENGINE": "MPI"}, ""),
        ({}, "batch_size=4"),
        ({}, "dtype=bf16"),
        ({}, '{"OPTION_DTYPE": "bf16"}'),
    ],
)
def test_refuses_to_lose_or_to_choose_when_reading(environment, text):
    def read():
        if text:
            LmiSettings.from_serving_properties(text)
        LmiSettings.from_environment(environment)

    with pytest.raises(LmiError):
        read()


def test_reaches_asynchronous_mode_on_every_release():
    settings = LmiSettings(async_mode=True, rolling_batch="disable")
    for container in (V15, V16, LmiContainer.V17, V27):
        assert verdict(settings.to_environment(container), container).backend == "vllm-async"


def test_a_platform_variable_does_not_survive_the_field_that_replaces_it():
    settings = LmiSettings.from_environment({"SAGEMAKER_STARTUP_TIMEOUT": "100"})
    longer = settings.remedy.loading_timeout(V27).settings
    assert longer.to_environment(V27) == {"OPTION_MODEL_LOADING_TIMEOUT": "200"}


def test_remedies_leave_tokens_alone():
    token: object
    for token in (TEXT_TOKEN, NUMBER_TOKEN):
        fields = ("max_rolling_batch_size", "gpu_memory_utilization", "model_loading_timeout")
        settings = LmiSettings(**dict.fromkeys(fields, token))
        for remedy in ("out_of_memory", "loading_timeout", "slow", "nccl", "tokenizer"):
            changes = getattr(settings.remedy, remedy)(V27).changes
            assert not {change.field for change in changes} & set(fields)


def test_more_sequences_stay_within_the_tokens_of_a_step():
    settings = LmiSettings(max_rolling_batch_size=64, max_num_batched_tokens=64)
    assert settings.remedy.slow(V27).settings.check(V27) == ()


@pytest.mark.parametrize("mode", ["disable", "lmi-dist", "vllm"])
def test_slow_leaves_every_older_mode(mode):
    changed = LmiSettings(rolling_batch=mode).remedy.slow(V27)
    assert verdict(changed.settings.to_environment(V27), V27).backend == "vllm-async"
    assert all(change.before != change.after for change in changed.changes)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'env = {"OPTION_SPECULATIVE_CONFIG": json.dumps({"method": "ngram"}), "OPTION_A": 4}',
            {"OPTION_SPECULATIVE_CONFIG": '{"method": "ngram"}', "OPTION_A": 4},
        ),
        (
            'export OPTION_SPECULATIVE_CONFIG=\'{"method": "ngram"}\'\nOPTION_DTYPE=bf16 # ok',
            {"OPTION_SPECULATIVE_CONFIG": '{"method": "ngram"}', "OPTION_DTYPE": "bf16"},
        ),
        ('  -e OPTION_QUANTIZE="awq" \\\n', {"OPTION_QUANTIZE": "awq"}),
    ],
)
def test_reads_the_values_of_code_and_shells(text, expected):
    assert read_snippet(text) == (expected, None)


def test_reads_a_file_with_json_in_it_as_a_file():
    text = 'engine=Python\noption.hf_overrides={"a": "b"}\n'
    assert read_snippet(text) == ({}, text)


def test_skips_what_code_computes():
    environment, _ = read_snippet('{"HF_MODEL_ID": model, "OPTION_MAX_MODEL_LEN": length * 2}')
    assert verdict(environment, V27).findings == ()
    assert json.dumps(sorted(environment)) == '["HF_MODEL_ID", "OPTION_MAX_MODEL_LEN"]'
