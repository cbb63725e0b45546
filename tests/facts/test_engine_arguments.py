"""The arguments and names that each version of the engine knows."""

from __future__ import annotations

from lmi_constructs.facts.engine_arguments import engine_arguments, registered


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
