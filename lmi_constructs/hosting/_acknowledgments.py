"""What cdk-nag reports of our execution roles and cannot be otherwise, acknowledged with the reason.

Nothing of cdk-nag is imported: an acknowledgment is the text of one finding, at one resource. It
removes exactly that finding of exactly that resource, which a test holds for every pack (cdk-nag
3.0.2, aws-cdk-lib 2.275.0; aws-cdk issue 38495 is about a version in which it reached further).
Policies that are added to a role later are resources of their own and stay reported.

Without cdk-nag nobody asks, so nothing is written down: that would be a tenth of what an endpoint
costs at synth.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Final

import aws_cdk as cdk

from lmi_constructs.checks.plugin import at_synth
from lmi_constructs.hosting._cdk_tokens import is_token

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aws_cdk import aws_iam as iam
    from constructs import Construct

    from lmi_constructs.hosting._permissions import Permission

_PACKS_AGAINST_INLINE_POLICIES: Final = (
    "HIPAA.Security",
    "NIST.800.53.R4",
    "NIST.800.53.R5",
    "PCI.DSS.321",
)
_WHY_SHARED: Final = (
    "the policy belongs to one of several that share the role: it comes and goes with it alone, and"
    " must exist before it does"
)
_WHY_INLINE: Final = (
    "the policy belongs to this role alone and must exist before the model does: a separate policy is"
    " created beside the model, which is then refused because it may not pull its image yet"
)


def acknowledge_role(scope: Construct, role: iam.Role, permissions: Sequence[Permission]) -> None:
    """Acknowledge the inline policy of a role, and each wildcard in it that has a reason."""
    _when_asked(scope, role, permissions, _WHY_INLINE)


def acknowledge_policy(
    scope: Construct, policy: iam.Policy, permissions: Sequence[Permission]
) -> None:
    """Acknowledge a policy that comes and goes with one user of a shared role, and its wildcards."""
    _when_asked(scope, policy, permissions, _WHY_SHARED)


def _when_asked(
    scope: Construct,
    owner: iam.Role | iam.Policy,
    permissions: Sequence[Permission],
    why_inline: str,
) -> None:
    """Acknowledge now if cdk-nag is loaded, else at synth if it is by then.

    Now, as its aspect copies acknowledgments into the template, which is written before the rules
    are asked.
    """
    if _is_nag_loaded():
        _acknowledge(owner, permissions, why_inline)
    else:
        at_synth(scope, partial(_acknowledge_late, owner, permissions, why_inline))


def _is_nag_loaded() -> bool:
    """Tell whether anything can report what is acknowledged here."""
    return "cdk_nag" in sys.modules


def _acknowledge_late(
    owner: iam.Role | iam.Policy, permissions: Sequence[Permission], why_inline: str
) -> None:
    if _is_nag_loaded():
        _acknowledge(owner, permissions, why_inline)


def _acknowledge(
    owner: iam.Role | iam.Policy, permissions: Sequence[Permission], why_inline: str
) -> None:
    resource = owner.node.default_child
    assert isinstance(resource, cdk.CfnResource)  # noqa: S101 - made by us with its owner
    reasons: dict[str, str] = {}
    for permission in permissions:
        for arn in permission.resources:
            if "*" in arn and permission.why_wildcard:
                reasons.setdefault(arn, permission.why_wildcard)
    acknowledged = [
        cdk.Acknowledgment(id=f"{pack}::{pack}-IAMNoInlinePolicy", reason=why_inline)
        for pack in _PACKS_AGAINST_INLINE_POLICIES
    ]
    for arn, reason in reasons.items():
        written = _as_reported(arn, resource)
        if written is not None:
            finding = f"AwsSolutions::AwsSolutions-IAM5[Resource::{written}]"
            acknowledged.append(cdk.Acknowledgment(id=finding, reason=reason))
    cdk.Validations.of(resource).acknowledge(*acknowledged)


def _as_reported(arn: str, resource: cdk.CfnResource) -> str | None:
    """Return an ARN as cdk-nag writes it, `None` if it writes it in a way that is not known."""
    return _flat(cdk.Stack.of(resource).resolve(arn)) if is_token(arn) else arn


def _flat(value: object) -> str | None:
    if isinstance(value, str):
        return value
    if not isinstance(value, dict) or len(value) != 1:
        return None
    ((function, argument),) = value.items()
    if function == "Ref":
        return f"<{argument}>"
    if function == "Fn::GetAtt" and isinstance(argument, list):
        return f"<{'.'.join(map(str, argument))}>"
    if function == "Fn::Join" and isinstance(argument, list) and argument[0] == "":
        parts = [_flat(part) for part in argument[1]]
        return None if None in parts else "".join(part or "" for part in parts)
    return None
