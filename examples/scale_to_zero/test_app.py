"""The component answers, and what brings it to zero and back is there."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lmi_constructs.runtime import LmiClient, NotReadyError
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
def test_sleeps_and_wakes_up_by_the_next_request(
    stack: Any,
    lmi_deploy: Callable[[Any], dict[str, str]],
    local_aws: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outputs = lmi_deploy(stack)
    for name, value in local_aws.environment().items():
        monkeypatch.setenv(name, value)
    component = outputs["ComponentName"]
    client = LmiClient(outputs["EndpointName"]).using(inference_component=component)
    assert "qwen3-8b" in client.chat("Hello").text

    local_aws.client("sagemaker").update_inference_component_runtime_config(
        InferenceComponentName=component, DesiredRuntimeConfig={"CopyCount": 0}
    )
    with pytest.raises(NotReadyError, match="wakes it up"):
        client.chat("Hello")
    assert "qwen3-8b" in client.chat("Hello").text
    (activity,) = local_aws.client("application-autoscaling").describe_scaling_activities(
        ServiceNamespace="sagemaker"
    )["ScalingActivities"]
    assert activity["Description"] == "Setting desired copy count to 1."
    assert "triggered policy WakeUp" in activity["Cause"]
