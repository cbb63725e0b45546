"""An endpoint is ready when it serves what was deployed, not when it is in service again."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from click.testing import CliRunner

from lmi_constructs.cli.wait import wait
from lmi_constructs.runtime import NotReadyError, ThrottledError, wait_until_in_service


def endpoint(status: str, config: str = "old", wanted: str | None = None, reason: str = "") -> Any:
    state: dict[str, Any] = {
        "EndpointName": "chat",
        "EndpointStatus": status,
        "EndpointConfigName": config,
    }
    if wanted:
        state["PendingDeploymentSummary"] = {"EndpointConfigName": wanted}
    if reason:
        state["FailureReason"] = reason
    return state


UPDATING = endpoint("Updating", "old", "new")


class Sagemaker:
    """Gives one state after the other."""

    def __init__(self, *states: Any) -> None:
        self.states = list(states)

    def describe_endpoint(self, EndpointName: str) -> Any:
        return self._next()

    def describe_inference_component(self, InferenceComponentName: str) -> Any:
        return self._next()

    def _next(self) -> Any:
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        if isinstance(state, Exception):
            raise state
        return state


THROTTLED = ClientError({"Error": {"Code": "ThrottlingException", "Message": "slow"}}, "Describe")


def waited(*states: Any, **options: Any) -> Any:
    return wait_until_in_service("chat", client=Sagemaker(*states), poll_seconds=0.001, **options)


def test_waits_until_the_new_configuration_serves() -> None:
    seen: list[str] = []
    state = waited(
        UPDATING, UPDATING, endpoint("InService", "new"), on_change=lambda s: seen.append(str(s))
    )
    assert state.config == "new"
    assert seen == [
        "endpoint chat: Updating on old, moving to new",
        "endpoint chat: InService on new",
    ]


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ([UPDATING, endpoint("InService", "old", None, "alarm x")], "rolled back.*alarm x"),
        ([UPDATING, endpoint("RollingBack", "old", None, "no ping")], "RollingBack.*no ping"),
        ([endpoint("Failed", reason="did not pass the ping health check")], "did not pass"),
        ([endpoint("UpdateRollbackFailed", reason="stuck")], "stuck"),
        ([endpoint("Deleting")], "Deleting"),
        ([endpoint("Creating"), endpoint("OutOfService")], "OutOfService"),
    ],
)
def test_an_endpoint_that_will_not_serve_it_is_a_failure(states: list[Any], message: str) -> None:
    with pytest.raises(NotReadyError, match=message):
        waited(*states)


def test_a_question_without_an_answer_does_not_end_the_wait() -> None:
    unreachable = EndpointConnectionError(endpoint_url="https://sagemaker")
    state = waited(UPDATING, THROTTLED, unreachable, endpoint("InService", "new"))
    assert state.config == "new"
    with pytest.raises(ThrottledError):  # nothing is known yet
        waited(THROTTLED, endpoint("InService"))
    with pytest.raises(ThrottledError):  # of the component
        waited(endpoint("InService"), THROTTLED, component="base")
    with pytest.raises(NotReadyError, match="not in service in time"):
        waited(UPDATING, THROTTLED, timeout_seconds=0.01)


def test_a_rollback_before_the_wait_is_seen_by_the_expected_configuration() -> None:
    with pytest.raises(
        NotReadyError, match="serves old, not new: the update was rolled back, or has not begun"
    ):
        waited(endpoint("InService", "old"), expected_config="new")


def test_says_when_it_takes_too_long() -> None:
    with pytest.raises(NotReadyError, match=r"Creating.*not in service in time"):
        waited(endpoint("Creating"), timeout_seconds=0.01)


def test_a_component_must_be_in_service_too() -> None:
    component = {"InferenceComponentStatus": "Failed", "FailureReason": "no capacity"}
    creating = {"InferenceComponentStatus": "Creating"}
    with pytest.raises(NotReadyError, match="component base: Failed: no capacity"):
        waited(endpoint("InService"), creating, component, component="base")


def test_the_command_prints_states_and_fails_on_a_rollback(runtime: Any) -> None:
    runtime.will_answer(UPDATING)
    runtime.will_answer(endpoint("InService", "old"))
    result = CliRunner().invoke(wait, ["chat", "--poll", "0.01"], env=runtime.environment)
    assert result.exit_code == 1
    assert result.output.splitlines()[:2] == [
        "endpoint chat: Updating on old, moving to new",
        "endpoint chat: InService on old",
    ]
    assert "the update was rolled back" in result.output


def test_the_command_succeeds_when_it_serves(runtime: Any) -> None:
    runtime.will_answer(endpoint("InService", "new"))
    result = CliRunner().invoke(wait, ["chat", "--config", "new"], env=runtime.environment)
    assert (result.exit_code, result.output) == (0, "endpoint chat: InService on new\n")


@pytest.mark.parametrize("option", ["--timeout", "--poll"])
def test_a_time_that_is_no_number_is_refused(option: str) -> None:
    result = CliRunner().invoke(wait, ["chat", option, "nan"])
    assert (result.exit_code, "nan is no number" in result.output) == (2, True)


def test_an_endpoint_that_does_not_exist_is_named(runtime: Any) -> None:
    runtime.will_fail("ValidationException", 400, message='Could not find endpoint "x".')
    result = CliRunner().invoke(wait, ["x"], env=runtime.environment)
    assert result.exit_code == 1
    assert "Could not find endpoint" in result.output
    assert "list-endpoints" in result.output
