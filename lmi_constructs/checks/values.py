"""Values of a deployment: known, partly known, or unknown.

A template seldom says everything: an image may stand in a parameter, a bucket may be created by the
same stack. So a value is a plain Python value when it is known, a [`Text`][] when parts of a string
are known, [`UNKNOWN`][] when nothing is known, and `None` when the property is absent. Rules ask
[`literal`][], [`number`][] and their like, which answer `None` for everything that is not known:
this is how a rule abstains.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from lmi_constructs.readable import readable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Unknown(Enum):
    """Type of [`UNKNOWN`][], so that type checkers can tell it from other values."""

    UNKNOWN = "unknown"

    def __repr__(self) -> str:
        """Return a short form."""
        return "UNKNOWN"


UNKNOWN: Final = Unknown.UNKNOWN
"""A value that the template alone cannot tell."""


@dataclass(frozen=True, slots=True)
class Reference:
    """What a resource, parameter or pseudo parameter will turn out to be.

    Attributes:
        template: Name of the template that declares it.
        name: Logical id of a resource, or name of a parameter or pseudo parameter.
        attribute: Attribute of a resource, `Ref` for its reference value.
        resource: Whether it is a resource; only then do two different references differ for sure.
    """

    template: str
    name: str
    attribute: str = "Ref"
    resource: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A string of which only some parts are known.

    Attributes:
        parts: Known strings, references and unknown parts, in order.
    """

    parts: tuple[str | Reference | Unknown, ...]

    @property
    def reference(self) -> Reference | None:
        """The reference that the whole string consists of, if it does."""
        only = self.parts[0] if len(self.parts) == 1 else None
        return only if isinstance(only, Reference) else None

    def __str__(self) -> str:
        """Return the string as `Fn::Sub` would write it."""
        return "".join(map(_shown, self.parts))


_LARGEST: Final = 1e15
"""No property of a template goes beyond; what does is taken as unknown."""

String: TypeAlias = str | Text | Unknown
Number: TypeAlias = int | float | Unknown
Flag: TypeAlias = bool | Unknown


def resource_of(value: object) -> tuple[str, str] | None:
    """Return template and logical id of the resource that a value is the reference of, if it is."""
    reference = value.reference if isinstance(value, Text) else None
    return (reference.template, reference.name) if reference and reference.resource else None


def literal(value: object) -> str | None:
    """Return a string that is wholly known, else `None`."""
    return value if isinstance(value, str) else None


def is_identifying(value: object) -> bool:
    """Tell whether equal strings surely are the same one: unknown parts look alike and may differ."""
    if isinstance(value, Text):
        return UNKNOWN not in value.parts
    return isinstance(value, str)


def is_same(left: object, right: object) -> bool:
    """Tell whether two strings surely are the same."""
    return left == right and is_identifying(left)


def number(value: object) -> int | float | None:
    """Return a number that is known, else `None`."""
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if known else None  # type: ignore[return-value]


def join(parts: Iterable[object]) -> String:
    """Concatenate values into one string, as far as they are known."""
    joined: list[str | Reference | Unknown] = []
    for part in parts:
        for piece in _pieces(part):
            if isinstance(piece, str) and joined and isinstance(joined[-1], str):
                joined[-1] += piece
            elif piece != "":
                joined.append(piece)
    if not joined:
        return ""
    if len(joined) == 1 and not isinstance(joined[0], Reference):
        return joined[0]
    return Text(tuple(joined))


def split(value: object, separator: str) -> tuple[String, ...] | None:
    """Split a string at each known separator; `None` if nothing of it is known."""
    if isinstance(value, str):
        return tuple(value.split(separator))
    if not isinstance(value, Text):
        return None
    fields: list[list[object]] = [[]]
    for part in value.parts:
        if not isinstance(part, str):
            fields[-1].append(part)
            continue
        first, *rest = part.split(separator)
        fields[-1].append(first)
        fields.extend([piece] for piece in rest)
    return tuple(map(join, fields))


def head(value: object) -> str:
    """Return the known beginning of a string, empty if none is known."""
    if isinstance(value, str):
        return value
    first = value.parts[0] if isinstance(value, Text) else None
    return first if isinstance(first, str) else ""


def tail(value: object) -> str:
    """Return the known end of a string, empty if none is known."""
    if isinstance(value, str):
        return value
    last = value.parts[-1] if isinstance(value, Text) else None
    return last if isinstance(last, str) else ""


def shown(value: object) -> str:
    """Return a value as a message shows it."""
    if value is UNKNOWN:
        return "an unknown value"
    return readable(value) if isinstance(value, float) else str(value)


def legible(text: str) -> str:
    """Return a string without the lone surrogates that JSON allows and no encoding can write."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def as_string(value: object) -> String | None:
    """Read a string property: numbers and booleans as CloudFormation turns them into strings."""
    if value is None or isinstance(value, (str, Text)):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    return UNKNOWN


def as_number(value: object) -> Number | None:
    """Read a number property, which may be written as a string."""
    if value is None:
        return None
    read: object = value
    if isinstance(value, str):
        try:
            read = float(value) if any(sign in value for sign in ".eEnN") else int(value)
        except ValueError:
            return UNKNOWN
    known = number(read)
    if known is None or not abs(known) < _LARGEST:
        return UNKNOWN
    return int(known) if known == int(known) else known


def as_flag(value: object) -> Flag | None:
    """Read a boolean property, which may be written as a string."""
    if value is None or isinstance(value, bool):
        return value
    spoken = value.strip().lower() if isinstance(value, str) else None
    return {"true": True, "false": False}.get(spoken or "", UNKNOWN)


def as_mapping(value: object) -> Mapping[str, Any]:
    """Return a mapping, empty if the value is something else."""
    return value if isinstance(value, dict) else {}


def as_sequence(value: object) -> list[Any]:
    """Return a list: a single value as a list of one, nothing as an empty list."""
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def _pieces(value: object) -> tuple[str | Reference | Unknown, ...]:
    if isinstance(value, Text):
        return value.parts
    if isinstance(value, (str, Reference)):
        return (value,)
    read = as_string(value)
    return (read,) if isinstance(read, (str, Unknown)) else ("",)


def _shown(part: str | Reference | Unknown) -> str:
    if isinstance(part, Reference):
        return "${%s}" % (part.name if part.attribute == "Ref" else f"{part.name}.{part.attribute}")
    return part if isinstance(part, str) else "${?}"


def count_of(value: object, otherwise: int) -> int | float:
    """Return a known count, or another if it is absent or unknown."""
    known = number(value)
    return otherwise if known is None else known
