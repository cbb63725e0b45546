"""Each tenant's adapter answers under its own name, and is the tenant's alone."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lmi_constructs.runtime import LmiClient
from lmi_constructs.testing import assert_fits, assert_no_findings

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def stack() -> Any:
    return runpy.run_path(str(Path(__file__).with_name("app.py")))["stack"]


def test_fits_and_has_no_findings(stack: Any) -> None:
    assert_fits(stack)
    assert_no_findings(stack)


def test_a_tenant_may_call_its_own_adapter_only(stack: Any) -> None:
    from aws_cdk import assertions

    policies = assertions.Template.from_stack(stack).find_resources("AWS::IAM::Policy")
    allowed = {
        role["Ref"][:4]: str(statement["Resource"])
        for policy in policies.values()
        for role in policy["Properties"]["Roles"]
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if "sagemaker:InvokeEndpoint" in statement["Action"]
    }
    assert "acme-adapter" in allowed["acme"]
    assert "globex-adapter" not in allowed["acme"]
    assert "globex-adapter" in allowed["glob"]


@pytest.mark.deploy
def test_each_adapter_answers_under_its_own_name(
    stack: Any,
    lmi_deploy: Callable[[Any], dict[str, str]],
    local_aws: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outputs = lmi_deploy(stack)
    for name, value in local_aws.environment().items():
        monkeypatch.setenv(name, value)
    for tenant in ("acme", "globex"):
        client = LmiClient(outputs["EndpointName"]).using(inference_component=f"{tenant}-adapter")
        assert f"adapters/{tenant}-v1.tar.gz" in client.chat("Hello").text
