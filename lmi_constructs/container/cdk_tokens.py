"""Recognizing unresolved CDK tokens without importing the CDK."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeGuard

_MARKERS: Final = ("${Token[", "#{Token[")


def is_token(value: object) -> bool:
    """Return whether a value is an encoded CDK token: text, list or number.

    A list with tokens in it is none, since it can still be written item by item.
    """
    if isinstance(value, str):
        return any(marker in value for marker in _MARKERS)
    if isinstance(value, int | float):
        return is_number_token(value)
    if isinstance(value, Sequence):
        return any(isinstance(item, str) and "#{Token[" in item for item in value)
    return False


def is_number_token(value: object) -> TypeGuard[float]:
    """Return whether a value is a number token, which the CDK encodes as about -1.888e289."""
    return isinstance(value, int | float) and -2e289 < value < -1e288


def holds_number_token(value: object) -> bool:
    """Return whether a value, or anything inside it, is a number token."""
    if isinstance(value, Mapping):
        return any(holds_number_token(item) for item in value.values())
    if isinstance(value, list | tuple):
        return any(holds_number_token(item) for item in value)
    return is_number_token(value)
