"""The example synthesizes what its README promises."""

from __future__ import annotations

import runpy
from pathlib import Path

from aws_cdk import assertions


def test_deploys_the_model_from_the_bucket() -> None:
    stack = runpy.run_path(str(Path(__file__).with_name("app.py")))["stack"]
    template = assertions.Template.from_stack(stack)
    (model,) = template.find_resources("AWS::SageMaker::Model").values()
    container = model["Properties"]["PrimaryContainer"]
    source = container["ModelDataSource"]["S3DataSource"]
    assert source["S3Uri"] == "s3://my-models/llama-3-8b-single-lora/"
    assert "0.36.0-lmi27.0.0-cu130" in str(container["Image"])
    variant = {"ProductionVariants": [{"InstanceType": "ml.g6.2xlarge"}]}
    template.has_resource_properties(
        "AWS::SageMaker::EndpointConfig", assertions.Match.object_like(variant)
    )
