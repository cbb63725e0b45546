"""Versions of the engine as numbers: read, written, and looked up in tables that begin at a version."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

Value = TypeVar("Value")

ANY_VERSION: Final[tuple[int, ...]] = ()
"""First column of a table's last row: no version is below it."""


def version_numbers(text: str) -> tuple[int, ...]:
    """Return a version such as `0.10.2rc1` as its first three numbers."""
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


def dotted(version: tuple[int, ...]) -> str:
    """Return a version as it is written, such as `0.10.2`."""
    return ".".join(map(str, version))


def since(version: tuple[int, ...], table: Iterable[tuple[tuple[int, ...], Value]]) -> Value:
    """Return what holds for a version.

    Args:
        version: Version of the engine.
        table: First version and value of each span, newest first; the last begins at
            [`ANY_VERSION`][].
    """
    return next(value for first, value in table if version >= first)
