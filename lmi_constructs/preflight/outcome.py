"""What one look at the account has shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["pass", "fail", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One thing that was looked at.

    Attributes:
        subject: Construct path or logical id of the model or endpoint it is about.
        check: What was looked at: `files`, `memory`, `adapters`, `image`, `region`, `quota`,
            `secret`, `key`, `role` or `name`.
        status: `pass`, `fail`, or `unknown` if the account does not tell.
        detail: What was seen.
        fix: What to do; empty unless it failed.
    """

    subject: str
    check: str
    status: Status
    detail: str
    fix: str = ""
