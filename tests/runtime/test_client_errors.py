"""Errors of calls: each says what happened, and what to do."""

from __future__ import annotations

from typing import Any

import pytest

from lmi_constructs.runtime import (
    CallerError,
    ComponentError,
    ConnectionFailedError,
    ContainerError,
    EndpointNotFoundError,
    InvocationTimeoutError,
    LmiClient,
    LmiRuntimeError,
    NotReadyError,
    OutOfMemoryError,
    OverloadedError,
    RefusedError,
    RequestError,
    StreamInterruptedError,
    ThrottledError,
)
from tests.runtime.support import CHAT, LINES


@pytest.mark.parametrize(
    ("line", "kind", "advice"),
    [
        (b'{"error": "CUDA out of memory", "code": 424}\n', OutOfMemoryError, "max_model_len"),
        (
            b'{"error": {"message": "maximum context length is 10", "code": 400}}\n',
            RefusedError,
            "shorten the prompt",
        ),
        (b'{"object": "error", "message": "gone", "code": 424}\n', RefusedError, "correct"),
        (
            b'{"token": {"id": -1, "text": ""}, "generated_text": "", '
            b'"details": {"finish_reason": "error"}}\n',
            ContainerError,
            "lmi diagnose",
        ),
    ],
)
def test_an_error_inside_a_stream_is_raised_after_what_came_before(
    runtime: Any, client: LmiClient, line: bytes, kind: type[Exception], advice: str
) -> None:
    runtime.will_stream(b'{"choices":[{"index":0,"delta":{"content":"A"}}]}\n' + line)
    stream = client.stream_chat("Hi")
    text = stream.text()
    assert next(text) == "A"
    with pytest.raises(kind, match=advice):
        next(text)
    assert stream.answer.text == "A"


def test_an_error_inside_a_plain_answer_is_raised(runtime: Any, client: LmiClient) -> None:
    runtime.will_answer({"error": "no such thing", "code": 424})
    with pytest.raises(RefusedError, match="no such thing"):
        client.chat("Hi")


@pytest.mark.parametrize(
    ("members", "kind"),
    [
        (("InternalStreamFailure", {"Message": "unknown"}), StreamInterruptedError),
        (
            ("ModelStreamError", {"Message": "reset", "ErrorCode": "StreamBroken"}),
            StreamInterruptedError,
        ),
        (
            (
                "ModelStreamError",
                {
                    "Message": "failed to finish sending the response within the timeout period",
                    "ErrorCode": "ModelInvocationTimeExceeded",
                },
            ),
            InvocationTimeoutError,
        ),
    ],
)
def test_the_services_own_stream_errors_are_raised(
    runtime: Any, client: LmiClient, stream_error: Any, members: Any, kind: type[Exception]
) -> None:
    name, fields = members
    runtime.will_stream(LINES[:200], error=stream_error(name, **fields))
    with pytest.raises(kind, match=fields["Message"]):
        client.stream_chat("Hi").read()


@pytest.mark.parametrize("cut", [1, 20, 10_000])
def test_a_broken_connection_is_an_incomplete_answer(
    runtime: Any, client: LmiClient, cut: int
) -> None:
    runtime.will_stream(LINES[:200], LINES[200:], cut_bytes=min(cut, len(LINES) - 190))
    with pytest.raises(StreamInterruptedError, match="incomplete"):
        client.stream_chat("Hi").read()


@pytest.mark.parametrize("parts", [(), (LINES[:120],), (b"\n\n",)])
def test_a_stream_that_ends_before_the_model_had_finished_is_no_answer(
    runtime: Any, client: LmiClient, parts: tuple[bytes, ...]
) -> None:
    whole = tuple(part[: part.rfind(b"\n") + 1] for part in parts)
    runtime.will_stream(*(whole or (b"",)))
    with pytest.raises(StreamInterruptedError, match="had not finished"):
        client.stream_chat("Hi").read()


def test_a_slow_stream_beyond_the_read_timeout_says_so(runtime: Any) -> None:
    runtime.will_stream(*LINES.splitlines(keepends=True), pause_seconds=1)
    client = LmiClient("chat", client=runtime.client(read_timeout=0.3))
    with pytest.raises((ConnectionFailedError, StreamInterruptedError)):
        client.stream_chat("Hi").read()


TIMED_OUT = (
    "Your invocation timed out while waiting for a response from container primary. Review the "
    "latency metrics for each container in Amazon CloudWatch, resolve the issue, and try again."
)


