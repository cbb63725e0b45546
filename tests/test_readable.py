from __future__ import annotations

import pytest

from lmi_constructs.readable import readable


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
