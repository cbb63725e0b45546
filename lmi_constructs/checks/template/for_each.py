"""Writing out `Fn::ForEach` (transform `AWS::LanguageExtensions`), as CloudFormation does first.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-foreach.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.checks.values import as_mapping, as_sequence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_LOOP: Final = "Fn::ForEach::"
_TRANSFORM: Final = "AWS::LanguageExtensions"
_DEEPEST: Final = 80
_MOST_ROUNDS: Final = 500
"""A template has at most 500 resources, so that no loop of a good one goes round more often."""

_MOST_NODES: Final = 500_000
"""Values that loops may make in all, so that a hostile template ends soon."""


def has_loops(template: Mapping[str, Any]) -> bool:
    """Tell whether CloudFormation writes out the loops of a template."""
    return _TRANSFORM in as_sequence(template.get("Transform"))


class Loops:
    """Writes out the loops of one template.

    Attributes:
        unread: Names of loops whose collection is not known, such as `Fn::ForEach::Models`.
    """

    def __init__(self, value: Callable[[object], object]) -> None:
        """Prepare.

        Args:
            value: Evaluates a collection.
        """
        self._value = value
        self._rounds = 0
        self._nodes = 0
        self.unread: list[str] = []

    def written_out(self, node: Any, depth: int = 0) -> Any:
        """Return a part of the template with every loop replaced by what it makes."""
        if depth > _DEEPEST:
            return node
        if isinstance(node, list):
            return [self.written_out(item, depth + 1) for item in node]
        if not isinstance(node, dict):
            return node
        made: dict[Any, Any] = {}
        for key, item in node.items():
            if isinstance(key, str) and key.startswith(_LOOP):
                made.update(self._loop(key, item, depth + 1))
            else:
                made[key] = self.written_out(item, depth + 1)
        return made

    def _loop(self, name: str, loop: object, depth: int) -> dict[Any, Any]:
        made: dict[Any, Any] = {}
        identifier, collection, fragment = (
            loop if isinstance(loop, list) and len(loop) == 3 else [None] * 3
        )
        items = self._value(collection)
        if not isinstance(identifier, str) or not _is_list_of_strings(items):
            self.unread.append(name)
            return made
        for item in items:  # type: ignore[attr-defined]
            self._rounds += 1
            if self._rounds > _MOST_ROUNDS or self._nodes > _MOST_NODES:
                self.unread.append(name)
                break
            written = self.written_out(self._with_item(fragment, identifier, item, depth), depth)
            made.update(as_mapping(written))
        return made

    def _with_item(self, node: Any, identifier: str, item: str, depth: int) -> Any:
        """Return a fragment with one item of the collection in place of the identifier."""
        self._nodes += 1
        if depth > _DEEPEST:
            return node
        if isinstance(node, str):
            plain = "".join(sign for sign in item if sign.isalnum())
            return node.replace(f"${{{identifier}}}", item).replace(f"&{{{identifier}}}", plain)
        if isinstance(node, list):
            return [self._with_item(one, identifier, item, depth + 1) for one in node]
        if not isinstance(node, dict):
            return node
        if node == {"Ref": identifier}:
            return item
        return {
            self._with_item(key, identifier, item, depth + 1): self._with_item(
                one, identifier, item, depth + 1
            )
            for key, one in node.items()
        }


def _is_list_of_strings(items: object) -> bool:
    return isinstance(items, list) and all(isinstance(item, str) for item in items)
