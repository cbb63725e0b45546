"""Templates of what a test has in hand, those of nested stacks included."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from lmi_constructs.checks.template import TemplateSource
from lmi_constructs.checks.template.files import UnreadableError, read_file

if TYPE_CHECKING:
    import aws_cdk as cdk
    from aws_cdk.assertions import Template
    from constructs import IConstruct

__tracebackhide__ = True  # pytest shows the line of the test

Templated: TypeAlias = Union["cdk.Stack", "Template", Mapping[str, Any], Path]
"""A stack, its template (a `Template` of `aws_cdk.assertions`, or a mapping), or the path of a template
file in JSON or YAML."""

NESTED = "NestedStacks"
"""Section in which a snapshot keeps the templates of nested stacks, by their logical ids."""


def source_of(of: Templated) -> TemplateSource:
    """Return the template of a stack or in a file, with those of its nested stacks where known.

    Raises:
        TypeError: If it is none of these, or a mapping holds a CDK token.
        UnreadableError: If the file cannot be read, or holds no template.
    """
    if isinstance(of, Mapping):
        return _written(_resolved(of), "template")
    if isinstance(of, Path):
        source = _read(of)
        return _written(source.body, source.name) if NESTED in source.body else source
    import aws_cdk as cdk
    from aws_cdk.assertions import Template

    if isinstance(of, Template):
        return TemplateSource("template", of.to_json())
    if isinstance(of, cdk.Stack):
        app_of(of).synth()
        return read_file(template_file(of))
    hint = "; give each of its stacks" if isinstance(of, cdk.Stage) else ""
    if isinstance(of, str):
        hint = f": write Path({of!r})"
    raise TypeError(
        "a stack, a Template, a mapping or the Path of a template file is needed, "
        f"not {type(of).__name__}{hint}"
    )


def template_of(of: Templated) -> Mapping[str, Any]:
    """Return the template of a stack or in a file, with those of nested stacks in a section.

    Raises:
        TypeError: If it is none of these, or a mapping holds a CDK token.
        UnreadableError: If the file cannot be read, or holds no template.
    """
    return _with_section(source_of(of))


def app_of(construct: IConstruct) -> cdk.Stage:
    """Return the app that a construct is in.

    Raises:
        TypeError: If it is in none, so that nothing can be synthesized.
    """
    import aws_cdk as cdk

    root = construct.node.root
    if not isinstance(root, cdk.Stage):
        raise TypeError(f"{construct.node.path} is in no app: begin its scopes with cdk.App()")
    return root


def template_file(stack: cdk.Stack) -> Path:
    """Return where the template of a stack lies after synth."""
    import aws_cdk as cdk

    stage: Any = cdk.Stage.of(stack)
    return Path(stage.outdir) / stack.template_file


def _read(file: Path) -> TemplateSource:
    try:
        return read_file(file)
    except UnreadableError as error:
        # The message names the file; the reader's own lines would bury the line of the test.
        raise error.with_traceback(None) from None


def _written(template: Mapping[str, Any], name: str) -> TemplateSource:
    """Return a template that has those of its nested stacks in a section."""
    body = {section: entries for section, entries in template.items() if section != NESTED}
    inner = template.get(NESTED)
    nested = {
        logical_id: _written(one, f"{name}/{logical_id}")
        for logical_id, one in (inner if isinstance(inner, Mapping) else {}).items()
    }
    return TemplateSource(name, body, nested=nested)


def _with_section(source: TemplateSource) -> Mapping[str, Any]:
    if not source.nested:
        return source.body
    return {
        **source.body,
        NESTED: {name: _with_section(inner) for name, inner in source.nested.items()},
    }


def _resolved(template: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a template, refusing what only a stack can resolve: it reads otherwise in each run."""
    if "${Token[" in str(template):
        raise TypeError(
            "the template holds a CDK token that nothing has resolved; give the stack, "
            "or stack.resolve(template)"
        )
    return template
