"""`lmi verdict`: what a release does with an environment."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lmi_constructs.cli._text_input import read_text

if TYPE_CHECKING:
    from lmi_constructs.container import LmiContainer, Verdict


@click.command()
@click.argument("source", nargs=-1, required=True, metavar="FILE|KEY=VALUE...")
@click.option("--container", default=None, help="Release, such as v27, or a full image tag.")
@click.option(
    "--gpus", type=click.IntRange(min=0), default=None, help="Number of GPUs of the instance."
)
@click.option(
    "--model-mounted/--no-model-mounted",
    default=None,
    help="Whether model data is mounted at /opt/ml/model.",
)
@click.option("--all-containers", is_flag=True, help="Print a table of all studied releases.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
def verdict(
    source: tuple[str, ...],
    container: str | None,
    gpus: int | None,
    model_mounted: bool | None,
    all_containers: bool,
    form: str,
) -> None:
    """Show what a release does with an environment, before you deploy.

    FILE holds JSON, Python, shell assignments or a serving.properties; `-` reads standard input.
    The exit code is 1 if the settings would make a deployment fail; for --all-containers it is
    always 0.
    """
    from lmi_constructs.container import LmiContainer
    from lmi_constructs.container import verdict as judge

    if all_containers and container is not None:
        raise click.UsageError("give --container or --all-containers, not both")
    environment, properties = _read(source)
    releases = [LmiContainer.default() if container is None else LmiContainer.of(container)]
    if all_containers:
        releases = [release for release in LmiContainer.all() if (release.release.lmi or 0) >= 15]
    found = {
        release: judge(
            environment, release, gpus, serving_properties=properties, model_mounted=model_mounted
        )
        for release in releases
    }
    if form == "json":
        text = json.dumps({release.name: _as_json(result) for release, result in found.items()})
        click.echo(json.dumps(json.loads(text, parse_constant=str), indent=2))  # no bare NaN
    elif all_containers:
        for release, result in found.items():
            click.echo(_row(release, result))
    else:
        _print(releases[0], found[releases[0]], gpus)
    sys.exit(any(result.errors for result in found.values()) and not all_containers)


def _read(source: tuple[str, ...]) -> tuple[dict[str, object], str | None]:
    from lmi_constructs.container.snippets import read_snippet

    environment: dict[str, object] = {}
    properties: str | None = None
    for part in source:
        name, separator, value = part.partition("=")
        if part == "-" or _is_file(part):
            variables, file = read_snippet(read_text(part))
            environment.update(variables)
            properties = file if file is not None else properties
        elif name and separator:
            environment[name] = value
        else:
            raise click.BadParameter(f"{part!r} is neither a file nor KEY=VALUE")
    if not environment and properties is None:
        raise click.UsageError("no settings were found in the input")
    return environment, properties


def _is_file(part: str) -> bool:
    try:
        return Path(part).is_file()
    except (OSError, ValueError):  # no path at all, such as a long KEY=VALUE
        return False


def _as_json(result: Verdict) -> dict[str, Any]:
    return {
        "arguments": result.arguments,
        "ignored": sorted(result.ignored),
        "starts": result.starts,
        "backend": result.backend,
        "effective": dict(result.effective),
        "findings": [asdict(finding) for finding in result.findings],
    }


def _headline(result: Verdict) -> str:
    words = result.arguments.replace("-", ", ", 1).replace("-", " ")
    if result.ignored:
        words += " " + ", ".join(sorted(result.ignored))
    if result.arguments != "rejected" and result.starts is False:
        words += ", but does not start"
    return words


def _row(release: LmiContainer, result: Verdict) -> str:
    rules = ", ".join(sorted({f"{error.rule} {error.where}" for error in result.errors}))
    engine = f"vLLM {release.release.engine_version}"
    return f"{release.name:4} {engine:12} {_headline(result)}{f'  [{rules}]' if rules else ''}"


def _print(release: LmiContainer, result: Verdict, gpus: int | None) -> None:
    engine = f"{release.release.engine} {release.release.engine_version or ''}".strip()
    place = f"{release.name} ({engine}{f', {gpus} GPUs' if gpus is not None else ''})"
    click.echo(f"{place}: {_headline(result)}; served by {result.backend or 'unknown'}")
    for finding in sorted(result.findings, key=lambda finding: finding.severity):
        click.echo(f"\n{finding.severity} {finding.rule}: {finding.message}")
        click.echo(f"  write: {finding.fix}")
    if not result.findings:
        click.echo("nothing is wrong with these settings")
