"""What CloudFormation hears of the smoke test inside a deployment."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from lmi_constructs.runtime import deployment_check
from lmi_constructs.runtime.errors import AsleepError, RefusedError
from lmi_constructs.runtime.smoke import CheckResult

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def heard() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The address for an answer, and the answers that came."""
    answers: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            answers.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/", answers
    server.shutdown()
    server.server_close()


def event(url: str, kind: str, **properties: Any) -> dict[str, Any]:
    return {
        "RequestType": kind,
        "ResponseURL": url,
        "StackId": "stack",
        "RequestId": "request",
        "LogicalResourceId": "SmokeTest",
        "ResourceProperties": {"EndpointName": "chat", "MaxTokens": "8", **properties},
    }


def test_a_deletion_is_let_pass_without_a_look_at_the_endpoint(
    heard: tuple[str, list[dict[str, Any]]],
) -> None:
    url, answers = heard
    deployment_check.handler(event(url, "Delete") | {"PhysicalResourceId": "one"}, None)
    assert answers == [
        {
            "Status": "SUCCESS",
            "Reason": "",
            "PhysicalResourceId": "one",
            "StackId": "stack",
            "RequestId": "request",
            "LogicalResourceId": "SmokeTest",
            "Data": {},
        }
    ]


class Clock:
    """Time that passes only while somebody waits."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(deployment_check.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(deployment_check.time, "sleep", self.wait)

    def wait(self, seconds: float) -> None:
        self.now += seconds


class Lambda:
    """What is known of the function's time."""

    def get_remaining_time_in_millis(self) -> int:
        return 900_000


def asleep_until(seconds: float, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    def send(*_: object) -> None:
        if clock.now < seconds:
            raise AsleepError("Inference Component has no capacity", "call again")

    monkeypatch.setattr(deployment_check.LmiClient, "send", send)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")


def test_a_sleeping_component_is_woken_and_then_tested(
    heard: tuple[str, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, answers = heard
    clock = Clock(monkeypatch)
    asleep_until(700, clock, monkeypatch)
    tested: list[float] = []
    monkeypatch.setattr(
        deployment_check, "smoke_test", lambda *_, **__: tested.append(clock.now) or []
    )
    deployment_check.handler(event(url, "Update", InferenceComponentName="chat"), Lambda())
    assert [answer["Status"] for answer in answers] == ["SUCCESS"]
    assert tested == [705]


def test_a_component_that_does_not_wake_in_time_takes_no_deployment_back(
    heard: tuple[str, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, answers = heard
    clock = Clock(monkeypatch)
    asleep_until(3600, clock, monkeypatch)
    monkeypatch.setattr(deployment_check, "smoke_test", None)
    deployment_check.handler(event(url, "Update", InferenceComponentName="chat"), Lambda())
    (answer,) = answers
    assert answer["Status"] == "SUCCESS"
    assert answer["Data"] == {"asleep": "component chat was not tested: it has no copy"}
    assert 690 < clock.now <= 720


def test_whatever_else_is_wrong_with_a_component_is_for_the_checks_to_say(
    heard: tuple[str, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, answers = heard

    def refused(*_: object) -> None:
        raise RefusedError("no such model", "name another", status=400)

    def failing(*_: object, **__: object) -> list[CheckResult]:
        return [CheckResult(name="chat", status="failed", seconds=1, detail="no such model")]

    monkeypatch.setattr(deployment_check.LmiClient, "send", refused)
    monkeypatch.setattr(deployment_check, "smoke_test", failing)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    deployment_check.handler(event(url, "Update", InferenceComponentName="chat"), Lambda())
    assert answers[0]["Status"] == "FAILED"
    assert "no such model" in answers[0]["Reason"]


def test_whatever_goes_wrong_is_told_at_once(
    heard: tuple[str, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, answers = heard

    def broken(*_: object, **__: object) -> None:
        raise OSError("x" * 9000)

    monkeypatch.setattr(deployment_check, "smoke_test", broken)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    deployment_check.handler(event(url, "Create"), None)
    (answer,) = answers
    assert answer["Status"] == "FAILED"
    assert answer["PhysicalResourceId"] == "SmokeTest"
    assert answer["Reason"].startswith("xxx")
    assert len(json.dumps(answer)) < 4096


def test_checks_that_take_too_long_are_told_before_lambda_ends_them(
    heard: tuple[str, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, answers = heard
    forever = threading.Event()

    class Short:
        def get_remaining_time_in_millis(self) -> int:
            return 500

    monkeypatch.setattr(deployment_check, "smoke_test", lambda *_, **__: forever.wait(60))
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    deployment_check.handler(event(url, "Create"), Short())
    forever.set()
    assert answers[0]["Status"] == "FAILED"
    assert "did not end within" in answers[0]["Reason"]


def test_a_timeout_of_the_checks_themselves_is_said_as_it_is(
    heard: tuple[str, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, answers = heard

    def slow(*_: object, **__: object) -> None:
        raise TimeoutError("the socket timed out")

    monkeypatch.setattr(deployment_check, "smoke_test", slow)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    deployment_check.handler(event(url, "Create"), Lambda())
    assert answers[0]["Reason"] == "the socket timed out"


def test_a_reason_in_any_language_fits_what_cloudformation_takes(
    heard: tuple[str, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, answers = heard

    def broken(*_: object, **__: object) -> None:
        raise OSError("안" * 9000 + "\ud800")

    monkeypatch.setattr(deployment_check, "smoke_test", broken)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    deployment_check.handler(event(url, "Create"), None)
    assert answers[0]["Reason"] == "안" * 333  # 3 bytes each, of 1000
