"""`lmi plan` shows on one screen what fits and what to change."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

from lmi_constructs.cli.plan import plan
from lmi_constructs.container import LmiSettings
from lmi_constructs.facts import models
from tests.planner.test_architecture import LLAMA

MODEL = ("--model", "Qwen/Qwen3-32B")


def run(*arguments: str, columns: int = 100, **environment: str):
    return CliRunner().invoke(plan, list(arguments), env={"COLUMNS": str(columns), **environment})


def test_what_fits_is_shown_with_a_bar_and_a_table():
    result = run(*MODEL, "--instance", "ml.g6.12xlarge", "--max-model-len", "16K")
    assert result.exit_code == 0
    assert "tensor_parallel_degree 4: fits" in result.output
    assert "|WWWWWWWW" in result.output
    assert "W weights" in result.output
    assert "requests of 16384 tokens at once: 4." in result.output
    assert len(result.output.splitlines()) <= 20


@pytest.mark.parametrize(("written", "meant"), [("16k", 16000), ("16K", 16384), ("1.5k", 1500)])
def test_a_unit_means_what_it_means_in_the_settings(written: str, meant: int):
    result = run(*MODEL, "--instance", "ml.g6.12xlarge", "--max-model-len", written)
    assert f"requests of {meant} tokens at once" in result.output
    assert LmiSettings(max_model_len=written).max_model_len == meant


def test_the_containers_own_limit_of_sequences_is_applied_and_said():
    new = run(*MODEL, "--instance", "ml.g6.12xlarge", "--container", "v27")
    old = run(*MODEL, "--instance", "ml.g6.12xlarge", "--container", "v16")
    given = run(*MODEL, "--instance", "ml.g6.12xlarge", "--max-num-seqs", "8")
    assert "max_num_seqs is 32: v27 sets it" in new.output
    assert "max_num_seqs is 256: v16 sets it" in old.output
    assert "sets it" not in given.output


def test_what_cannot_start_exits_with_1_and_suggestions():
    result = run(*MODEL, "--instance", "ml.g5.2xlarge")
    assert result.exit_code == 1
    assert "cannot (does not start)" in result.output
    assert "error LMI050" in result.output
    assert "write: " in result.output
    assert "1. --instance " in result.output


def test_a_model_out_of_its_depth_is_not_refused():
    result = run("--model", "Qwen/Qwen3.5-27B", "--instance", "ml.g6.12xlarge")
    assert result.exit_code == 0
    assert "not planned" in result.output


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("--model", "Qwen/Qwen3-23B", "--instance", "ml.g6.12xlarge"), "Qwen/Qwen3-32B"),
        ((*MODEL, "--instance", "ml.g6.12xlrge"), "ml.g6.12xlarge"),
        (("--instance", "ml.g6.12xlarge"), "either --model or --config"),
        ((*MODEL, "--instance", "ml.g6.12xlarge", "--tp", "two"), "neither a number nor max"),
        ((*MODEL, "--instance", "ml.g6.12xlarge", "--tp", "9" * 30), "neither a number nor max"),
        ((*MODEL, "--instance", "ml.g6.12xlarge", "--tp", "\u0664"), "neither a number nor max"),
        ((*MODEL, "--instance", "ml.g6.12xlarge", "--container", "v99"), "v99"),
        ((*MODEL, "--instance", "ml.g6.12xlarge", "--container", ""), "release '' is not known"),
        (
            (*MODEL, "--instance", "ml.g6.12xlarge", "--gpu-memory-utilization", "nan"),
            "is no number",
        ),
        ((*MODEL, "--instance", "ml.g6.12xlarge", "--max-model-len", "2x"), "such as 16384"),
    ],
)
def test_wrong_usage_exits_with_2_and_a_hint(arguments, hint):
    result = run(*arguments, columns=300)
    assert result.exit_code == 2
    assert hint in " ".join(result.output.split())


def test_json_is_complete():
    result = run(
        *MODEL,
        "--instance",
        "ml.g6.12xlarge",
        "--format",
        "json",
        "--concurrency-at",
        "4K",
    )
    content = json.loads(result.output)
    assert content["grade"] == "fits"
    assert content["weights_gib"] == pytest.approx(15.26, abs=0.01)
    assert content["concurrency_at"]["tokens"] == 4096
    assert content["concurrency_at"]["requests"] > 10
    assert content["suggestions"] == []
    assert content["max_num_seqs"] == 32


def test_reads_a_config_of_ones_own(tmp_path):
    file = tmp_path / "config.json"
    file.write_text(
        json.dumps(
            {
                "model_type": "llama",
                "hidden_size": 2048,
                "intermediate_size": 8192,
                "num_attention_heads": 32,
                "num_key_value_heads": 8,
                "num_hidden_layers": 16,
                "vocab_size": 128256,
                "max_position_embeddings": 8192,
                "tie_word_embeddings": True,
            }
        )
    )
    result = run("--config", str(file), "--instance", "ml.g6.2xlarge")
    assert result.exit_code == 0
    assert "fits" in result.output


@pytest.mark.parametrize("columns", [20, 40, 60, 200])
def test_any_width_is_respected(columns):
    result = run(*MODEL, "--instance", "ml.g6.12xlarge", columns=columns)
    assert result.exit_code == 0
    assert "\x1b[" not in result.output
    if columns >= 40:
        assert max(map(len, result.output.splitlines())) <= columns


def test_refuses_a_cache_format_that_the_release_does_not_have():
    result = run(*MODEL, "--instance", "ml.g6.12xlarge", "--kv-cache-dtype", "foo")
    assert result.exit_code == 2
    assert "'foo' is no format of the cache" in result.output
    assert "auto, bfloat16, float16, fp8, " in result.output
    newer = (*MODEL, "--instance", "ml.g6.12xlarge", "--kv-cache-dtype", "nvfp4", "--container")
    assert run(*newer, "v16").exit_code == 2
    judged = run(*newer, "v27")  # the release has it, this GPU has no kernel for it
    assert (judged.exit_code, "LMI054" in judged.output) == (1, True)


def test_refuses_a_region_that_does_not_exist():
    result = run(*MODEL, "--instance", "ml.g6.12xlarge", "--region", "us-esat-1")
    assert result.exit_code == 2
    assert "'us-esat-1' is no region" in result.output
    assert "us-east-1" in result.output.split("did you mean ")[1].split("?")[0]
    assert "eu-west-1, " in result.output
    assert run(*MODEL, "--instance", "ml.g6.12xlarge", "--region", "us-east-1").exit_code == 0


def test_a_cache_that_the_engine_logged_is_judged_instead_of_an_estimate():
    place = ("--instance", "ml.g6e.12xlarge", "--measured-cache", "5.59")
    fits = run(*MODEL, *place, "--max-model-len", "8K")
    assert fits.exit_code == 0
    assert "cache 5.59 GiB: 91584 tokens; one request of 8192 tokens needs 0.50 GiB" in fits.output
    assert "|W" not in fits.output
    llama = ("--model", "meta-llama/Llama-3.1-8B-Instruct", "--instance", "ml.g6.xlarge")
    refused = run(*llama, "--measured-cache", "5.03")
    assert refused.exit_code == 1
    assert "set --max-model-len to 41" in refused.output


@pytest.mark.parametrize("option", ["--measured-cache", "--gpu-memory-utilization"])
@pytest.mark.parametrize("value", ["nan", "0", "-1", "inf", "much"])
def test_refuses_what_is_no_amount(option: str, value: str):
    result = run(*MODEL, "--instance", "ml.g6.12xlarge", option, value)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("content", "said"),
    [("[1, 2]", "config.json"), ("{", "config.json"), ("\udcff", "config.json")],
)
def test_a_config_that_cannot_be_read_is_wrong_usage(tmp_path, content, said):
    file = tmp_path / "config.json"
    file.write_bytes(content.encode("utf-8", "surrogateescape"))
    result = run("--config", str(file), "--instance", "ml.g6.12xlarge", columns=300)
    assert result.exit_code == 2
    assert said in result.output


def test_the_known_models_are_listed_without_naming_an_instance():
    result = run("--list-models")
    assert result.exit_code == 0
    listed = result.output.split()
    assert "Qwen/Qwen3-32B" in listed
    assert listed == sorted({facts.hub_id for facts in models().values()}, key=str.lower)


@pytest.mark.parametrize(
    ("container", "reason"),
    [
        ("v9", "the version of the container's engine is not known"),
        ("neuronx", "neuronx-0.30.0 serves with tnx: only vLLM is planned"),
        ("trtllm", "serves with trtllm: only vLLM is planned"),
    ],
)
def test_an_engine_that_is_not_planned_is_not_taken_for_another(container, reason):
    result = run(*MODEL, "--instance", "ml.g6.12xlarge", "--container", container, columns=300)
    assert result.exit_code == 0
    assert result.output.splitlines()[0].endswith("unknown (not planned)")
    assert reason in result.output
    assert "W weights" not in result.output


def test_requests_longer_than_the_context_are_not_counted():
    place = (*MODEL, "--instance", "ml.g6.12xlarge", "--max-model-len", "4096")
    result = run(*place, "--concurrency-at", "8192", columns=300)
    assert result.exit_code == 2
    assert "no request has 8192 tokens" in result.output
    assert run(*place, "--concurrency-at", "4096").exit_code == 0


def test_suggestions_in_json_say_what_to_change_to_what():
    place = (*MODEL, "--instance", "ml.g6.12xlarge", "--tp", "3", "--format", "json")
    content = json.loads(run(*place).output)
    first = content["suggestions"][0]
    assert first["changes"] == {"tensor_parallel_degree": 4}
    assert (first["grade"], first["max_model_len"]) == ("fits", 40960)
    assert first["max_concurrency"] == pytest.approx(1.7, abs=0.1)
    assert [finding["rule"] for finding in content["findings"]] == ["LMI052"]
    assert content["findings"][0]["fix"].startswith("set --tp to 4")
    assert first["change"] == "--tp 4"


def test_the_longest_context_is_the_one_that_is_advised():
    result = run("--model", "Qwen/Qwen3-8B", "--instance", "ml.g6.2xlarge", columns=300)
    sure = re.search(r"longest context: (\d+) tokens surely fit, \d+ by the usual", result.output)
    assert sure is not None
    assert f"set --max-model-len to {sure[1]} or less, which surely fits" in result.output
    assert f"--max-model-len {sure[1]} (fits" in result.output


def test_what_is_not_known_exits_with_0_as_the_help_says():
    result = run("--model", "zai-org/GLM-5-FP8", "--instance", "ml.p5.48xlarge")
    assert (result.exit_code, "unknown (not planned)" in result.output) == (0, True)
    said = " ".join(run("--help").output.split())
    grades = "is 0 for the grades fits, marginal (may or may not start) and unknown (not planned)"
    assert grades in said
    assert "It is 1 for the grade cannot (does not start), and 2 for a usage error" in said


def test_copies_and_idle_gpus_are_said():
    model = ("--model", "Qwen/Qwen3-8B", "--max-model-len", "8K", "--instance")
    result = run(*model, "ml.g6.12xlarge", "--tp", "1", columns=300)
    assert "starts 4 copies of the model, each on 1 of the 4 L4: the figures are" in result.output
    result = run(*model, "ml.g6.12xlarge", "--tp", "4", columns=300)
    assert "copies" not in result.output
    said = json.loads(run(*model, "ml.g6.12xlarge", "--tp", "2", "--format", "json").output)[
        "notes"
    ]
    assert any("2 copies of the model, each on 2 of the 4 L4" in note for note in said)


def test_a_region_without_a_place_that_fits_is_said():
    place = ("--model", "deepseek-ai/DeepSeek-R1", "--instance", "ml.g6.2xlarge", "--region")
    result = run(*place, "eu-south-1", columns=300)
    assert "no other instance type in eu-south-1 surely fits" in result.output
    assert "surely fits with these settings" not in run(*place, "us-east-1", columns=300).output


def test_a_measurement_beyond_the_gpu_is_refused():
    result = run(
        "--model", "Qwen/Qwen3-8B", "--instance", "ml.g6.2xlarge", "--measured-cache", "100"
    )
    assert (result.exit_code, "which has 22 GiB in all" in result.output) == (2, True)


def test_a_config_is_called_by_its_folder(tmp_path):
    folder = tmp_path / "my-model"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(LLAMA))
    result = run("--config", str(folder / "config.json"), "--instance", "ml.g6e.xlarge")
    assert result.output.startswith("my-model on ml.g6e.xlarge")


def test_the_bar_names_what_is_left_free_of_the_budget():
    result = run(*MODEL, "--instance", "ml.g6.12xlarge", columns=120)
    (line,) = (line for line in result.output.splitlines() if line.startswith(". left free"))
    assert "outside the budget: the engine reserves nothing there" in line
    assert float(line.split()[3]) > 0
