"""The engine's `quantization` argument against what the checkpoint says of itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from lmi_constructs import LmiEndpoint, LmiError, LmiSettings, ModelData
from lmi_constructs.checks import check_template
from lmi_constructs.cli.plan import plan as plan_command
from lmi_constructs.planner import Architecture, EngineConfiguration, Plan, advised_findings, plan
from tests.planner.support import LLAMA

if TYPE_CHECKING:
    import aws_cdk as cdk

NEWEST = (0, 23, 0)
INSTANCE = "ml.g6e.12xlarge"
MANY = {
    "awq": {"quant_method": "awq", "bits": 4, "group_size": 128},
    "gptq": {"quant_method": "gptq", "bits": 4, "group_size": 128},
    "fp8": {"quant_method": "fp8"},
    "bitsandbytes": {"quant_method": "bitsandbytes", "load_in_4bit": True},
    "compressed-tensors": {
        "quant_method": "compressed-tensors",
        "config_groups": {
            "group_0": {"targets": ["Linear"], "weights": {"num_bits": 8, "type": "float"}}
        },
    },
}


def told(quantization: str | None, described: str | None, **settings: Any) -> Plan:
    config = {**LLAMA, "quantization_config": MANY[described]} if described else LLAMA
    configuration = EngineConfiguration(
        quantization=quantization,
        max_model_len=8192,
        **{"engine_version": NEWEST, "tensor_parallel_degree": 4, **settings},
    )
    return plan(Architecture.from_config_json(config), INSTANCE, configuration)


def rules(p: Plan) -> list[tuple[str, str]]:
    return [(finding.rule, finding.severity) for finding in p.findings]


@pytest.mark.parametrize(
    "name", ["awq", "awq_marlin", "gptq", "gptq_marlin", "compressed-tensors", "moe_wna16", "AWQ"]
)
def test_refuses_to_read_unquantized_weights_as_quantized(name: str) -> None:
    p = told(name, None)
    assert p.grade == "cannot"
    assert rules(p) == [("LMI101", "error")]
    (finding,) = p.findings
    assert "its config.json has no quantization_config" in finding.message
    assert 'set quantization to "fp8"' in finding.fix
    assert p.weights_gib is None


@pytest.mark.parametrize(
    ("name", "bytes_each"),
    [
        ("fp8", 1.0),
        ("fp8_per_tensor", 1.0),
        ("fp8_per_block", 1 + 4 / 128**2),
        ("bitsandbytes", 0.5 + 1 / 64 + 4 / (64 * 256)),
    ],
)
def test_converts_unquantized_weights_where_the_engine_does(name: str, bytes_each: float) -> None:
    p = told(name, None)
    assert p.grade == "fits", p.findings
    assert p.setup.quantization is not None
    assert p.setup.quantization.online
    assert p.setup.quantization.bytes_per_weight == pytest.approx(bytes_each)


def test_int8_is_made_of_experts_only() -> None:
    plain, dense = told(None, None), told("experts_int8", None)
    assert dense.weights_gib == plain.weights_gib
    mixture = Architecture.known("Qwen/Qwen3-30B-A3B")
    assert mixture is not None
    sizes = [
        plan(mixture, INSTANCE, EngineConfiguration(quantization=name)).weights_gib
        for name in (None, "experts_int8")
    ]
    assert 0.5 < (sizes[1] or 0) / (sizes[0] or 1) < 0.6


@pytest.mark.parametrize(
    ("name", "described"),
    [
        ("awq", "awq"),
        ("AWQ", "awq"),
        ("awq_marlin", "awq"),
        ("gptq", "gptq"),
        ("gptq_marlin", "gptq"),
        ("moe_wna16", "gptq"),
        ("fp8", "fp8"),
        ("bitsandbytes", "bitsandbytes"),
        ("compressed-tensors", "compressed-tensors"),
    ],
)
def test_takes_the_checkpoints_own_name_and_its_kernels(name: str, described: str) -> None:
    p = told(name, described)
    assert p.grade == "fits", p.findings
    assert p.weights_gib == told(None, described).weights_gib


@pytest.mark.parametrize(
    ("name", "described"),
    [
        ("awq", "fp8"),
        ("gptq", "awq"),
        ("awq_marlin", "gptq"),
        ("fp8", "compressed-tensors"),
        ("awq", "compressed-tensors"),
        ("fp8", "awq"),
        ("bitsandbytes", "gptq"),
    ],
)
def test_refuses_another_name_than_the_checkpoints(name: str, described: str) -> None:
    p = told(name, described)
    assert p.grade == "cannot"
    assert rules(p) == [("LMI101", "error")]
    assert f"{described!r} by its own config.json" in p.findings[0].message
    assert p.findings[0].fix.startswith("remove quantization")
    assert "it fits with no quantization" in advised_findings(p)[0].fix


def test_abstains_where_no_source_says_what_the_engine_makes_of_both() -> None:
    for name, described in (("humming", "awq"), ("modelopt", None), ("mxfp4", None)):
        p = told(name, described)
        assert (p.grade, p.findings) == ("unknown", ())
        assert p.doubt == f"what the engine makes of quantization {name!r} here is not known"


def test_an_old_checkpoint_that_says_its_format_in_its_name_is_not_refused() -> None:
    named = Architecture.from_config_json(LLAMA, "casperhansen/vicuna-7b-v1.5-awq")
    p = plan(named, INSTANCE, EngineConfiguration(quantization="awq", max_model_len=4096))
    assert p.grade == "fits", p.findings


@pytest.mark.parametrize("file", ["quantize_config.json", "quant_config.json"])
def test_an_old_checkpoint_that_says_its_format_in_another_file_is_not_refused(tmp_path, file):
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    (tmp_path / file).write_text(json.dumps({"bits": 4, "group_size": 128}))
    model = Architecture.from_config_json(tmp_path / "config.json")
    p = plan(model, INSTANCE, EngineConfiguration(quantization="gptq", max_model_len=4096))
    assert p.grade == "fits", p.findings
    assert p.setup.quantization is not None
    assert p.setup.quantization.method == "gptq"
    (tmp_path / file).unlink()
    alone = Architecture.from_config_json(str(tmp_path / "config.json"))
    assert plan(alone, INSTANCE, EngineConfiguration(quantization="gptq")).grade == "cannot"


def test_names_the_quantized_copy_that_is_known() -> None:
    known = Architecture.known("Qwen/Qwen3-8B")
    assert known is not None
    p = plan(known, INSTANCE, EngineConfiguration(quantization="awq"))
    assert "use the checkpoint Qwen/Qwen3-8B-AWQ and no quantization" in p.findings[0].fix


def test_names_no_fp8_where_the_accelerator_has_none() -> None:
    known = Architecture.known("Qwen/Qwen3-8B")
    assert known is not None
    old = plan(known, "ml.p3.2xlarge", EngineConfiguration(quantization="awq", dtype="float16"))
    found = next(one for one in old.findings if one.rule == "LMI101")
    assert "fp8" not in found.fix


@pytest.mark.parametrize(
    ("settings", "rule", "near"),
    [
        ({"quantization": "awqq"}, "LMI004", "did you mean awq"),
        ({"kv_cache_dtype": "fp9"}, "LMI001", "did you mean fp8"),
        ({"dtype": "bfloat61"}, "LMI001", "did you mean bfloat16"),
    ],
)
def test_refuses_names_that_the_engine_does_not_have(settings: dict[str, str], rule, near) -> None:
    known = Architecture.known("Qwen/Qwen3-8B")
    assert known is not None
    p = plan(known, INSTANCE, EngineConfiguration(**settings, max_model_len=4096))
    assert p.grade == "cannot"
    assert rules(p) == [(rule, "error")]
    assert near in p.findings[0].fix
    unread = plan(known, INSTANCE, EngineConfiguration(**settings, engine_version=(0, 21, 0)))
    assert unread.grade != "cannot"


def test_the_command_says_so() -> None:
    arguments = ["--model", "Qwen/Qwen3-8B", "--instance", "ml.g5.12xlarge", "--quantization"]
    result = CliRunner().invoke(plan_command, [*arguments, "awq", "--format", "json"])
    assert result.exit_code == 1
    content = json.loads(result.output)
    assert content["grade"] == "cannot"
    assert [finding["rule"] for finding in content["findings"]] == ["LMI101"]
    assert content["suggestions"][0]["changes"] == {"quantization": None}
    misspelled = CliRunner().invoke(plan_command, [*arguments, "awqq"])
    assert misspelled.exit_code == 2
    assert "did you mean awq?" in " ".join(misspelled.output.split())


def test_the_endpoint_stops_synth(stack: cdk.Stack) -> None:
    with pytest.raises(LmiError) as caught:
        LmiEndpoint(
            stack,
            "Chat",
            model_data=ModelData.hub("Qwen/Qwen3-8B"),
            instance_type="ml.g6e.12xlarge",
            settings=LmiSettings(quantize="awq"),
        )
    assert [finding.rule for finding in caught.value.findings] == ["LMI101"]


def test_an_endpoint_of_the_quantized_copy_is_made(stack: cdk.Stack) -> None:
    endpoint = LmiEndpoint(
        stack,
        "Chat",
        model_data=ModelData.hub("Qwen/Qwen3-8B-AWQ"),
        instance_type="ml.g6e.12xlarge",
        settings=LmiSettings(quantize="awq"),
    )
    assert endpoint.plan is not None
    assert endpoint.plan.grade == "fits"


@pytest.mark.parametrize(
    ("model", "method", "found"),
    [
        ("Qwen/Qwen3-8B", "awq", ["LMI101"]),
        ("Qwen/Qwen3-8B-AWQ", "awq", []),
        ("Qwen/Qwen3-8B", "fp8", []),
    ],
)
def test_a_template_is_judged_too(model: str, method: str, found: list[str]) -> None:
    from lmi_constructs.checks.examples import changed, good_templates

    environment = "Model/Properties/PrimaryContainer/Environment"
    change = {f"{environment}/HF_MODEL_ID": model, f"{environment}/OPTION_QUANTIZE": method}
    template = changed(good_templates()["endpoint"], change)
    rules_found = [finding.rule for finding in check_template(template, region="us-east-1")]
    assert [rule for rule in rules_found if rule == "LMI101"] == found
