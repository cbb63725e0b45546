"""Rights that may be given where no template shows it are a warning, certain lack an error."""

from __future__ import annotations

from typing import Any

import pytest

from lmi_constructs.checks.examples import REMOVED, Example, good_templates
from lmi_constructs.checks.rules.access import RoleCannotPull, RoleCannotRead
from lmi_constructs.checks.run import check_sources
from lmi_constructs.checks.template import TemplateSource
from tests.checks.support import findings

STATEMENTS = "Role/Properties/Policies/0/PolicyDocument/Statement"
IMAGE = "Model/Properties/PrimaryContainer/Image"
OWN_IMAGE = "123456789012.dkr.ecr.us-east-1.amazonaws.com/djl-inference:0.36.0-lmi22.0.0-cu129"


def found(change: dict[str, Any], rule: str) -> list[tuple[str, str]]:
    return [(one.severity, one.message) for one in findings(Example(change)) if one.rule == rule]


def test_a_bucket_of_the_templates_has_no_policy_elsewhere() -> None:
    ((severity, message),) = found(dict(RoleCannotRead.failing.change), "LMI091")
    assert severity == "error"
    assert "Role does not allow s3:GetObject" in message


def test_a_bucket_made_elsewhere_may_have_a_policy_that_lets_the_role_read() -> None:
    ((severity, message),) = found({f"{STATEMENTS}/2": REMOVED}, "LMI091")
    assert severity == "warning"
    assert "nothing in these templates lets Role do s3:GetObject" in message


def test_no_policy_of_ones_own_opens_the_registry_of_aws() -> None:
    ((severity, _),) = found(dict(RoleCannotPull.failing.change), "LMI092")
    assert severity == "error"


def test_a_repository_of_ones_own_may_have_a_policy_that_lets_the_role_pull() -> None:
    ((severity, message),) = found({IMAGE: OWN_IMAGE}, "LMI092")
    assert severity == "warning"
    assert "nothing in these templates" in message


@pytest.mark.parametrize(("rule", "kind"), [("LMI091", RoleCannotRead), ("LMI092", RoleCannotPull)])
def test_a_role_of_another_stack_may_be_given_rights_before_the_model_is_made(
    rule: str, kind: Any
) -> None:
    whole = kind.failing.template()["Resources"]
    role = {"Role": whole.pop("Role")}
    whole["Model"]["Properties"]["ExecutionRoleArn"] = {"Fn::ImportValue": "role"}
    output = {"Value": {"Fn::GetAtt": ["Role", "Arn"]}, "Export": {"Name": "role"}}
    sources = [
        TemplateSource("roles", {"Resources": role, "Outputs": {"Role": output}}),
        TemplateSource("model", {"Resources": whole}, region="us-east-1"),
    ]
    severities = {one.severity for one in check_sources(sources) if one.rule == rule}
    assert severities == {"warning"}


@pytest.mark.parametrize("name", good_templates())
def test_says_nothing_of_rights_in_the_good_templates(name: str) -> None:
    rules = {one.rule for one in findings(Example(base=name))}
    assert not rules & {"LMI091", "LMI092", "LMI097", "LMI098"}
