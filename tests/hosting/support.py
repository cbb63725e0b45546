"""What tests of the constructs share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import aws_cdk as cdk


def actions_of(resources: Any, stack: cdk.Stack) -> dict[str, Any]:
    """Resources by action of the only policy in a stack."""
    (policy,) = resources(stack, "AWS::IAM::Policy")
    found: dict[str, Any] = {}
    for statement in policy["PolicyDocument"]["Statement"]:
        actions = statement["Action"]
        for action in [actions] if isinstance(actions, str) else actions:
            found[action] = statement["Resource"]
    return found
