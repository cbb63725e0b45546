"""`--parameter NAME=VALUE`: values for the parameters of templates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from lmi_constructs.checks.template.parameters import with_parameters_by_group
from lmi_constructs.cli._name_and_value import name_and_value
from lmi_constructs.findings import LmiError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from lmi_constructs.checks import TemplateSource

_Command = TypeVar("_Command", bound="Callable[..., Any]")


def parameter_option(command: _Command) -> _Command:
    """Add `--parameter`, which may be given several times."""
    return click.option(
        "--parameter",
        "parameters",
        multiple=True,
        metavar="NAME=VALUE",
        callback=_by_name,
        help="Value of a template's parameter. Default: its default, and besides it the other"
        " allowed values, one at a time.",
    )(command)


def _by_name(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    return dict(
        name_and_value(value, "NAME=VALUE", "--parameter", value_may_be_empty=True)
        for value in values
    )


def given_parameters(
    groups: Iterable[list[TemplateSource]], parameters: Mapping[str, str]
) -> list[list[TemplateSource]]:
    """Return templates by what is deployed together, with values for their parameters.

    Args:
        groups: The templates.
        parameters: Values by name; each goes to all templates that declare the parameter.

    Raises:
        click.UsageError: If none declares it, or one does not allow the value.
    """
    try:
        return with_parameters_by_group(groups, parameters)
    except LmiError as error:
        raise click.UsageError(str(error)) from error
