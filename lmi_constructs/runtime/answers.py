"""What a model answered, in one form for all schemas."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lmi_constructs.runtime.errors import LmiRuntimeError
from lmi_constructs.runtime.json_text import read_json
from lmi_constructs.runtime.stream_events import (
    Finished,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
    read_events,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lmi_constructs.runtime.stream_events import StreamEvent


class AnswerError(LmiRuntimeError, ValueError):
    """The answer cannot be read as what was asked for."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool that the model asks for.

    Attributes:
        id: Id to answer the call with.
        name: Name of the tool.
        arguments: Arguments as JSON text, as the model wrote them.
    """

    id: str | None
    name: str | None
    arguments: str

    def parsed(self) -> Any:
        """Return the arguments as Python values.

        Raises:
            AnswerError: If the model did not write JSON.
        """
        return _parsed(self.arguments, f"the arguments of tool {self.name}")


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the answers to a request.

    Attributes:
        text: The answer.
        reasoning: What the model thought before; empty without a reasoning parser.
        tool_calls: Tools that the model wants to be called.
        finish_reason: Why it ended (`stop`, `length`, `tool_calls` ...), `None` if not told.
    """

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back from an endpoint.

    Attributes:
        choices: The answers; one unless several were asked for (`n`).
        usage: Tokens used, `None` if not told.
        variant: Production variant that answered, `None` if not told.
        raw: The container's answer as it came; empty for a stream.
    """

    choices: tuple[Choice, ...]
    usage: Usage | None = None
    variant: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def text(self) -> str:
        """Text of the first answer."""
        return self.choices[0].text if self.choices else ""

    @property
    def reasoning(self) -> str:
        """Reasoning of the first answer."""
        return self.choices[0].reasoning if self.choices else ""

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """Tool calls of the first answer."""
        return self.choices[0].tool_calls if self.choices else ()

    @property
    def finish_reason(self) -> str | None:
        """Why the first answer ended."""
        return self.choices[0].finish_reason if self.choices else None

    def json(self) -> Any:
        """Return the first answer's text as Python values, for structured output.

        Raises:
            AnswerError: If the text is no JSON, for example because `max_tokens` cut it.
        """
        return _parsed(self.text, f"the answer (finish reason {self.finish_reason})")


def read_answer(body: Any, variant: str | None = None) -> Answer:
    """Return a whole answer of any schema; what is no object is its text."""
    if isinstance(body, list) and len(body) == 1:  # tgi_compat
        body = body[0]
    if not isinstance(body, dict):
        body = {"generated_text": body if isinstance(body, str) else json.dumps(body)}
    return collect_answer(read_events(body), variant, body)


def collect_answer(
    events: Iterable[StreamEvent],
    variant: str | None = None,
    raw: Mapping[str, Any] | None = None,
) -> Answer:
    """Put the pieces of a stream together."""
    drafts: dict[int, _Draft] = {}
    usage: Usage | None = None
    for event in events:
        if isinstance(event, Usage):
            usage = event
        elif isinstance(event, TextDelta | ReasoningDelta | ToolCallDelta | Finished):
            drafts.setdefault(event.choice, _Draft()).add(event)
    choices = tuple(drafts[number].choice() for number in sorted(drafts))
    return Answer(choices, usage, variant, raw or {})


class _Draft:
    """One answer in the making."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.calls: dict[int, list[ToolCallDelta]] = {}
        self.finish_reason: str | None = None

    def add(self, event: TextDelta | ReasoningDelta | ToolCallDelta | Finished) -> None:
        if isinstance(event, TextDelta):
            self.text.append(event.text)
        elif isinstance(event, ReasoningDelta):
            self.reasoning.append(event.text)
        elif isinstance(event, ToolCallDelta):
            self.calls.setdefault(event.index, []).append(event)
        else:
            self.finish_reason = event.reason

    def choice(self) -> Choice:
        calls = tuple(
            ToolCall(
                id=next((delta.id for delta in deltas if delta.id), None),
                name=next((delta.name for delta in deltas if delta.name), None),
                arguments="".join(delta.arguments for delta in deltas),
            )
            for _, deltas in sorted(self.calls.items())
        )
        return Choice("".join(self.text), "".join(self.reasoning), calls, self.finish_reason)


def _parsed(text: str, what: str) -> Any:
    try:
        return read_json(text)
    except ValueError as error:
        raise AnswerError(
            f"{what} is no JSON ({error}): {text[:120]!r}",
            "ask with response_format or a tool choice, and with max_tokens large enough",
        ) from None
