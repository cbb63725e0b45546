"""Presets: every value has a source, every departure from the guide a reason."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest

from lmi_constructs import LmiContainer, LmiEndpoint, LmiError, LmiSettings, ModelData, presets
from lmi_constructs.container import verdict
from lmi_constructs.facts import instance_types
from lmi_constructs.facts.engine_arguments import registered
from lmi_constructs.facts.hub_models import hub_models
from lmi_constructs.hosting import InstancePool
from lmi_constructs.presets.constructs import PRESETS
from lmi_constructs.presets.tables import TABLES
from lmi_constructs.testing import stable_template

if TYPE_CHECKING:
    from collections.abc import Callable

    from syrupy.assertion import SnapshotAssertion

    from lmi_constructs.presets import LmiPreset

ROOT = Path(__file__).parent.parent.parent
NOT_PLANNED = {"tensorrt-llm", "deepspeed", "neuron"}
every_preset = pytest.mark.parametrize("preset", PRESETS.values(), ids=list(PRESETS))


def environment_of(preset: type[LmiPreset], stack: cdk.Stack, data: ModelData) -> dict[str, Any]:
    return dict(preset(stack, "Chat", model_data=data).environment)


@every_preset
def test_renders_or_explains_every_key_of_the_guide(
    preset: type[LmiPreset], stack: cdk.Stack
) -> None:
    data = ModelData.s3_prefix("my-models", "m/")
    environment = environment_of(preset, stack, data)
    explained = {departure.key for departure in preset.departures}
    for key, value in preset.table.guide.items():
        assert environment.get(key) == value or key in explained, key
    for departure in preset.departures:
        assert preset.table.guide[departure.key] == departure.guide
        assert environment.get(departure.key) != departure.guide
        assert len(departure.why) > 40


@every_preset
def test_starts_on_its_container(preset: type[LmiPreset], stack: cdk.Stack) -> None:
    table = preset.table
    instance = instance_types()[str(table.instance_type.value)]
    container = LmiContainer.of(table.container)
    environment = table.lmi_settings().to_environment(container)
    judged = verdict(environment, container, instance.accelerator_count, model_mounted=True)
    assert {finding.rule for finding in judged.findings} == set(table.acknowledged)
    assert judged.errors == ()
    assert judged.starts is not False
    assert judged.arguments == "accepted"


@every_preset
def test_fits_on_its_instance(preset: type[LmiPreset], stack: cdk.Stack) -> None:
    data = ModelData.s3_prefix("my-models", "m/", architecture=preset.table.hub_id)
    endpoint = preset(stack, "Chat", model_data=data)
    if preset.table.name in NOT_PLANNED:
        assert endpoint.plan is None or endpoint.plan.grade == "unknown"
    else:
        assert endpoint.plan is not None
        assert endpoint.plan.grade == "fits"


@every_preset
def test_gives_every_value_a_source(preset: type[LmiPreset]) -> None:
    table = preset.table
    choices = [table.instance_type, *table.settings.values(), *table.engine_args.values()]
    assert all(len(choice.source) > 8 for choice in choices)
    assert table.container_source
    assert hub_models()[table.hub_id].exists is True


@every_preset
def test_is_deployed_as_reviewed(
    preset: type[LmiPreset],
    stack: cdk.Stack,
    template: Callable[[cdk.Stack], dict[str, Any]],
    snapshot: SnapshotAssertion,
) -> None:
    preset(stack, "Chat", model_data=ModelData.s3_prefix("my-models", "m/"))
    assert stable_template(template(stack)) == snapshot


@every_preset
def test_downloads_a_pinned_commit_or_says_what_a_gated_model_needs(
    preset: type[LmiPreset], stack: cdk.Stack, resources: Any
) -> None:
    table = preset.table
    if table.gated:
        with pytest.raises(LmiError, match="LMI014") as caught:
            preset(stack, "Chat")
        assert "s3_prefix" in str(caught.value)
        return
    preset(stack, "Chat")
    (model,) = resources(stack, "AWS::SageMaker::Model")
    environment = model["PrimaryContainer"]["Environment"]
    assert environment["HF_MODEL_ID"] == table.hub_id
    assert environment.get("HF_REVISION") == hub_models()[table.hub_id].revision
    assert model["EnableNetworkIsolation"] is False


@every_preset
def test_knows_the_parsers_it_names(preset: type[LmiPreset]) -> None:
    version = LmiContainer.of(preset.table.container).release.engine_version or ""
    for setting, kind in (
        ("tool_call_parser", "tool_parsers"),
        ("reasoning_parser", "reasoning_parsers"),
    ):
        if setting in preset.table.settings:
            assert preset.table.settings[setting].value in (registered(kind, version) or ())


@every_preset
def test_gives_no_warning_that_is_not_acknowledged(
    preset: type[LmiPreset], stack: cdk.Stack
) -> None:
    data = ModelData.s3_prefix("my-models", "m/")
    endpoint = preset(stack, "Chat", model_data=data)
    assert endpoint.model is not None
    assert {finding.rule for finding in endpoint.model.findings} <= set(preset.table.acknowledged)


@pytest.mark.parametrize(
    ("name", "wrong", "rule"),
    [
        ("tensorrt-llm", "v27", "LMI001"),
        ("lmi-dist", "trtllm-0.33.0", "LMI001"),
        ("deepspeed", "v14", "LMI001"),
        ("deepspeed", "v27", "LMI001"),
        ("neuron", "v27", "LMI036"),
        ("gpt-oss-120b", "neuronx-0.30.0", "LMI036"),
    ],
)
def test_refuses_a_back_end_on_an_image_without_it(
    stack: cdk.Stack, name: str, wrong: str, rule: str
) -> None:
    data = ModelData.s3_prefix("my-models", "m/")
    with pytest.raises(LmiError) as caught:
        PRESETS[name](stack, "Chat", model_data=data, container=LmiContainer.of(wrong))
    assert rule in {finding.rule for finding in caught.value.findings}


def test_says_on_a_release_without_lmi_dist_what_serves_instead(stack: cdk.Stack) -> None:
    data = ModelData.s3_prefix("my-models", "m/")
    endpoint = presets.LmiDist(stack, "Chat", model_data=data, container=LmiContainer.V27)
    assert endpoint.model is not None
    assert {finding.rule for finding in endpoint.model.findings} == {"LMI015"}


def test_renders_the_guides_draft_model_for_lmi_dist(stack: cdk.Stack) -> None:
    settings = LmiSettings(
        speculative_draft_model="meta-llama/Llama-3.2-1B-Instruct",
        speculative_length=5,
        draft_model_tp_size=1,
    )
    data = ModelData.s3_prefix("my-models", "m/")
    environment = presets.LmiDist(stack, "Chat", model_data=data, settings=settings).environment
    for key, value in presets.LmiDist.table.guide.items():
        if value != "model-id":
            assert environment[key] == value


@pytest.mark.parametrize(
    ("method", "container", "nearest"),
    [
        ("squeezellm", "v15", "take a checkpoint of the model in awq or gptq"),
        ("squeezellm", "v27", "take a checkpoint of the model in awq or gptq"),
        ("bitsandbytes", "v29", "to quantize while loading, too, write fp8"),
    ],
)
def test_refuses_a_quantization_that_is_gone_and_names_those_that_live(
    stack: cdk.Stack, method: str, container: str, nearest: str
) -> None:
    data = ModelData.s3_prefix("my-models", "m/")
    with pytest.raises(LmiError, match=f"(?i)quantize={method}") as caught:
        presets.Llama3_70BBitsAndBytes(
            stack,
            "Chat",
            model_data=data,
            settings=LmiSettings(quantize=method),
            container=LmiContainer.of(container),
        )
    assert "compressed-tensors" in str(caught.value)
    assert nearest in str(caught.value)


def test_writes_the_settings_as_a_file_of_the_same_meaning() -> None:
    for preset in PRESETS.values():
        container = LmiContainer.of(preset.table.container)
        again = LmiSettings.from_serving_properties(preset.serving_properties())
        settings = preset.table.lmi_settings()
        assert again.to_environment(container) == settings.to_environment(container)


def test_parses_tool_calls_and_reasoning_of_gpt_oss(stack: cdk.Stack) -> None:
    environment = environment_of(presets.GptOss120B, stack, ModelData.s3_prefix("my-models", "m/"))
    assert environment["OPTION_ENABLE_AUTO_TOOL_CHOICE"] == "true"
    assert environment["OPTION_TOOL_CALL_PARSER"] == "openai"
    assert environment["OPTION_REASONING_PARSER"] == "openai_gptoss"
    version = LmiContainer.of(TABLES["gpt-oss-120b"].container).engine_version
    assert version is not None
    assert version >= (0, 10, 2)


def test_replaces_settings_one_by_one(stack: cdk.Stack) -> None:
    endpoint = presets.GptOss120B(stack, "Chat", settings=LmiSettings(max_model_len=32768))
    assert endpoint.environment["OPTION_MAX_MODEL_LEN"] == "32768"
    assert endpoint.environment["OPTION_MAX_ROLLING_BATCH_SIZE"] == "64"
    assert endpoint.environment["TENSOR_PARALLEL_DEGREE"] == "8"


def test_replaces_everything_else_too(stack: cdk.Stack, resources: Any) -> None:
    presets.GptOss120B(
        stack,
        "Chat",
        container=LmiContainer.V26,
        instance_type="ml.p5.48xlarge",
        initial_instance_count=2,
        endpoint_name="chat",
        startup_timeout=cdk.Duration.minutes(50),
    )
    (config,) = resources(stack, "AWS::SageMaker::EndpointConfig")
    (variant,) = config["ProductionVariants"]
    assert variant["InstanceType"] == "ml.p5.48xlarge"
    assert variant["InitialInstanceCount"] == 2
    assert variant["ContainerStartupHealthCheckTimeoutInSeconds"] == 3000
    (endpoint,) = resources(stack, "AWS::SageMaker::Endpoint")
    assert endpoint["EndpointName"] == "chat"


def test_runs_on_pools_of_instances_instead_of_its_own_type(
    stack: cdk.Stack, resources: Any
) -> None:
    pools = [InstancePool("ml.g6.48xlarge", 1), InstancePool("ml.g6e.48xlarge", 2)]
    data = ModelData.s3_prefix("my-models", "m/")
    presets.GptOss120B(stack, "Chat", model_data=data, instance_pools=pools)
    (config,) = resources(stack, "AWS::SageMaker::EndpointConfig")
    (variant,) = config["ProductionVariants"]
    assert "InstanceType" not in variant
    assert [pool["InstanceType"] for pool in variant["InstancePools"]] == [
        "ml.g6.48xlarge",
        "ml.g6e.48xlarge",
    ]


def test_refuses_an_empty_instance_type_instead_of_taking_its_own(stack: cdk.Stack) -> None:
    data = ModelData.s3_prefix("my-models", "m/")
    with pytest.raises(LmiError, match="LMI040"):
        presets.GptOss120B(stack, "Chat", model_data=data, instance_type="")


def test_refuses_a_gated_model_of_the_hub_that_it_has_no_token_for(stack: cdk.Stack) -> None:
    data = ModelData.hub(presets.Llama3_8B.table.hub_id)
    with pytest.raises(LmiError, match="LMI014"):
        presets.Llama3_8B(stack, "Chat", model_data=data)


def test_warns_of_the_older_mode_once(stack: cdk.Stack) -> None:
    data = ModelData.s3_prefix("my-models", "m/")
    endpoint = presets.VllmRollingBatch(stack, "Chat", model_data=data)
    assert endpoint.model is not None
    assert [finding.rule for finding in endpoint.model.findings] == ["LMI015"]
    assert endpoint.endpoint_config.variants[0].findings == ()


def test_takes_every_keyword_of_an_endpoint_with_its_type() -> None:
    import inspect

    from lmi_constructs.presets.preset import EndpointOverrides, LmiPreset

    def types(of: type) -> dict[str, str]:
        parameters = inspect.signature(of.__init__).parameters.values()  # type: ignore[misc]
        return {parameter.name: parameter.annotation for parameter in parameters}

    of_endpoint, of_preset = types(LmiEndpoint), types(LmiPreset)
    del of_preset["overrides"], of_endpoint["endpoint_config"]
    overrides = EndpointOverrides.__annotations__
    of_preset |= {name: type.__forward_arg__ for name, type in overrides.items()}
    assert of_preset == of_endpoint


def test_keeps_what_is_reviewed_as_it_is() -> None:
    row = presets.catalog()[0]
    with pytest.raises(dataclasses.FrozenInstanceError):
        row.grade = "fits"  # type: ignore[misc]
    for mapping in (presets.PRESETS, TABLES, presets.GptOss120B.table.settings):
        with pytest.raises(TypeError):
            mapping["mine"] = None  # type: ignore[index]


def test_lists_all_presets() -> None:
    rows = {row.name: row for row in presets.catalog()}
    assert set(rows) == set(PRESETS) == set(TABLES)
    row = rows["gpt-oss-120b"]
    assert row.class_name == "GptOss120B"
    assert row.accelerators == "8 x L4"
    assert row.max_model_len == 8192
    assert row.concurrency == 64
    assert row.grade == "fits"
    assert all(getattr(presets, row.class_name).table.name == row.name for row in rows.values())


def test_lists_presets_without_the_cdk() -> None:
    program = (
        "import sys; from lmi_constructs import presets; presets.catalog();"
        "sys.exit('aws_cdk' in sys.modules or 'jsii' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT, capture_output=True)
