"""Calls through boto3's real parsing: what is sent, what comes back, what is raised."""

from __future__ import annotations

import itertools
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lmi_constructs.runtime import (
    AnswerError,
    CallerError,
    ChatRequest,
    ComponentError,
    ConnectionFailedError,
    ContainerError,
    EndpointNotFoundError,
    Finished,
    InvocationTimeoutError,
    LmiClient,
    LmiRuntimeError,
    MalformedStreamError,
    NotReadyError,
    OutOfMemoryError,
    OverloadedError,
    ReasoningDelta,
    RefusedError,
    Request,
    RequestError,
    Routing,
    StreamInterruptedError,
    TextDelta,
    ThrottledError,
    ToolCall,
    ToolCallDelta,
    Usage,
)

CHAT = {
    "object": "chat.completion",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": '{"city": "서울"}',
                "reasoning_content": "Hm.",
                "tool_calls": [
                    {"id": "c1", "function": {"name": "look", "arguments": '{"at": 1}'}}
                ],
            },
            "finish_reason": "stop",
        }
    ],
    "usage": {
        "prompt_tokens": 7,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 4},
    },
}
LINES = (
    '{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n'
    '{"choices":[{"index":0,"delta":{"reasoning":"음"}}]}\n'
    '{"choices":[{"index":0,"delta":{"content":"안녕"}}]}\n'
    '{"choices":[{"index":0,"delta":{"content":" 🦙"},"finish_reason":"stop"}]}\n'
    '{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\n'
).encode()


def test_a_chat_is_sent_as_openai_messages(runtime: Any, client: LmiClient) -> None:
    runtime.will_answer(CHAT, **{"x-Amzn-Invoked-Production-Variant": "AllTraffic"})
    answer = client.chat("Where?", max_tokens=20, extra={"some_new_key": 1})
    path, headers, body = runtime.asked[0]
    assert path == "/endpoints/chat/invocations"
    assert headers["Content-Type"] == "application/json"
    assert body == {
        "messages": [{"role": "user", "content": "Where?"}],
        "max_tokens": 20,
        "some_new_key": 1,
    }
    assert answer.json() == {"city": "서울"}
    assert (answer.reasoning, answer.finish_reason, answer.variant) == ("Hm.", "stop", "AllTraffic")
    assert answer.usage == Usage(7, 5, 4)
    assert answer.tool_calls == (ToolCall("c1", "look", '{"at": 1}'),)
    assert answer.tool_calls[0].parsed() == {"at": 1}


def test_a_completion_is_sent_as_a_prompt(runtime: Any, client: LmiClient) -> None:
    choices = [{"index": n, "text": f"answer {n}", "finish_reason": "length"} for n in (0, 1)]
    runtime.will_answer({"choices": choices})
    answer = client.complete("Once", n=2, temperature=0)
    assert runtime.asked[0][2] == {"prompt": "Once", "n": 2, "temperature": 0}
    assert [choice.text for choice in answer.choices] == ["answer 0", "answer 1"]


@pytest.mark.parametrize("as_list", [False, True])
def test_inputs_are_sent_in_tgis_schema(runtime: Any, client: LmiClient, as_list: bool) -> None:
    body = {
        "generated_text": " upon",
        "details": {"finish_reason": "length", "generated_tokens": 2},
    }
    runtime.will_answer([body] if as_list else body)
    answer = client.generate("Once", max_new_tokens=2, details=True)
    assert runtime.asked[0][2] == {
        "inputs": "Once",
        "parameters": {"max_new_tokens": 2, "details": True},
    }
    assert (answer.text, answer.finish_reason, answer.usage) == (" upon", "length", Usage(None, 2))


def test_embeddings_come_as_vectors(runtime: Any, client: LmiClient) -> None:
    runtime.will_answer([[0.5, 1], [0, 0]])
    assert client.embed(["a", "b"]) == [[0.5, 1], [0, 0]]
    assert runtime.asked[0][2] == {"inputs": ["a", "b"]}
    runtime.will_answer({"generated_text": "x"})
    with pytest.raises(ContainerError, match="text-embedding"):
        client.embed("a")


