"""Calls through boto3's real parsing: what is sent, and what comes back."""

from __future__ import annotations

import itertools
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lmi_constructs.runtime import (
    AnswerError,
    ChatRequest,
    ContainerError,
    Finished,
    LmiClient,
    MalformedStreamError,
    ReasoningDelta,
    Request,
    RequestError,
    Routing,
    StreamInterruptedError,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    Usage,
)
from tests.runtime.support import CHAT, LINES


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


def test_what_is_nested_too_deeply_for_json_is_a_text(runtime: Any, client: LmiClient) -> None:
    runtime.will_say(b"[" * 100_000)
    answer = client.send(Request({"inputs": "x"}))
    assert answer.text == "[" * 100_000
    with pytest.raises(AnswerError, match="nested too deeply"):
        answer.json()
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(RequestError, match="cannot be written as JSON"):
        Request({"inputs": deep})


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
        (lambda c: c.chat(["a role-play"]), "role"),
        (lambda c: c.chat([1]), "role"),
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


def test_a_stream_ends_only_with_its_last_answer(runtime: Any, client: LmiClient) -> None:
    first = b'{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n'
    second = b'{"choices":[{"index":1,"delta":{"content":"b"}}]}\n'
    ended = b'{"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}\n'
    runtime.will_stream(second, first)
    with pytest.raises(StreamInterruptedError, match="had not finished"):
        client.stream_chat("Hi", n=2).read()
    runtime.will_stream(second, first, ended)
    answer = client.stream_chat("Hi", n=2).read()
    assert [(choice.text, choice.finish_reason) for choice in answer.choices] == [
        ("a", "stop"),
        ("b", "stop"),
    ]


def test_text_that_should_be_json_says_why_it_is_not(runtime: Any, client: LmiClient) -> None:
    runtime.will_answer({"choices": [{"message": {"content": "Sure!"}, "finish_reason": "length"}]})
    with pytest.raises(AnswerError, match=r"finish reason length.*response_format"):
        client.chat("Hi").json()


def test_requests_of_the_same_body_are_equal() -> None:
    chat = ChatRequest("Hi", max_tokens=1)
    same = Request({"max_tokens": 1, "messages": [{"content": "Hi", "role": "user"}]})
    assert chat == same
    assert {chat: "answer"}[same] == "answer"
