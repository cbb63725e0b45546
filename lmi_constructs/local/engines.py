"""What answers an invocation of a local endpoint: a stub, or a server the user runs.

The stub speaks the request schemas of the LMI container and says in every answer that no model ran.
A server is called as SageMaker calls a container: POST /invocations.
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, Protocol

from lmi_constructs.local.errors import LocalAwsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

JSON = "application/json"
JSON_LINES = "application/jsonlines"

BAD_PAYLOAD_STATUS = 424
"""How the container answers a body it cannot use (djl-serving, lmi_vllm/vllm_async_service.py)."""

DEFAULT_NEW_TOKENS = 30
"""Default of `max_new_tokens` for `inputs` bodies (lmi_vllm/request_response_utils.py)."""


@dataclass(frozen=True)
class Invocation:
    """One call that reached a container.

    Attributes:
        body: Request body.
        headers: Headers that SageMaker passes on.
        endpoint_name: Endpoint that was called.
        deployed_with: What the container was deployed with, in words.
    """

    body: bytes
    headers: dict[str, str]
    endpoint_name: str
    deployed_with: str


@dataclass(frozen=True)
class Reply:
    """What the container answers; `chunks` are sent on as they come."""

    status: int
    content_type: str
    chunks: Iterable[bytes] = field(repr=False)

    def read(self) -> bytes:
        """Return the whole body."""
        return b"".join(self.chunks)


class Engine(Protocol):
    """Something that answers invocations."""

    def invoke(self, invocation: Invocation) -> Reply:
        """Answer one call."""


class ForwardingEngine:
    """Passes every call on to a server such as a container on this machine.

    Args:
        url: Address of the server, such as `http://127.0.0.1:8080`.
        timeout_seconds: How long to wait for the server; by default as long as InvokeEndpoint does.

    Raises:
        LocalAwsError: If the address is none.
    """

    def __init__(self, url: str, *, timeout_seconds: float = 60) -> None:
        if not url.startswith(("http://", "https://")):
            raise LocalAwsError(
                f"the engine {url!r} is no address of a server; write one such as "
                "http://127.0.0.1:8080"
            )
        self._url = f"{url.rstrip('/')}/invocations"
        self._timeout_seconds = timeout_seconds

    def invoke(self, invocation: Invocation) -> Reply:
        """Send the call on and stream the answer back."""
        request = urllib.request.Request(  # noqa: S310 (the user names the server)
            self._url, data=invocation.body, headers=invocation.headers, method="POST"
        )
        try:
            answer = urllib.request.urlopen(request, timeout=self._timeout_seconds)  # noqa: S310
        except urllib.error.HTTPError as error:
            return Reply(error.code, error.headers.get_content_type(), [error.read()])
        except (OSError, HTTPException) as error:  # the latter of what speaks no HTTP
            text = f"the server behind the local endpoint cannot be reached at {self._url}: {error}"
            return Reply(503, "text/plain", [text.encode()])
        return Reply(answer.status, answer.headers.get("Content-Type", JSON), _chunks(answer))


class StubEngine:
    """Answers in the container's schemas without any model, and says so."""

    def invoke(self, invocation: Invocation) -> Reply:
        """Answer one call by the first schema that its body matches."""
        try:
            body = json.loads(invocation.body)
        except ValueError as error:
            return _bad_payload(f"the body is no JSON: {error}")
        if not isinstance(body, dict):
            return _bad_payload("the body is no JSON object")
        for key, schema in SCHEMAS.items():
            if key in body:
                try:
                    return _answer(schema, body, _stub_words(invocation, body, key))
                except (
                    ArithmeticError,
                    AttributeError,
                    LookupError,
                    TypeError,
                    ValueError,
                ) as error:
                    return _bad_payload(f"{key} body is malformed: {error}")
        return _bad_payload(f"the body needs one of {', '.join(SCHEMAS)}")


@dataclass(frozen=True)
class _Stub:
    """A stub's answer: the words it gives, and why it stopped."""

    prompt: str
    words: list[str]
    stopped: str

    @property
    def text(self) -> str:
        return " ".join(self.words)

    @property
    def pieces(self) -> list[str]:
        return [word if number == 0 else f" {word}" for number, word in enumerate(self.words)]

    @property
    def usage(self) -> dict[str, int]:
        """Counts of words: there is no tokenizer here."""
        prompt, answer = len(self.prompt.split()), len(self.words)
        return {
            "prompt_tokens": prompt,
            "completion_tokens": answer,
            "total_tokens": prompt + answer,
        }


class _Schema(Protocol):
    def limit(self, body: dict[str, Any]) -> int | None: ...

    def whole(self, body: dict[str, Any], stub: _Stub) -> dict[str, Any]: ...

    def parts(self, body: dict[str, Any], stub: _Stub) -> Iterator[dict[str, Any]]: ...


