"""The smoke test inside a deployment: what answers CloudFormation for `LmiSmokeTest`.

Runs in a Lambda function with nothing but boto3. A deployment whose model does not answer fails
here, and CloudFormation takes it back. A component that sleeps (zero copies) is woken by the first
request and waited for; one that does not wake in the time that is left is no failure of the
deployment, and is said to be untested.
"""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotDone  # Python 3.10 has one of its own
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.runtime.client import LmiClient
from lmi_constructs.runtime.connection import service_client
from lmi_constructs.runtime.errors import AsleepError, LmiRuntimeError
from lmi_constructs.runtime.requests import GenerationRequest
from lmi_constructs.runtime.smoke import smoke_test

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from lmi_constructs.runtime.smoke import CheckResult

_LONGEST_REASON_BYTES: Final = 1000
"""CloudFormation takes an answer of 4096 bytes, of which the reason is a part."""

_SECONDS_FOR_THE_CHECKS: Final = 180
"""What is kept of the function's time for the checks themselves."""

_SECONDS_TO_ANSWER: Final = 10
"""What is kept of it to tell CloudFormation that the rest was not enough."""

_POLL_SECONDS: Final = 15
_ANSWER_SECONDS: Final = 30
"""What CloudFormation's address may take; Lambda calls a function again that ends with an error."""


class SmokeTestFailed(Exception):  # noqa: N818 (what CloudFormation's event will say)
    """The endpoint does not answer as it should."""


def handler(event: Mapping[str, Any], context: Any) -> None:
    """Try the endpoint, and tell CloudFormation whether the deployment may stay.

    Args:
        event: CloudFormation's request for a custom resource.
        context: Lambda's context, which knows the time that is left; `None` leaves no time to wait for
            a copy, and all time for the checks.
    """
    left = context.get_remaining_time_in_millis() / 1000 if context is not None else None
    reason, data = "", {}
    try:
        if event["RequestType"] != "Delete":
            patience = (left or 0) - _SECONDS_FOR_THE_CHECKS
            data = _in_time(left, partial(_tried, event["ResourceProperties"], patience))
    except Exception as error:  # CloudFormation would wait an hour for an answer that never comes
        reason = str(error) or type(error).__name__
    _answer(event, reason, data)


def _in_time(left: float | None, work: Callable[[], dict[str, str]]) -> dict[str, str]:
    """Return what some work returns, or give it up while there is time to say so.

    Args:
        left: Seconds until Lambda ends the function; `None` if nothing does.
        work: The work.

    Raises:
        SmokeTestFailed: If it takes longer.
        Exception: What the work raises.
    """
    done: Future[dict[str, str]] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # raised again where the result is asked for
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    kept = min(_SECONDS_TO_ANSWER, (left or 0) / 5)
    try:
        return done.result(None if left is None else left - kept)
    except NotDone:
        if done.done():  # the work's own, or it has ended at the last moment
            return done.result()
        raise SmokeTestFailed(
            f"The checks did not end within {left:.0f} seconds: look whether the endpoint is slow, and"
            " give the smoke test a longer timeout, or fewer adapters."
        ) from None


def _tried(properties: Mapping[str, Any], patience_seconds: float) -> dict[str, str]:
    """Return how long each check took, in seconds, or that the component sleeps.

    Raises:
        SmokeTestFailed: If a check fails.
    """
    name = str(properties["EndpointName"])
    client = LmiClient(name)
    if component := properties.get("InferenceComponentName"):
        client = client.using(inference_component=component)
        if not _is_awake(client, patience_seconds):
            print(f"skipped: component {component} has no copy, and none came")  # noqa: T201
            return {"asleep": f"component {component} was not tested: it has no copy"}
    results: list[CheckResult] = []
    for result in smoke_test(
        client,
        sagemaker=service_client("sagemaker", None),
        adapters=properties.get("Adapters", ()),
        skip=properties.get("Skip", ()),
        max_tokens=int(properties["MaxTokens"]),
    ):
        print(f"{result.status} {result.name} {result.seconds:.2f} s {result.detail}")  # noqa: T201
        results.append(result)
    failed = [result for result in results if result.status == "failed"]
    if failed:
        raise SmokeTestFailed(_said(name, failed, len(results)))
    return {result.name: f"{result.seconds:.2f}" for result in results if result.status == "passed"}


def _is_awake(client: LmiClient, patience_seconds: float) -> bool:
    """Wake a component, and tell whether a copy came in time."""
    deadline = time.monotonic() + patience_seconds
    while not _has_a_copy(client):
        if time.monotonic() + _POLL_SECONDS > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _has_a_copy(client: LmiClient) -> bool:
    """Tell whether a request finds a copy; what else may be wrong is for the checks to say."""
    try:
        client.send(GenerationRequest("Hi", max_new_tokens=1))
    except AsleepError:
        return False
    except LmiRuntimeError:
        return True
    return True


def _said(name: str, failed: Iterable[CheckResult], count: int) -> str:
    faults = [f"{result.name}: {result.detail}" for result in failed]
    return f"{len(faults)} of {count} checks of endpoint {name} failed. " + " ".join(faults)


def _shortened(reason: str) -> str:
    """Return the beginning of a reason, which may quote any language, in so many bytes of UTF-8."""
    return reason.encode(errors="replace")[:_LONGEST_REASON_BYTES].decode(errors="ignore")


def _answer(event: Mapping[str, Any], reason: str, data: Mapping[str, str]) -> None:
    body = {
        "Status": "FAILED" if reason else "SUCCESS",
        "Reason": _shortened(reason),
        "PhysicalResourceId": event.get("PhysicalResourceId") or event["LogicalResourceId"],
        "StackId": event["StackId"],
        "RequestId": event["RequestId"],
        "LogicalResourceId": event["LogicalResourceId"],
        "Data": dict(data),
    }
    request = urllib.request.Request(  # noqa: S310 (CloudFormation's own address)
        event["ResponseURL"],
        data=json.dumps(body, ensure_ascii=False).encode(),
        headers={"Content-Type": ""},  # the address is signed without a content type
        method="PUT",
    )
    with urllib.request.urlopen(request, timeout=_ANSWER_SECONDS):  # noqa: S310
        pass
