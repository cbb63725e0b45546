"""A stream decodes to the same objects wherever SageMaker cuts it."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmi_constructs.runtime.errors import MalformedStreamError, StreamInterruptedError
from lmi_constructs.runtime.stream_decoder import decode_stream

ALPHABET = 'ae안🦙\u2028\x85\r\n\\":{}[], '
TEXTS = st.text(ALPHABET, max_size=12) | st.sampled_from(["data: x", "[DONE]"])
OBJECTS = st.lists(st.dictionaries(st.sampled_from(["a", "b"]), TEXTS, max_size=2), max_size=6)


def written(objects: list[dict[str, Any]], form: str, ascii_only: bool) -> bytes:
    texts = [json.dumps(item, ensure_ascii=ascii_only) for item in objects]
    if form == "lines":
        return "".join(f"{text}\n" for text in texts).encode()
    if form == "lines with blanks":
        return "".join(f"{text}\n\n" for text in texts).encode()
    if form == "last line open":
        return "\n".join(texts).encode()
    events = "".join(f": ping\r\nevent: x\r\ndata: {text}\r\n\r\n" for text in texts)
    return (events + "data: [DONE]\r\n\r\n").encode()


def cut(data: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({place % (len(data) + 1) for place in places} | {0, len(data)})
    return [data[start:end] for start, end in itertools.pairwise(ends)]


@given(
    OBJECTS,
    st.sampled_from(["lines", "lines with blanks", "last line open", "events"]),
    st.booleans(),
    st.lists(st.integers(min_value=0), max_size=20),
)
def test_any_cut_of_any_stream_gives_the_same_objects(
    objects: list[dict[str, Any]], form: str, ascii_only: bool, places: list[int]
) -> None:
    data = written(objects, form, ascii_only)
    assert list(decode_stream(cut(data, places))) == objects
    assert list(decode_stream(data[i : i + 1] for i in range(len(data)))) == objects


@given(OBJECTS.filter(bool), st.integers(min_value=1))
def test_a_cut_off_stream_gives_what_was_whole_and_then_says_so(
    objects: list[dict[str, Any]], lost: int
) -> None:
    data = written(objects, "last line open", False)
    kept = data[: -(1 + lost % (len(json.dumps(objects[-1], ensure_ascii=False).encode()) - 1))]
    stream = decode_stream([kept])
    assert [next(stream) for _ in objects[:-1]] == objects[:-1]
    with pytest.raises(StreamInterruptedError):
        next(stream)


def test_an_object_is_given_before_the_next_part_arrives() -> None:
    asked = []

    def parts() -> Any:
        for number in range(2):
            asked.append(number)
            yield b'{"n": %d}\n' % number

    first = next(decode_stream(parts()))
    assert (first, asked) == ({"n": 0}, [0])


def test_an_event_is_given_without_waiting_for_its_blank_line() -> None:
    def parts() -> Any:
        yield b'data: {"n": 1}\n'
        raise AssertionError("asked for more")

    assert next(decode_stream(parts())) == {"n": 1}


def test_json_over_several_data_lines_is_one_object() -> None:
    assert list(decode_stream([b'data: {"a":\ndata: "b"}\n\n'])) == [{"a": "b"}]


def test_nothing_after_done_is_read() -> None:
    assert list(decode_stream([b'data: {"n": 1}\n\ndata: [DONE]\n\nnonsense\n'])) == [{"n": 1}]


DEEP = b'{"a":' * 100_000 + b"1" + b"}" * 100_000


@pytest.mark.parametrize(
    "data",
    [
        b"Internal error\n",
        b"<html>\n",
        b"[1, 2]\n",
        b"data: {broken\n\ndata: {}\n\n",
        b'"x"\n',
        DEEP + b"\n",
    ],
)
def test_refuses_what_is_no_stream_of_objects(data: bytes) -> None:
    with pytest.raises(MalformedStreamError, match="neither a JSON line nor a server-sent event"):
        list(decode_stream([data]))


@pytest.mark.parametrize("data", [b'{"a": "\xec\x95', b"data: {", b"{", b'data: {"a": 1'])
def test_says_that_a_stream_ended_inside_an_object(data: bytes) -> None:
    with pytest.raises(StreamInterruptedError, match="ended inside an object"):
        list(decode_stream([data]))


def test_a_long_line_in_tiny_parts_costs_time_only_in_proportion_to_its_length() -> None:
    data = json.dumps({"a": "x" * 300_000}).encode() + b"\n"
    found = list(decode_stream(data[i : i + 3] for i in range(0, len(data), 3)))
    assert len(found[0]["a"]) == 300_000
