"""A model's shape as a record of plain values: how it travels in a template's metadata."""

from __future__ import annotations

import math
from dataclasses import MISSING, asdict, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.planner._config_doubts import LARGEST
from lmi_constructs.planner.architecture import Architecture, size_without_value
from lmi_constructs.planner.quantization import quantization_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import TypeAdapter

_NOT_SENT: Final = frozenset({"source"})
"""Where a shape was read may be a path of somebody's machine."""


def record_of(architecture: Architecture) -> dict[str, Any]:
    """Return a shape as JSON has it, without what is at its default and where it was read.

    Args:
        architecture: The model.
    """
    left_out = {field.name: field.default for field in fields(Architecture)}
    return {
        name: value
        for name, value in asdict(architecture).items()
        if name not in _NOT_SENT and (left_out[name] is MISSING or value != left_out[name])
    }


def architecture_of(record: object) -> Architecture | None:
    """Return the shape of a record, `None` if it is none that this release of the library wrote.

    A template can say anything there, and a plan of a shape that no model has would be worthless.

    Args:
        record: What `record_of` returned, read from JSON.
    """
    from pydantic import ValidationError

    try:
        found = _adapter().validate_python(record, extra="forbid")
    except ValidationError:
        return None
    quantization = found.quantization
    sound = (
        all(0 <= number <= LARGEST and math.isfinite(number) for number in _numbers(asdict(found)))
        and (not found.understood or size_without_value(found) is None)
        and (found.experts is None or (found.experts.count > 1 and found.experts.width > 0))
        and (quantization is None or quantization_named(quantization.method) is not None)
    )
    return found if sound else None


def _numbers(value: object) -> Iterator[float]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _numbers(item)
    elif isinstance(value, (int, float)):
        yield value


@cache
def _adapter() -> TypeAdapter[Architecture]:
    """Return what reads a record; the names in the scope are those of the shape's types."""
    from pydantic import TypeAdapter

    from lmi_constructs.planner.quantization import Quantization  # noqa: F401

    return TypeAdapter(Architecture)
