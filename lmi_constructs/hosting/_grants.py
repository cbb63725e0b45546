"""Grants: permissions that are really given, or said not to be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aws_cdk import aws_iam as iam

from lmi_constructs.findings import Finding
from lmi_constructs.hosting._cdk_tokens import is_token
from lmi_constructs.hosting._keywords import check_keywords
from lmi_constructs.hosting._report_findings import report
from lmi_constructs.hosting._stack_environment import StackEnvironment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from constructs import Construct

INVOKING: Final = ("sagemaker:InvokeEndpoint", "sagemaker:InvokeEndpointWithResponseStream")
"""Actions of plain and of streamed requests: LLM clients need both."""


def allow(
    scope: Construct, grantee: iam.IGrantable, actions: Sequence[str], resources: Sequence[str]
) -> iam.Grant:
    """Let someone do something, and warn at synth if the CDK changes no policy for it.

    Endpoints have no policies of their own: only those of the grantee can be changed.

    Args:
        scope: What is granted, where findings are said.
        grantee: Who.
        actions: What.
        resources: ARNs.

    Raises:
        LmiError: If the grantee is none (LMI010).
    """
    report(scope, check_keywords({"grantee": grantee}))
    grant = iam.Grant.add_to_principal(
        grantee=grantee, actions=list(actions), resource_arns=list(resources)
    )
    report(scope, _check_granted(scope, grantee, is_given=grant.success))
    return grant


def _check_granted(scope: Construct, grantee: iam.IGrantable, *, is_given: bool) -> list[Finding]:
    account, here = grantee.grant_principal.principal_account, StackEnvironment.of(scope).account
    if account is not None and account != here and not is_token(account) and not is_token(here):
        return [
            _nothing(
                "LMI069",
                f"the grantee is in account {account}, what it should call in {here}",
                f"give a role of account {here}, which the other account may assume",
            )
        ]
    if is_given:
        return []
    return [
        _nothing(
            "LMI010",
            f"grantee is {type(grantee).__name__}(...), which has no policies here",
            "give a role, a user or a function; a policy elsewhere may name the endpoint's ARN",
        )
    ]


def _nothing(rule: str, message: str, fix: str) -> Finding:
    return Finding(
        rule=rule,
        message=message,
        why="endpoints have no policies of their own, so that nothing is granted",
        fix=fix,
        severity="warning",
        where="grantee",
    )
