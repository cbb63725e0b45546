"""Telling CDK tokens from values without asking the CDK: a bridge call costs 0.25 ms, this nothing."""

from __future__ import annotations

from lmi_constructs.container import tokens


def is_token(value: object) -> bool:
    """Return whether a value is not known at synth: an encoded token or a resolvable object."""
    if isinstance(value, (list, tuple)):
        return any(is_token(item) for item in value)
    return tokens.is_token(value) or is_resolvable(value)


def is_resolvable(value: object) -> bool:
    """Return whether a value is an object that the CDK resolves; a stack, which can resolve, is none."""
    return hasattr(value, "resolve") and not hasattr(type(value), "node")
