"""Every shipped row about settings says where it comes from."""

from __future__ import annotations

import pytest

from lmi_constructs.facts._data import load
from lmi_constructs.facts.engine_arguments import engine_arguments, registered
from lmi_constructs.facts.handler import aliases, handler_behaviour, handler_properties
from lmi_constructs.facts.options import option, options


def rows():
    handler, engine = load("handler"), load("engine_arguments")
    yield from load("options")["rows"]
    for section in handler.values():
        yield from section
    for section in ("arguments", "tool_parsers", "reasoning_parsers", "quantization_methods"):
        yield from engine[section].values()


def test_every_row_has_a_source_and_a_date():
    missing = [row for row in rows() if not row.get("source") or not row.get("as_of")]
    assert missing == []
    assert sum(1 for _ in rows()) > 800


@pytest.mark.parametrize("name", ["OPTION_DTYPE", "option.dtype", "dtype", "Dtype"])
def test_finds_an_option_under_each_of_its_names(name):
    assert option(name) is options()["OPTION_DTYPE"]


def test_an_unknown_option_is_none():
    assert option("no_such_thing") is None


def test_the_table_of_an_engine_follows_its_version():
    old, new = engine_arguments("0.8.4"), engine_arguments("0.28.0")
    assert old is not None
    assert new is not None
    assert old["max_model_len"].type == "human_readable_int"
    assert new["max_model_len"].type == "human_readable_int_or_auto"
    assert "swap_space" in old
    assert "swap_space" not in new
    assert engine_arguments("0.0.1") is None


def test_names_are_registered_by_version():
    assert "bitsandbytes" in (registered("quantization_methods", "0.26.0") or ())
    assert "bitsandbytes" not in (registered("quantization_methods", "0.28.0") or ())
    assert registered("tool_parsers", "0.0.1") is None


def test_behaviour_is_known_for_the_studied_releases_only():
    assert handler_behaviour(14) is None
    assert [handler_behaviour(lmi).false_form for lmi in (15, 25, 26, 29)] == [
        "dropped",
        "dropped",
        "negated",
        "negated",
    ]
    assert "normalize" in handler_properties(25)
    assert "normalize" not in handler_properties(24)
    assert len(aliases()) == 8
