"""Words for people: how a number is shown, which name a misspelt one resembles, what the CDK said."""

from __future__ import annotations

import difflib
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_DIGITS = 12
"""Significant digits: more than any limit or figure has, fewer than a float's rounding shows."""


def readable(number: float) -> str:
    """Return a number with all its digits and no more: `10000000`, never `1e+07` or `5.0`.

    There are no separators, so that the number can be copied into code or a template.
    """
    return format(Decimal(f"{number:.{_DIGITS}g}"), "f")


def did_you_mean(written: str, names: Iterable[str]) -> str:
    """Return the beginning of a fix that asks after the nearest names, empty if none is near.

    Args:
        written: What was written, whatever its case.
        names: What may be written.
    """
    near = difflib.get_close_matches(written.lower(), sorted(names), n=2, cutoff=0.6)
    return f"did you mean {' or '.join(near)}? Else " if near else ""


def nearest(written: str, names: Iterable[str], likeness: float = 0.8) -> str | None:
    """Return the name that a misspelt one resembles most, whatever its case; `None` if none does.

    Args:
        written: What was written.
        names: What may be written.
        likeness: How alike they must be, from 0 to 1.
    """
    known = sorted(names)
    if written in known:
        return written
    folded = {name.casefold(): name for name in known}
    near = difflib.get_close_matches(written.casefold(), folded, n=1, cutoff=likeness)
    return folded[near[0]] if near else None


def said_by(error: Exception) -> str:
    """Return the first line of what the CDK says, without the code it begins with."""
    line = (str(error).splitlines() or [""])[0]
    code, _, rest = line.partition(": ")
    return rest if rest and code.isalnum() and code[:1].isupper() else line
