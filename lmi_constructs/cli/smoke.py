"""`lmi smoke`: try every way to call an endpoint."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from lmi_constructs.cli._endpoint_call import make_client, readable_errors, region_option

if TYPE_CHECKING:
    from lmi_constructs.runtime.smoke import CheckResult

_COLORS = {"passed": "green", "failed": "red", "skipped": "yellow"}


@click.command()
@click.argument("name")
@click.option("--adapter", "adapters", multiple=True, help="LoRA adapter that must respond.")
@click.option("--component", help="Inference component to call.")
@click.option("--skip", multiple=True, metavar="CHECK", help="Name of a check to skip.")
@click.option(
    "--max-tokens",
    type=click.IntRange(min=1),
    default=32,
    show_default=True,
    help="Maximum tokens per response.",
)
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format."
)
@region_option
def smoke(
    name: str,
    adapters: tuple[str, ...],
    component: str | None,
    skip: tuple[str, ...],
    max_tokens: int,
    form: str,
    region: str | None,
) -> None:
    """Try every way to call endpoint NAME, and report what works and how long it takes.

    The checks: readiness, chat, completion and `inputs`, each also streamed, structured output and
    adapters. The exit code is 1 if a check fails.
    """
    from lmi_constructs.runtime import service_client
    from lmi_constructs.runtime.smoke import CHECKS, smoke_test

    known = {*CHECKS, *(f"adapter {adapter}" for adapter in adapters), "unknown adapter"}
    if unknown := sorted(set(skip) - known):
        raise click.BadParameter(
            f"{unknown[0]!r} is no check; there are {', '.join(sorted(known))}", param_hint="--skip"
        )
    results = []
    with readable_errors():
        client = make_client(name, region, None, component)
        for result in smoke_test(
            client,
            sagemaker=service_client("sagemaker", region),
            adapters=adapters,
            skip=skip,
            max_tokens=max_tokens,
        ):
            results.append(result)
            if form == "text":
                _print(result)
    if form == "json":
        click.echo(json.dumps([asdict(result) for result in results], indent=2, ensure_ascii=False))
    sys.exit(any(result.status == "failed" for result in results))


def _print(result: CheckResult) -> None:
    status = click.style(f"{result.status:7}", fg=_COLORS[result.status])
    first = result.first_text_seconds
    detail = result.detail if first is None else f"first text after {first:.2f} s; {result.detail}"
    click.echo(f"{status}  {result.name:20} {result.seconds:7.2f} s  {detail}")
