"""Log lines of public failures are recognized; lines of healthy starts are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmi_constructs.container import LmiSettings, Remedies
from lmi_constructs.runtime.diagnosis import RECOGNIZERS, recognize
from tests.runtime.public_log_lines import HEALTHY_LINES, PUBLIC_LINES


@pytest.mark.parametrize(
    ("source", "line", "name", "rule", "change"),
    PUBLIC_LINES,
    ids=[f"{row[2]}-{number}" for number, row in enumerate(PUBLIC_LINES)],
)
def test_a_public_log_line_is_recognized(
    source: str, line: str, name: str, rule: str | None, change: str | None
) -> None:
    assert source.startswith("https://")
    found = recognize([line])
    assert [item.name for item in found] == [name]
    assert (found[0].rule, found[0].change) == (rule, change)
    assert "{" not in found[0].cause + found[0].fix


@pytest.mark.parametrize("line", HEALTHY_LINES)
def test_a_line_of_a_healthy_start_is_no_failure(line: str) -> None:
    assert recognize([line]) == ()


def test_every_recognizer_is_proved_by_a_public_line() -> None:
    proved = [
        {
            position
            for position, recognizer in enumerate(RECOGNIZERS)
            if recognizer.pattern.search(line)
        }
        for _, line, _, _, _ in PUBLIC_LINES
    ]
    assert set().union(*proved) == set(range(len(RECOGNIZERS)))


def test_the_cause_comes_before_its_consequences() -> None:
    found = recognize(
        [
            "The primary container for production variant A did not pass the ping health check.",
            "RuntimeError: NCCL error: unhandled system error",
            "ERROR EngineCore failed to start.",
            "torch.OutOfMemoryError: CUDA out of memory.",
            "ValueError: No available memory for the cache blocks.",
        ]
    )
    assert [item.name for item in found] == [
        "out-of-memory",
        "no-cache-memory",
        "nccl",
        "health-check",
        "engine-failed",
    ]
    assert found[0].line_number == 4


def test_a_restarting_container_is_one_diagnosis_with_a_count() -> None:
    line = "ValueError: Total number of attention heads (28) must be divisible by tensor parallel size (8)."
    found = recognize(["start", line, "start", f"\x1b[31m{line}\x1b[0m"])
    assert len(found) == 1
    assert (found[0].count, found[0].line_number) == (2, 2)
    assert found[0].cause == "28 attention heads cannot be shared by 8 ranks"


def test_an_event_of_several_lines_is_read_line_by_line() -> None:
    found = recognize(["Traceback\n  File x\ntorch.OutOfMemoryError: CUDA out of memory.\n"])
    assert [(item.name, item.line_number) for item in found] == [("out-of-memory", 3)]


def test_a_long_line_is_shown_where_it_matters() -> None:
    found = recognize(["x" * 5000 + " CUDA out of memory. " + "y" * 5000])
    assert found[0].line.startswith("CUDA out of memory.")
    assert len(found[0].line) <= 300


@given(st.lists(st.text("ab{}()\n\x1b[", max_size=30), max_size=5))
def test_any_text_can_be_read(lines: list[str]) -> None:
    assert recognize(lines) == ()


def test_every_remedy_and_change_is_one_of_the_settings() -> None:
    remedies = Remedies(LmiSettings())
    for recognizer in RECOGNIZERS:
        if recognizer.remedy:
            assert getattr(remedies, recognizer.remedy)().notes
        if recognizer.change:
            assert recognizer.change.partition("=")[0] in LmiSettings.model_fields
