"""Every command that asks AWS, where AWS refuses everything: a message, and never a traceback."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from botocore import exceptions as botocore_errors
from botocore.client import BaseClient
from click.testing import CliRunner

from lmi_constructs.cli._group import lmi
from lmi_constructs.runtime.benchmark import BenchmarkError
from tests.operations.support import model_files, write
from tests.preflight.support import ACCOUNT, assembly, template

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = {
    "invoke": ["invoke", "chat", "Hello"],
    "stream": ["stream", "chat", "Hello"],
    "wait": ["wait", "chat"],
    "smoke": ["smoke", "chat"],
    "diagnose": ["diagnose", "chat"],
    "bench": ["bench", "chat", "--concurrency", "1", "--requests", "1"],
    "stage": ["stage", "MODEL", "s3://models/llama/"],
    "preflight": ["preflight", "ASSEMBLY", "--fail-on", "unknown"],
    "check": ["check", "--endpoint", "chat"],
}


def refuse_to_measure(_: Any) -> Any:
    """sm-bench, which is a program of its own."""
    raise BenchmarkError("sm-bench could not measure", "try one request first")


def refused(code: str, status: int) -> Exception:
    error = {"Code": code, "Message": f"said of {code}"}
    answer: Any = {"Error": error, "ResponseMetadata": {"HTTPStatusCode": status}}
    return botocore_errors.ClientError(answer, "Operation")


FAULTS = {
    "throttled": (refused("ThrottlingException", 400), "often"),
    "slow-down": (refused("SlowDown", 503), "often"),
    "expired": (refused("ExpiredTokenException", 403), "sign in"),
    "expired-s3": (refused("ExpiredToken", 400), "sign in"),
    "unknown-key": (refused("UnrecognizedClientException", 403), "sign in"),
    "denied": (refused("AccessDeniedException", 403), ""),
    "failing": (refused("InternalFailure", 500), "again"),
    "html": (refused("502", 502), "again"),
    "no-credentials": (botocore_errors.NoCredentialsError(), "sign in"),
    "sso": (botocore_errors.TokenRetrievalError(provider="sso", error_msg="expired"), "sign in"),
    "profile": (botocore_errors.ProfileNotFound(profile="x"), "correct aws_profile"),
    "config": (botocore_errors.ConfigParseError(path="/x"), "correct the aws configuration file"),
    "unreachable": (botocore_errors.EndpointConnectionError(endpoint_url="https://x"), "network"),
    "slow": (botocore_errors.ReadTimeoutError(endpoint_url="https://x"), "time"),
    "cut": (botocore_errors.ConnectionClosedError(endpoint_url="https://x"), "network"),
    "tls": (botocore_errors.SSLError(endpoint_url="https://x", error="bad cert"), "network"),
    "proxy": (botocore_errors.ProxyConnectionError(proxy_url="http://p"), "network"),
}


ANYWHERE = (
    *("throttled", "expired", "denied", "failing", "no-credentials", "profile"),
    *("unreachable", "slow"),
)
"""Faults that every command is tried with; the others meet one command of each layer."""

LAYERS = ("invoke", "stage", "preflight")
TRIED = [
    (command, fault)
    for command in COMMANDS
    for fault in FAULTS
    if fault in ANYWHERE or command in LAYERS
]


@pytest.mark.parametrize(("command", "fault"), TRIED)
def test_what_aws_refuses_is_a_message_that_says_what_to_do(
    command: str, fault: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    error, advice = FAULTS[fault]

    def refuse(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(BaseClient, "_make_api_call", refuse)
    monkeypatch.setattr("lmi_constructs.runtime.benchmark.require_tool", lambda: None)
    monkeypatch.setattr("lmi_constructs.runtime.benchmark._measured", refuse_to_measure)
    for name, value in (("AWS_DEFAULT_REGION", "us-east-1"), ("AWS_EC2_METADATA_DISABLED", "true")):
        monkeypatch.setenv(name, value)
    places = {
        "MODEL": str(write(tmp_path / "model", model_files())),
        "ASSEMBLY": str(assembly(tmp_path / "cdk.out", {"Llm": (ACCOUNT, template())})),
    }
    done = CliRunner().invoke(lmi, [places.get(part, part) for part in COMMANDS[command]])
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code in (1, 2), done.output
    assert "Traceback" not in done.output
    assert len(done.output) < 8000
    if command != "check":
        assert advice in done.output.lower(), done.output


def test_every_command_that_asks_aws_is_tried() -> None:
    from lmi_constructs.cli._group import _COMMANDS

    needs_none = {"plan", "verdict", "options", "presets", "report", "local"}
    assert json.dumps(sorted(COMMANDS)) == json.dumps(sorted(set(_COMMANDS) - needs_none))
