"""Recognising unresolved CDK tokens without importing the CDK."""

from __future__ import annotations

from collections.abc import Sequence


def is_token(value: object) -> bool:
    """Return whether a value is an encoded CDK token: text, list or number."""
    if isinstance(value, str):
        return "${Token[" in value
    if isinstance(value, float):
        return value < -1e300 or -2e289 < value < -1e288
    if isinstance(value, Sequence):
        return any(isinstance(item, str) and "#{Token[" in item for item in value)
    return False
