"""The readers agree with the libraries whose behaviour they model."""

from __future__ import annotations

import argparse

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from lmi_constructs.container import json_schema, values

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
    assert outcome(values.whole, text) == outcome(adapter.validate_python, text)


@given(TEXTS)
def test_reads_booleans_as_pydantic_does(text):
    adapter = TypeAdapter(bool)
    assert outcome(values.boolean, text) == outcome(adapter.validate_python, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("16k", 16_000), ("16K", 16_384), ("1.5m", 1_500_000), ("8192", 8192), (" 2g ", 2 * 10**9)],
)
def test_reads_units(text, expected):
    assert values.readable_whole(text, "kmg") == expected


@pytest.mark.parametrize("text", ["1.5K", "16kb", "1t", "", "k"])
def test_refuses_what_is_no_readable_number(text):
    with pytest.raises(ValueError, match=r"."):
        values.readable_whole(text, "kmg")


def test_a_schema_finds_unknown_keys_fixed_sets_and_ranges():
    rules = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "backend": {"enum": ["auto", "outlines"]},
            "size": {"type": "integer", "minimum": 1},
            "inner": {"$ref": "#/$defs/Inner"},
            "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
        "required": ["backend"],
        "$defs": {"Inner": {"type": "object", "properties": {"a": {"type": "string"}}}},
    }
    assert json_schema.problems({"backend": "auto", "size": "3", "either": None}, rules) == []
    assert json_schema.problems({"backend": "x"}, rules) == [
        "backend is 'x', not one of auto, outlines"
    ]
    assert json_schema.problems({"backend": "auto", "size": 0}, rules) == ["size is 0, too small"]
    assert json_schema.problems({"backend": "auto", "other": 1}, rules) == [
        "value has the unknown key 'other'"
    ]
    assert json_schema.problems({}, rules) == ["value lacks the key 'backend'"]
    assert json_schema.problems({"backend": "auto", "inner": {"a": 1}}, rules) == [
        "a is 1, not of type string"
    ]
    assert json_schema.problems([], rules) == ["value is [], not of type object"]
    assert json_schema.problems({"backend": "auto", "either": {}}, rules) != []
