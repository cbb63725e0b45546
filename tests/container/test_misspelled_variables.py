from __future__ import annotations

import pytest

from lmi_constructs.container.misspelled_variables import spelling_findings

KNOWN = frozenset({"kv_offloading_backend", "max_num_batched_tokens", "max_model_len"})


@pytest.mark.parametrize("newer", ["OFFLOAD_BACKEND", "MAX_NUM_SCHEDULED_TOKENS"])
def test_an_option_newer_than_all_known_releases_is_not_taken_for_a_slip(newer: str) -> None:
    assert list(spelling_findings({f"OPTION_{newer}": "1"}, KNOWN)) == []


@pytest.mark.parametrize("written", ["OPTION_MAX_MODEL_LENGHT", "OPTIONS_MAX_MODEL_LENGHT"])
def test_a_slip_of_a_letter_is_asked_after(written: str) -> None:
    (finding,) = spelling_findings({written: "8192"}, KNOWN)
    assert (finding.rule, finding.fix) == ("LMI007", "did you mean OPTION_MAX_MODEL_LEN?")
