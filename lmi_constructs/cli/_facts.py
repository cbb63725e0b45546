"""What a user may know better than the library: options of the commands that read templates."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from lmi_constructs.checks import Facts
from lmi_constructs.cli._name_and_value import name_and_value
from lmi_constructs.findings import LmiError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lmi_constructs.checks.deployment import Deployment

_Command = TypeVar("_Command", bound="Callable[..., Any]")


class CannotRead(click.ClickException):
    """Ends the command with exit status 2."""

    exit_code = 2


_REGION = re.compile(r"[a-z]{2,}(-[a-z]+)+-[0-9]+")


def template_region_option(command: _Command) -> _Command:
    """Add `--region`, for templates that do not say it themselves."""
    return click.option(
        "--region", callback=_region, help="Region of templates that do not name one."
    )(command)


def _region(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse what looks like no region, since images and instance types would be judged by it."""
    if value is not None and not _REGION.fullmatch(value):
        raise click.BadParameter(f"{value!r} is no name of a region, such as us-east-1")
    return value


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
        help="Release that images with this URI prefix behave like (…/my-lmi=v27).",
    ),
    click.option(
        "--instance-type",
        "instance_types",
        multiple=True,
        metavar="NAME",
        help="An instance type that exists but is not known to the library.",
    ),
    click.option(
        "--model-config",
        "model_configs",
        multiple=True,
        metavar="MODEL=FILE",
        help="A model's config.json, to plan whether it fits. MODEL is its logical id, or a construct"
        " path such as Prod/Llm/Chat if stages share the id.",
    ),
)


def read_facts(
    images: Iterable[str], instance_types: Iterable[str], model_configs: Iterable[str]
) -> Facts:
    """Return what the options say.

    Raises:
        click.UsageError: If one is no pair, or names a release that is not known.
        CannotRead: If a file cannot be read.
    """
    try:
        return Facts(
            images=dict(name_and_value(image, "URI=RELEASE", "--image") for image in images),
            instance_types=frozenset(instance_types),
            model_configs=_model_configs(model_configs),
        )
    except LmiError as error:
        raise click.UsageError(f"--image: {error}") from error


def check_names(facts: Facts, deployments: Sequence[Deployment]) -> None:
    """Refuse a `--model-config` or `--image` of what no template has, since it would do nothing.

    Raises:
        click.UsageError: If there is one, with the models or images that there are.
    """
    _check_model_names(facts, deployments)
    _check_images(deployments)


def _check_images(deployments: Sequence[Deployment]) -> None:
    from lmi_constructs.checks.unused_options import unused_images

    for beginning, images in unused_images(deployments).items():
        there = ", ".join(images) or "none at all"
        raise click.UsageError(f"--image: no image begins with {beginning!r}; there is {there}")


def _check_model_names(facts: Facts, deployments: Sequence[Deployment]) -> None:
    from lmi_constructs.checks.deployment import names_of

    models = [model for deployment in deployments for model in deployment.models]
    known = {name for model in models for name in names_of(model)}
    for name in facts.model_configs:
        if name not in known:
            there = ", ".join(sorted({model.logical_id for model in models})) or "none at all"
            raise click.UsageError(
                f"--model-config: no model has the logical id or construct path {name!r}; there is"
                f" {there}"
            )


def _model_configs(values: Iterable[str]) -> dict[str, dict[str, Any]]:
    configs = {}
    for value in values:
        name, file = name_and_value(value, "MODEL=FILE", "--model-config")
        try:
            configs[name] = json.loads(Path(file).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise CannotRead(f"{file}: {error}") from error
        if not isinstance(configs[name], dict):
            raise CannotRead(f"{file}: no config.json of a model")
    return configs
