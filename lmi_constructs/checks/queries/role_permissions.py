"""Whether the statements of a role allow something, as far as can be told."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from lmi_constructs.checks.resources import Statement
from lmi_constructs.checks.values import UNKNOWN, Reference, String, Text, Unknown
from lmi_constructs.facts import registries

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lmi_constructs.checks.resources import Role

_ANY: Final = "*"
_MANAGED: Final = {
    "AdministratorAccess": (("*",), (_ANY,)),
    "PowerUserAccess": (("ecr:*", "s3:*", "cloudwatch:*", "ec2:*", "kms:*", "logs:*"), (_ANY,)),
    "AmazonS3FullAccess": (("s3:*",), (_ANY,)),
    "AmazonS3ReadOnlyAccess": (("s3:get*", "s3:list*"), (_ANY,)),
    "AmazonEC2ContainerRegistryReadOnly": (("ecr:*",), (_ANY,)),
    "AmazonEC2ContainerRegistryPowerUser": (("ecr:*",), (_ANY,)),
    "AmazonEC2ContainerRegistryFullAccess": (("ecr:*",), (_ANY,)),
    "CloudWatchLogsFullAccess": (("logs:*",), (_ANY,)),
    "CloudWatchFullAccess": (("logs:*", "cloudwatch:*"), (_ANY,)),
}
FULL_ACCESS: Final = "AmazonSageMakerFullAccess"
_FULL_ACCESS_ON_EVERYTHING: Final = ("ecr:*", "cloudwatch:*", "logs:*", "ec2:*", "s3:listbucket")
_FULL_ACCESS_BUCKETS: Final = ("sagemaker", "aws-glue")
_HARMLESS_MANAGED: Final = re.compile(r"AWS(Lambda|XRay)|AmazonSSM|Bedrock|CloudWatchAgent")


def allows(role: Role, action: str, resource: String) -> bool | Unknown:
    """Tell whether a role allows an action on a resource.

    Args:
        role: A role whose rights may be known only in part.
        action: Such as `s3:GetObject`.
        resource: ARN of the resource, which may be known only in part.

    Returns:
        `UNKNOWN` where the role's rights or the resource are not known well enough. What is denied
        is not allowed, whatever else allows it.
    """
    denied = denial(role, action, resource)
    if isinstance(denied, Statement):
        return False
    answers = [_statement(statement, action, resource) for statement in role.statements]
    answers += [_managed(name, action, resource) for name in role.managed_policies]
    if True in answers:
        return True if denied is None else UNKNOWN
    return UNKNOWN if UNKNOWN in answers or not role.complete else False


def denial(role: Role, action: str, resource: String) -> Statement | Unknown | None:
    """Return the statement that denies a role an action, `UNKNOWN` if one may, `None` without one."""
    answers = [(one, _statement(one, action, resource)) for one in role.denials]
    sure = [one for one, answer in answers if answer is True and not one.is_conditional]
    if sure:
        return sure[0]
    return UNKNOWN if any(answer is not False for _, answer in answers) else None


def givers(role: Role, action: str, resource: String) -> list[Statement]:
    """Return the statements that allow an action on a resource, or may do so."""
    return [one for one in role.statements if _statement(one, action, resource) is not False]


def _statement(statement: Statement, action: str, resource: String) -> bool | Unknown:
    if not any(_matches(pattern, action.lower()) for pattern in statement.actions):
        return False
    return _any(_resource(pattern, resource) for pattern in statement.resources)


def _managed(name: str, action: str, resource: String) -> bool | Unknown:
    if name in _MANAGED:
        actions, _ = _MANAGED[name]
        return any(_matches(pattern, action.lower()) for pattern in actions)
    if name == FULL_ACCESS:
        if any(_matches(pattern, action.lower()) for pattern in _FULL_ACCESS_ON_EVERYTHING):
            return True
        return _by_full_access(action, resource)
    return False if _HARMLESS_MANAGED.match(name) else UNKNOWN


def _by_full_access(action: str, resource: String) -> bool | Unknown:
    """Objects only in buckets with `sagemaker` in their names; a generated name may have it."""
    if not action.lower().startswith("s3:"):
        return UNKNOWN
    if not isinstance(resource, str):
        return UNKNOWN
    return any(word in resource.lower() for word in _FULL_ACCESS_BUCKETS)


def _resource(pattern: String, wanted: String) -> bool | Unknown:
    """Match a pattern against a resource, of which both may be known only in part.

    Resources of the template count as signs of their own, since they are what they are; anything
    else that is not known may be everything.
    """
    if pattern == _ANY:
        return True
    given, needed = _signs(pattern, wanted), _signs(wanted, wanted)
    if needed is None or given is None:
        return UNKNOWN
    if _matches(given, needed):
        return True
    if _HOLE not in given + needed:
        return False
    may = _overlap(given.replace(_HOLE, "*"), needed.replace(_HOLE, "*"))
    return UNKNOWN if may else False


_HOLE: Final = "\ue000"
_PARTITION: Final = re.compile(r"\Aarn:(aws[a-z-]*|[*]):")


@lru_cache(maxsize=1024)
def _signs(value: String, wanted: String) -> str | None:
    """Return a string with signs for what is not known, and without its partition."""
    if not isinstance(value, (str, Text)):
        return None
    foreign = _account_of_registry(wanted)
    parts = value.parts if isinstance(value, Text) else (value,)
    return _PARTITION.sub("arn:aws:", "".join(_sign(part, foreign) for part in parts))


def _sign(part: str | Reference | Unknown, foreign: bool) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Reference):
        if part.resource:
            return f"\ue001{part.template}|{part.name}|{part.attribute}\ue001"
        if part.name == "AWS::Partition":
            return "aws"
        if foreign and part.name == "AWS::AccountId":
            return "\ue002own account\ue002"
    return _HOLE


@lru_cache(maxsize=1024)
def _account_of_registry(wanted: String) -> bool:
    """Tell whether the resource surely is in an account of AWS's own registries."""
    parts = wanted.parts if isinstance(wanted, Text) else (wanted,)
    accounts = {registry.account for registry in registries().values()}
    return any(
        isinstance(part, str) and not accounts.isdisjoint(re.findall(r"\d{12}", part))
        for part in parts
    )


