from __future__ import annotations

import pytest

from lmi_constructs._near_names import SURE, SUSPECT, did_you_mean, near_names, nearest

_METHODS = ("awq", "awq_marlin", "fp8", "gptq")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("gpt_oss_120B", "gpt-oss-120b"),
        ("Modle", "Model"),
        ("MODEL", "Model"),
        ("", None),
        ("модель", None),
        ("x" * 100_000, None),
    ],
)
def test_a_misspelled_name_is_found_whatever_its_case_and_dashes(
    written: str, meant: str | None
) -> None:
    assert nearest(written, {"Model", "gpt-oss-120b"}) == meant


def test_a_known_name_resembles_only_itself() -> None:
    assert near_names("awq", _METHODS, most=3) == ("awq",)


def test_a_name_is_suspect_only_if_it_differs_in_a_letter_or_two() -> None:
    assert nearest("dtyp", ["dtype"], likeness=SUSPECT) == "dtype"
    assert nearest("date", ["dtype"], likeness=SUSPECT) is None
    assert nearest("date", ["dtype"]) == "dtype"


def test_another_action_of_the_same_service_is_not_taken_for_a_slip() -> None:
    image = ["ecr:BatchGetImage"]
    assert nearest("ecr:BatchGetImages", image, likeness=SURE) == image[0]
    assert nearest("ecr:BatchDeleteImage", image, likeness=SURE) is None


@pytest.mark.parametrize(
    ("written", "otherwise", "fix"),
    [
        ("awqq", "remove it", "did you mean awq? If not, remove it"),
        ("awqq", "", "did you mean awq?"),
        ("int3", "remove it", "remove it"),
        ("int3", "", ""),
    ],
)
def test_a_fix_asks_after_the_nearest_name_and_goes_on_with_what_else_to_do(
    written: str, otherwise: str, fix: str
) -> None:
    assert did_you_mean(written, _METHODS, otherwise) == fix


def test_a_fix_asks_after_several_names_where_they_are_alike() -> None:
    types = ("ml.g5.xlarge", "ml.g5.2xlarge", "ml.p5.48xlarge")
    assert did_you_mean("ml.g5.large", types, most=2) == (
        "did you mean ml.g5.xlarge or ml.g5.2xlarge?"
    )
