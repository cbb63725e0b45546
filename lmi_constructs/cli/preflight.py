"""`lmi preflight`: what only the account can tell before a deployment."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from lmi_constructs.preflight import Outcome

_COLOURS = {"pass": "green", "fail": "red", "unknown": "yellow"}
_UNREADABLE = 2


@click.command()
@click.argument("path", metavar="PATH")
@click.option("--region", help="Region of templates that do not say it themselves.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output."
)
def preflight(path: str, region: str | None, form: str) -> None:
    """Ask the account about everything that the endpoints in PATH (cdk.out, or a template) need.

    Files under the prefix, complete and uncompressed; the memory plan by the config.json that is
    really there; adapters; image tag; region and quota; key, secret and role; a free name. Only
    reads. What may not be asked is unknown. The exit status is 1 if something failed, 2 if PATH
    cannot be read.
    """
    from lmi_constructs.checks import UnreadableError
    from lmi_constructs.checks.template import read_path
    from lmi_constructs.preflight import Account
    from lmi_constructs.preflight import preflight as look

    try:
        sources = read_path(path, region)
    except UnreadableError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(_UNREADABLE)
    outcomes = []
    for outcome in look(sources, Account(region)):
        outcomes.append(outcome)
        if form == "text":
            _print(outcome)
    if form == "json":
        click.echo(json.dumps([asdict(outcome) for outcome in outcomes], indent=2))
    elif not outcomes:
        click.echo("nothing to ask: there is no model or endpoint whose needs are known")
    else:
        counts = dict.fromkeys(_COLOURS, 0)
        for outcome in outcomes:
            counts[outcome.status] += 1
        click.echo(", ".join(f"{count} {status}" for status, count in counts.items()))
    sys.exit(any(outcome.status == "fail" for outcome in outcomes))


def _print(outcome: Outcome) -> None:
    status = click.style(f"{outcome.status:7}", fg=_COLOURS[outcome.status])
    click.echo(f"{status}  {outcome.check:8}  {outcome.subject}: {outcome.detail}")
    if outcome.fix:
        click.echo(f"                   what to do: {outcome.fix}")
