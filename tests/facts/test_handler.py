"""What the container's own code does, by release."""

from __future__ import annotations

from lmi_constructs.facts.handler import aliases, handler_behavior, handler_properties


def test_behavior_is_known_for_the_studied_releases_only():
    assert handler_behavior(14) is None
    assert [handler_behavior(lmi).false_form for lmi in (15, 25, 26, 29)] == [
        "dropped",
        "dropped",
        "negated",
        "negated",
    ]
    assert "normalize" in handler_properties(25)
    assert "normalize" not in handler_properties(24)
    assert len(aliases()) == 8
