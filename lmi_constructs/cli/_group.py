"""The command group: a table of sub-commands, each imported only when it runs."""

from __future__ import annotations

import errno
import importlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from lmi_constructs._extras import how_to_get, is_foreign
from lmi_constructs._version import __version__
from lmi_constructs.cli import INTERRUPTED, NOT_READ_ON
from lmi_constructs.findings import LmiError

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Command(NamedTuple):
    module: str
    summary: str


_COMMANDS: dict[str, _Command] = {
    "plan": _Command("lmi_constructs.cli.plan", "Plan whether a model fits on an instance."),
    "verdict": _Command(
        "lmi_constructs.cli.verdict", "Show what a container release does with settings."
    ),
    "options": _Command("lmi_constructs.cli.options", "Explain an option and what to write now."),
    "presets": _Command("lmi_constructs.cli.presets", "List the presets, or show one."),
    "check": _Command(
        "lmi_constructs.cli.check", "Find what would fail at deploy time in templates."
    ),
    "preflight": _Command(
        "lmi_constructs.cli.preflight", "Check the account for what the endpoints in cdk.out need."
    ),
    "stage": _Command(
        "lmi_constructs.cli.stage", "Copy a model to S3 in the layout an endpoint mounts."
    ),
    "report": _Command("lmi_constructs.cli.report", "Write a page about the endpoints in cdk.out."),
    "invoke": _Command("lmi_constructs.cli.invoke", "Send one request to an endpoint."),
    "stream": _Command(
        "lmi_constructs.cli.stream", "Send one request and print the response live."
    ),
    "wait": _Command("lmi_constructs.cli.wait", "Wait until an endpoint is in service."),
    "smoke": _Command("lmi_constructs.cli.smoke", "Try every way to call an endpoint."),
    "bench": _Command("lmi_constructs.cli.bench", "Measure an endpoint under load."),
    "diagnose": _Command("lmi_constructs.cli.diagnose", "Explain why an endpoint does not work."),
    "local": _Command("lmi_constructs.cli.local", "Run a local AWS to deploy to and call."),
}


_EXTRAS = {"matplotlib": "bench"}
"""Extra that brings a missing module, where it is not one of the usual ones."""


@contextmanager
def _ended_from_outside() -> Iterator[None]:
    """End a command with the status that shells give, instead of click's 1."""
    try:
        yield
    except BrokenPipeError:
        raise click.exceptions.Exit(NOT_READ_ON) from None
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None


class _LazyGroup(click.Group):
    """A group that knows its commands' names and summaries without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = _COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command = getattr(importlib.import_module(entry.module), cmd_name.replace("-", "_"))
        assert isinstance(command, click.Command)  # noqa: S101
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.summary) for name, command in _COMMANDS.items()])

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the command line; this prints help."""
        with _ended_from_outside():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; what the library refuses is printed, never a traceback."""
        try:
            with _ended_from_outside():
                return super().invoke(ctx)
        except LmiError as error:
            raise click.ClickException(str(error)) from error
        except OSError as error:  # such as a path that is too long
            if error.errno == errno.ENOSPC:
                raise  # what is printed is incomplete: `main` says so
            raise click.ClickException(str(error)) from error
        except ModuleNotFoundError as missing:
            if not is_foreign(missing):
                raise
            extra = _EXTRAS.get(missing.name or "", "cli,local")
            raise click.ClickException(
                f"this command {how_to_get(missing.name, extra)}"
            ) from missing


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="lmi")
def lmi() -> None:
    """Plan, check and try LLM endpoints on SageMaker's Large Model Inference container."""
