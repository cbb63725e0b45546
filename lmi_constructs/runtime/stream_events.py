"""What a streamed answer tells, piece by piece, whichever schema and handler it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text of the answer.

    Attributes:
        text: The text to append.
        choice: Number of the answer it belongs to; 0 unless several were asked for.
    """

    text: str
    choice: int = 0


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """More of what the model thinks before it answers; needs a reasoning parser in the container.

    Attributes:
        text: The text to append.
        choice: Number of the answer it belongs to.
    """

    text: str
    choice: int = 0


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """More of a call of a tool; needs a tool-call parser in the container.

    Attributes:
        index: Number of the call within the answer.
        id: Id of the call; in its first delta only.
        name: Name of the tool; in its first delta only.
        arguments: Text to append to the call's arguments, which are JSON when complete.
        choice: Number of the answer it belongs to.
    """

    index: int
    id: str | None
    name: str | None
    arguments: str
    choice: int = 0


@dataclass(frozen=True, slots=True)
class Finished:
    """One answer is complete.

    Attributes:
        reason: Why it ended, such as `stop`, `length` or `tool_calls`; `None` if it is not told
            (bodies with `inputs` tell it only if `details` was asked for).
        choice: Number of the answer.
    """

    reason: str | None
    choice: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens used so far; the last one of a stream counts.

    Attributes:
        prompt_tokens: Tokens of the prompt, `None` if not told.
        completion_tokens: Tokens of the answer.
        cached_tokens: Tokens of the prompt that were found in the cache, `None` if not told.
    """

    prompt_tokens: int | None
    completion_tokens: int
    cached_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class UnknownChunk:
    """An object of no known schema, such as from an output formatter of the model's own.

    Attributes:
        data: The object.
    """

    data: Mapping[str, Any]


StreamEvent: TypeAlias = (
    TextDelta | ReasoningDelta | ToolCallDelta | Finished | Usage | UnknownChunk
)


def read_events(chunk: Mapping[str, Any]) -> list[StreamEvent]:
    """Return what one object of a stream tells; whole answers are understood too.

    What only looks like a known schema is returned as it is.

    Sources: djl-serving@d21927c4 lmi_vllm/request_response_utils.py and
    rolling_batch output formatters; the chunk objects of vLLM's OpenAI-compatible server.
    """
    try:
        if isinstance(chunk.get("choices"), list):
            choices = [event for choice in chunk["choices"] for event in _choice_events(choice)]
            return [*choices, *_usage_events(chunk.get("usage"))]
        if "token" in chunk or "generated_text" in chunk:
            return list(_generation_events(chunk))
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        pass  # a value of another type than the schema's
    return [UnknownChunk(chunk)]


def _choice_events(choice: Mapping[str, Any]) -> Iterator[StreamEvent]:
    number = int(choice.get("index") or 0)
    said = choice.get("delta") or choice.get("message") or {}
    if reasoning := said.get("reasoning") or said.get("reasoning_content"):
        yield ReasoningDelta(_text(reasoning), number)
    if text := said.get("content") or choice.get("text"):
        yield TextDelta(_text(text), number)
    for position, call in enumerate(said.get("tool_calls") or ()):
        function = call.get("function") or {}
        yield ToolCallDelta(
            index=int(call.get("index", position)),
            id=call.get("id"),
            name=function.get("name"),
            arguments=_text(function.get("arguments") or ""),
            choice=number,
        )
    if reason := choice.get("finish_reason"):
        yield Finished(reason, number)


def _usage_events(usage: Mapping[str, Any] | None) -> Iterator[Usage]:
    if usage:
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")
        yield Usage(usage.get("prompt_tokens"), usage.get("completion_tokens") or 0, cached)


def _generation_events(chunk: Mapping[str, Any]) -> Iterator[StreamEvent]:
    token, whole = chunk.get("token"), chunk.get("generated_text")
    details = chunk.get("details") or {}
    if token is None:
        yield TextDelta(_text(whole or ""))
    elif token.get("text") and not (token.get("special") or token.get("special_token")):
        yield TextDelta(_text(token["text"]))
    if details.get("generated_tokens") is not None:
        yield Usage(details.get("input_length"), details["generated_tokens"])
    if whole is not None or details.get("finish_reason"):
        yield Finished(details.get("finish_reason"))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value