def test_what_a_custom_formatter_writes_is_the_text(runtime: Any, client: LmiClient) -> None:
    runtime.will_answer("plain words")
    assert client.send(Request({"inputs": "x"})).text == "plain words"


def test_routing_is_sent_in_headers_and_the_adapter_as_one_name(
    runtime: Any, client: LmiClient
) -> None:
    runtime.will_answer(CHAT)
    routed = client.using(
        inference_component="base", session_id="s1", prefix_id="tenant 1", target_variant="Blue"
    ).using(adapter="legal")
    routed.chat("Hi")
    _, headers, body = runtime.asked[0]
    assert headers["X-Amzn-SageMaker-Inference-Component"] == "base"
    assert headers["X-Amzn-SageMaker-Session-Id"] == "s1"
    assert headers["X-Amzn-SageMaker-Prefix-Aware-Id"] == "tenant 1"
    assert headers["X-Amzn-SageMaker-Target-Variant"] == "Blue"
    assert body["adapters"] == "legal"
    assert client.routing == Routing()


@pytest.mark.parametrize("adapters", [["legal"], "", 3])
def test_refuses_adapters_that_are_not_one_name(client: LmiClient, adapters: Any) -> None:
    with pytest.raises(RequestError, match="424"):
        client.chat("Hi", extra={"adapters": adapters})


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (lambda c: c.chat("Hi", max_token=3), "did you mean max_tokens"),
        (lambda c: c.generate("Hi", max_tokens=3), r"extra=\{'max_tokens'"),
        (lambda c: c.chat([]), "role"),
        (lambda c: c.chat([{"content": "Hi"}]), "role"),
        (lambda c: c.chat("Hi", temperature=float("nan")), "JSON"),
        (lambda c: c.chat("Hi", stop={"a"}), "JSON"),
        (lambda c: c.submit(), "either a request or"),
        (lambda c: c.submit(Request({"inputs": "x" * 130_000})), "input_location"),
    ],
)
def test_refuses_a_request_that_would_fail_or_mean_something_else(
    client: LmiClient, runtime: Any, call: Any, advice: str
) -> None:
    with pytest.raises(RequestError, match=advice):
        call(client)
    assert runtime.asked == []


def test_a_session_is_opened_used_and_closed(runtime: Any, client: LmiClient) -> None:
    expiry = "id-1; Expires=2026-12-01T12:00:00Z"
    runtime.will_answer({"result": "created"}, **{"X-Amzn-SageMaker-New-Session-Id": expiry})
    runtime.will_answer(CHAT)
    runtime.will_answer({"result": "closed"})
    with client.session() as session:
        session.chat("Hi")
    sent = [(h["X-Amzn-SageMaker-Session-Id"], b.get("requestType")) for _, h, b in runtime.asked]
    assert sent == [("NEW_SESSION", "NEW_SESSION"), ("id-1", None), ("id-1", "CLOSE")]


def test_a_session_is_closed_after_an_error_and_the_error_stays(
    runtime: Any, client: LmiClient
) -> None:
    expiry = "id-1; Expires=2026-12-01T12:00:00Z"
    runtime.will_answer({"result": "created"}, **{"X-Amzn-SageMaker-New-Session-Id": expiry})
    runtime.will_answer({"error": "session expired", "code": 424})
    with pytest.raises(ZeroDivisionError), client.session():
        raise ZeroDivisionError
    assert runtime.asked[-1][2] == {"requestType": "CLOSE"}


