"""The page about the guide follows the facts."""

from __future__ import annotations

from lmi_constructs.facts.options import options
from tools import guide_to_today


def test_the_committed_page_is_the_one_the_facts_give():
    assert guide_to_today.PAGE.read_text(encoding="utf-8") == guide_to_today.page()


def test_the_page_names_every_option_of_the_guide():
    text = guide_to_today.page()
    assert [
        r.variable for r in options().values() if r.in_guide and f"`{r.variable}`" not in text
    ] == []


def test_the_page_says_what_to_write_for_a_known_fault():
    text = guide_to_today.page()
    assert "OPTION_QUANTIZE=fp8" in text
    assert "DJL Serving does not have" in text
