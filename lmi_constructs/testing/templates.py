"""Templates of what a test has in hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

if TYPE_CHECKING:
    import aws_cdk as cdk

Templated: TypeAlias = Union["cdk.Stack", Mapping[str, Any], Path]
"""A stack, its template as a mapping, or the path of a template file in JSON."""


def template_of(stack: Templated) -> Mapping[str, Any]:
    """Return the template of a stack or in a file; a template is returned as it is.

    Raises:
        OSError: If the file cannot be read.
        TypeError: If it is none of these, or the file holds no template.
        ValueError: If the file holds no JSON.
    """
    if isinstance(stack, Mapping):
        return stack
    if isinstance(stack, Path):
        return _template_in(stack)
    import aws_cdk as cdk
    from aws_cdk.assertions import Template

    if not isinstance(stack, cdk.Stack):
        raise TypeError(
            f"a stack, a template or the Path of a template file is needed, not {type(stack).__name__}"
        )
    template: Mapping[str, Any] = Template.from_stack(stack).to_json()
    return template


def _template_in(file: Path) -> Mapping[str, Any]:
    try:
        template = json.loads(file.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"{file} holds no template in JSON: {error}") from error
    if not isinstance(template, Mapping):
        raise TypeError(f"{file} holds no template, but a {type(template).__name__}")
    return template
