"""Options of the form NAME=VALUE: read in one place, whatever the two are called."""

from __future__ import annotations

import click


def name_and_value(
    given: str, form: str, option: str, *, value_may_be_empty: bool = False
) -> tuple[str, str]:
    """Return what is before and after the first `=`; a value may have more of them.

    Args:
        given: What the user wrote, such as `Env=prod`.
        form: How the help shows it, such as `NAME=VALUE`.
        option: The option, such as `--parameter`.
        value_may_be_empty: Whether nothing may follow the `=`. Default: no.

    Raises:
        click.BadParameter: If there is no `=`, no name or no value.
    """
    name, equals, value = given.partition("=")
    if not (name and equals and (value or value_may_be_empty)):
        raise click.BadParameter(f"{given!r} is not {form}", param_hint=option)
    return name, value
