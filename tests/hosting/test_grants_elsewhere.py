"""Grants to those whose policies cannot be changed from here: said, and never an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from aws_cdk import aws_iam as iam

from lmi_constructs import LmiEndpoint, ModelData
from tests.hosting.fleets import component_on, fleet_in

if TYPE_CHECKING:
    from collections.abc import Callable

    import aws_cdk as cdk


def imported(stack: cdk.Stack, account: str, **keywords: Any) -> iam.IRole:
    arn = f"arn:aws:iam::{account}:role/caller"
    return iam.Role.from_role_arn(stack, f"R{account}", arn, **keywords)


@pytest.mark.parametrize(
    ("grantee", "rule"),
    [
        (lambda stack: imported(stack, "999922223333"), "LMI069"),
        (lambda _: iam.AccountPrincipal("999922223333"), "LMI069"),
        (lambda _: iam.ServicePrincipal("lambda.amazonaws.com"), "LMI010"),
    ],
    ids=["role of another account", "another account", "service"],
)
def test_warns_that_nothing_is_granted(
    stack: cdk.Stack, reported: Any, grantee: Callable[[cdk.Stack], iam.IGrantable], rule: str
) -> None:
    chat = component_on(fleet_in(stack))
    endpoint = LmiEndpoint(
        stack,
        "Own",
        model_data=ModelData.s3_prefix("my-models", "m/"),
        instance_type="ml.g6.12xlarge",
    )
    who = grantee(stack)
    chat.grant_invoke(who)
    endpoint.grant_invoke(who)
    assert {(rule, "Stack/Chat"), (rule, "Stack/Own")} <= reported(stack)


def test_a_role_of_this_account_is_granted_whoever_made_it(
    stack: cdk.Stack, reported: Any, resources: Any
) -> None:
    chat = component_on(fleet_in(stack))
    chat.grant_invoke(imported(stack, stack.account))
    assert not {rule for rule, _ in reported(stack)} & {"LMI069", "LMI010"}
    assert "sagemaker:InvokeEndpoint" in str(resources(stack, "AWS::IAM::Policy"))


def test_a_role_that_others_look_after_is_left_alone(stack: cdk.Stack, reported: Any) -> None:
    chat = component_on(fleet_in(stack))
    chat.grant_invoke(imported(stack, stack.account, mutable=False))
    assert not {rule for rule, _ in reported(stack)} & {"LMI069", "LMI010"}
