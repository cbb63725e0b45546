"""`lmi stage`: copy a model to the S3 prefix that an endpoint mounts."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from lmi_constructs.cli._console import console
from lmi_constructs.cli._endpoint_call import NotStarted, readable_errors, region_option
from lmi_constructs.cli._name_and_value import name_and_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lmi_constructs.operations import StagingReport


@click.command()
@click.argument("source")
@click.argument("destination", metavar="S3://BUCKET/PREFIX/")
@click.option(
    "--adapter",
    "adapters",
    multiple=True,
    metavar="NAME=FOLDER",
    help="LoRA adapter to include.",
)
@click.option("--serving-properties", metavar="FILE", help="File to upload as serving.properties.")
@click.option("--kms-key", metavar="KEY", help="Id, ARN or alias of the KMS key to encrypt with.")
@click.option("--dry-run", is_flag=True, help="Only print what would be copied.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format."
)
@region_option
def stage(
    source: str,
    destination: str,
    adapters: tuple[str, ...],
    serving_properties: str | None,
    kms_key: str | None,
    dry_run: bool,
    form: str,
    region: str | None,
) -> None:
    """Copy the model in SOURCE to an S3 prefix, uncompressed, in the layout an endpoint mounts.

    SOURCE is a folder, or a hub id such as Qwen/Qwen3-8B or Qwen/Qwen3-8B@REVISION. Only one format
    of weights is copied; files that are already there are skipped. The exit code is 0 if the model
    at the destination is complete, 1 if not, and 2 if an argument cannot be used.
    """
    folders = dict(name_and_value(given, "NAME=FOLDER", "--adapter") for given in adapters)
    with readable_errors(), _progress(form == "text" and not dry_run) as (start, advance):
        from lmi_constructs.operations import UnusableArgumentError
        from lmi_constructs.operations import stage as run

        try:
            report = run(
                source,
                destination,
                adapters=folders,
                serving_properties=serving_properties,
                kms_key=kms_key,
                dry_run=dry_run,
                region=region,
                on_start=start,
                on_progress=advance,
            )
        except UnusableArgumentError as error:
            raise NotStarted(str(error)) from error
    if form == "json":
        click.echo(json.dumps(asdict(report), indent=2, ensure_ascii=False))
    else:
        _print(report)
    sys.exit(0 if report.is_complete or report.dry_run else 1)


@contextmanager
def _progress(
    shown: bool,
) -> Iterator[tuple[Callable[[int], None], Callable[[int], None]]]:
    """Show a bar on standard error, if that is a terminal."""
    if not shown or not sys.stderr.isatty():
        yield (lambda size: None), (lambda size: None)
        return
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console(stderr=True), transient=True) as progress:
        task = progress.add_task("upload", total=None)
        yield (
            lambda size: progress.update(task, total=size),
            lambda size: progress.advance(task, size),
        )


def _print(report: StagingReport) -> None:
    from rich.filesize import decimal

    uploaded = "would be uploaded" if report.dry_run else "uploaded"
    click.echo(report.destination + (f"  (revision {report.revision})" if report.revision else ""))
    click.echo(f"  {_files(report.uploaded)} {uploaded} ({decimal(report.bytes_uploaded)})")
    click.echo(f"  {_files(report.kept)} there already")
    if report.dry_run:
        for name in report.uploaded:
            click.echo(f"    + {name}")
    for name, reason in report.left_out.items():
        click.echo(f"    - {name}: {reason}")
    for finding in report.findings:
        click.echo(f"  {finding.severity} {finding.rule} {finding.message}")
        click.echo(f"      fix {finding.fix}")
    if report.is_complete:
        click.echo("  complete")


def _files(names: Sequence[str]) -> str:
    return f"{len(names)} file" if len(names) == 1 else f"{len(names)} files"
