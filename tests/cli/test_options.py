"""`lmi options` says what an option does and what to write now."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from lmi_constructs.cli.options import options
from lmi_constructs.facts.options import options as known


def run(*arguments: str):
    return CliRunner().invoke(options, list(arguments))


@pytest.mark.parametrize("name", [row.variable for row in known().values() if row.in_guide])
def test_every_option_of_the_guide_is_explained(name):
    result = run(name)
    assert result.exit_code == 0
    assert "does" in result.output
    assert "guide" in result.output


@pytest.mark.parametrize("name", ["MAX_NUM_SEQS", "option.max_num_seqs", "OPTION_MAX_NUM_SEQS"])
def test_names_the_replacement(name):
    assert "write now    OPTION_MAX_ROLLING_BATCH_SIZE" in run(name).output


def test_shows_choices_and_spans_of_releases():
    output = run("block_size").output
    assert "v15 " in output
    assert "one of 8, 16, 32, 64, 128" in output
    assert "v19-v22" in output or "v17-v22" in output
    assert "not read" in run("swap_space").output


def test_an_unknown_option_gets_a_hint():
    result = run("max_model_lenght")
    assert result.exit_code == 1
    assert "max_model_len" in result.output


def test_lists_the_guide_as_json():
    rows = json.loads(run("--guide", "--format", "json").output)
    assert len(rows) == sum(row.in_guide for row in known().values())
    assert all(row["source"] and row["as_of"] for row in rows)


def test_says_nothing_about_engines_for_variables_that_are_no_options():
    for name in ("TENSOR_PARALLEL_DEGREE", "HF_TOKEN", "SERVING_LOAD_MODELS"):
        assert "not read" not in CliRunner().invoke(options, [name]).output


def test_no_description_refers_to_another_row():
    assert "as above" not in CliRunner().invoke(options, ["speculative_length"]).output


def test_says_of_another_servers_variable_that_no_release_reads_it():
    output = run("MAX_TOTAL_TOKENS").output
    assert "newest       never read" in output
    assert "write now    OPTION_MAX_MODEL_LEN" in output
