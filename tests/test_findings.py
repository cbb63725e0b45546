from __future__ import annotations

import pytest

from lmi_constructs.findings import Finding, LmiError, raise_errors

ERROR = Finding(
    rule="LMI001",
    message="dtype='fp8' is refused by v27",
    why="the container stops at start",
    fix="use quantize='fp8'",
    where="settings.dtype",
)
WARNING = Finding(rule="LMI002", message="m", why="w", fix="f", severity="warning")


def test_a_finding_reads_as_a_sentence_with_place_reason_and_fix() -> None:
    text = str(ERROR.at("Stack/Chat"))
    assert text.startswith("LMI001 Stack/Chat settings.dtype: dtype='fp8' is refused by v27")
    assert "why: the container stops at start" in text
    assert "fix: use quantize='fp8'" in text


def test_placing_a_finding_keeps_everything_else() -> None:
    placed = ERROR.at("Model", "PrimaryContainer/Environment/OPTION_DTYPE")
    assert (placed.resource, placed.path) == ("Model", "PrimaryContainer/Environment/OPTION_DTYPE")
    assert placed.where == ERROR.where
    assert ERROR.resource is None


def test_an_error_carries_every_finding_errors_first() -> None:
    error = LmiError([WARNING, ERROR])
    assert [finding.rule for finding in error.findings] == ["LMI001", "LMI002"]
    assert "LMI001" in str(error)
    assert "LMI002" in str(error)


def test_raise_errors_raises_all_errors_at_once_and_returns_warnings() -> None:
    with pytest.raises(LmiError) as caught:
        raise_errors([ERROR, WARNING, ERROR])
    assert len(caught.value.findings) == 2
    assert raise_errors([WARNING]) == (WARNING,)
