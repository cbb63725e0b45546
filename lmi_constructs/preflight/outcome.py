"""What one look at the account has shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

Status: TypeAlias = Literal["pass", "fail", "unknown"]
Check: TypeAlias = Literal[
    "account",
    "name",
    "configuration",
    "region",
    "quota",
    "key",
    "image",
    "files",
    "settings",
    "memory",
    "adapters",
    "secret",
    "role",
]

CHECKS: Final[tuple[str, ...]] = get_args(Check)
"""What is looked at, in the order in which it is said. A name is never given another meaning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One thing that was looked at.

    Attributes:
        endpoint: Construct path or logical id of the endpoint; `None` for what is about a whole
            account, or about a model that no endpoint here runs.
        subject: Construct path or logical id of the resource it is about; for `account`, the
            account's id.
        check: What was looked at, one of `CHECKS`.
        status: `pass`, `fail`, or `unknown` if the account does not tell.
        detail: What was seen, for a person to read.
        fix: What to do; empty where there is nothing to do.
        rule: Id of the rule whose fault it is; empty if no rule knows it.
    """

    endpoint: str | None = None
    subject: str
    check: Check
    status: Status
    detail: str
    fix: str = ""
    rule: str = ""
