"""Telling CDK tokens and resolvables from values without a call over the jsii bridge, which costs 0.25 ms."""

from __future__ import annotations

from lmi_constructs.container import cdk_tokens


def is_token(value: object) -> bool:
    """Return whether a value is not known at synth: an encoded token or a resolvable object."""
    if isinstance(value, (list, tuple)):
        return any(is_token(item) for item in value)
    return cdk_tokens.is_token(value) or is_resolvable(value)


def is_resolvable(value: object) -> bool:
    """Return whether a value is an object that the CDK resolves; a stack, which can resolve, is none."""
    return hasattr(value, "resolve") and not hasattr(type(value), "node")