def test_says_that_sessions_are_not_enabled(runtime: Any, client: LmiClient) -> None:
    runtime.will_answer({"result": "?"})
    with pytest.raises(ContainerError, match="enable_stateful_sessions"), client.session():
        pass


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, len(LINES)), max_size=12), st.booleans())
def test_a_stream_reads_the_same_wherever_it_is_cut(
    runtime: Any, client: LmiClient, places: list[int], events: bool
) -> None:
    data = LINES
    if events:
        lines = [b"data: " + line for line in LINES.split(b"\n") if line]
        data = b"\r\n\r\n".join([*lines, b"data: [DONE]\r\n\r\n"])
    ends = sorted({0, len(data), *places})
    runtime.will_stream(*(data[a:b] for a, b in itertools.pairwise(ends)))
    with client.stream_chat("Hi") as stream:
        assert list(stream) == [
            ReasoningDelta("음"),
            TextDelta("안녕"),
            TextDelta(" 🦙"),
            Finished("stop"),
            Usage(3, 2),
        ]
    answer = stream.answer
    assert (answer.text, answer.reasoning, answer.finish_reason) == ("안녕 🦙", "음", "stop")
    assert answer.variant == "AllTraffic"


def test_a_streamed_chat_asks_for_its_usage(runtime: Any, client: LmiClient) -> None:
    runtime.will_stream(LINES)
    assert client.stream_chat("Hi").read().usage == Usage(3, 2)
    path, _, body = runtime.asked[0]
    assert path == "/endpoints/chat/invocations-response-stream"
    assert (body["stream"], body["stream_options"]) == (True, {"include_usage": True})


def test_tool_calls_are_put_together_from_their_pieces(runtime: Any, client: LmiClient) -> None:
    runtime.will_stream(
        b'{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1",'
        b'"function":{"name":"look","arguments":""}}]}}]}\n'
        b'{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,'
        b'"function":{"arguments":"{\\"at\\""}}]}}]}\n'
        b'{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,'
        b'"function":{"arguments":": 1}"}}]},"finish_reason":"tool_calls"}]}\n'
    )
    stream = client.stream_chat("Hi", tools=[])
    assert next(iter(stream)) == ToolCallDelta(0, "c1", "look", "")
    assert stream.read().tool_calls == (ToolCall("c1", "look", '{"at": 1}'),)


def test_tgis_stream_gives_text_usage_and_reason(runtime: Any, client: LmiClient) -> None:
    runtime.will_stream(
        b'{"index":0,"token":{"id":1,"text":"A"},"generated_text":null,"details":null}\n',
        b'{"index":0,"token":{"id":2,"text":"","special_token":true},"generated_text":"A",'
        b'"details":{"finish_reason":"length","generated_tokens":2,"input_length":5}}\n',
    )
    stream = client.stream_generate("x", details=True)
    assert list(stream) == [TextDelta("A"), Usage(5, 2), Finished("length")]
    assert "stream_options" not in runtime.asked[0][2]


def test_text_arrives_while_the_model_still_writes(runtime: Any, client: LmiClient) -> None:
    runtime.will_stream(*LINES.splitlines(keepends=True), pause_seconds=0.1)
    started = time.monotonic()
    with client.stream_chat("Hi") as stream:
        assert next(stream.text()) == "안녕"
        assert time.monotonic() - started < 0.55


def test_a_stream_of_another_form_can_be_read_as_bytes(runtime: Any, client: LmiClient) -> None:
    runtime.will_stream(b"plain ", b"words")
    assert list(client.stream_chat("Hi").bytes()) == [b"plain ", b"words"]
    runtime.will_stream(b"plain words\n")
    with pytest.raises(MalformedStreamError, match=r"bytes\(\)"):
        client.stream_chat("Hi").read()


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
    with pytest.raises(ConnectionFailedError, match="check the network"):
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


def test_text_that_should_be_json_says_why_it_is_not(runtime: Any, client: LmiClient) -> None:
    runtime.will_answer({"choices": [{"message": {"content": "Sure!"}, "finish_reason": "length"}]})
    with pytest.raises(AnswerError, match=r"finish reason length.*response_format"):
        client.chat("Hi").json()


def test_requests_of_the_same_body_are_equal() -> None:
    assert ChatRequest("Hi", max_tokens=1) == Request(
        {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
    )
