"""How texts are read: by the container's property classes, and by the engine's parser.

Each reader returns the value, or raises `ValueError` with what is wrong with it.
"""

from __future__ import annotations

import ast
import json
import math
import re
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Missing = TypeVar("Missing", int, None)
TRUE: Final = {"1", "on", "t", "true", "y", "yes"}
FALSE: Final = {"0", "f", "false", "n", "no", "off"}

_WHOLE: Final = re.compile(r"\s*[+-]?\d+(?:_\d+)*(?:\.0+)?\s*")
_JAVA: Final = re.compile(r"[+-]?0*\d{1,10}")
_READABLE: Final = re.compile(r"(\d+(?:\.\d+)?)([kKmMgGtT])")
_POWER: Final = {"k": 1, "m": 2, "g": 3, "t": 4}


def whole(text: str) -> int:
    """Read an integer as the property classes do: also `8.0` and `1_000`, never `8k`."""
    if not _WHOLE.fullmatch(text):
        raise ValueError("is not a whole number")
    return integer(text.strip().partition(".")[0].replace("_", ""))


def counted(text: str, otherwise: Missing) -> int | Missing:
    """Read a plain number of decimal digits; anything else gives `otherwise`."""
    try:
        return int(text) if text.isdecimal() else otherwise
    except ValueError:  # more digits than Python reads
        return otherwise


def java_integer(text: str) -> int | None:
    """Read an integer of 32 bits as Java does: a sign and digits alone; `None` if it is none."""
    if not _JAVA.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**31) <= number < 2**31 else None


def boolean(text: str) -> bool:
    """Read a boolean as the property classes do: true/false, 1/0, yes/no, on/off, t/f, y/n."""
    lowered = text.lower()
    if lowered in TRUE:
        return True
    if lowered in FALSE:
        return False
    raise ValueError("is neither true nor false")


def decimal(text: str) -> float:
    """Read a number."""
    try:
        return float(text)
    except ValueError:
        raise ValueError("is not a number") from None


def readable_whole(text: str, suffixes: str) -> int:
    """Read an integer that may carry a unit: `16k` is 16,000, `16K` is 16,384, `1.5m` works."""
    stripped = text.strip()
    match = _READABLE.fullmatch(stripped)
    if match is None or match[2].lower() not in suffixes:
        return integer(stripped)
    number, suffix = match[1], match[2]
    if suffix.islower():
        product = float(number) * float(1000 ** _POWER[suffix])
        if product == math.inf:
            raise ValueError("is too large")
        return int(product)
    if "." in number:
        raise ValueError(
            f"has decimals with the binary unit {suffix}; {suffix.lower()} allows them"
        )
    binary: int = 1024 ** _POWER[suffix.lower()]
    return integer(number) * binary


def integer(text: str) -> int:
    """Read an integer as Python does."""
    try:
        return int(text)
    except ValueError:
        raise ValueError("is not a whole number") from None


def json_value(text: str) -> Any:
    """Read JSON."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"is not valid JSON ({error})") from None
    except RecursionError:
        raise ValueError("is JSON that is nested too deeply") from None


def json_mapping(text: str) -> dict[str, Any]:
    """Read a JSON object."""
    value = json_value(text)
    if not isinstance(value, dict):
        raise ValueError("is not a JSON object")
    return value


def json_object_or_text(text: str) -> Any:
    """Read JSON if the text stands in braces, else keep the text."""
    return json_value(text) if re.fullmatch(r"(?s)\s*{.*}\s*", text) else text


def counts(text: str) -> dict[str, int]:
    """Read `key=number` pairs, as old engines want them."""
    found: dict[str, int] = {}
    for item in filter(None, text.split(",")):
        key, separator, number = item.partition("=")
        if not separator or "=" in number:
            raise ValueError("is not in the form key=number,key=number")
        if found.setdefault(key.strip().lower(), integer(number.strip())) != integer(number):
            raise ValueError(f"sets {key.strip()} twice")
    return found


def literal(text: str) -> Any:
    """Read a Python literal."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise ValueError("is not a Python literal") from None


def floats(text: str) -> tuple[float, ...]:
    """Read one number, or a list or tuple of numbers."""
    value = literal(text)
    try:
        if isinstance(value, bool):
            return (float(value),)
        return (float(value),) if isinstance(value, int | float) else tuple(map(float, value))
    except (TypeError, ValueError, OverflowError):
        raise ValueError("is not a number or a list of numbers") from None


def literal_mapping(text: str) -> dict[Any, Any]:
    """Read a Python literal that is a mapping."""
    value = literal(text)
    if not isinstance(value, dict):
        raise ValueError("is not a mapping")
    return value


def level_or_mapping(text: str) -> Any:
    """Read a compilation setting of old engines: a level from 0 to 3, or a Python mapping."""
    return int(text) if text in ("0", "1", "2", "3") else literal_mapping(text)


def one_of(*choices: str, fold: bool = False) -> Callable[[str], str]:
    """Return a reader that allows only the given texts."""

    def read(text: str) -> str:
        if (text.lower() if fold else text) not in choices:
            raise ValueError("is not one of " + ", ".join(choices))
        return text.lower() if fold else text

    return read


def nothing_but_code(_text: str) -> None:
    """Refuse any text: the field takes a function, which no variable can carry."""
    raise ValueError("cannot be given as text; put a decorated function into model.py")


PROPERTY_READERS: Final[dict[str, Callable[[str], Any]]] = {
    "str": str,
    "int": whole,
    "optional_int": whole,
    "float": decimal,
    "bool": boolean,
    "optional_bool": boolean,
    "floats": floats,
    "literal_dict": literal_mapping,
    "callable": nothing_but_code,
    "streaming": one_of("true", "false", "huggingface", fold=True),
    "seconds": str,
}
