"""From the bytes of a streamed answer to JSON objects, wherever the bytes were cut.

SageMaker cuts a container's answer into `PayloadPart`s anywhere, inside a line or a character. The
asynchronous handler sends JSON lines; the rolling batch can send server-sent events instead
(`output_formatter=sse`), and so do other servers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.runtime.errors import MalformedStreamError, StreamInterruptedError
from lmi_constructs.runtime.json_text import read_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_DONE: Final = b"[DONE]"
_EVENT_FIELDS: Final = (b"event", b"id", b"retry")
_EXCERPT_BYTES: Final = 120


def decode_stream(parts: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a streamed answer as soon as their last byte is there.

    Args:
        parts: The bytes as they arrive, cut anywhere.

    Raises:
        StreamInterruptedError: If the bytes end inside an object.
        MalformedStreamError: If a line is neither JSON nor part of a server-sent event.
    """
    data = b""  # of a server-sent event whose JSON goes over several lines
    for line, is_complete in _lines(parts):
        field, colon, value = line.partition(b":")
        if field == b"data" and colon:
            data = b"\n".join(filter(None, (data, value.strip())))
            if data == _DONE:
                return
            try:
                yield _object(data)
            except ValueError:
                continue  # Its next line may complete it.
            data = b""
        elif not line and data:
            raise _malformed(data)
        elif not line or (colon and (not field or field in _EVENT_FIELDS)):
            continue
        elif line == _DONE:
            return
        else:
            try:
                yield _object(line)
            except ValueError:
                raise (_malformed(line) if is_complete else _interrupted(line)) from None
    if data:
        raise _interrupted(data)


def _lines(parts: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Yield stripped lines, each with whether its line end arrived.

    Only the byte 0x0A ends a line: text inside JSON may hold other characters that Python's
    splitlines() takes for line ends.
    """
    pending: list[bytes] = []
    for part in parts:
        *ended, rest = part.split(b"\n")
        for line in ended:
            yield b"".join((*pending, line)).strip(), True
            pending.clear()
        if rest:
            pending.append(rest)
    if last := b"".join(pending).strip():
        yield last, False


def _object(text: bytes) -> dict[str, Any]:
    value = read_json(text)
    if not isinstance(value, dict):
        raise ValueError(text)
    return value


def _excerpt(text: bytes) -> str:
    shown = text[:_EXCERPT_BYTES].decode(errors="replace")
    return repr(shown + ("..." if len(text) > _EXCERPT_BYTES else ""))


def _interrupted(text: bytes) -> StreamInterruptedError:
    return StreamInterruptedError(
        f"the stream ended inside an object: {_excerpt(text)}",
        "the answer is incomplete: ask again, and look at the endpoint's log if it happens often",
    )


def _malformed(text: bytes) -> MalformedStreamError:
    return MalformedStreamError(
        f"the stream holds what is neither a JSON line nor a server-sent event: {_excerpt(text)}",
        "if the model has an output formatter of its own, read the stream with bytes()",
    )
