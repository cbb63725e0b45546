"""`lmi report`: a page about the endpoints of a cloud assembly."""

from __future__ import annotations

from pathlib import Path

import click

from lmi_constructs.cli._facts import (
    CannotRead,
    check_names,
    fact_options,
    read_facts,
    template_region_option,
)

PAGE = "lmi-report.html"


@click.command()
@click.argument("path", type=click.Path(path_type=Path), default=Path("cdk.out"))
@click.option("--output", type=click.Path(path_type=Path), help=f"File to write. Default: {PAGE}.")
@template_region_option
@fact_options
def report(
    path: Path,
    output: Path | None,
    region: str | None,
    images: tuple[str, ...],
    instance_types: tuple[str, ...],
    model_configs: tuple[str, ...],
) -> None:
    """Write a page about the endpoints in PATH: memory, settings, findings, scaling, alarms.

    PATH is a cloud assembly (default: cdk.out), a template, or a folder of templates. The page is one
    file that needs no network; by default it is written into the folder, or next to the template.
    A cloud assembly contains what its app knows about the models; for other templates supply it with
    --model-config. The exit code is 0 if the page was written, whatever it says, and 2 if PATH
    cannot be read or the page cannot be written.
    """
    from lmi_constructs.checks import UnreadableError
    from lmi_constructs.checks.template import read_deployment, read_path
    from lmi_constructs.report import render, view

    if not path.exists():
        raise CannotRead(f"{path} does not exist; `cdk synth` writes the cloud assembly cdk.out")
    facts = read_facts(images, instance_types, model_configs)
    try:
        deployment = read_deployment(read_path(path, region), facts)
    except UnreadableError as error:
        raise CannotRead(str(error)) from error
    check_names(facts, [deployment])
    endpoints = view(deployment)
    place = output or (path / PAGE if path.is_dir() else path.with_name(PAGE))
    page = render(endpoints, title=f"LLM endpoints in {path.resolve().name}")
    try:
        place.write_text(page, "utf-8", errors="backslashreplace")  # names may be no text
    except OSError as error:
        raise CannotRead(f"{place} cannot be written: {error.strerror}") from error
    click.echo(f"{place}: {len(endpoints)} endpoint{'' if len(endpoints) == 1 else 's'}")
