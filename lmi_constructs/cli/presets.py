"""`lmi presets`: what is ready to deploy, and how one differs from the guide."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lmi_constructs._near_names import did_you_mean
from lmi_constructs.cli._text_input import read_text
from lmi_constructs.readable import readable

if TYPE_CHECKING:
    from lmi_constructs.presets import CatalogRow, PresetTable

_COLUMNS = ("preset", "instance", "accelerators", "fits", "GiB each", "context", "at once", "gated")


@click.command()
@click.argument("name", required=False)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
@click.option("--serving-properties", is_flag=True, help="Print NAME's serving.properties.")
@click.option(
    "--layout",
    type=click.Path(exists=True, allow_dash=True, path_type=Path),
    help="Check a model's files: a folder, or - for names on standard input.",
)
def presets(name: str | None, form: str, serving_properties: bool, layout: Path | None) -> None:
    """List the presets, or show one: its settings, and where and why it departs from the guide.

    `at once` is how many concurrent requests the engine processes; `GiB each` is what it uses on
    each accelerator. The exit code of --layout is 1 if the container could not use the files.
    """
    if layout is not None:
        if name is not None or form != "text" or serving_properties:
            raise click.UsageError("--layout checks files only: give it alone")
        _show_layout(layout)
        return
    if name is None:
        if serving_properties:
            raise click.UsageError("--serving-properties needs the NAME of a preset")
        _show_all(form)
        return
    table = _table(name)
    if serving_properties:
        click.echo(_serving_properties(table), nl=False)
    elif form == "json":
        click.echo(json.dumps({**_row(name), **_described(table)}, indent=2))
    else:
        _show(table)


def _show_all(form: str) -> None:
    from lmi_constructs.presets import catalog

    rows = catalog()
    if form == "json":
        click.echo(json.dumps([asdict(row) for row in rows], indent=2))
        return
    lines = [_COLUMNS, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_COLUMNS))]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        click.echo("  ".join(cells).rstrip())


def _cells(row: CatalogRow) -> tuple[str, ...]:
    gated = {True: "yes", False: "no", None: "?"}[row.gated]
    numbers = (row.memory_gib, row.max_model_len, row.concurrency)
    known = ("-" if number is None else readable(number) for number in numbers)
    return (row.name, row.instance_type, row.accelerators, row.grade, *known, gated)


def _table(name: str) -> PresetTable:
    from lmi_constructs.presets.tables import TABLES

    if name not in TABLES:
        hint = did_you_mean(name, TABLES, f"use one of {', '.join(TABLES)}", most=3)
        raise click.UsageError(f"there is no preset {name!r}; {hint}")
    return TABLES[name]


def _row(name: str) -> dict[str, Any]:
    from lmi_constructs.presets import catalog

    return next(asdict(row) for row in catalog() if row.name == name)


def _described(table: PresetTable) -> dict[str, Any]:
    choices = {**table.settings, **table.engine_args}
    return {
        "section": table.section,
        "revision": table.revision,
        "environment": _environment(table),
        "settings": {name: asdict(choice) for name, choice in choices.items()},
        "guide": dict(table.guide),
        "departures": [asdict(departure) for departure in table.departures],
        "acknowledged": dict(table.acknowledged),
        "notes": list(table.notes),
    }


def _show(table: PresetTable) -> None:
    row = _row(table.name)
    click.echo(f"{table.title} (presets.{table.class_name})")
    for label in ("hub_id", "container", "instance_type", "accelerators", "grade"):
        click.echo(f"  {label:14} {row[label]}")
    click.echo("settings")
    for name, value in _environment(table).items():
        click.echo(f"  {name}={value}")
    for heading, lines in (
        ("unlike the guide", [_line(table, i) for i in range(len(table.departures))]),
        ("notes", list(table.notes)),
    ):
        if lines:
            click.echo(heading)
            for line in lines:
                click.echo(f"  {line}")


def _line(table: PresetTable, index: int) -> str:
    departure = table.departures[index]
    deployed = departure.deployed or "not set"
    return f"{departure.key}={departure.guide}: {deployed}; {departure.why}"


def _environment(table: PresetTable) -> dict[str, str]:
    from lmi_constructs.container import LmiContainer

    return table.lmi_settings().to_environment(LmiContainer.of(table.container))


def _serving_properties(table: PresetTable) -> str:
    from lmi_constructs.container import LmiContainer

    return table.lmi_settings().to_serving_properties(LmiContainer.of(table.container))


def _show_layout(place: Path) -> None:
    from lmi_constructs.presets.layout import PROPERTIES, check_layout

    properties = None
    if str(place) == "-":
        lines = read_text("-", "--layout").split("\n")
        names = [line.strip() for line in lines if line.strip()]
    elif place.is_file():
        raise click.UsageError(f"--layout wants a folder, or - for names; {place} is a file")
    else:
        files = (path for path in place.rglob("*") if path.is_file())
        names = [path.relative_to(place).as_posix() for path in files]
        file = place / PROPERTIES
        if file.is_file():
            properties = read_text(str(file), "--layout", any_bytes=True)
    findings = check_layout(names, properties)
    for finding in findings:
        click.echo(f"{finding.severity} {finding}")
    if any(finding.severity == "error" for finding in findings):
        sys.exit(1)
    click.echo(f"{len(names)} files: the container can use them")
