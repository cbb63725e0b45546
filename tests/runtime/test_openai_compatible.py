"""OpenAI's own client on an endpoint: plain answers, streams in JSON lines, tokens, mistakes."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from lmi_constructs.runtime import CallerError, RequestError
from lmi_constructs.runtime.openai_compatible import (
    DEFAULT_MODEL,
    BearerToken,
    openai_base_url,
    openai_client,
)

MESSAGES: Any = [{"role": "user", "content": "Hi"}]
LINES = (
    '{"id":"1","object":"chat.completion.chunk","created":1,"model":"lmi","choices":[{"index":0,'
    '"delta":{"content":"안녕"},"finish_reason":null}]}\n\n'
    '{"id":"1","object":"chat.completion.chunk","created":1,"model":"lmi","choices":[{"index":0,'
    '"delta":{"content":" 🦙"},"finish_reason":"stop"}]}\n\n'
).encode()
ANSWER = {
    "id": "1",
    "object": "chat.completion",
    "created": 1,
    "model": "lmi",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop"}
    ],
}


@pytest.fixture
def client(runtime: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("openai")
    monkeypatch.setenv("AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME", runtime.url)
    return openai_client(
        "chat", region="us-east-1", inference_component="base", token=lambda: "a-token"
    )


def test_a_plain_answer_is_read_by_openais_client(runtime: Any, client: Any) -> None:
    runtime.will_answer(ANSWER, **{"Content-Type": "application/json"})
    answer = client.chat.completions.create(model=DEFAULT_MODEL, messages=MESSAGES)
    path, headers, body = runtime.asked[0]
    assert answer.choices[0].message.content == "Hi."
    assert path == "/endpoints/chat/inference-components/base/openai/v1/chat/completions"
    sent = {name.lower(): value for name, value in headers.items()}
    assert sent["authorization"] == "Bearer a-token"
    assert body == {"model": "lmi", "messages": MESSAGES}


def test_a_proxy_of_the_environment_is_asked(runtime: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai")
    monkeypatch.setenv("AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME", "http://runtime.invalid")
    monkeypatch.setenv("http_proxy", runtime.url)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    runtime.will_send(LINES, **{"Content-Type": "application/jsonlines"})
    client = openai_client("chat", region="us-east-1", token=lambda: "a-token")
    stream = client.chat.completions.create(model=DEFAULT_MODEL, messages=MESSAGES, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == "안녕 🦙"
    assert runtime.asked[0][0] == "http://runtime.invalid/endpoints/chat/openai/v1/chat/completions"


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_stream_of_json_lines_is_read_by_openais_client(
    runtime: Any, client: Any, size: int
) -> None:
    parts = [LINES[start : start + size] for start in range(0, len(LINES), size)]
    runtime.will_send(*parts, **{"Content-Type": "application/jsonlines"})
    chunks = list(
        client.chat.completions.create(model=DEFAULT_MODEL, messages=MESSAGES, stream=True)
    )
    assert [chunk.choices[0].delta.content for chunk in chunks] == ["안녕", " 🦙"]


def test_a_stream_of_events_stays_readable(runtime: Any, client: Any) -> None:
    events = b"".join(b"data: " + line + b"\n\n" for line in LINES.split(b"\n\n") if line)
    runtime.will_send(events + b"data: [DONE]\n\n", **{"Content-Type": "text/event-stream"})
    stream = client.chat.completions.create(model=DEFAULT_MODEL, messages=MESSAGES, stream=True)
    assert "".join(chunk.choices[0].delta.content for chunk in stream) == "안녕 🦙"


def test_an_error_inside_a_stream_is_raised_by_openais_client(runtime: Any, client: Any) -> None:
    import openai

    runtime.will_send(LINES + b'{"error": {"message": "out of memory"}}\n')
    stream = client.chat.completions.create(model=DEFAULT_MODEL, messages=MESSAGES, stream=True)
    with pytest.raises(openai.APIError, match="out of memory"):
        list(stream)


@pytest.mark.parametrize(
    ("region", "component", "url"),
    [
        (
            "us-east-1",
            None,
            "https://runtime.sagemaker.us-east-1.amazonaws.com/endpoints/chat/openai/v1",
        ),
        (
            "cn-north-1",
            "base",
            "https://runtime.sagemaker.cn-north-1.amazonaws.com.cn/endpoints/chat"
            "/inference-components/base/openai/v1",
        ),
    ],
)
def test_the_base_url_is_that_of_the_region(
    monkeypatch: pytest.MonkeyPatch, region: str, component: str | None, url: str
) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    assert openai_base_url("chat", region=region, inference_component=component) == url


def test_what_no_endpoint_can_be_named_makes_no_url() -> None:
    with pytest.raises(RequestError, match="is no name of an endpoint"):
        openai_base_url("arn:aws:sagemaker:us-east-1:123456789012:endpoint/chat")


class Generator:
    """Stands for sagemaker-core's generator, which is a large package."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def generate_token(self, region: str, **options: Any) -> str:
        self.calls.append((region, options))
        if region == "eu-west-1":
            raise RuntimeError("No AWS credentials found. Check your environment.")
        return f"token-{len(self.calls)}"


def test_a_token_is_kept_for_minutes_and_then_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    from lmi_constructs.runtime import openai_compatible

    now, generator = [0.0], Generator()
    monkeypatch.setitem(sys.modules, "sagemaker", Generator())
    monkeypatch.setitem(sys.modules, "sagemaker.core", Generator())
    monkeypatch.setitem(sys.modules, "sagemaker.core.token_generator", generator)
    monkeypatch.setattr(openai_compatible.time, "monotonic", lambda: now[0])
    token = BearerToken("us-east-1")
    assert (token(), token()) == ("token-1", "token-1")
    now[0] = 301
    assert token() == "token-2"
    assert generator.calls[0][0] == "us-east-1"
    with pytest.raises(CallerError, match="sign in to AWS"):
        BearerToken("eu-west-1")()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(CallerError, match=r"lmi-constructs\[openai\]"):
        openai_client("chat", region="us-east-1")


def test_the_kept_generator_makes_a_bearer_token(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sagemaker.core.token_generator")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    assert BearerToken("us-east-1")().startswith("sagemaker-api-key-")
