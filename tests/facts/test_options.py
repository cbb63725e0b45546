"""A setting is found under each of its names."""

from __future__ import annotations

import pytest

from lmi_constructs.facts.options import option, options


@pytest.mark.parametrize("name", ["OPTION_DTYPE", "option.dtype", "dtype", "Dtype"])
def test_finds_an_option_under_each_of_its_names(name):
    assert option(name) is options()["OPTION_DTYPE"]


def test_an_unknown_option_is_none():
    assert option("no_such_thing") is None