class _OpenAi:
    """Chat completions and completions, as vLLM writes them."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def limit(self, body: dict[str, Any]) -> int | None:
        limit = body.get("max_completion_tokens", body.get("max_tokens"))
        return None if limit is None else int(limit)

    def whole(self, body: dict[str, Any], stub: _Stub) -> dict[str, Any]:
        message = {"role": "assistant", "content": stub.text}
        content = {"message": message} if self._is_chat else {"text": stub.text}
        choice = {"index": 0, **content, "logprobs": None, "finish_reason": stub.stopped}
        return {**self._head(body, ""), "choices": [choice], "usage": stub.usage}

    def parts(self, body: dict[str, Any], stub: _Stub) -> Iterator[dict[str, Any]]:
        head = self._head(body, ".chunk" if self._is_chat else "")
        last = len(stub.pieces) - 1
        for number, piece in enumerate(stub.pieces):
            role = {"role": "assistant"} if number == 0 else {}
            content = {"delta": {**role, "content": piece}} if self._is_chat else {"text": piece}
            reason = stub.stopped if number == last else None
            yield {**head, "choices": [{"index": 0, **content, "finish_reason": reason}]}
        if (body.get("stream_options") or {}).get("include_usage"):
            yield {**head, "choices": [], "usage": stub.usage}

    @property
    def _is_chat(self) -> bool:
        return self._kind == "chat.completion"

    def _head(self, body: dict[str, Any], suffix: str) -> dict[str, Any]:
        return {
            "id": "local-stub",
            "object": f"{self._kind}{suffix}",
            "created": int(time.time()),
            "model": body.get("model", "lmi"),
        }


class _Tgi:
    """`inputs` and `parameters`, answered with `generated_text`."""

    def limit(self, body: dict[str, Any]) -> int | None:
        return int(self._parameters(body).get("max_new_tokens", DEFAULT_NEW_TOKENS))

    def whole(self, body: dict[str, Any], stub: _Stub) -> dict[str, Any]:
        parameters = self._parameters(body)
        start = stub.prompt if parameters.get("return_full_text") else ""
        answer: dict[str, Any] = {"generated_text": f"{start}{stub.text}"}
        if parameters.get("details"):
            tokens = [_token(number, piece) for number, piece in enumerate(stub.pieces)]
            answer["details"] = {**self._details(stub), "prefill": [], "tokens": tokens}
        return answer

    def parts(self, body: dict[str, Any], stub: _Stub) -> Iterator[dict[str, Any]]:
        last = len(stub.pieces) - 1
        wants_details = self._parameters(body).get("details")
        for number, piece in enumerate(stub.pieces):
            ends = number == last
            yield {
                "index": number,
                "token": _token(number, piece),
                "generated_text": stub.text if ends else None,
                "details": self._details(stub) if ends and wants_details else None,
            }

    @staticmethod
    def _parameters(body: dict[str, Any]) -> dict[str, Any]:
        return body.get("parameters") or {}

    @staticmethod
    def _details(stub: _Stub) -> dict[str, Any]:
        return {
            "finish_reason": stub.stopped,
            "generated_tokens": len(stub.words),
            "seed": None,
        }


SCHEMAS: dict[str, _Schema] = {
    "prompt": _OpenAi("text_completion"),
    "inputs": _Tgi(),
    "messages": _OpenAi("chat.completion"),
}
"""Schemas by the key that selects them; the first one found in a body wins."""


def _answer(schema: _Schema, body: dict[str, Any], stub_words: tuple[str, list[str]]) -> Reply:
    prompt, words = stub_words
    limit = schema.limit(body)
    if limit is not None and limit < 1:
        raise ValueError(f"at least 1 token must be asked for, not {limit}")
    cut = limit is not None and limit < len(words)
    stub = _Stub(prompt, words[:limit] if cut else words, "length" if cut else "stop")
    if body.get("stream"):
        parts = list(schema.parts(body, stub))
        return Reply(200, JSON_LINES, [f"{json.dumps(part)}\n".encode() for part in parts])
    return Reply(200, JSON, [json.dumps(schema.whole(body, stub)).encode()])


def _stub_words(invocation: Invocation, body: dict[str, Any], key: str) -> tuple[str, list[str]]:
    text = _prompt_text(body[key])
    answer = (
        f"Local stub of endpoint {invocation.endpoint_name}: no model ran. "
        f"Deployed with {invocation.deployed_with}. The prompt has {len(text)} characters."
    )
    form = body.get("response_format")
    if isinstance(form, dict) and form.get("type") in ("json_object", "json_schema"):
        wanted = (form.get("json_schema") or {}).get("schema") or {}
        answer = json.dumps(_instance(wanted, "Local stub: no model ran."))
    return text, answer.split(" ")


def _instance(schema: dict[str, Any], text: str) -> Any:
    """Return the smallest value of a plain JSON schema, with a text where one is asked for."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "object")
    if kind == "object":
        properties = schema.get("properties") or {}
        names = schema.get("required") or list(properties)
        return {name: _instance(properties.get(name) or {"type": "string"}, text) for name in names}
    simple = {"string": text, "integer": 0, "number": 0.0, "boolean": False, "array": []}
    return simple.get(str(kind))


def _prompt_text(prompt: object) -> str:
    """Return a prompt's text.

    Raises:
        TypeError: If it is neither text nor a list of chat messages.
    """
    if isinstance(prompt, str):
        return prompt
    if not isinstance(prompt, list) or not prompt:
        raise TypeError("expected text or a list of messages")
    contents = []
    for message in prompt:
        if not isinstance(message, dict) or "role" not in message:
            raise TypeError("every message needs a role and a content")
        contents.append(str(message.get("content", "")))
    return "\n".join(contents)


def _token(number: int, text: str) -> dict[str, Any]:
    return {"id": number, "text": text, "logprob": 0.0}


def _bad_payload(text: str) -> Reply:
    return Reply(BAD_PAYLOAD_STATUS, JSON, [json.dumps({"error": text}).encode()])


def _chunks(answer: Any) -> Iterator[bytes]:
    with answer:
        while chunk := answer.read1(65536):
            yield chunk
