"""The readers agree with the libraries whose behavior they model."""

from __future__ import annotations

import argparse

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from lmi_constructs.container import value_parsers

TEXTS = st.one_of(
    st.text(alphabet="0123456789+-_. eEkKtfruy", max_size=8),
    st.integers().map(str),
    st.floats().map(str),
    st.sampled_from(["true", "FALSE", "on", "Off", "yes", "n", "1.0", "1.5", "8k", " 7 "]),
)


def outcome(reader, text):
    try:
        return reader(text)
    except (ValueError, argparse.ArgumentTypeError):
        return "refused"


# pydantic reads "0-0" and "0__9" as numbers, which nobody writes.
@given(TEXTS.filter(lambda text: not {"+", "-"} & set(text.strip()[1:]) and "__" not in text))
@example("1_000")
@example("8.00")
def test_reads_whole_numbers_as_pydantic_does(text):
    adapter = TypeAdapter(int)
    assert outcome(value_parsers.whole, text) == outcome(adapter.validate_python, text)


@given(TEXTS)
def test_reads_booleans_as_pydantic_does(text):
    adapter = TypeAdapter(bool)
    assert outcome(value_parsers.boolean, text) == outcome(adapter.validate_python, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("16k", 16_000), ("16K", 16_384), ("1.5m", 1_500_000), ("8192", 8192), (" 2g ", 2 * 10**9)],
)
def test_reads_units(text, expected):
    assert value_parsers.readable_whole(text, "kmg") == expected


@pytest.mark.parametrize("text", ["1.5K", "16kb", "1t", "", "k"])
def test_refuses_what_is_no_readable_number(text):
    with pytest.raises(ValueError, match=r"."):
        value_parsers.readable_whole(text, "kmg")
