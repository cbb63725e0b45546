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
from lmi_constructs.checks.output_formats import (
    as_json,
    as_junit,
    as_sarif,
    construct_of,
    template_of,
)
from lmi_constructs.checks.run import reason_of
from lmi_constructs.checks.template import (
    find_templates,
    read_deployment,
    with_nested,
    with_own_names,
)
from lmi_constructs.checks.template.discovery import described_skipped
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

    from lmi_constructs.checks.template.discovery import SkippedFile
    from lmi_constructs.findings import Finding


def _ids(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> frozenset[str]:
    """Return ids of rules in the way that rules have them."""
    ids = (id.strip().upper().removeprefix("LMI::") for text in values for id in text.split(","))
    return frozenset(id for id in ids if id)


@click.command()
@click.argument("paths", nargs=-1, metavar="PATH...")
@template_region_option
@click.option(
    "--format",
    "output",
    type=click.Choice(["text", "json", "sarif", "junit"]),
    default="text",
    show_default=True,
    help="Output format.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning"]),
    default="error",
    show_default=True,
    help="Lowest severity that makes the exit code 1.",
)
@click.option(
    "--rule-off",
    "rules_off",
    multiple=True,
    metavar="ID",
    callback=_ids,
    help="Turn a rule off. Repeat the option, or separate ids with commas.",
)
@click.option(
    "--raise",
    "raised",
    multiple=True,
    metavar="ID",
    callback=_ids,
    help="Count a rule's warnings as errors. Repeat the option, or separate ids with commas.",
)
@click.option(
    "--acknowledged",
    is_flag=True,
    help="Also show what the app of a cloud assembly acknowledges; it never counts.",
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
    rules_off: frozenset[str],
    raised: frozenset[str],
    acknowledged: bool,
    endpoint: str | None,
    parameters: dict[str, str],
    images: tuple[str, ...],
    instance_types: tuple[str, ...],
    model_configs: tuple[str, ...],
) -> None:
    """Find what would fail at deploy time in templates or a running endpoint.

    PATH is a CloudFormation template (JSON or YAML), a cloud assembly (cdk.out), a folder with any
    of these, or - for standard input. The exit code is 0 if nothing fails the check, 1 if something
    does, and 2 if a path cannot be read or a folder has a malformed template.
    """
    if not paths and endpoint is None:
        raise click.UsageError("give at least one PATH, or --endpoint NAME")
    facts = read_facts(images, instance_types, model_configs)
    try:
        options = CheckOptions(rules_off, raised, facts, acknowledged=True)
    except LmiError as error:
        raise click.UsageError(str(error)) from error
    groups, skipped = _groups(paths, region, endpoint)
    groups = given_parameters(groups, parameters)
    deployments = [read_deployment(group, facts) for group in groups]
    check_names(facts, deployments)
    found = [one for deployment in deployments for one in check_deployment(deployment, options)]
    open_ones = [finding for finding in found if reason_of(finding) is None]
    shown = found if acknowledged else open_ones
    sources = [source for group in groups for source in group]
    failing = ("error",) if fail_on == "error" else ("error", "warning")
    if output == "json":
        click.echo(as_json(shown))
    elif output == "sarif":
        click.echo(as_sarif(shown, sources))
    elif output == "junit":
        click.echo(as_junit(shown, sources, failing))
    else:
        _print(shown, len(with_nested(sources)), len(found) - len(open_ones))
    if skipped:
        click.echo(described_skipped(skipped), err=True)
    context.exit(1 if any(finding.severity in failing for finding in open_ones) else 0)


def _groups(
    paths: Iterable[str], region: str | None, endpoint: str | None
) -> tuple[list[list[TemplateSource]], list[SkippedFile]]:
    """Return templates by what is deployed together, and the files that are none."""
    try:
        found = [find_templates(path, region) for path in paths]
        groups = [group for one in found for group in one.groups]
        if endpoint is not None:
            from lmi_constructs.cli._running_endpoint import read_endpoint

            groups.append([read_endpoint(endpoint, region)])
    except UnreadableError as error:
        raise CannotRead(str(error)) from error
    return with_own_names(groups), [file for one in found for file in one.skipped]


def _print(findings: Sequence[Finding], templates: int, acknowledged: int) -> None:
    """Print the findings grouped by resource, with color on a terminal."""
    from rich.text import Text

    screen = console(soft_wrap=True)
    places = groupby(sorted(findings, key=_place), key=_place)
    for (template, construct, resource), group in places:
        heading = Text(resource or "template", style="bold")
        details = " in ".join(part for part in (construct, template) if part)
        screen.print(heading.append(f"  {details}", style="not bold dim"))
        for finding in group:
            color = "red" if finding.severity == "error" else "yellow"
            line = Text(f"  {finding.severity} {finding.rule} ", style=f"bold {color}")
            screen.print(line.append(finding.message, style="not bold default"))
            told = (("at", finding.path), ("why", finding.why), ("fix", finding.fix))
            accepted = reason_of(finding)
            for label, text in (*told, *((("ack", accepted),) if accepted is not None else ())):
                screen.print(Text(f"      {label:<4}", style="dim").append(text or "", "not dim"))
        screen.print()
    counting = [finding.severity for finding in findings if reason_of(finding) is None]
    errors, warnings = counting.count("error"), counting.count("warning")
    color = "red" if errors else "yellow" if warnings else "green"
    summary = f"{_count(errors, 'error')}, {_count(warnings, 'warning')}"
    more = f", {acknowledged} acknowledged" if acknowledged else ""
    where = f"{more} in {_count(templates, 'template')}"
    screen.print(Text(summary, style=color).append(where, "default"))


def _place(finding: Finding) -> tuple[str, str, str]:
    return (template_of(finding) or "", construct_of(finding) or "", finding.resource or "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
