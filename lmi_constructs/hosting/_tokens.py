"""Telling CDK tokens from values without asking the CDK: a bridge call costs 0.25 ms, this nothing."""

from __future__ import annotations

from lmi_constructs.container.tokens import is_number_token

_STRING_MARKERS = ("${Token[", "#{Token[")


def is_token(value: object) -> bool:
    """Return whether a value is not known at synth: an encoded token or a resolvable object."""
    if value is None or isinstance(value, bool):
        return False
    if isinstance(value, str):
        return any(marker in value for marker in _STRING_MARKERS)
    if isinstance(value, (int, float)):
        return is_number_token(value)
    if isinstance(value, (list, tuple)):
        return any(is_token(item) for item in value)
    return is_resolvable(value)


def is_resolvable(value: object) -> bool:
    """Return whether a value is an object that the CDK resolves; a stack, which can resolve, is none."""
    return hasattr(value, "resolve") and not hasattr(type(value), "node")
