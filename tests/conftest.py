"""What all tests share: CDK stacks without the validator, and a count of calls over its bridge."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

# The validator inside app.synth() costs two seconds a process; tests marked `cdk_validation` run it
# strictly in a process of their own. It must be off before the CDK starts its Node process.
os.environ["CDK_VALIDATION"] = "false"
os.environ.setdefault(
    "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", ",".join(str(major) for major in range(14, 40))
)
os.environ.setdefault("JSII_SILENCE_WARNING_DEPRECATED_NODE_VERSION", "1")

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Callable

    import aws_cdk as cdk

    from lmi_constructs.local import LocalAws

REGION = "us-west-2"
ACCOUNT = "111122223333"

# A busy machine is no fault of what is tested.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture
def stack() -> cdk.Stack:
    """A stack in a known account and region."""
    import aws_cdk as cdk

    return cdk.Stack(cdk.App(), "Stack", env=cdk.Environment(account=ACCOUNT, region=REGION))


@pytest.fixture
def agnostic_stack() -> cdk.Stack:
    """A stack whose account and region are known only when it is deployed."""
    import aws_cdk as cdk

    return cdk.Stack(cdk.App(), "Agnostic")


@pytest.fixture
def template() -> Callable[[cdk.Stack], dict[str, Any]]:
    """The template of a stack."""
    from aws_cdk import assertions

    def synthesized(of: cdk.Stack) -> dict[str, Any]:
        rendered: dict[str, Any] = assertions.Template.from_stack(of).to_json()
        return rendered

    return synthesized


@pytest.fixture
def resources(template: Callable[[cdk.Stack], dict[str, Any]]) -> Callable[..., list[Any]]:
    """The properties of all resources of a type in a stack, or its only one's."""

    def properties(of: cdk.Stack, type: str) -> list[Any]:
        found = template(of).get("Resources", {}).values()
        return [resource["Properties"] for resource in found if resource["Type"] == type]

    return properties


@pytest.fixture
def reported() -> Callable[[cdk.Stack], set[tuple[str, str]]]:
    """What the checks report when a stack's app is synthesized: rule and construct path."""

    def at_synth(of: cdk.Stack) -> set[tuple[str, str]]:
        directory: Any = of.node.root
        assembly = directory.synth()
        file = Path(assembly.directory) / "validation-report.json"
        if not file.is_file():
            return set()
        return {
            (violation["ruleName"], construct["constructPath"])
            for plugin in json.loads(file.read_text())["pluginReports"]
            for violation in plugin["violations"]
            for construct in violation["violatingConstructs"]
        }

    return at_synth


@pytest.fixture
def bridge_calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every request sent to the CDK's Node process while the test runs."""
    from jsii._kernel.providers.process import _NodeProcess

    sent: list[str] = []
    original = _NodeProcess.send

    def counting(self: Any, request: Any, response_type: Any) -> Any:
        sent.append(type(request).__name__)
        return original(self, request, response_type)

    monkeypatch.setattr(_NodeProcess, "send", counting)
    return sent


@pytest.fixture
def aws(local_aws: LocalAws) -> LocalAws:
    """The local AWS, empty."""
    return local_aws


@pytest.fixture(scope="session")
def running_aws(lmi_running_aws: LocalAws) -> LocalAws:
    """The local AWS with whatever earlier tests left in it."""
    return lmi_running_aws
