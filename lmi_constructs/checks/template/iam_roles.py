"""Reading roles, and the policies that other resources attach to them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.checks.resources import Key, Resource, Role, Statement
from lmi_constructs.checks.values import (
    UNKNOWN,
    String,
    Unknown,
    as_mapping,
    as_sequence,
    as_string,
    head,
    literal,
    resource_of,
    split,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lmi_constructs.checks.template.sagemaker_resources import Context

ATTACHED: Final = frozenset(
    {
        "AWS::IAM::Policy",
        "AWS::IAM::ManagedPolicy",
        "AWS::IAM::RolePolicy",
        "AWS::S3::BucketPolicy",
    }
)
"""Resource types that give rights to roles which stand elsewhere."""


def read_role(properties: Mapping[str, Any], context: Context) -> Role:
    """Read an `AWS::IAM::Role` with what stands in the role itself."""
    key = (context.template, context.logical_id)
    statements: list[Statement] = []
    complete = True
    for policy in as_sequence(properties.get("Policies")):
        read, whole = read_statements(as_mapping(policy).get("PolicyDocument"), key)
        complete = complete and whole
        statements.extend(read)
    managed = []
    for arn in as_sequence(properties.get("ManagedPolicyArns")):
        name = _managed_policy(arn)
        complete = complete and name is not None
        managed += [name] if name else []
    return Role(
        **context.common(properties.get("RoleName")),
        services=_services(properties.get("AssumeRolePolicyDocument")),
        statements=tuple(one for one in statements if not one.denies),
        denials=tuple(one for one in statements if one.denies),
        managed_policies=tuple(managed),
        complete=complete,
    )


def read_statements(document: object, given_by: Key) -> tuple[tuple[Statement, ...], bool]:
    """Return the statements of a policy that can be told, and whether these are all that allow.

    A denial that cannot be told may deny anything, so that nothing is surely allowed beside it.
    """
    if not isinstance(document, dict):
        return (), False
    statements, complete = [], True
    for item in as_sequence(document.get("Statement")):
        read = _statement(as_mapping(item), given_by)
        if read is None and as_mapping(item).get("Effect") == "Deny":
            read = Statement(actions=("*",), resources=(UNKNOWN,), given_by=given_by, denies=True)
        if read is None:
            complete = False
        else:
            statements.append(read)
    return tuple(statements), complete


def _statement(item: Mapping[str, Any], given_by: Key) -> Statement | None:
    """Return one statement of a policy; `None` if it cannot be told."""
    if "NotAction" in item or "NotResource" in item or item.get("Effect") not in ("Allow", "Deny"):
        return None
    actions = [literal(action) for action in as_sequence(item.get("Action"))]
    if None in actions:
        return None
    resources = (as_string(one) for one in as_sequence(item.get("Resource")))
    return Statement(
        actions=tuple(action.lower() for action in actions if action is not None),
        resources=tuple(one for one in resources if one is not None),
        given_by=given_by,
        denies=item["Effect"] == "Deny",
        is_conditional=bool(item.get("Condition")),
    )


class Attachments:
    """Policies found beside the roles that they are attached to."""

    def __init__(self) -> None:
        """Start without any."""
        self._by_role: dict[Key | str, list[Statement]] = {}
        self._incomplete: set[Key | str] = set()
        self._of_unknown_roles = False
        self._shared: set[Key] = set()

    @property
    def shared_buckets(self) -> frozenset[Key]:
        """Buckets with a policy of their own, which may give rights to any role."""
        return frozenset(self._shared)

    def add(self, kind: str, properties: Mapping[str, Any], key: Key) -> None:
        """Add one attached policy."""
        if kind == "AWS::S3::BucketPolicy":
            bucket = _target(properties.get("Bucket"))
            if isinstance(bucket, tuple):
                self._shared.add(bucket)
            return
        roles = properties.get("Roles", properties.get("RoleName"))
        statements, complete = read_statements(properties.get("PolicyDocument"), key)
        for role in as_sequence(roles):
            target = _target(role)
            if target is None:
                self._of_unknown_roles = True
                continue
            self._by_role.setdefault(target, []).extend(statements)
            if not complete:
                self._incomplete.add(target)

    def complete(self, roles: Iterable[Resource]) -> tuple[Role, ...]:
        """Return the roles with what is attached to them."""
        return tuple(self._complete(role) for role in roles if isinstance(role, Role))

    def _complete(self, role: Role) -> Role:
        names: list[Key | str] = [role.key]
        if isinstance(role.name, str):
            names.append(role.name)
        attached = [one for name in names for one in self._by_role.get(name, ())]
        known = not self._of_unknown_roles and not any(name in self._incomplete for name in names)
        return replace(
            role,
            statements=(*role.statements, *(one for one in attached if not one.denies)),
            denials=(*role.denials, *(one for one in attached if one.denies)),
            complete=role.complete and known,
        )


def _target(value: object) -> Key | str | None:
    return resource_of(value) or literal(value)


def _managed_policy(arn: object) -> str | None:
    """Return the name of an AWS managed policy, `None` for one that is not AWS's."""
    fields = split(arn, ":iam::aws:policy/")
    if fields is None or len(fields) != 2 or not head(arn).startswith("arn:"):
        return None
    return (literal(fields[1]) or "").rsplit("/", 1)[-1] or None


def _services(document: object) -> tuple[str, ...] | Unknown:
    if not isinstance(document, dict):
        return UNKNOWN
    services: list[str] = []
    for statement in as_sequence(document.get("Statement")):
        principal = as_mapping(statement).get("Principal")
        if principal == "*":
            return UNKNOWN
        for service in as_sequence(as_mapping(principal).get("Service")):
            known: String | None = as_string(service)
            if not isinstance(known, str):
                return UNKNOWN
            services.append(known)
    return tuple(services)
