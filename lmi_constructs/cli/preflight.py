"""`lmi preflight`: what only the account can tell before a deployment."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from lmi_constructs.cli._facts import (
    CannotRead,
    check_names,
    fact_options,
    read_facts,
    template_region_option,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lmi_constructs.preflight import Outcome

_COLORS = {"pass": "green", "fail": "red", "unknown": "yellow"}
_FORMAT_VERSION = 1
"""Of the JSON: it grows when a field changes its meaning or goes; new fields may come without."""


@click.command()
@click.argument("path", metavar="[PATH]", default="cdk.out")
@template_region_option
@click.option(
    "--fail-on",
    type=click.Choice(["fail", "unknown"]),
    default="fail",
    show_default=True,
    help="What makes the exit code 1.",
)
@fact_options
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format."
)
@click.pass_context
def preflight(
    context: click.Context,
    path: str,
    region: str | None,
    fail_on: str,
    images: tuple[str, ...],
    instance_types: tuple[str, ...],
    model_configs: tuple[str, ...],
    form: str,
) -> None:
    """Check the account for everything that the endpoints in PATH need. Read-only.

    PATH is a cloud assembly (default: cdk.out), a template, or a folder of templates. The checks:
    files under the prefix, complete and uncompressed; their serving.properties; the memory plan for
    the config.json that is actually there; adapters; image tag; region and quota; secret, key and
    role; whether the name is free. What your credentials may not read is unknown. The exit code is 0
    if nothing failed, 1 if something did, and 2 if PATH cannot be read.
    """
    from lmi_constructs.checks import UnreadableError
    from lmi_constructs.checks.template import read_deployment, read_path
    from lmi_constructs.preflight import Account
    from lmi_constructs.preflight import preflight as look

    facts = read_facts(images, instance_types, model_configs)
    try:
        sources = read_path(path, region)
    except UnreadableError as error:
        raise CannotRead(str(error)) from error
    check_names(facts, [read_deployment(sources, facts)])
    outcomes: list[Outcome] = []
    for outcome in look(sources, Account(region), facts):
        if form == "text":
            _print(outcome, outcomes[-1] if outcomes else None)
        outcomes.append(outcome)
    counts = dict.fromkeys(_COLORS, 0)
    for outcome in outcomes:
        counts[outcome.status] += 1
    if form == "json":
        click.echo(_as_json(outcomes, counts))
    elif not outcomes:
        click.echo(f"{path}: there is no endpoint, and no model of SageMaker, in it")
    else:
        click.echo("\n" + ", ".join(f"{count} {status}" for status, count in counts.items()))
    failing = ("fail",) if fail_on == "fail" else ("fail", "unknown")
    context.exit(1 if any(counts[status] for status in failing) else 0)


def _as_json(outcomes: Sequence[Outcome], counts: dict[str, int]) -> str:
    said = {
        "version": _FORMAT_VERSION,
        "counts": counts,
        "outcomes": [asdict(outcome) for outcome in outcomes],
    }
    return json.dumps(said, indent=2)


def _print(outcome: Outcome, before: Outcome | None) -> None:
    """Print an outcome, below a heading where another endpoint begins."""
    if before is None or before.endpoint != outcome.endpoint:
        gap = "\n" if before is not None else ""
        other = "credentials" if outcome.check == "account" else "behind no endpoint here"
        click.secho(gap + (outcome.endpoint or other), bold=True)
    status = click.style(f"{outcome.status:7}", fg=_COLORS[outcome.status])
    rule = f" [{outcome.rule}]" if outcome.rule else ""
    about = _about(outcome)
    click.echo(f"  {status}  {outcome.check:8}  {about}{outcome.detail}{rule}")
    if outcome.fix:
        click.echo(f"{'':21}what to do: {outcome.fix}")


def _about(outcome: Outcome) -> str:
    """Return the resource as seen from its endpoint, where it is another."""
    if outcome.endpoint is None:
        return f"{outcome.subject}: "
    if outcome.subject == outcome.endpoint:
        return ""
    return outcome.subject.removeprefix(f"{outcome.endpoint}/") + ": "
