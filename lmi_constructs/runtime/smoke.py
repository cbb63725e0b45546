"""A smoke test of a running endpoint: does every way to call it answer?"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from lmi_constructs.runtime.answers import AnswerError
from lmi_constructs.runtime.errors import (
    CallerError,
    ComponentError,
    ConnectionFailedError,
    EndpointNotFoundError,
    LmiRuntimeError,
    NotReadyError,
    RefusedError,
)
from lmi_constructs.runtime.readiness import component_state, endpoint_state
from lmi_constructs.runtime.requests import ChatRequest, CompletionRequest, GenerationRequest
from lmi_constructs.runtime.stream_events import ReasoningDelta, TextDelta

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from lmi_constructs.runtime.answers import Answer
    from lmi_constructs.runtime.client import LmiClient
    from lmi_constructs.runtime.requests import Request

Status = Literal["passed", "failed", "skipped"]

_PROMPT: Final = "Say hello in one short sentence."
_UNKNOWN_ADAPTER: Final = "lmi-smoke-no-such-adapter"
_STRUCTURED_TOKENS: Final = 200  # enough to close the JSON object below
_SCHEMA: Final = {
    "type": "object",
    "properties": {"greeting": {"type": "string"}},
    "required": ["greeting"],
    "additionalProperties": False,
}

_POINTLESS_AFTER: Final = (
    CallerError,
    ComponentError,
    ConnectionFailedError,
    EndpointNotFoundError,
    NotReadyError,
)
"""What would fail every other check in the same way."""

CHECKS: Final = (
    "readiness",
    "chat",
    "completion",
    "inputs",
    "streamed-chat",
    "streamed-completion",
    "streamed-inputs",
    "structured-output",
)
"""Names of the checks that are always made; adapters add their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One check.

    Attributes:
        name: Name of the check.
        status: Whether it passed; `skipped` if it was left out or had no point any more.
        seconds: How long it took.
        first_text_seconds: How long the first text of a stream took, from the call.
        detail: What was seen, or what went wrong and what to do.
    """

    name: str
    status: Status
    seconds: float
    detail: str
    first_text_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a check that passed has seen."""

    detail: str
    first_text_seconds: float | None = None


_Check: TypeAlias = Callable[[], _Seen]


def smoke_test(
    client: LmiClient,
    *,
    sagemaker: Any,
    adapters: Sequence[str] = (),
    skip: Collection[str] = (),
    max_tokens: int = 32,
) -> Iterator[CheckResult]:
    """Try every way to call an endpoint, and yield each result as it comes.

    Checked are readiness, the container's three schemas, the same streamed, and structured output;
    with adapters also that each answers, and that an unknown one is refused instead of being
    answered by the base model.

    Args:
        client: Client of the endpoint.
        sagemaker: A boto3 client of `sagemaker`, for readiness.
        adapters: Names of LoRA adapters that must answer.
        skip: Names of checks to leave out; a base model without a chat template has no chat.
        max_tokens: Most tokens of an answer.
    """
    hopeless = ""
    for name, check in _checks(client, sagemaker, adapters, max_tokens):
        if name in skip:
            yield CheckResult(name=name, status="skipped", seconds=0, detail="left out")
        elif hopeless:
            yield CheckResult(name=name, status="skipped", seconds=0, detail=hopeless)
        else:
            result, error = _made(name, check)
            if isinstance(error, _POINTLESS_AFTER):
                hopeless = f"after {name} failed"
            yield result


def _made(name: str, check: _Check) -> tuple[CheckResult, LmiRuntimeError | None]:
    started = time.monotonic()
    try:
        seen = check()
    except LmiRuntimeError as error:
        seconds = time.monotonic() - started
        return CheckResult(name=name, status="failed", seconds=seconds, detail=str(error)), error
    result = CheckResult(
        name=name,
        status="passed",
        seconds=time.monotonic() - started,
        detail=seen.detail,
        first_text_seconds=seen.first_text_seconds,
    )
    return result, None


def _checks(
    client: LmiClient, sagemaker: Any, adapters: Sequence[str], max_tokens: int
) -> Iterator[tuple[str, _Check]]:
    requests: dict[str, Request] = {
        "chat": ChatRequest(_PROMPT, max_tokens=max_tokens),
        "completion": CompletionRequest(_PROMPT, max_tokens=max_tokens),
        "inputs": GenerationRequest(_PROMPT, max_new_tokens=max_tokens, details=True),
    }
    yield "readiness", partial(_readiness, client, sagemaker)
    for name, request in requests.items():
        yield name, partial(_answers, client, request)
    for name, request in requests.items():
        yield f"streamed-{name}", partial(_streams, client, request)
    yield "structured-output", partial(_structured, client)
    for adapter in adapters:
        adapted = client.using(adapter=adapter)
        yield f"adapter {adapter}", partial(_answers, adapted, requests["chat"])
    if adapters:
        unknown = client.using(adapter=_UNKNOWN_ADAPTER)
        yield "unknown adapter", partial(_is_refused, unknown, requests["chat"])


def _readiness(client: LmiClient, sagemaker: Any) -> _Seen:
    states = [endpoint_state(client.endpoint_name, sagemaker)]
    if component := client.routing.inference_component:
        states.append(component_state(component, sagemaker))
    for state in states:
        if state.status != "InService":
            raise NotReadyError(str(state), f"wait for it: lmi wait {client.endpoint_name}")
    return _Seen("; ".join(map(str, states)))


def _answers(client: LmiClient, request: Request) -> _Seen:
    return _Seen(_described(client.send(request)))


def _streams(client: LmiClient, request: Request) -> _Seen:
    started, first = time.monotonic(), None
    with client.stream(request) as stream:
        for event in stream:
            if first is None and isinstance(event, TextDelta | ReasoningDelta):
                first = time.monotonic() - started
    return _Seen(_described(stream.answer), first)


def _structured(client: LmiClient) -> _Seen:
    form = {"type": "json_schema", "json_schema": {"name": "greeting", "schema": _SCHEMA}}
    answer = client.chat(
        _PROMPT, max_tokens=_STRUCTURED_TOKENS, temperature=0, response_format=form
    )
    value = answer.json()
    if not isinstance(value, dict) or not isinstance(value.get("greeting"), str):
        raise AnswerError(
            f"the answer does not have the asked form: {answer.text[:120]!r}",
            "the engine did not constrain it: see structured_outputs_config in the settings",
        )
    return _Seen(answer.text)


def _is_refused(client: LmiClient, request: Request) -> _Seen:
    try:
        answer = client.send(request)
    except RefusedError as error:
        return _Seen(f"refused: {error.text}")
    raise AnswerError(
        f"adapter {_UNKNOWN_ADAPTER} does not exist, and was answered: {answer.text[:80]!r}",
        "a misspelled adapter is served by the base model here: set enable_lora in the settings",
    )


def _described(answer: Answer) -> str:
    """Say what an answer is.

    Raises:
        AnswerError: If there is nothing in it.
    """
    text = answer.text or answer.reasoning
    if not text:
        raise AnswerError(
            f"the answer is empty (finish reason {answer.finish_reason})",
            "look at the prompt format and the stop settings; raise --max-tokens for models that "
            "think first",
        )
    shown = text if len(text) <= 60 else f"{text[:60]}..."
    tokens = f", {answer.usage.completion_tokens} tokens" if answer.usage else ""
    return f"{shown!r}{tokens}, finish reason {answer.finish_reason}"
