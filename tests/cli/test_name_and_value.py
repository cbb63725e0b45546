from __future__ import annotations

import click
import pytest

from lmi_constructs.cli._name_and_value import name_and_value


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("Env=prod", ("Env", "prod")),
        ("Llm=/data/day=1/config.json", ("Llm", "/data/day=1/config.json")),
        ("stop==", ("stop", "=")),
    ],
)
def test_the_first_equals_sign_ends_the_name(given: str, read: tuple[str, str]) -> None:
    assert name_and_value(given, "NAME=VALUE", "--parameter") == read


@pytest.mark.parametrize("given", ["", "Env", "=prod", "Env="])
def test_what_lacks_a_part_is_refused_with_the_form_of_the_option(given: str) -> None:
    with pytest.raises(click.BadParameter) as caught:
        name_and_value(given, "MODEL=FILE", "--model-config")
    assert caught.value.format_message() == (
        f"Invalid value for --model-config: {given!r} is not MODEL=FILE"
    )


def test_a_value_may_be_empty_where_the_option_says_so() -> None:
    assert name_and_value("Suffix=", "NAME=VALUE", "-p", value_may_be_empty=True) == ("Suffix", "")
