"""Giving number tokens in settings a text form, which only the CDK can do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk

from lmi_constructs.container.cdk_tokens import holds_number_token, is_number_token

if TYPE_CHECKING:
    from constructs import IConstruct

    from lmi_constructs.container import LmiSettings


def with_text_tokens(settings: LmiSettings, scope: IConstruct) -> LmiSettings:
    """Return the settings with every number token as the text that CloudFormation resolves.

    A plain number becomes a string token; an object with a number inside becomes JSON of the stack,
    in which the number stays a number.
    """
    changes: dict[str, Any] = {}
    for name, value in settings.given().items():
        if name == "engine_args":
            changes[name] = {key: _as_text(item, scope) for key, item in value.items()}
        elif holds_number_token(value):
            changes[name] = _as_text(value, scope)
    return settings.replace(**changes) if changes else settings


def _as_text(value: object, scope: IConstruct) -> object:
    if is_number_token(value):
        return cdk.Tokenization.stringify_number(value)
    return cdk.Stack.of(scope).to_json_string(value) if holds_number_token(value) else value
