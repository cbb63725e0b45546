"""Starting, stopping and asking the local AWS from outside."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from click.testing import CliRunner

from lmi_constructs.cli.local import local
from lmi_constructs.local import LocalAws, LocalAwsError

ROOT = Path(__file__).parents[2]


def run(code: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", code, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_the_environment_points_at_the_local_aws_alone(aws: LocalAws) -> None:
    environment = aws.environment()
    assert environment["AWS_ENDPOINT_URL"] == aws.endpoint_url
    assert re.fullmatch(r"http://localhost:\d+", aws.endpoint_url)
    assert environment["CDK_DEFAULT_ACCOUNT"] == "123456789012"
    assert environment["CDK_DEFAULT_REGION"] == environment["AWS_REGION"] == "us-east-1"
    assert environment["AWS_CONFIG_FILE"] == os.devnull
    assert "AWS_PROFILE" not in environment


def test_a_proxy_of_the_users_is_not_asked_for_this_machine(
    aws: LocalAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "NO_PROXY" not in aws.environment()
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "intranet")
    environment = aws.environment()
    assert environment["NO_PROXY"] == environment["no_proxy"] == "intranet,localhost"
    assert aws.client("sagemaker", region="eu-west-3").list_endpoints()["Endpoints"] == []


def test_reset_forgets_everything(aws: LocalAws, deployed: str) -> None:
    aws.reset()
    assert aws.client("sagemaker").list_endpoints()["Endpoints"] == []


def test_regions_are_apart(aws: LocalAws, deployed: str) -> None:
    assert aws.client("sagemaker", region="eu-west-1").list_endpoints()["Endpoints"] == []


@pytest.mark.parametrize(
    ("service", "operation"),
    [
        ("cloudtrail", "lookup_events"),
        ("sagemaker", "list_apps"),
        ("cloudwatch", "list_metric_streams"),
    ],
)
def test_an_operation_moto_lacks_is_an_error_no_tool_repeats(
    aws: LocalAws, service: str, operation: str
) -> None:
    with pytest.raises(ClientError) as caught:
        getattr(aws.client(service), operation)()
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 501
    assert "has not been implemented" in caught.value.response["Error"]["Message"]


@pytest.mark.parametrize("service", ["sagemaker", "cloudformation", "ec2", "sns"])
def test_a_region_that_is_none_is_an_error_no_tool_repeats(aws: LocalAws, service: str) -> None:
    operation = {
        "sagemaker": "list_endpoints",
        "cloudformation": "list_stacks",
        "ec2": "describe_vpcs",
        "sns": "list_topics",
    }[service]
    with pytest.raises(ClientError) as caught:
        getattr(aws.client(service, region="xx-nowhere-1"), operation)()
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 501
    assert "no region xx-nowhere-1 is known" in caught.value.response["Error"]["Message"]


def test_does_not_start_in_a_region_that_is_none() -> None:
    with pytest.raises(
        LocalAwsError, match=r"no region 'us-est-1' is known; did you mean us-\w+-1"
    ):
        LocalAws(region="us-est-1").start()


def test_a_second_local_aws_in_one_process_is_refused(aws: LocalAws) -> None:
    with pytest.raises(LocalAwsError, match="runs in this process already"):
        LocalAws().start()


def test_the_command_says_in_a_line_why_it_cannot_serve() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code = "from lmi_constructs.cli.local import local; local()"
        process = run(code, "--port", str(port))
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert output.startswith(f"Error: the local AWS cannot listen at port {port}: ")
    assert output.endswith("name another port, or 0 to have a free one chosen\n")


def test_the_command_refuses_a_port_that_is_none() -> None:
    result = CliRunner().invoke(local, ["--port", "99999"])
    assert result.exit_code == 2
    assert "99999" in result.output


def test_a_taken_port_is_a_plain_message() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code = (
            "from lmi_constructs.local import LocalAws, LocalAwsError\n"
            f"try: LocalAws({port}).start()\n"
            "except LocalAwsError as error: print(error)\n"
            "LocalAws().start().stop()\n"
        )
        output, _ = run(code).communicate(timeout=60)
    assert f"the local AWS cannot listen at port {port}" in output
    assert "Traceback" not in output


@pytest.fixture
def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_prints_lines_to_paste_and_stops_cleanly(
    monkeypatch: pytest.MonkeyPatch, number: signal.Signals, free_port: int
) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    monkeypatch.setenv("no_proxy", "a, b")
    asked = 0 if number == signal.SIGINT else free_port
    process = run("from lmi_constructs.cli.local import local; local()", "--port", str(asked))
    assert process.stdout is not None
    lines: list[str] = []
    while not any("export no_proxy" in line for line in lines):
        lines.append(process.stdout.readline())
    process.send_signal(number)
    rest, _ = process.communicate(timeout=30)
    found = re.fullmatch(
        r"# Local AWS at (http://localhost:(\d+)), answered by a stub\.\n", lines[0]
    )
    assert found is not None, lines
    port = int(found[2])
    assert port == asked or (asked == 0 and port > 1023)
    assert f"export AWS_ENDPOINT_URL={found[1]}\n" in lines
    assert "export CDK_DEFAULT_ACCOUNT=123456789012\n" in lines
    assert "export no_proxy='a, b,localhost'\n" in lines
    assert process.returncode == 0
    assert "Traceback" not in rest
    with socket.socket() as probe, pytest.raises(ConnectionRefusedError):
        probe.connect(("127.0.0.1", port))


def test_importing_the_room_does_not_import_moto() -> None:
    code = "import sys, lmi_constructs.local; print('moto' in sys.modules)"
    output, _ = run(code).communicate(timeout=60)
    assert output == "False\n"


def test_moto_is_as_before_when_the_local_aws_has_stopped() -> None:
    code = (
        "from moto.cloudformation import models\n"
        "from moto.cloudformation.parsing import get_model_map\n"
        "from moto.sagemaker.models import sagemaker_backends\n"
        "from moto.core.responses import BaseResponse\n"
        "def state(): return BaseResponse.call_action, models.Stack, dict(get_model_map()), sagemaker_backends.backend\n"
        "before = state()\n"
        "from lmi_constructs.local import LocalAws\n"
        "with LocalAws(): assert state() != before\n"
        "print(state() == before)\n"
    )
    output, _ = run(code).communicate(timeout=60)
    assert output == "True\n"


def test_lists_what_is_public() -> None:
    import lmi_constructs.local as room

    for name in room.__all__:
        assert getattr(room, name).__name__ == name
    with pytest.raises(AttributeError, match="nothing"):
        _: Any = room.nothing  # type: ignore[attr-defined]
