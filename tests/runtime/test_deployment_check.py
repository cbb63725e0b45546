"""What CloudFormation hears of the smoke test inside a deployment."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from lmi_constructs.runtime import deployment_check

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
