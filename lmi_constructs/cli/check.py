"""`lmi check`: the rules over templates, cloud assemblies and running endpoints."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import click

from lmi_constructs.checks import (
    CheckOptions,
    TemplateSource,
    UnreadableError,
)
from lmi_constructs.checks import check as check_deployment
from lmi_constructs.checks.formats import (
    as_json,
    as_junit,
    as_sarif,
    construct_of,
    template_of,
)
from lmi_constructs.checks.template import read_deployment, read_path, with_nested
from lmi_constructs.cli._console import console
from lmi_constructs.cli._facts import (
    CannotRead,
    check_names,
    fact_options,
    read_facts,
    template_region_option,
)
from lmi_constructs.cli._parameters import given_parameters, parameter_option
from lmi_constructs.findings import LmiError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lmi_constructs.findings import Finding


@click.command()
@click.argument("paths", nargs=-1, metavar="PATH...")
@template_region_option
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
@parameter_option
@fact_options
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
    parameters: dict[str, str],
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
    facts = read_facts(images, instance_types, model_configs)
    try:
        options = CheckOptions(frozenset(rules_off), frozenset(raised), facts)
    except LmiError as error:
        raise click.UsageError(str(error)) from error
    groups = given_parameters(_groups(paths, region, endpoint), parameters)
    deployments = [read_deployment(group, facts) for group in groups]
    check_names(facts, deployments)
    findings = [
        finding for deployment in deployments for finding in check_deployment(deployment, options)
    ]
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
        raise CannotRead(str(error)) from error
    return groups


def _print(findings: Sequence[Finding], templates: int) -> None:
    """Print the findings grouped by resource, with colour on a terminal."""
    from rich.text import Text

    screen = console(soft_wrap=True)
    places = groupby(sorted(findings, key=_place), key=_place)
    for (template, construct, resource), group in places:
        heading = Text(resource or "template", style="bold")
        details = " in ".join(part for part in (construct, template) if part)
        screen.print(heading.append(f"  {details}", style="not bold dim"))
        for finding in group:
            colour = "red" if finding.severity == "error" else "yellow"
            line = Text(f"  {finding.severity} {finding.rule} ", style=f"bold {colour}")
            screen.print(line.append(finding.message, style="not bold default"))
            for label, text in (("at", finding.path), ("why", finding.why), ("fix", finding.fix)):
                screen.print(Text(f"      {label:<4}", style="dim").append(text or "", "not dim"))
        screen.print()
    errors = sum(finding.severity == "error" for finding in findings)
    warnings = len(findings) - errors
    colour = "red" if errors else "yellow" if warnings else "green"
    summary = f"{_count(errors, 'error')}, {_count(warnings, 'warning')}"
    screen.print(
        Text(summary, style=colour).append(f" in {_count(templates, 'template')}", "default")
    )


def _place(finding: Finding) -> tuple[str, str, str]:
    return (template_of(finding) or "", construct_of(finding) or "", finding.resource or "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
