"""Each component answers with its own model."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lmi_constructs.runtime import LmiClient
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
def test_each_component_answers_with_its_own_model(
    stack: Any,
    lmi_deploy: Callable[[Any], dict[str, str]],
    local_aws: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outputs = lmi_deploy(stack)
    for name, value in local_aws.environment().items():
        monkeypatch.setenv(name, value)
    for output, model in (("ChatName", "qwen3-14b"), ("CodeName", "qwen3-8b")):
        client = LmiClient(outputs["EndpointName"]).using(inference_component=outputs[output])
        assert model in client.chat("Hello").text
