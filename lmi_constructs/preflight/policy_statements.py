"""What the policy of a bucket, key or repository says of a role, as far as its statements tell.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.checks.values import UNKNOWN, Unknown, as_mapping, as_sequence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_ROLE: Final = re.compile(r"arn:[^:]+:iam::(\d+):role/(?:.*/)?([^/]+)")
_INSECURE: Final = {"Bool": {"aws:SecureTransport": "false"}}
"""Whoever calls by TLS, as SageMaker does, is not meant."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a policy says; `UNKNOWN` where it depends on a condition.

    Attributes:
        denied: Whether it denies the action.
        allowed: Whether it allows the action to the role itself, or to everybody.
        delegated: Whether it lets the policies of the account's roles decide.
    """

    denied: bool | Unknown = False
    allowed: bool | Unknown = False
    delegated: bool | Unknown = False


def said(policy: object, action: str, resource: str, role: str | None, account: str) -> Said:
    """Return what a policy says of an action of a role.

    Args:
        policy: The policy, parsed.
        action: Such as `s3:GetObject`.
        resource: ARN of the bucket, object, key or repository.
        role: Name of the role; `None` for one whose name CloudFormation will make.
        account: Id of the role's account.
    """
    found: dict[str, list[bool | Unknown]] = {"denied": [], "allowed": [], "delegated": []}
    for statement in as_sequence(as_mapping(policy).get("Statement")):
        one = as_mapping(statement)
        if not _is_about(one, action, resource):
            continue
        meant = _meant(one, role, account)
        sure = _holds(one)
        if one.get("Effect") == "Deny":
            found["denied"] += [sure] if meant else []
        elif meant == "account":
            found["delegated"].append(sure)
        elif meant:
            found["allowed"].append(sure)
    return Said(**{name: _any(answers) for name, answers in found.items()})


def _is_about(statement: Mapping[str, Any], action: str, resource: str) -> bool:
    """Tell whether a statement is, or may be, about an action on a resource."""
    return _listed(statement, "Action", action.lower()) and _listed(statement, "Resource", resource)


def _listed(statement: Mapping[str, Any], name: str, value: str) -> bool:
    if name not in statement:
        inverse = statement.get(f"Not{name}")
        return inverse is None or not _fits(name, inverse, value)  # keys' policies may name none
    return _fits(name, statement[name], value)


def _fits(name: str, patterns: object, value: str) -> bool:
    given = [one for one in as_sequence(patterns) if isinstance(one, str)]
    if name == "Action":
        given = [one.lower() for one in given]
    return any(fnmatchcase(value, one.replace("[", "[[]")) for one in given)


def _meant(statement: Mapping[str, Any], role: str | None, account: str) -> str:
    """Return whom of the role, its account or everybody a statement means; empty for others."""
    if "NotPrincipal" in statement:
        return "perhaps"
    names = set(_principals(statement.get("Principal")))
    for name in names:
        match = _ROLE.fullmatch(name)
        if name == "*" or (match and role is not None and match.groups() == (account, role)):
            return "role"
    root = f":iam::{account}:root"
    is_account = any(name == account or name.endswith(root) for name in names)
    return "account" if is_account else ""


def _principals(principal: object) -> Iterator[str]:
    given = as_mapping(principal).get("AWS") if isinstance(principal, dict) else principal
    yield from (name for name in as_sequence(given) if isinstance(name, str))


def _holds(statement: Mapping[str, Any]) -> bool | Unknown:
    """Tell whether a statement's condition holds."""
    if "NotPrincipal" in statement:
        return UNKNOWN
    condition = as_mapping(statement.get("Condition"))
    if not condition:
        return True
    plain = {
        operator: {key: str(value).lower() for key, value in as_mapping(inner).items()}
        for operator, inner in condition.items()
    }
    return False if plain == _INSECURE else UNKNOWN


def _any(answers: list[bool | Unknown]) -> bool | Unknown:
    if True in answers:
        return True
    return UNKNOWN if UNKNOWN in answers else False
