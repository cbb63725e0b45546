from __future__ import annotations

import pytest

from lmi_constructs.readable import readable, said_by


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (10_000_000.0, "10000000"),
        (1_048_576, "1048576"),
        (0.92, "0.92"),
        (0.1 + 0.2, "0.3"),
        (1e-7, "0.0000001"),
        (-5.0, "-5"),
        (0.0, "0"),
    ],
)
def test_shows_all_digits_and_no_exponent(number: float, shown: str) -> None:
    assert readable(number) == shown


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("ThereSubnetGroups: There are no groups\nat x", "There are no groups"),
        ("There is: a colon", "There is: a colon"),
        ("", ""),
    ],
)
def test_what_the_cdk_says_is_shown_without_its_code(said: str, shown: str) -> None:
    assert said_by(RuntimeError(said)) == shown
