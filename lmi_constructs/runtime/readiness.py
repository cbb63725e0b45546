"""Waiting until an endpoint serves what was deployed to it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.runtime.connection import service_client
from lmi_constructs.runtime.error_translation import translated
from lmi_constructs.runtime.errors import ConnectionFailedError, NotReadyError, ThrottledError
from lmi_constructs.runtime.routing import check_endpoint_name

if TYPE_CHECKING:
    from collections.abc import Callable

_FAILED: Final = frozenset({"Failed", "UpdateRollbackFailed", "RollingBack", "OutOfService"})
_GONE: Final = frozenset({"Deleting"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointState:
    """What an endpoint, or a component on it, is doing.

    Attributes:
        name: Name of the endpoint or component.
        kind: `endpoint` or `component`.
        status: SageMaker's word for it.
        config: Endpoint configuration that serves; `None` for components.
        wanted_config: Endpoint configuration that an update is moving to, while it runs.
        reason: Why it failed, in SageMaker's words.
    """

    name: str
    kind: str
    status: str
    config: str | None = None
    wanted_config: str | None = None
    reason: str | None = None

    def __str__(self) -> str:
        """Return the state as a line for an operator."""
        moving = f", moving to {self.wanted_config}" if self.wanted_config else ""
        on = f" on {self.config}{moving}" if self.config else ""
        reason = f": {self.reason}" if self.reason else ""
        return f"{self.kind} {self.name}: {self.status}{on}{reason}"


def endpoint_state(name: str, client: Any) -> EndpointState:
    """Return what an endpoint is doing.

    Raises:
        RequestError: If no endpoint can have this name.
        LmiRuntimeError: If it cannot be described.
    """
    check_endpoint_name(name)
    with translated(f"endpoint {name}"):
        described = client.describe_endpoint(EndpointName=name)
    return EndpointState(
        name=name,
        kind="endpoint",
        status=described["EndpointStatus"],
        config=described.get("EndpointConfigName"),
        wanted_config=described.get("PendingDeploymentSummary", {}).get("EndpointConfigName"),
        reason=described.get("FailureReason"),
    )


def component_state(name: str, client: Any) -> EndpointState:
    """Return what an inference component is doing.

    Raises:
        LmiRuntimeError: If it cannot be described.
    """
    with translated(f"component {name}"):
        described = client.describe_inference_component(InferenceComponentName=name)
    return EndpointState(
        name=name,
        kind="component",
        status=described["InferenceComponentStatus"],
        reason=described.get("FailureReason"),
    )


def wait_until_in_service(
    name: str,
    *,
    component: str | None = None,
    expected_config: str | None = None,
    timeout_seconds: float = 3600,
    poll_seconds: float = 15,
    client: Any = None,
    on_change: Callable[[EndpointState], None] = lambda _: None,
) -> EndpointState:
    """Wait until an endpoint serves the configuration it was created or updated with.

    An update that is rolled back ends in service again, on the configuration before: that is a
    failure here.

    Args:
        name: Name of the endpoint.
        component: Inference component on it that must be in service, too.
        expected_config: Endpoint configuration that must serve in the end; by default the one that
            an update is seen moving to.
        timeout_seconds: How long to wait, together.
        poll_seconds: Seconds between two looks.
        client: A boto3 client of `sagemaker`.
        on_change: Called with every new state.

    Raises:
        NotReadyError: If it failed, was rolled back, is being deleted, or is not ready in time.
        LmiRuntimeError: If it cannot be described.
    """
    sagemaker = client if client is not None else service_client("sagemaker")
    wait = _Wait(time.monotonic() + timeout_seconds, poll_seconds, on_change)
    state = wait.until_in_service(lambda: endpoint_state(name, sagemaker))
    wanted = expected_config or wait.wanted_config
    if wanted and state.config != wanted:
        reason = f" ({state.reason})" if state.reason else ""
        seen = "" if wait.wanted_config else ", or has not begun"
        raise NotReadyError(
            f"endpoint {name} serves {state.config}, not {wanted}: the update was rolled back"
            f"{seen}{reason}",
            f"find the cause: lmi diagnose {name}",
        )
    if component:
        state = wait.until_in_service(lambda: component_state(component, sagemaker))
    return state


class _Wait:
    """One wait, with what it has seen."""

    def __init__(
        self, deadline: float, poll_seconds: float, on_change: Callable[[EndpointState], None]
    ) -> None:
        self._deadline, self._poll_seconds, self._on_change = deadline, poll_seconds, on_change
        self.wanted_config: str | None = None

    def until_in_service(self, look: Callable[[], EndpointState]) -> EndpointState:
        last: EndpointState | None = None
        while True:
            state = _seen(look, last)
            if state != last:
                self._on_change(state)
            last = state
            self.wanted_config = state.wanted_config or self.wanted_config
            if state.status == "InService":
                return state
            if state.status in _FAILED:
                raise NotReadyError(str(state), f"find the cause: {_diagnose(state)}")
            if state.status in _GONE:
                raise NotReadyError(str(state), "deploy it again")
            if time.monotonic() + self._poll_seconds > self._deadline:
                raise NotReadyError(
                    f"{state}; it was not in service in time",
                    f"wait longer (--timeout), or look what it does: {_diagnose(state)}",
                )
            time.sleep(self._poll_seconds)


def _seen(look: Callable[[], EndpointState], last: EndpointState | None) -> EndpointState:
    """Look; where AWS does not answer for once, the state before stands until the next look."""
    try:
        return look()
    except (ThrottledError, ConnectionFailedError):
        if last is None:
            raise
        return last


def _diagnose(state: EndpointState) -> str:
    return f"lmi diagnose {state.name}" if state.kind == "endpoint" else "lmi diagnose ENDPOINT"
