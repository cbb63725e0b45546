"""A cloud assembly is checked and planned as synth did, whatever only the app knew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest

from lmi_constructs import ContainerImage, LmiContainer, LmiEndpoint, LmiSettings, ModelData
from lmi_constructs.checks.examples import llama_config
from lmi_constructs.checks.rules.memory import plans
from lmi_constructs.checks.template import read_deployment, read_path
from lmi_constructs.planner import Architecture

if TYPE_CHECKING:
    from pathlib import Path

    from lmi_constructs.planner import Plan

CONFIG = llama_config(num_hidden_layers=40)
OWN = Architecture.from_config_json(CONFIG, "acme/own-10b")
PROPERTIES = "option.max_model_len=4096\noption.hf_token=hf_verysecret\n"
MIRROR = "999988887777.dkr.ecr.us-east-1.amazonaws.com/mirrored-lmi:1"


def planned_again(
    folder: Path, data: ModelData, **keywords: Any
) -> tuple[Plan | None, Plan | None, str]:
    """Return the plan at synth, that of the cloud assembly, and the template."""
    app = cdk.App(outdir=str(folder))
    env = cdk.Environment(account="123456789012", region="us-east-1")
    stack = cdk.Stack(app, "Llm", env=env)
    endpoint = LmiEndpoint(
        stack, "Own", model_data=data, instance_type="ml.g6.12xlarge", **keywords
    )
    app.synth()
    found = plans(read_deployment(read_path(folder)))
    template = (folder / "Llm.template.json").read_text()
    return endpoint.plan, found[0].plan if found else None, template


@pytest.mark.parametrize(
    "data",
    [
        ModelData.s3_prefix("my-models", "own/", architecture=OWN),
        ModelData.hub("acme/own-10b", architecture=OWN),
        ModelData.hub("acme/fine-tuned", architecture="Qwen/Qwen3-8B"),
        ModelData.s3_prefix("my-models", "own/", architecture=OWN, serving_properties=PROPERTIES),
    ],
)
def test_the_assembly_says_which_model_was_planned(tmp_path: Path, data: ModelData) -> None:
    settings = LmiSettings(tensor_parallel_degree=4)
    at_synth, again, _ = planned_again(tmp_path, data, settings=settings)
    assert at_synth is not None
    assert again == at_synth


def test_the_assembly_says_which_release_an_image_of_your_own_behaves_like(tmp_path: Path) -> None:
    image = ContainerImage.from_uri(MIRROR, behaves_like=LmiContainer.V22)
    data = ModelData.s3_prefix("my-models", "own/", architecture=OWN)
    at_synth, again, _ = planned_again(tmp_path, data, container=image)
    assert at_synth is not None
    assert again == at_synth


def test_a_properties_file_beside_the_model_bounds_the_context(tmp_path: Path) -> None:
    data = ModelData.s3_prefix(
        "my-models", "q/", architecture="Qwen/Qwen3-8B", serving_properties=PROPERTIES
    )
    _, again, _ = planned_again(tmp_path, data)
    assert again is not None
    assert again.setup.context == 4096


def test_no_secret_of_a_properties_file_stands_in_the_template(tmp_path: Path) -> None:
    data = ModelData.s3_prefix("my-models", "q/", serving_properties=PROPERTIES)
    _, _, template = planned_again(tmp_path, data)
    assert "option.max_model_len" in template
    assert "hf_verysecret" not in template


def test_what_the_template_says_itself_is_not_said_again(tmp_path: Path) -> None:
    _, _, template = planned_again(tmp_path, ModelData.hub("Qwen/Qwen3-8B"))
    assert "lmi:" not in template
