"""The engine's argument parser, modeled from the table of the engine of each release."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.container import value_parsers
from lmi_constructs.container.json_schema import problems
from lmi_constructs.readable import readable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lmi_constructs.facts.engine_arguments import EngineArgument
    from lmi_constructs.facts.handler import HandlerBehavior

_NEGATIVE: Final = re.compile(r"-\d+|-\d*\.\d+")


def parse_text(argument: EngineArgument, text: str, behavior: HandlerBehavior) -> Any:
    """Return what the engine makes of a text that the container passes on.

    Returns:
        The value after conversion, or `None` if the container leaves the argument out.

    Raises:
        ValueError: If the engine's parser ends the start, with what is wrong with the text.
    """
    lowered = text.lower()
    if argument.action == "store_boolean":
        return value_parsers.one_of("true", "false", fold=True)(text) == "true"
    if lowered == "true":
        return _bare_flag(argument)
    if lowered == "false":
        return _negated_flag(argument, behavior)
    if argument.action == "none":
        raise ValueError("cannot be set: this engine has no command-line argument for it")
    if argument.action in ("boolean_optional", "store_true"):
        raise ValueError(
            "is neither true nor false, and the container reads nothing else for a flag"
        )
    if behavior.value_form == "separate" and _looks_like_flag(text):
        raise ValueError("starts with a hyphen, so that the engine takes it for another argument")
    return _converted(argument, text)


def broken_bounds(argument: EngineArgument, value: float) -> str | None:
    """Return how a number breaks the limits of the engine's configuration, if it does."""
    limits: Mapping[str, tuple[Callable[[float, float], bool], str]] = {
        "ge": (lambda number, limit: number >= limit, "at least"),
        "gt": (lambda number, limit: number > limit, "greater than"),
        "le": (lambda number, limit: number <= limit, "at most"),
        "lt": (lambda number, limit: number < limit, "less than"),
    }
    if all(limits[kind][0](value, limit) for kind, limit in argument.bounds.items()):
        return None
    return " and ".join(
        f"{limits[kind][1]} {readable(limit)}" for kind, limit in argument.bounds.items()
    )


def _bare_flag(argument: EngineArgument) -> bool:
    """`true` becomes the flag without a value, whatever the argument is."""
    if argument.action in ("boolean_optional", "store_true") or argument.nargs == "?":
        return True
    raise ValueError("is passed on as a flag without a value, but this argument needs a value")


def _negated_flag(argument: EngineArgument, behavior: HandlerBehavior) -> bool | None:
    if behavior.false_form == "dropped":
        return None
    if argument.action == "boolean_optional":
        return False
    raise ValueError(
        f"is passed on as --no-{argument.name.replace('_', '-')}, which this engine does not know"
    )


def _looks_like_flag(text: str) -> bool:
    if not text.startswith("-") or text == "-":
        return False
    # Since 0.9 the engine also takes a hyphen with a dot for a nested key, even in a number.
    return "." in text or (" " not in text and not _NEGATIVE.fullmatch(text))


def _converted(argument: EngineArgument, text: str) -> Any:
    if (argument.optional or argument.type == "nullable_str") and text in ("", "None"):
        value = None
    else:
        value = _conversion(argument)(text)
    if argument.choices and value not in argument.choices:
        raise ValueError("is not one of " + ", ".join(map(str, argument.choices)))
    return [value] if argument.nargs == "+" else value


def _conversion(argument: EngineArgument) -> Callable[[str], Any]:
    readers: dict[str | None, Callable[[str], Any]] = {
        "int": value_parsers.integer,
        "float": value_parsers.decimal,
        "bool": bool,
        "json": value_parsers.json_value,
        "union_dict_and_str": value_parsers.json_object_or_text,
        "nullable_kvs": value_parsers.counts,
        "human_readable_int": lambda text: value_parsers.readable_whole(text, argument.suffixes),
        "human_readable_int_or_auto": lambda text: (
            -1
            if text.strip().lower() in ("auto", "-1")
            else value_parsers.readable_whole(text, argument.suffixes)
        ),
        "config": lambda text: _structured(value_parsers.json_value(text), argument),
        "KVTransferConfig.from_cli": value_parsers.json_mapping,
        "from_json": value_parsers.json_mapping,
        "CompilationConfig.from_cli": value_parsers.level_or_mapping,
        # A lower-casing conversion in front of fixed choices, such as that of `moe_backend`.
        "<lambda>": lambda text: text.lower().replace("-", "_") if argument.choices else text,
    }
    return readers.get(argument.type, str)


def _structured(value: object, argument: EngineArgument) -> object:
    found = problems(value, argument.schema) if argument.schema else []
    if found:
        raise ValueError("; ".join(found))
    return value
