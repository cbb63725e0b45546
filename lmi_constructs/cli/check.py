"""`lmi check`: the rules over templates, cloud assemblies and running endpoints."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lmi_constructs.checks import (
    CheckOptions,
    Facts,
    TemplateSource,
    UnreadableError,
    check_sources,
)
from lmi_constructs.checks.formats import (
    as_json,
    as_junit,
    as_sarif,
    construct_of,
    template_of,
    with_nested,
)
from lmi_constructs.checks.template import read_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lmi_constructs.findings import Finding


@click.command()
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option("--region", help="Region of templates that do not say it themselves.")
@click.option(
    "--format",
    "output",
    type=click.Choice(["text", "json", "sarif", "junit"]),
    default="text",
    show_default=True,
    help="How to print the findings.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning"]),
    default="error",
    show_default=True,
    help="What makes the exit status 1.",
)
@click.option("--rule-off", "rules_off", multiple=True, metavar="ID", help="Do not report a rule.")
@click.option(
    "--raise", "raised", multiple=True, metavar="ID", help="Count warnings of a rule as errors."
)
@click.option("--endpoint", metavar="NAME", help="Check a running endpoint (reads with boto3).")
@click.option(
    "--image",
    "images",
    multiple=True,
    metavar="URI=RELEASE",
    help="An image of your own, by its beginning, behaves like a release (…/my-lmi=v27).",
)
@click.option(
    "--instance-type",
    "instance_types",
    multiple=True,
    metavar="NAME",
    help="An instance type that exists though it is not known here.",
)
@click.option(
    "--model-config",
    "model_configs",
    multiple=True,
    metavar="LOGICAL_ID=PATH",
    help="The config.json of a model, to see whether it fits.",
)
@click.pass_context
def check(
    context: click.Context,
    paths: tuple[str, ...],
    region: str | None,
    output: str,
    fail_on: str,
    rules_off: tuple[str, ...],
    raised: tuple[str, ...],
    endpoint: str | None,
    images: tuple[str, ...],
    instance_types: tuple[str, ...],
    model_configs: tuple[str, ...],
) -> None:
    """Say what would fail when templates are deployed, before they are.

    PATH is a CloudFormation template (JSON or YAML), a cloud assembly (cdk.out), or a folder of
    templates. The exit status is 0 if nothing was found to fail on, 1 if something was, and 2 if
    a path cannot be read.
    """
    if not paths and endpoint is None:
        raise click.UsageError("give at least one PATH, or --endpoint NAME")
    options = CheckOptions(
        rules_off=frozenset(rules_off),
        raised=frozenset(raised),
        facts=Facts(
            images=_pairs(images, "--image"),
            instance_types=frozenset(instance_types),
            model_configs=_model_configs(model_configs),
        ),
    )
    groups = _groups(paths, region, endpoint)
    findings = [finding for group in groups for finding in check_sources(group, options)]
    sources = [source for group in groups for source in group]
    if output == "json":
        click.echo(as_json(findings))
    elif output == "sarif":
        click.echo(as_sarif(findings, sources))
    elif output == "junit":
        click.echo(as_junit(findings, sources))
    else:
        _print(findings, len(with_nested(sources)))
    failing = ("error",) if fail_on == "error" else ("error", "warning")
    context.exit(1 if any(finding.severity in failing for finding in findings) else 0)


def _groups(
    paths: Iterable[str], region: str | None, endpoint: str | None
) -> list[list[TemplateSource]]:
    try:
        groups = [read_path(path, region) for path in paths]
        if endpoint is not None:
            from lmi_constructs.cli._running_endpoint import read_endpoint

            groups.append([read_endpoint(endpoint, region)])
    except UnreadableError as error:
        raise _CannotRead(str(error)) from error
    return groups


class _CannotRead(click.ClickException):
    """Ends the command with exit status 2."""

    exit_code = 2


def _pairs(values: Iterable[str], option: str) -> dict[str, str]:
    pairs = {}
    for value in values:
        name, equals, content = value.rpartition("=")
        if not equals or not name:
            raise click.UsageError(f"{option} takes NAME=VALUE, got {value!r}")
        pairs[name] = content
    return pairs


def _model_configs(values: Iterable[str]) -> dict[str, dict[str, Any]]:
    configs = {}
    for name, file in _pairs(values, "--model-config").items():
        try:
            configs[name] = json.loads(Path(file).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise _CannotRead(f"{file}: {error}") from error
        if not isinstance(configs[name], dict):
            raise _CannotRead(f"{file}: no config.json of a model")
    return configs


def _print(findings: Sequence[Finding], templates: int) -> None:
    """Print the findings grouped by resource, with colour on a terminal."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    places = groupby(sorted(findings, key=_place), key=_place)
    for (template, construct, resource), group in places:
        heading = Text(resource or "template", style="bold")
        details = " in ".join(part for part in (construct, template) if part)
        console.print(heading.append(f"  {details}", style="not bold dim"))
        for finding in group:
            colour = "red" if finding.severity == "error" else "yellow"
            line = Text(f"  {finding.severity} {finding.rule} ", style=f"bold {colour}")
            console.print(line.append(finding.message, style="not bold default"))
            for label, text in (("at", finding.path), ("why", finding.why), ("fix", finding.fix)):
                console.print(Text(f"      {label:<4}", style="dim").append(text or "", "not dim"))
        console.print()
    errors = sum(finding.severity == "error" for finding in findings)
    warnings = len(findings) - errors
    colour = "red" if errors else "yellow" if warnings else "green"
    summary = f"{_count(errors, 'error')}, {_count(warnings, 'warning')}"
    console.print(f"[{colour}]{summary}[/] in {_count(templates, 'template')}")


def _place(finding: Finding) -> tuple[str, str, str]:
    return (template_of(finding) or "", construct_of(finding) or "", finding.resource or "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
