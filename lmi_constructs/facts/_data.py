"""Reading the data files: lazily, once, as plain JSON or as rows of a class."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

Row = TypeVar("Row")


@cache
def load(file: str) -> Any:
    """Return the parsed data file `facts/data/<file>.json`."""
    return json.loads(files(__package__).joinpath("data", f"{file}.json").read_bytes())


def row(kind: type[Row], values: Mapping[str, Any], file: str) -> Row:
    """Return what a row says as an object of its class.

    Args:
        kind: A dataclass; a list becomes the tuple or the frozen set that a field is declared as.
        values: The row's values by field.
        file: Name of the data file, for the message.

    Raises:
        ValueError: If a field is missing, or is not one of the class.
    """
    containers, required = _declared(cast("Hashable", kind))
    missing = [name for name in required if name not in values]
    unknown = [name for name in values if name not in containers]
    if missing or unknown:
        wrong = [f"lacks {name!r}" for name in missing]
        wrong += [f"has {name!r}, which is no field of it" for name in unknown]
        first = next(iter(values.values()), "")
        raise ValueError(f"facts/data/{file}.json: the row of {first!r} {' and '.join(wrong)}")
    return kind(
        **{
            name: container(value) if (container := containers[name]) else value
            for name, value in values.items()
        }
    )


def table(
    kind: type[Row], file: str, key: str, rows: Iterable[Mapping[str, Any]] | None = None
) -> dict[str, Row]:
    """Return the rows of a data file by one of their fields, in its order.

    Args:
        kind: Class of the rows.
        file: Name of the data file.
        key: Field that no two rows share.
        rows: The rows, where they are not the list `rows` of the file as it is.

    Raises:
        ValueError: If a row is not complete, or two rows have the same key.
    """
    found: dict[str, Row] = {}
    for values in load(file)["rows"] if rows is None else rows:
        made = row(kind, values, file)
        if (name := getattr(made, key)) in found:
            raise ValueError(f"facts/data/{file}.json: there are two rows of {name!r}")
        found[name] = made
    return found


@cache
def _declared(kind: Any) -> tuple[dict[str, type | None], tuple[str, ...]]:
    """Return the containers of a class's fields by name, and the names of those without default."""
    containers: dict[str, type | None] = {}
    for item in fields(kind):
        outer = str(item.type).partition("[")[0]
        containers[item.name] = {"tuple": tuple, "frozenset": frozenset}.get(outer)
    required = tuple(
        item.name
        for item in fields(kind)
        if item.default is MISSING and item.default_factory is MISSING
    )
    return containers, required
