"""`lmi options`: what a setting does, where it went, and what to write now."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from lmi_constructs._near_names import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.facts.options import Option


@click.command()
@click.argument("name", required=False)
@click.option("--guide", is_flag=True, help="List every option that the guide names.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
def options(name: str | None, guide: bool, form: str) -> None:
    """Explain what an option does, since when, and what to write now.

    NAME is a variable (OPTION_DTYPE), a property (option.dtype) or a plain name (dtype). Without
    NAME, all known options are listed.
    """
    from lmi_constructs.facts.options import option as find
    from lmi_constructs.facts.options import options as known

    if name is None:
        rows = [row for row in known().values() if row.in_guide or not guide]
        click.echo(
            json.dumps([asdict(row) for row in rows], indent=2)
            if form == "json"
            else "\n".join(f"{row.variable:42} {row.fate}" for row in rows)
        )
        return
    row = find(name)
    if row is None:
        short = name.lower().removeprefix("option_").removeprefix("option.")
        names = {row.name for row in known().values()}
        hint = did_you_mean(short, names, "'lmi options' lists those that are known", most=3)
        raise click.ClickException(f"no release is known to read {name!r}; {hint}")
    if form == "json":
        click.echo(json.dumps({**asdict(row), "by_release": dict(_by_release(row))}, indent=2))
        return
    for label, text in _lines(row):
        click.echo(f"{label:12} {text}")


def _lines(row: Option) -> Iterator[tuple[str, str]]:
    """Yield what a reader wants to know, in the order of interest."""
    yield (
        "option",
        f"{row.variable}" + (f" (option.{row.name})" if row.variable != row.name else ""),
    )
    yield "does", row.effect
    yield "type", row.type + (f"; {row.allowed}" if row.allowed else "")
    if row.default is not None:
        yield "default", row.default
    if row.backends:
        yield "read by", ", ".join(row.backends)
    yield "since", (row.since or "unknown") + (f", until {row.until}" if row.until else "")
    yield "newest", row.fate
    if row.in_guide:
        works = "and it works" if row.fate.startswith("ok") else "but see the line above"
        yield "guide", row.guide_problem or f"the guide names it, {works}"
    if row.replacement:
        yield "write now", row.replacement
    yield from _by_release(row)
    yield "source", f"{row.source} ({row.evidence}, as of {row.as_of})"


def _by_release(row: Option) -> Iterator[tuple[str, str]]:
    """Yield, for each span of releases, what the engine of the release says about the option."""
    from lmi_constructs.container import LmiContainer
    from lmi_constructs.facts.engine_arguments import engine_arguments
    from lmi_constructs.facts.handler import handler_properties

    spans: list[tuple[list[str], str]] = []
    for container in LmiContainer.all():
        table = engine_arguments(container.release.engine_version or "")
        if table is None or container.release.lmi is None or not row.variable.startswith("OPTION_"):
            continue
        declared = handler_properties(container.release.lmi).get(row.name)
        argument = table.get(declared.engine if declared and declared.engine else row.name)
        text = ""
        if declared is None and argument is None:
            text = "not read"
        elif argument is not None and (declared is None or declared.engine):
            text = _engine_words(argument)
        if spans and spans[-1][1] == text:
            spans[-1][0].append(container.name)
        else:
            spans.append(([container.name], text))
    for names, text in spans:
        if text:
            yield names[0] if len(names) == 1 else f"{names[0]}-{names[-1]}", text


def _engine_words(argument: object) -> str:
    from lmi_constructs.facts.engine_arguments import EngineArgument

    assert isinstance(argument, EngineArgument)  # noqa: S101 - narrows a lazily imported type
    kinds = {
        "boolean_optional": "true or false",
        "store_true": "only true (false is dropped until v25 and refused since v26)",
        "store_boolean": "true or false",
        "none": "always refused: no argument of the engine",
    }
    types = {"str": "text", "int": "whole number", "float": "number", "config": "JSON object"}
    words = types.get(argument.type or "str", (argument.type or "").replace("_", " "))
    words = kinds.get(argument.action, words)
    if argument.choices:
        words += ", one of " + ", ".join(map(str, argument.choices))
    if argument.default is not None:
        words += f", engine's default {argument.default}"
    return words
