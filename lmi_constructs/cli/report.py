"""`lmi report`: a page about the endpoints of a cloud assembly."""

from __future__ import annotations

from pathlib import Path

import click

from lmi_constructs.cli._facts import template_region_option

PAGE = "lmi-report.html"


@click.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path), default=Path("cdk.out"))
@click.option("--output", type=click.Path(path_type=Path), help=f"File to write. Default: {PAGE}.")
@template_region_option
def report(path: Path, output: Path | None, region: str | None) -> None:
    """Write a page about the endpoints in PATH: memory, settings, findings, scaling, alarms.

    PATH is a cloud assembly (default: cdk.out) or a template. The page is one file that needs no
    network; by default it is written into the cloud assembly, or beside the template.
    """
    from lmi_constructs.checks import UnreadableError
    from lmi_constructs.checks.template import read_deployment, read_path
    from lmi_constructs.report import render, view

    try:
        endpoints = view(read_deployment(read_path(path, region)))
    except UnreadableError as error:
        raise click.UsageError(str(error)) from error
    place = output or (path / PAGE if path.is_dir() else path.with_name(PAGE))
    try:
        page = render(endpoints, title=f"LLM endpoints in {path.name}")
        place.write_text(page, "utf-8", errors="backslashreplace")  # names may be no text
    except OSError as error:
        raise click.UsageError(f"{place} cannot be written: {error.strerror}") from error
    click.echo(f"{place}: {len(endpoints)} endpoint{'' if len(endpoints) == 1 else 's'}")
