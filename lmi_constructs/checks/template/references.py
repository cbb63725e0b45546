"""What a resource refers to, and what of that CloudFormation cannot resolve."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.checks.resources import Resource, Unresolved
from lmi_constructs.checks.template.for_each import has_loops
from lmi_constructs.checks.template.nodes import nodes
from lmi_constructs.checks.values import as_mapping, as_sequence, legible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lmi_constructs.checks.template.evaluate import Evaluator

_MOST_NODES: Final = 100_000
_LOGICAL_ID: Final = re.compile(r"[A-Za-z0-9]+\Z")
_SECURE: Final = "{{resolve:ssm-secure:"
_TRANSFORM: Final = "Fn::Transform"
_SAGEMAKER: Final = "AWS::SageMaker::"
_Named = tuple[str, bool]
"""A name, and whether it can be a resource only."""


@dataclass(frozen=True, slots=True)
class References:
    """All that a resource refers to.

    Attributes:
        names: The names, each with whether it can be a resource only.
        has_secure_string: Whether a dynamic reference is to a secure string.
    """

    names: frozenset[_Named]
    has_secure_string: bool


def read_references(resource: Mapping[str, Any]) -> References:
    """Return all that a resource refers to, in one quick walk."""
    found = {
        (name, True) for name in as_sequence(resource.get("DependsOn")) if isinstance(name, str)
    }
    secure = False
    for node in nodes(resource.get("Properties"), _MOST_NODES):
        if isinstance(node, dict):
            found.update(_names(node))
        elif isinstance(node, str):
            secure = secure or _SECURE in node
    return References(frozenset(found), secure)


def is_closed(template: Mapping[str, Any], evaluator: Evaluator) -> bool:
    """Tell whether nothing but what stands in a template can be referred to in it.

    Macros and other transforms make resources that are not to be seen, and so do modules.
    """
    sections = (template, template.get("Resources"), template.get("Parameters"))
    types = (as_mapping(one).get("Type") for one in evaluator.resources.values())
    if any(_TRANSFORM in as_mapping(one) for one in sections) or any(map(_is_module, types)):
        return False
    transforms = as_sequence(template.get("Transform"))
    return not transforms or (
        has_loops(template) and len(transforms) == 1 and not evaluator.unread_loops
    )


def unresolved(
    resource: Resource,
    body: Mapping[str, Any],
    found: References,
    evaluator: Evaluator,
    *,
    closed: bool,
) -> Iterator[Unresolved]:
    """Yield what CloudFormation cannot resolve in a resource, each name but once.

    Args:
        resource: Where it stands.
        body: The resource in the template.
        found: All that it refers to.
        evaluator: The evaluator of its template.
        closed: Whether nothing but what stands in the template can be referred to.
    """
    missing = {one for one in found.names if closed and not _is_declared(one, evaluator)}
    secure = found.has_secure_string and str(body.get("Type")).startswith(_SAGEMAKER)
    if not missing and not secure:
        return
    known = tuple(sorted({*map(str, evaluator.resources), *map(str, evaluator.parameters)}))
    for name in as_sequence(body.get("DependsOn")):
        if isinstance(name, str) and (name, True) in missing:
            missing.remove((name, True))
            yield Unresolved("missing", resource, "DependsOn", name, known)
    for path, node in _nodes(body.get("Properties")):
        if secure and isinstance(node, str) and _SECURE in node:
            yield Unresolved("secure-string", resource, path, legible(node))
        for one in missing.intersection(_names(node)) if isinstance(node, dict) else ():
            missing.remove(one)
            yield Unresolved("missing", resource, path, one[0], known)


def _is_module(kind: object) -> bool:
    return isinstance(kind, str) and kind.endswith("::MODULE")


def _is_declared(named: _Named, evaluator: Evaluator) -> bool:
    """Tell whether a name is declared, or is none of a kind that could be."""
    name, only_resource = named
    if name in evaluator.resources or not _LOGICAL_ID.match(name):
        return True
    return name in evaluator.parameters and not only_resource


def _nodes(properties: object) -> Iterator[tuple[str, object]]:
    """Yield every node with its path, which ends where a function begins."""
    ahead: list[tuple[str, object, bool]] = [("", properties, False)]
    visited = 0
    while ahead and visited < _MOST_NODES:
        visited += 1
        path, node, inside = ahead.pop()
        yield path, node
        if isinstance(node, list):
            ahead.extend(
                (path if inside else _below(path, index), item, inside)
                for index, item in enumerate(node)
            )
        elif isinstance(node, dict):
            inside = inside or (len(node) == 1 and _is_function(next(iter(node))))
            ahead.extend(
                (path if inside else _below(path, key), item, inside) for key, item in node.items()
            )


def _below(path: str, key: object) -> str:
    return f"{path}/{key}" if path else legible(str(key))


def _is_function(key: object) -> bool:
    return isinstance(key, str) and (key.startswith("Fn::") or key in ("Ref", "Condition"))


def _names(node: object) -> Iterator[_Named]:
    """Yield the names that one node refers to by itself."""
    function = as_mapping(node)
    reference, attribute, text = (function.get(name) for name in ("Ref", "Fn::GetAtt", "Fn::Sub"))
    if isinstance(reference, str):
        yield reference, False
    if isinstance(attribute, str):
        yield attribute.split(".", 1)[0], True
    elif isinstance(attribute, list) and attribute and isinstance(attribute[0], str):
        yield attribute[0], True
    if text is not None:
        yield from _substituted(text)


def _substituted(text: object) -> Iterator[_Named]:
    """Yield the names in the text of `Fn::Sub` that are not its own."""
    parts = text if isinstance(text, list) else [text]
    own = as_mapping(parts[1]) if len(parts) == 2 else {}
    for piece in parts[0].split("${")[1:] if parts and isinstance(parts[0], str) else ():
        name = piece.split("}", 1)[0].strip()
        if name not in own and not name.startswith("!"):
            yield name.split(".", 1)[0], "." in name
