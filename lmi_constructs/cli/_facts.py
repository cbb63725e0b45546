"""What a user may know better than the library: options of the commands that read templates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from lmi_constructs.checks import Facts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_Command = TypeVar("_Command", bound="Callable[..., Any]")


class CannotRead(click.ClickException):
    """Ends the command with exit status 2."""

    exit_code = 2


def fact_options(command: _Command) -> _Command:
    """Add `--image`, `--instance-type` and `--model-config`."""
    for decorate in reversed(_OPTIONS):
        command = decorate(command)
    return command


_OPTIONS = (
    click.option(
        "--image",
        "images",
        multiple=True,
        metavar="URI=RELEASE",
        help="An image of your own, by its beginning, behaves like a release (…/my-lmi=v27).",
    ),
    click.option(
        "--instance-type",
        "instance_types",
        multiple=True,
        metavar="NAME",
        help="An instance type that exists though it is not known here.",
    ),
    click.option(
        "--model-config",
        "model_configs",
        multiple=True,
        metavar="MODEL=FILE",
        help="The config.json of a model, to see whether it fits. MODEL is its logical id, or a"
        " construct path such as Prod/Llm/Chat where stages share one.",
    ),
)


def read_facts(
    images: Iterable[str], instance_types: Iterable[str], model_configs: Iterable[str]
) -> Facts:
    """Return what the options say.

    Raises:
        click.UsageError: If one is no pair.
        CannotRead: If a file cannot be read.
    """
    return Facts(
        images=_pairs(images, "--image"),
        instance_types=frozenset(instance_types),
        model_configs=_model_configs(model_configs),
    )


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
            raise CannotRead(f"{file}: {error}") from error
        if not isinstance(configs[name], dict):
            raise CannotRead(f"{file}: no config.json of a model")
    return configs
