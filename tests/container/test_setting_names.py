"""Advice has the names that its reader gives the settings."""

from __future__ import annotations

import pytest

from lmi_constructs import LmiContainer, LmiSettings
from lmi_constructs.cli.plan import plan as command
from lmi_constructs.container.setting_names import SETTINGS, assignment, translated
from lmi_constructs.planner import EngineConfiguration

ADVICE = (
    "set dtype=float16, set max_num_seqs to at most 2048, remove quantization, or set"
    " kv_cache_dtype=fp8; spread whole experts with enable_expert_parallel"
)


@pytest.mark.parametrize(
    ("door", "said"),
    [
        (
            "python",
            'set dtype="float16", set max_num_seqs to at most 2048, remove quantization, or set'
            ' kv_cache_dtype="fp8"; spread whole experts with expert_parallel',
        ),
        (
            "command",
            "set --dtype fp16, set --max-num-seqs to at most 2048, remove --quantization, or set"
            " --kv-cache-dtype fp8; spread whole experts with --expert-parallel",
        ),
        (
            "settings",
            'set dtype="fp16", set max_rolling_batch_size to at most 2048, remove quantize, or set'
            ' kv_cache_dtype="fp8"; spread whole experts with enable_expert_parallel',
        ),
        (
            "environment",
            "set OPTION_DTYPE=fp16, set OPTION_MAX_ROLLING_BATCH_SIZE to at most 2048, remove"
            " OPTION_QUANTIZE, or set OPTION_KV_CACHE_DTYPE=fp8; spread whole experts with"
            " OPTION_ENABLE_EXPERT_PARALLEL",
        ),
    ],
)
def test_advice_speaks_the_names_of_its_reader(door, said):
    assert translated(ADVICE, door) == said


@pytest.mark.parametrize(
    ("door", "said"),
    [
        ("python", "expert_parallel=True"),
        ("command", "--expert-parallel"),
        ("settings", "enable_expert_parallel=True"),
        ("environment", "OPTION_ENABLE_EXPERT_PARALLEL=true"),
    ],
)
def test_a_switch_is_written_as_its_reader_does(door, said):
    assert assignment("enable_expert_parallel", True, door) == said


def test_words_that_hold_a_name_are_left_alone():
    untouched = "max_num_seqs_of and vllm/quantization and quantized weights"
    assert translated(untouched, "settings") == untouched


@pytest.mark.parametrize("name", SETTINGS)
def test_every_name_is_one_that_its_door_takes(name):
    field = translated(name, "settings")
    assert field in LmiSettings.model_fields or field == "pipeline_parallel_degree"
    assert translated(name, "python") in EngineConfiguration.__dataclass_fields__
    option = translated(name, "command")
    options = {one for parameter in command.params for one in parameter.opts}
    assert option in options or option.startswith("OPTION_")


def test_what_a_release_says_of_settings_names_their_fields():
    found = LmiSettings(max_rolling_batch_size=3000).check(LmiContainer.V27)
    (finding,) = [one for one in found if one.rule == "LMI004"]
    assert finding.where == "settings.max_rolling_batch_size"
    assert "set max_rolling_batch_size to at most 2048, or max_num_batched_tokens" in finding.fix
