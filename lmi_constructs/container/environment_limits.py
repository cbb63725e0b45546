"""The platform's limits of a container's environment, counted in bytes (LMI005)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lmi_constructs.container.serving_properties import Unknown, shown, text_of
from lmi_constructs.facts.limits import limits
from lmi_constructs.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lmi_constructs.facts.limits import Limit
    from lmi_constructs.findings import Severity

WHOLE: Final = "environment"
"""Where a finding about all variables together is."""

_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_SHORTEN: Final = (
    "move long values into serving.properties beside the model, and drop what is not needed"
)

_TEXT_NAME: Final = "write the name as a string of letters, digits and _, no digit first"


def limit_findings(environment: Mapping[str, object]) -> Iterator[Finding]:
    """Check all limits of the environment of one container."""
    yield from variable_findings(environment, limits()["environment_entries"])
    yield from total_findings(size_of(environment))


def variable_findings(environment: Mapping[str, object], most: Limit) -> Iterator[Finding]:
    """Check names, values and their number.

    Args:
        environment: The variables; a value that is not known yet is not judged. A name that is not
            text is a finding, as nothing checks the types of a mapping before.
        most: How many there may be, which differs between models and inference components.
    """
    if not most.allows(len(environment)):
        message = f"the environment has {len(environment)} entries; the limit is {most}"
        yield _finding(WHOLE, message, most)
    names, values = limits()["environment_key_length"], limits()["environment_value_length"]
    for name, given in environment.items():
        if not isinstance(name, str):
            kind = type(name).__name__
            message = f"the name {shown(repr(name))} is not text but {kind}"
            yield _finding(shown(repr(name)), message, names, _TEXT_NAME)
            continue
        if not is_legal_name(name):
            message = f"the name {shown(name)!r} is not allowed: letters, digits and _ only"
            yield _finding(name, message, names, _renamed(name))
        if not names.allows(max(bytes_of(name), 1)):
            message = f"the name {name[:40]!r}... has {bytes_of(name)} bytes; the limit is {names}"
            yield _finding(name, message, names, "give the variable a shorter name")
        value = text_of(given)
        if not isinstance(value, Unknown) and not values.allows(bytes_of(value)):
            message = f"the value of {name} has {bytes_of(value)} bytes; the limit is {values}"
            severity: Severity = "warning" if values.allows(len(value)) else "error"
            yield _finding(name, message, values, severity=severity)


def total_findings(size: int) -> Iterator[Finding]:
    """Check how many bytes the environments of a model take together."""
    most = limits()["environment_total"]
    if not most.allows(size):
        yield _finding(WHOLE, f"the environment takes {size} bytes; the limit is {most}", most)


def size_of(environment: Mapping[str, object]) -> int:
    """Return how many bytes names and values take, as far as these are known."""
    known = ((name, text_of(value)) for name, value in environment.items() if isinstance(name, str))
    return sum(
        bytes_of(name) + (0 if isinstance(value, Unknown) else bytes_of(value))
        for name, value in known
    )


def is_legal_name(name: str) -> bool:
    """Tell whether a variable may have a name: letters, digits and _, no digit first."""
    return _NAME.fullmatch(name) is not None


def bytes_of(text: str) -> int:
    """Return how many bytes a text takes in UTF-8, where a lone surrogate counts as three."""
    return len(text.encode("utf-8", "surrogatepass"))


def _renamed(name: str) -> str:
    bare = re.sub(r"[^a-zA-Z0-9]+", "_", name.removeprefix("option.")).strip("_").upper()
    if name.startswith("option."):
        return f"write OPTION_{bare}"
    legal = f"write {bare}" if is_legal_name(bare) else "write a name"
    return f"{legal}: letters, digits and _, no digit first"


def _finding(
    where: str,
    message: str,
    broken: Limit,
    fix: str = _SHORTEN,
    *,
    severity: Severity = "error",
) -> Finding:
    return Finding(
        rule="LMI005",
        message=message,
        why="CreateModel refuses the container definition, and the stack rolls back",
        fix=fix,
        severity=severity,
        where=where,
        source=broken.source,
    )
