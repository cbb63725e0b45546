"""`lmi diagnose`: say why an endpoint does not work."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from lmi_constructs.cli._endpoint_call import readable_errors, region_option
from lmi_constructs.cli._text_input import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lmi_constructs.runtime.diagnosis import Diagnosis, Report


@click.command()
@click.argument("name", required=False)
@click.option("--log", "log", metavar="FILE", help="Read a log file (- for standard input).")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format."
)
@region_option
def diagnose(name: str | None, log: str | None, form: str, region: str | None) -> None:
    """Explain why endpoint NAME does not work, and what to change.

    Reads its state and its CloudWatch log; changes nothing. With --log it reads a file instead, and
    needs no AWS account. The exit code is 1 if a failure is found.
    """
    if (name is None) == (log is None):
        raise click.UsageError("give either the NAME of an endpoint or --log FILE")
    if log is not None:
        _diagnose_log(log, form)
    else:
        _diagnose_endpoint(name or "", region, form)


def _diagnose_log(log: str, form: str) -> None:
    from lmi_constructs.runtime.diagnosis.recognize import recognize

    found = recognize(read_text(log, "--log", any_bytes=True).splitlines())
    if form == "json":
        click.echo(json.dumps([asdict(item) for item in found], indent=2, ensure_ascii=False))
    elif found:
        _print_diagnoses(found)
    else:
        click.echo("no known failure was recognized in the log")
    sys.exit(bool(found))


def _diagnose_endpoint(name: str, region: str | None, form: str) -> None:
    with readable_errors():
        from lmi_constructs.runtime.connection import service_client
        from lmi_constructs.runtime.diagnosis import diagnose_endpoint

        sagemaker, logs = (service_client(service, region) for service in ("sagemaker", "logs"))
        report = diagnose_endpoint(name, sagemaker=sagemaker, logs=logs)
    if form == "json":
        click.echo(json.dumps(asdict(report), indent=2, ensure_ascii=False, default=str))
    else:
        _print_report(report)
    sys.exit(bool(report.diagnoses) or not report.is_in_service)


def _print_report(report: Report) -> None:
    for state in report.states:
        click.echo(str(state))
    if report.diagnoses:
        click.echo()
        _print_diagnoses(report.diagnoses)
    elif report.is_in_service:
        click.echo("it is in service, and no known failure was recognized in its log")
    else:
        click.echo("no known failure was recognized in its state and log")
    if report.changes:
        click.echo("\nchange in the settings:")
        for change in report.changes:
            click.echo(f"  {change}")
    for note in report.notes:
        click.echo(f"\nnote: {note}")


def _print_diagnoses(found: Iterable[Diagnosis]) -> None:
    for position, item in enumerate(found):
        if position:
            click.echo()
        rule = f" [{item.rule}]" if item.rule else ""
        doubt = "" if item.weight == "cause" else f" ({item.weight})"
        click.secho(f"{item.cause}{rule}{doubt}", bold=item.weight == "cause")
        times = f", {item.count} times" if item.count > 1 else ""
        click.echo(f"  seen in line {item.line_number}{times}: {item.line}")
        click.echo(f"  what to do: {item.fix}")
        if item.change:
            click.echo(f"  setting: {item.change}")
