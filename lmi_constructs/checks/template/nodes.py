"""Walking through what a template says, within bounds, however deep or large it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def nodes(body: object, most: int) -> Iterator[object]:
    """Yield a value and everything in it, in no order.

    Args:
        body: Part of a template.
        most: How many nodes are looked at; the rest is left out.
    """
    ahead = [body]
    visited = 0
    while ahead and visited < most:
        visited += 1
        node = ahead.pop()
        yield node
        if isinstance(node, list):
            ahead.extend(node)
        elif isinstance(node, dict):
            ahead.extend(node.values())
