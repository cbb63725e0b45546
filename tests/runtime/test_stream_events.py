"""Whatever a container sends becomes events or an error, and never a crash."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmi_constructs.runtime import Finished, TextDelta, UnknownChunk, Usage
from lmi_constructs.runtime.answers import collect_answer, read_answer
from lmi_constructs.runtime.error_translation import error_in_answer
from lmi_constructs.runtime.errors import ContainerError
from lmi_constructs.runtime.stream_events import read_events

KEYS = [
    "choices", "delta", "message", "text", "content", "token", "generated_text", "details",
    "usage", "index", "tool_calls", "function", "finish_reason", "error", "code", "object",
]  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "a", "error"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4))
def test_any_object_becomes_events_or_an_error(chunk: dict[str, Any]) -> None:
    error = error_in_answer("endpoint chat", chunk)
    assert error is None or isinstance(error, ContainerError)
    assert isinstance(collect_answer(read_events(chunk)).text, str)


@pytest.mark.parametrize(
    "chunk",
    [
        {"answer": 1},
        {"choices": [1]},
        {"token": "x"},
        {"choices": [{"index": float("inf"), "text": "a"}]},
    ],
)
def test_what_is_of_no_known_schema_is_passed_on(chunk: dict[str, Any]) -> None:
    assert read_events(chunk) == [UnknownChunk(chunk)]


def test_a_whole_answer_of_several_choices_keeps_them_apart() -> None:
    choices = [
        {"index": 1, "text": "b", "finish_reason": "stop"},
        {"index": 0, "text": "a", "finish_reason": "length"},
    ]
    answer = read_answer({"choices": choices, "usage": {"completion_tokens": 2}})
    assert [(choice.text, choice.finish_reason) for choice in answer.choices] == [
        ("a", "length"),
        ("b", "stop"),
    ]
    assert answer.usage == Usage(None, 2)


def test_an_answer_without_a_choice_is_empty_and_no_error() -> None:
    answer = read_answer({"choices": []})
    assert (answer.text, answer.reasoning, answer.tool_calls, answer.finish_reason) == (
        "",
        "",
        (),
        None,
    )


def test_special_tokens_are_no_text() -> None:
    chunk = {"token": {"text": "</s>", "special": True}, "generated_text": "Hi"}
    assert read_events(chunk) == [Finished(None)]
    assert read_events({"token": {"text": "Hi"}}) == [TextDelta("Hi")]
