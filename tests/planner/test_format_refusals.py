"""Number formats of weights that an engine or an accelerator does not take, by version."""

from __future__ import annotations

import pytest

from lmi_constructs.container import LmiContainer
from lmi_constructs.planner import suggest
from tests.planner.support import errors, in_container, of_config, planned, severities


@pytest.mark.parametrize(
    ("method", "bits", "version", "refused"),
    [
        ("awq", 4, (0, 23, 0), False),
        ("awq", 3, (0, 23, 0), True),
        ("gptq", 8, (0, 23, 0), False),
        ("gptq", 5, (0, 14, 0), True),
        ("gptq", 3, (0, 14, 0), False),
        ("gptq", 3, (0, 23, 0), True),
    ],
)
def test_bits_are_those_that_the_engine_reads(method, bits, version, refused):
    quantization = {"quant_method": method, "bits": bits, "group_size": 128}
    p = of_config({"quantization_config": quantization}, engine_version=version)
    assert (errors(p) == ["LMI054"]) is refused
    assert p.grade == ("cannot" if refused else "fits")


def test_blackwell_computes_in_no_8_bit_integers():
    group = {
        "targets": ["Linear"],
        "weights": {"num_bits": 8, "type": "int"},
        "input_activations": {"num_bits": 8, "type": "int"},
    }
    whole = {"quant_method": "compressed-tensors", "config_groups": {"group_0": group}}
    changes = {"quantization_config": whole}
    assert errors(of_config(changes, "ml.p6-b200.48xlarge")) == ["LMI054"]
    assert of_config(changes, "ml.p5.4xlarge").grade == "fits"
    weights_only = {**group, "input_activations": None}
    changes = {"quantization_config": {**whole, "config_groups": {"group_0": weights_only}}}
    assert of_config(changes, "ml.p6-b200.48xlarge").grade == "fits"


def test_engines_say_from_which_capability_on_they_run():
    told = {"max_model_len": 4096, "dtype": "float16"}
    new = in_container("Qwen/Qwen3-8B", "ml.p3.8xlarge", LmiContainer.V27, **told)
    assert (new.grade, errors(new)) == ("cannot", ["LMI054"])
    old = in_container("Qwen/Qwen3-8B", "ml.p3.8xlarge", LmiContainer.V19, **told)
    assert (old.grade, old.findings) == ("unknown", ())


@pytest.mark.parametrize(
    ("container", "dtype", "grade"),
    [
        (LmiContainer.V27, None, "fits"),
        (LmiContainer.V27, "bfloat16", "cannot"),
        (LmiContainer.V27, "float16", "fits"),
        (LmiContainer.V15, None, "marginal"),
    ],
)
def test_turing_computes_in_float16_where_the_engine_is_not_told_otherwise(container, dtype, grade):
    p = in_container(
        "Qwen/Qwen2.5-7B-Instruct",
        "ml.g4dn.12xlarge",
        container,
        dtype=dtype,
        max_model_len=4096,
        max_num_seqs=16,
    )
    assert p.grade == grade
    ways = suggest(p.architecture, "ml.g4dn.12xlarge", p.configuration)
    assert [way.change for way in ways][:1] == ([] if grade == "fits" else ['dtype="float16"'])


@pytest.mark.parametrize("hub_id", ["Qwen/Qwen3-8B", "Qwen/Qwen3-8B-FP8"])
def test_ampere_runs_fp8_as_weights_only(hub_id):
    told = {} if hub_id.endswith("FP8") else {"quantization": "fp8"}
    p = in_container(hub_id, "ml.g5.2xlarge", LmiContainer.V27, max_model_len=8192, **told)
    assert (p.grade, p.findings) == ("fits", ())


@pytest.mark.parametrize(
    ("container", "grade"), [(LmiContainer.V15, "cannot"), (LmiContainer.V27, "fits")]
)
def test_turing_runs_fp8_only_with_newer_engines(container, grade):
    told = {"dtype": "float16", "max_model_len": 4096, "max_num_seqs": 16}
    p = in_container("Qwen/Qwen3-8B-FP8", "ml.g4dn.12xlarge", container, **told)
    assert p.grade == grade, p.findings
    assert errors(p) == (["LMI054"] if grade == "cannot" else [])


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
    assert "LMI054" not in severities(p)
