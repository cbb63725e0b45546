"""Templates of what a test has in hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, Union

if TYPE_CHECKING:
    import aws_cdk as cdk

Templated: TypeAlias = Union["cdk.Stack", Mapping[str, Any]]
"""A stack, or its template as a mapping."""


def template_of(stack: Templated) -> Mapping[str, Any]:
    """Return the template of a stack; a template is returned as it is.

    Raises:
        TypeError: If it is neither.
    """
    if isinstance(stack, Mapping):
        return stack
    import aws_cdk as cdk
    from aws_cdk.assertions import Template

    if not isinstance(stack, cdk.Stack):
        raise TypeError(f"a stack or a template is needed, not {type(stack).__name__}")
    template: Mapping[str, Any] = Template.from_stack(stack).to_json()
    return template
