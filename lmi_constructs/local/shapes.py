"""The constraints of AWS's own API models, applied to a request.

botocore ships the model of every service: required members, lengths, ranges, patterns and enums.
The local AWS reads them there instead of keeping its own tables, and words a violation the way the
service does. Relations between fields are not in a model; those of SageMaker are in `rules`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

import botocore.loaders
from botocore.model import ListShape, MapShape, ServiceModel, Shape, StructureShape

if TYPE_CHECKING:
    from collections.abc import Iterator

NUMBERS = {"integer": int, "long": int, "float": float, "double": float}


@cache
def service_model(service: str) -> ServiceModel:
    """Return botocore's model of a service such as `sagemaker`."""
    loader = botocore.loaders.create_loader()
    return ServiceModel(loader.load_service_model(service, "service-2"), service_name=service)


def input_shape(service: str, operation: str) -> StructureShape:
    """Return the shape of an operation's request.

    Raises:
        TypeError: If the operation takes no parameters at all.
    """
    shape = service_model(service).operation_model(operation).input_shape
    if not isinstance(shape, StructureShape):
        raise TypeError(f"{service} {operation} takes no parameters")
    return shape


def validation_message(shape: Shape, value: object) -> str | None:
    """Return the service's sentence about a request that breaks its model, or `None`."""
    found = list(violations(shape, value))
    if not found:
        return None
    noun = "error" if len(found) == 1 else "errors"
    return f"{len(found)} validation {noun} detected: {'; '.join(found)}"


def violations(shape: Shape, value: object, path: str = "") -> Iterator[str]:
    """Yield one sentence for each constraint of the model that a value breaks."""
    if isinstance(shape, StructureShape) and isinstance(value, dict):
        yield from _structure_violations(shape, value, path)
    elif isinstance(shape, ListShape) and isinstance(value, list):
        yield from _sentences(path, f"[{len(value)} members]", _length_faults(shape, len(value)))
        for number, item in enumerate(value, start=1):
            yield from violations(shape.member, item, f"{path}.{number}.member")
    elif isinstance(shape, MapShape) and isinstance(value, dict):
        yield from _map_violations(shape, value, path)
    elif (fault := _type_fault(shape, value)) is not None:
        yield _sentence(path, value, fault)
    else:
        yield from _sentences(path, value, scalar_faults(shape, value))


def scalar_faults(shape: Shape, value: object) -> Iterator[str]:
    """Yield the constraints a single string or number breaks, in the service's words."""
    if isinstance(value, str):
        yield from _length_faults(shape, len(value))
        allowed = getattr(shape, "enum", [])
        if allowed and value not in allowed:
            yield f"Member must satisfy enum value set: [{_abbreviated_list(allowed)}]"
        pattern = shape.metadata.get("pattern")
        if pattern and not _matches(pattern, value):
            yield f"Member must satisfy regular expression pattern: {pattern}"
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        low, high = shape.metadata.get("min"), shape.metadata.get("max")
        if low is not None and value < low:
            yield f"Member must have value greater than or equal to {low}"
        if high is not None and value > high:
            yield f"Member must have value less than or equal to {high}"


def coerce(shape: Shape, value: Any) -> Any:
    """Give a template's value the type the API wants, as CloudFormation does.

    Templates may say `"1"` for 1, `"true"` for true and 1 for "1". A value that cannot be
    converted is returned as it is, so that validation can name it.
    """
    if isinstance(shape, StructureShape) and isinstance(value, dict):
        return {
            key: coerce(shape.members[key], item) if key in shape.members else item
            for key, item in value.items()
        }
    if isinstance(shape, ListShape) and isinstance(value, list):
        return [coerce(shape.member, item) for item in value]
    if isinstance(shape, MapShape) and isinstance(value, dict):
        return {key: coerce(shape.value, item) for key, item in value.items()}
    return _coerce_scalar(shape.type_name, value)


def _structure_violations(
    shape: StructureShape, value: dict[str, object], path: str
) -> Iterator[str]:
    for name in shape.required_members:
        if value.get(name) is None:
            yield _sentence(_join(path, name), None, "Member must not be null")
    for name, item in value.items():
        if item is not None and name in shape.members:
            yield from violations(shape.members[name], item, _join(path, name))


def _map_violations(shape: MapShape, value: dict[str, object], path: str) -> Iterator[str]:
    yield from _sentences(path, f"[{len(value)} entries]", _length_faults(shape, len(value)))
    for key, item in value.items():
        for part, part_shape, part_value in (
            ("keys", shape.key, key),
            ("value", shape.value, item),
        ):
            faults = ", ".join(scalar_faults(part_shape, part_value))
            if faults:
                constraint = f"Map {part} must satisfy constraint: [{faults}]"
                yield _sentence(path, f"{{{key}={item}}}", constraint)


def _type_fault(shape: Shape, value: object) -> str | None:
    kind = shape.type_name
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    fits = {
        "structure": isinstance(value, dict),
        "map": isinstance(value, dict),
        "list": isinstance(value, list),
        "string": isinstance(value, str),
        "boolean": isinstance(value, bool),
        **dict.fromkeys(NUMBERS, number),
    }.get(kind, True)
    return None if fits else f"Member must be of type {kind}"


def _length_faults(shape: Shape, length: int) -> Iterator[str]:
    low, high = shape.metadata.get("min"), shape.metadata.get("max")
    if low is not None and length < low:
        yield f"Member must have length greater than or equal to {low}"
    if high is not None and length > high:
        yield f"Member must have length less than or equal to {high}"


@cache
def _compiled(pattern: str) -> re.Pattern[str] | None:
    try:
        return re.compile(pattern)
    except re.error:  # Java syntax such as \p{L}, which Python's re does not know
        return None


def _matches(pattern: str, value: str) -> bool:
    compiled = _compiled(pattern)
    return compiled is None or compiled.fullmatch(value) is not None


def _coerce_scalar(kind: str, value: Any) -> Any:
    if kind == "string" and isinstance(value, (bool, int, float)):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if kind == "boolean" and value in ("true", "false"):
        return value == "true"
    if kind in NUMBERS and isinstance(value, str):
        try:
            return NUMBERS[kind](value)
        except ValueError:
            return value
    return value


def _join(path: str, name: str) -> str:
    lowered = name[0].lower() + name[1:]
    return f"{path}.{lowered}" if path else lowered


def _sentences(path: str, value: object, constraints: Iterator[str]) -> Iterator[str]:
    return (_sentence(path, value, constraint) for constraint in constraints)


def _sentence(path: str, value: object, constraint: str) -> str:
    shown = "null" if value is None else f"'{_abbreviated(str(value))}'"
    return f"Value {shown} at '{path}' failed to satisfy constraint: {constraint}"


def _abbreviated(text: str) -> str:
    """Keep a message readable: the service would echo all of a value, however long."""
    return text if len(text) <= 80 else f"{text[:60]}... ({len(text)} characters)"


def _abbreviated_list(values: list[str]) -> str:
    """Name a long set by its first members, and say how many there are."""
    if len(values) <= 20:
        return ", ".join(values)
    return f"{', '.join(values[:5])}, ... ({len(values)} values)"
