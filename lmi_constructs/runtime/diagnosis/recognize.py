"""From log lines to causes; pure, no AWS is called."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from lmi_constructs.runtime.diagnosis.recognizers import RECOGNIZERS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lmi_constructs.runtime.diagnosis.recognizers import Recognizer, RemedyName, Weight

_WEIGHTS: Final[tuple[Weight, ...]] = ("cause", "perhaps a consequence", "consequence")
_SHOWN: Final = 300
_ESCAPES: Final = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """One recognized failure.

    Attributes:
        name: Short name, stable.
        cause: What happened.
        fix: What to write instead.
        rule: Rule that finds the same fault before deploying, where one does.
        change: Setting to change, as `name=value`, where one value follows from the log.
        remedy: Method of `container.Remedies` that changes the settings.
        weight: How much the line tells.
        line: The line.
        line_number: Its number, from 1, in the order the lines were given.
        count: How many lines say the same.
        source: Public log in which such a line was seen.
    """

    name: str
    cause: str
    fix: str
    rule: str | None
    change: str | None
    remedy: RemedyName | None
    weight: Weight
    line: str
    line_number: int
    count: int
    source: str


def recognize(lines: Iterable[str]) -> tuple[Diagnosis, ...]:
    """Return the failures that log lines tell of, the most telling and earliest first.

    Args:
        lines: Lines of a container's log, oldest first; texts of several lines are split.
    """
    found: dict[tuple[str, str], Diagnosis] = {}
    split = (part for line in lines for part in line.splitlines())
    for number, line in enumerate(split, start=1):
        plain = _ESCAPES.sub("", line)
        for recognizer in RECOGNIZERS:
            if match := recognizer.pattern.search(plain):
                _add(found, _diagnosis(recognizer, match, plain, number))
    return tuple(
        sorted(found.values(), key=lambda item: (_WEIGHTS.index(item.weight), item.line_number))
    )


def _add(found: dict[tuple[str, str], Diagnosis], new: Diagnosis) -> None:
    """Keep one diagnosis of a kind; the fuller of two lines wins, the first place stays."""
    key = (new.name, new.cause)
    before = found.get(key)
    if before is None:
        found[key] = new
        return
    fuller = new if new.change and not before.change else before
    found[key] = replace(fuller, line_number=before.line_number, count=before.count + 1)


def _diagnosis(recognizer: Recognizer, match: re.Match[str], line: str, number: int) -> Diagnosis:
    groups = {name: value for name, value in match.groupdict().items() if value is not None}
    start = max(0, min(match.start(), len(line) - _SHOWN))
    return Diagnosis(
        name=recognizer.name,
        cause=_filled(recognizer.cause, groups),
        fix=_filled(recognizer.fix, groups),
        rule=recognizer.rule,
        change=_change(recognizer.change, groups),
        remedy=recognizer.remedy,
        weight=recognizer.weight,
        line=line[start : start + _SHOWN].strip(),
        line_number=number,
        count=1,
        source=recognizer.source,
    )


def _filled(text: str, groups: dict[str, str]) -> str:
    """Fill the braces; what the log does not tell is said in words."""
    return re.sub(r"\{(\w+)\}", lambda name: groups.get(name[1], f"its {name[1]}"), text)


def _change(text: str | None, groups: dict[str, str]) -> str | None:
    if text is None or any(name not in groups for name in re.findall(r"\{(\w+)\}", text)):
        return None
    return text.format(**groups)
