"""A streamed answer: events, or only the text, and the whole answer at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs.runtime.answers import collect_answer
from lmi_constructs.runtime.error_translation import error_in_answer, translated
from lmi_constructs.runtime.errors import StreamInterruptedError
from lmi_constructs.runtime.stream_decoder import decode_stream
from lmi_constructs.runtime.stream_events import (
    Finished,
    TextDelta,
    UnknownChunk,
    Usage,
    read_events,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping
    from types import TracebackType
    from typing import Any

    from lmi_constructs.runtime.answers import Answer
    from lmi_constructs.runtime.stream_events import StreamEvent


class AnswerStream:
    """The events of a streamed answer, as they arrive.

    Iterate over it for all events, over [`text`][] for the text alone, or call [`read`][] for the
    whole answer. Leaving the `with` block early closes the connection, so that the model stops.

    Example:
        ```python
        with client.stream_chat("Why is the sky blue?") as stream:
            for piece in stream.text():
                print(piece, end="", flush=True)
        ```
    """

    def __init__(self, body: Iterable[Mapping[str, Any]], what: str, variant: str | None) -> None:
        """Read a response of InvokeEndpointWithResponseStream.

        Args:
            body: Its `Body`: boto3's event stream.
            what: What was called, for messages.
            variant: Production variant that answers.
        """
        self._body, self._what, self._variant = body, what, variant
        self._seen: list[StreamEvent] = []
        self._events = self._read_events()

    def __enter__(self) -> AnswerStream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[StreamEvent]:
        """Yield every event.

        Raises:
            ContainerError: If the container reports an error inside the stream.
            StreamError: If the stream breaks, or ends before the model had finished.
        """
        return self._events

    def text(self) -> Iterator[str]:
        """Yield the text of the first answer, piece by piece."""
        for event in self._events:
            if isinstance(event, TextDelta) and event.choice == 0:
                yield event.text

    def bytes(self) -> Iterator[bytes]:
        """Yield the stream as it comes, for output formatters of the model's own.

        Raises:
            StreamError: If the stream breaks.
        """
        with translated(self._what):
            yield from _payloads(self._body)

    def read(self) -> Answer:
        """Read to the end and return the whole answer, with what was read before."""
        for _ in self._events:
            pass
        return self.answer

    @property
    def answer(self) -> Answer:
        """What has arrived so far; the whole answer once the stream has ended."""
        return collect_answer(self._seen, self._variant)

    def close(self) -> None:
        """Close the connection; what is not read is lost."""
        self._events.close()
        if close := getattr(self._body, "close", None):
            close()

    def _read_events(self) -> Generator[StreamEvent, None, None]:
        begun: set[int] = set()
        ended: set[int] = set()
        is_known = True
        with translated(self._what):
            for chunk in decode_stream(_payloads(self._body)):
                if error := error_in_answer(self._what, chunk):
                    raise error
                for event in read_events(chunk):
                    if isinstance(event, UnknownChunk):
                        is_known = False  # nobody knows how such a stream ends
                    elif not isinstance(event, Usage):
                        (ended if isinstance(event, Finished) else begun).add(event.choice)
                    self._seen.append(event)
                    yield event
        if is_known and (not ended or begun - ended):
            came = f"after {self.answer.text[-60:]!r}" if self._seen else "before anything came"
            raise StreamInterruptedError(
                f"{self._what}: the stream ended {came}, and the model had not finished",
                "the answer is incomplete: ask again, and look at the endpoint's log (lmi diagnose "
                "NAME) if it happens often",
            )


def _payloads(body: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    for event in body:
        if part := event.get("PayloadPart"):
            yield part["Bytes"]
