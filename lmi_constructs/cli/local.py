"""`lmi local`: a local AWS in the foreground."""

from __future__ import annotations

import shlex
import signal
import threading

import click

DEFAULT_PORT = 4599
"""A fixed port, so that the lines to paste stay the same from one start to the next."""


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=DEFAULT_PORT,
    show_default=True,
    help="Port; 0 picks a free one.",
)
@click.option(
    "--engine",
    metavar="URL",
    help="Server that handles invocations (POST /invocations). Default: a stub.",
)
@click.option("--region", default="us-east-1", show_default=True, help="Region to export.")
def local(port: int, engine: str | None, region: str) -> None:
    """Run a local AWS to deploy to, until Ctrl-C.

    Prints the lines to paste into the shell that deploys. Nothing is kept after it stops.
    """
    from lmi_constructs.local import LocalAws, LocalAwsError

    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    try:
        aws = LocalAws(port, engine=engine, region=region).start()
    except LocalAwsError as error:
        raise click.ClickException(str(error)) from error
    try:
        click.echo(f"# Local AWS at {aws.endpoint_url}, answered by {engine or 'a stub'}.")
        click.echo("# Paste these lines into the shell that deploys; stop with Ctrl-C.")
        click.echo("unset AWS_PROFILE AWS_SESSION_TOKEN")
        for name, value in aws.environment().items():
            click.echo(f"export {name}={shlex.quote(value)}")
        stopped.wait()
    finally:
        aws.stop()
    click.echo("# Stopped; everything local is forgotten.", err=True)
