"""Each stage takes image and data from its own region."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
from aws_cdk.assertions import Template

from lmi_constructs.testing import assert_no_findings

MODULE = runpy.run_path(str(Path(__file__).with_name("app.py")))


@pytest.fixture(scope="module")
def stages() -> dict[str, Any]:
    return MODULE["build"]()


@pytest.mark.parametrize("name", MODULE["STAGES"])
def test_each_stage_stays_in_its_region_and_has_no_findings(
    stages: dict[str, Any], name: str
) -> None:
    region = MODULE["STAGES"][name]["region"]
    stack = stages[name].node.find_child("Chat")
    template = Template.from_stack(stack)
    template.has_output("EndpointName", {})
    (model,) = template.find_resources("AWS::SageMaker::Model").values()
    container = model["Properties"]["PrimaryContainer"]
    assert f".{region}.amazonaws.com/" in container["Image"]
    assert region in container["ModelDataSource"]["S3DataSource"]["S3Uri"]
    assert_no_findings(stack)
