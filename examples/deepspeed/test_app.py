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
    assert source["S3Uri"] == "s3://my-models/deepspeed/"
    assert "0.27.0-deepspeed0.12.6-cu121" in str(container["Image"])
    variant = {"ProductionVariants": [{"InstanceType": "ml.g5.2xlarge"}]}
    template.has_resource_properties(
        "AWS::SageMaker::EndpointConfig", assertions.Match.object_like(variant)
    )
