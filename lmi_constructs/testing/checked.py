"""What the rules, and constructs themselves, find in a stack under test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lmi_constructs.checks.acknowledged import is_at, reason_for
from lmi_constructs.checks.rules import PlacedFinding
from lmi_constructs.checks.run import check_sources
from lmi_constructs.checks.template import with_nested
from lmi_constructs.checks.template.files import read_file
from lmi_constructs.testing.templates import app_of, source_of, template_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    import aws_cdk as cdk

    from lmi_constructs.checks.template import TemplateSource
    from lmi_constructs.findings import Finding
    from lmi_constructs.testing.templates import Templated

__tracebackhide__ = True  # pytest shows the line of the test


@dataclass(frozen=True)
class Checked:
    """What was checked, and found.

    Attributes:
        templates: The templates, nested ones included.
        findings: What is found and not acknowledged in the app.
        failure: Why the app does not synthesize, if a validation refuses it.
    """

    templates: tuple[TemplateSource, ...]
    findings: tuple[Finding, ...]
    failure: RuntimeError | None = None


def checked(of: Templated) -> Checked:
    """Check a stack as its app does at synth, or a template as `lmi check` does.

    Raises:
        TypeError: If it is neither a stack nor a template.
        UnreadableError: If a file cannot be read, or holds no template.
    """
    import aws_cdk as cdk

    if isinstance(of, cdk.Stack):
        return _checked_stack(of)
    source = source_of(of)
    return Checked(tuple(with_nested([source])), check_sources([source]))


def _checked_stack(stack: cdk.Stack) -> Checked:
    failure = _refusal(stack)
    source = read_file(template_file(_outermost(stack)))
    found = check_sources([source])
    below = [
        one
        for one in (*found, *_remarks(stack, source, found))
        if not stack.nested_stack_parent or is_at(_place(one), stack.node.path)
    ]
    file = str(template_file(stack))
    (own,) = (one for one in with_nested([source]) if one.file == file)
    return Checked(tuple(with_nested([own])), tuple(below), failure)


def _refusal(stack: cdk.Stack) -> RuntimeError | None:
    """Synthesize, and return the refusal of a validation; templates are written all the same."""
    try:
        app_of(stack).synth()
    except RuntimeError as error:
        if "ValidationFailed" not in str(error):
            raise
        return error
    return None


def _outermost(stack: cdk.Stack) -> cdk.Stack:
    while stack.nested_stack_parent is not None:
        stack = stack.nested_stack_parent
    return stack


def _remarks(
    stack: cdk.Stack, source: TemplateSource, found: tuple[Finding, ...]
) -> Iterator[Finding]:
    """Yield what constructs have said of themselves, that no rule repeats and nobody acknowledges."""
    from lmi_constructs.checks.plugin import remarks_in

    for construct, remark in remarks_in(app_of(stack)):
        path = construct.node.path
        repeated = any(one.rule == remark.rule and is_at(_place(one), path) for one in found)
        accepted = reason_for(source.acknowledgments, remark.rule, path) is not None
        if is_at(path, stack.node.path) and not repeated and not accepted:
            yield remark


def _place(finding: Finding) -> str:
    path = finding.construct_path if isinstance(finding, PlacedFinding) else finding.resource
    return path or ""
