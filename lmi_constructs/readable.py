"""Words for people: how a number is shown, and what the CDK said."""

from __future__ import annotations

from decimal import Decimal

_DIGITS = 12
"""Significant digits: more than any limit or figure has, fewer than a float's rounding shows."""


def readable(number: float) -> str:
    """Return a number with all its digits and no more: `10000000`, never `1e+07` or `5.0`.

    There are no separators, so that the number can be copied into code or a template.
    """
    return format(Decimal(f"{number:.{_DIGITS}g}"), "f")


def said_by(error: Exception) -> str:
    """Return the first line of what the CDK says, without the code it begins with."""
    line = (str(error).splitlines() or [""])[0]
    code, _, rest = line.partition(": ")
    return rest if rest and code.isalnum() and code[:1].isupper() else line
