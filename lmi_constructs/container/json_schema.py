"""A small reader of JSON Schema, for the structured values of engine arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lmi_constructs.container.serving_properties import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_KINDS: dict[str, type] = {"string": str, "object": dict, "array": list, "null": type(None)}


def problems(value: object, schema: Mapping[str, Any]) -> list[str]:
    """Return what the schema forbids about a value, in the lenient way of the engine.

    Only what certainly fails is reported: unknown keys, values outside a fixed set or range, and
    kinds that no conversion bridges (a text is taken for a number if it reads like one).
    """
    return list(_problems(value, schema, schema.get("$defs", {}), "value"))


def _problems(
    value: object, schema: Mapping[str, Any], shared: Mapping[str, Any], path: str
) -> Iterator[str]:
    if "$ref" in schema:
        schema = shared.get(schema["$ref"].rpartition("/")[2], {})
    if "anyOf" in schema:
        branches = [list(_problems(value, one, shared, path)) for one in schema["anyOf"]]
        if all(branches):
            yield min(branches, key=len)[0]
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path} is {shown(repr(value))}, not one of {', '.join(map(str, schema['enum']))}"
    elif "const" in schema and value != schema["const"]:
        yield f"{path} is {shown(repr(value))}, not {schema['const']!r}"
    elif not _is_kind(value, schema.get("type")):
        yield f"{path} is {shown(repr(value))}, not of type {schema['type']}"
    elif isinstance(value, dict):
        yield from _object_problems(value, schema, shared, path)
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for position, item in enumerate(value):
            yield from _problems(item, schema["items"], shared, f"{path}[{position}]")
    else:
        yield from _range_problems(value, schema, path)


def _object_problems(
    value: Mapping[str, object], schema: Mapping[str, Any], shared: Mapping[str, Any], path: str
) -> Iterator[str]:
    known = schema.get("properties", {})
    for key, item in value.items():
        if key in known:
            yield from _problems(item, known[key], shared, key)
        elif schema.get("additionalProperties") is False:
            yield f"{path} has the unknown key {shown(key)!r}"
    for key in schema.get("required", ()):
        if key not in value:
            yield f"{path} lacks the key {key!r}"


def _range_problems(value: object, schema: Mapping[str, Any], path: str) -> Iterator[str]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    low, high = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if (low is not None and value < low) or (above is not None and value <= above):
        yield f"{path} is {value}, too small"
    if (high is not None and value > high) or (below is not None and value >= below):
        yield f"{path} is {value}, too large"


def _is_kind(value: object, kind: object) -> bool:
    if kind in ("integer", "number", "boolean"):
        if isinstance(value, str):
            return _reads_like_number(value) or kind == "boolean"
        return isinstance(value, int | float)
    expected = _KINDS.get(str(kind))
    if expected is None:
        return True
    return isinstance(value, expected)


def _reads_like_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