@pytest.mark.parametrize(
    ("status", "text", "kind", "advice"),
    [
        (0, TIMED_OUT, InvocationTimeoutError, "stream the answer"),
        (
            424,
            '{"error": "Input parsing failed: unhashable type: \'list\'", "code": 424}',
            RefusedError,
            "one name as a text",
        ),
        (
            424,
            "Input parsing failed: LoRA adapter x not found in registry. Available adapters: []",
            RefusedError,
            "adapters/",
        ),
        (404, '{"message": "The model `gpt-4` does not exist."}', RefusedError, "'lmi'"),
        (413, "Request entity is too large", RefusedError, "6291456"),
        (422, "unknown", RefusedError, "does not accept"),
        (
            424,
            "EngineCore encountered an issue. See stack trace (above) for the root cause.",
            ContainerError,
            "the engine has stopped",
        ),
        (503, "No worker is available to serve request", OverloadedError, "add instances"),
        (507, "", OutOfMemoryError, "max_rolling_batch_size"),
        (500, "Traceback", ContainerError, "lmi diagnose"),
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_an_error_of_the_container_says_what_to_do(
    runtime: Any,
    client: LmiClient,
    status: int,
    text: str,
    kind: type[ContainerError],
    advice: str,
    streamed: bool,
) -> None:
    runtime.will_fail(
        "ModelError",
        424,
        Message=f'Received error ({status}) from primary with message "{text}".',
        OriginalStatusCode=status,
        OriginalMessage=text,
        LogStreamArn="arn:aws:logs:us-east-1:1:log-group:x",
    )
    with pytest.raises(kind, match=advice) as raised:
        client.stream_chat("Hi") if streamed else client.chat("Hi")
    assert type(raised.value) is kind
    assert raised.value.status == status
    assert raised.value.log_stream == "arn:aws:logs:us-east-1:1:log-group:x"
    assert len(runtime.asked) == 1


@pytest.mark.parametrize(
    ("code", "status", "message", "kind", "attempts"),
    [
        ("ValidationError", 400, "Endpoint x of account 1 not found.", EndpointNotFoundError, 1),
        (
            "ValidationError",
            400,
            "Inference Component Name header is required for endpoints to which you plan to deploy "
            "inference components.",
            ComponentError,
            1,
        ),
        ("ValidationError", 400, "Inference Component y not found on x.", ComponentError, 1),
        ("ValidationError", 400, "Something else", RequestError, 1),
        ("ModelNotReadyException", 429, "loading", NotReadyError, 1),
        ("ThrottlingException", 400, "Rate exceeded", ThrottledError, 3),
        ("AccessDeniedException", 403, "not authorized to perform", CallerError, 1),
        ("ExpiredTokenException", 403, "expired", CallerError, 1),
        ("ServiceUnavailable", 503, "later", LmiRuntimeError, 3),
    ],
)
def test_an_error_of_the_service_says_what_to_do(
    runtime: Any, client: LmiClient, code: str, status: int, message: str, kind: Any, attempts: int
) -> None:
    for _ in range(attempts):
        runtime.will_fail(code, status, Message=message)
    with pytest.raises(kind, match=message[:20]):
        client.chat("Hi")
    assert len(runtime.asked) == attempts


def test_a_throttled_call_is_repeated_by_botocore(runtime: Any, client: LmiClient) -> None:
    runtime.will_fail("ThrottlingException", 400, Message="Rate exceeded")
    runtime.will_answer(CHAT)
    assert client.chat("Hi").finish_reason == "stop"


def test_a_service_that_cannot_be_reached_is_named() -> None:
    import boto3
    from botocore.config import Config

    client = boto3.client(
        "sagemaker-runtime",
        endpoint_url="http://127.0.0.1:9",
        region_name="us-east-1",
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
        config=Config(retries={"total_max_attempts": 1}),
    )
    with pytest.raises(ConnectionFailedError, match="check the region, the network"):
        LmiClient("chat", client=client).chat("Hi")


@pytest.mark.parametrize("name", ["", "a/b", "arn:aws:sagemaker:us-east-1:1:endpoint/x", "x" * 64])
def test_refuses_what_no_endpoint_can_be_named(runtime: Any, name: str) -> None:
    with pytest.raises(RequestError, match="give the name alone"):
        LmiClient(name, client=runtime.client())


def test_no_region_is_the_callers_to_mend(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(CallerError, match="--region"):
        LmiClient("chat")
