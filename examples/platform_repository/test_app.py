"""What the platform promises to its teams."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
from aws_cdk.assertions import Match, Template

from lmi_constructs.testing import assert_fits, assert_no_findings

FOLDER = Path(__file__).parent


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    return runpy.run_path(str(FOLDER / "app.py"))["stack"]


def test_every_endpoint_fits_and_has_no_findings(stack: Any) -> None:
    assert_fits(stack)
    assert_no_findings(stack)


def test_every_endpoint_is_in_our_network_and_tagged(stack: Any) -> None:
    template = Template.from_stack(stack)
    template.resource_count_is("AWS::SageMaker::Endpoint", 2)
    tag = Match.array_with([{"Key": "team", "Value": "search"}])
    template.has_resource_properties("AWS::SageMaker::Endpoint", {"Tags": tag})
    in_vpc = Match.object_like({"VpcConfig": Match.any_value()})
    template.all_resources_properties("AWS::SageMaker::Model", in_vpc)


def test_every_role_is_under_our_path(stack: Any) -> None:
    Template.from_stack(stack).all_resources_properties("AWS::IAM::Role", {"Path": "/llm/"})


def test_is_unchanged(stack: Any, lmi_snapshot: Any) -> None:
    assert stack == lmi_snapshot
