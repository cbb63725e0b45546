"""The queue scales to zero and wakes up, and an answer arrives in S3."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lmi_constructs.runtime import GenerationRequest, LmiClient
from lmi_constructs.testing import assert_fits, assert_no_findings

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def stack() -> Any:
    return runpy.run_path(str(Path(__file__).with_name("app.py")))["stack"]


def test_fits_and_has_no_findings(stack: Any) -> None:
    assert_fits(stack)
    assert_no_findings(stack)


@pytest.mark.deploy
def test_a_queued_request_is_answered_in_s3(
    stack: Any,
    lmi_deploy: Callable[[Any], dict[str, str]],
    local_aws: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outputs = lmi_deploy(stack)
    for name, value in local_aws.environment().items():
        monkeypatch.setenv(name, value)
    client = LmiClient(outputs["EndpointName"])
    queued = client.submit(GenerationRequest("Summarize: ...", max_new_tokens=100))
    answer = queued.result(timeout_seconds=30, poll_seconds=0.2)
    assert "no model ran" in answer.text