def _any(answers: Iterable[bool | Unknown]) -> bool | Unknown:
    known = list(answers)
    if True in known:
        return True
    return UNKNOWN if UNKNOWN in known else False


@lru_cache(maxsize=4096)
def _matches(pattern: str, text: str) -> bool:
    """Match as IAM does, in one pass: a star gives back only as much as it must."""
    position = at = 0
    star, retry = -1, 0
    while at < len(text):
        if position < len(pattern) and pattern[position] == "*":
            star, retry = position, at
            position += 1
        elif position < len(pattern) and pattern[position] in (text[at], "?"):
            position, at = position + 1, at + 1
        elif star >= 0:
            retry += 1
            position, at = star + 1, retry
        else:
            return False
    return set(pattern[position:]) <= {"*"}


def _overlap(left: str, right: str) -> bool:
    """Tell whether two patterns with `*` and `?` have a text in common."""
    reachable = {0} | _after_stars(right, 0)
    for sign in left:
        if sign == "*":
            reachable = set(range(min(reachable, default=len(right) + 1), len(right) + 1))
            continue
        following: set[int] = set()
        for index in reachable:
            if index < len(right):
                if right[index] == "*":
                    following |= {index} | _after_stars(right, index)
                elif sign == "?" or right[index] in (sign, "?"):
                    following |= {index + 1} | _after_stars(right, index + 1)
        reachable = following
        if not reachable:
            return False
    return len(right) in reachable


def _after_stars(text: str, index: int) -> set[int]:
    found = set()
    while index < len(text) and text[index] == "*":
        index += 1
        found.add(index)
    return found
