"""Settings that do not reach the engine as they were written: one warning for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs.facts.options import Option, option
from lmi_constructs.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.container.serving_properties import Properties
    from lmi_constructs.container.stage import Arguments, Stage


def never_read(
    stage: Stage, arguments: Arguments, misspelled: set[str | None]
) -> Iterator[Finding]:
    """Warn about options that nothing reads (LMI002), but for those whose name is misspelled."""
    for ignored in arguments.ignored:
        if ignored.where in misspelled:
            continue
        fact = option(ignored.name)
        yield Finding(
            rule="LMI002",
            message=f"{ignored.where} is not read by {stage.container.name}"
            + (f": {fact.fate}" if fact else ""),
            why="the container starts without the setting and reports nothing",
            fix=_ignored_fix(fact),
            severity="warning",
            where=ignored.where,
            source=fact.source if fact else None,
        )


def _ignored_fix(fact: Option | None) -> str:
    if fact is None:
        return "remove it, or correct the name"
    if fact.replacement:
        return f"use {fact.replacement}"
    return f"remove it ({fact.effect.rstrip('.')})"


def dropped_false(stage: Stage, arguments: Arguments) -> Iterator[Finding]:
    """Warn about each `false` that the release drops, unless the engine's default is `false` (LMI002)."""
    for dropped in arguments.dropped:
        argument = stage.table.get(dropped.name)
        if argument is not None and argument.default is False:
            continue
        yield Finding(
            rule="LMI002",
            message=f"{dropped.where}=false has no effect on {stage.container.name}, which drops"
            " every false on its way to the engine",
            why="the engine keeps its own default, which may be on",
            fix="use v26 or later, where false is passed on, or remove it",
            severity="warning",
            where=dropped.where,
            source=stage.behavior.source,
        )


def set_twice(stage: Stage) -> Iterator[Finding]:
    """Warn about an engine argument that is set to two values under its two names (LMI002)."""
    options = stage.properties.options
    for row in stage.declared.values():
        own, engine = options.get(row.name), options.get(row.engine or "")
        if own is None or engine is None or None in (own.text, engine.text):
            continue
        if own.text != engine.text:
            yield Finding(
                rule="LMI002",
                message=f"{own} and {engine} set the same argument of the engine to two values",
                why="only one of them can reach the engine, and the container reports nothing",
                fix=f"keep one of them: {own.where} or {engine.where}",
                severity="warning",
                where=own.where,
                source=row.source,
            )


def beaten_by_file(properties: Properties) -> Iterator[Finding]:
    """Warn about variables that a different value in serving.properties beats (LMI011)."""
    for variable, name in properties.shadowed.items():
        yield Finding(
            rule="LMI011",
            message=f"{variable} has no effect: {name} in serving.properties has another value"
            " and wins",
            why="the file beside the model beats the environment",
            fix=f"change {name} in the file, or remove it there",
            severity="warning",
            where=variable,
            source="deepjavalibrary/djl-serving@d21927c4: ModelInfo.java",
        )
