"""From what botocore raises to errors that say what to do."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from botocore import exceptions as botocore_errors
from botocore.eventstream import ParserError
from urllib3.exceptions import HTTPError

from lmi_constructs.runtime.error_meanings import (
    CONTAINER,
    LOCAL,
    SEE_LOG,
    SERVICE,
    STREAM_TIME,
)
from lmi_constructs.runtime.errors import (
    ContainerError,
    EndpointError,
    InvocationTimeoutError,
    LmiRuntimeError,
    StreamInterruptedError,
)
from lmi_constructs.runtime.json_text import read_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_TEXT_LENGTH: Final = 600

_PRINTED: Final = re.compile(
    r"An error occurred \((\w+)\) when calling the \w+ operation"
    r"(?: \(reached max retries: \d+\))?: (.*)",
    re.DOTALL,
)
_FROM_CONTAINER: Final = re.compile(
    r'Received \w+ error \((\d+)\) from \S+ with message "(.*?)"(?:\. See |\.?\s*$)', re.DOTALL
)
"""Wordings of botocore (`ClientError.MSG_TEMPLATE`) and of SageMaker, as errors print them."""

_ELEMENT: Final = r"<{0}>(.*?)</{0}>"
_NO_WORDS: Final = "no reason was given"


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Raise botocore's errors as errors that say what to do.

    Args:
        what: What is being called, such as `endpoint chat`.

    Raises:
        LmiRuntimeError: For everything that botocore raises.
    """
    try:
        yield
    except botocore_errors.EventStreamError as error:
        raise _stream_error(what, error) from error
    except botocore_errors.ClientError as error:
        raise service_error(what, error) from error
    except (botocore_errors.BotoCoreError, HTTPError, ParserError) as error:
        raise _local_error(what, error) from error


def service_error(what: str, error: botocore_errors.ClientError) -> LmiRuntimeError:
    """Return what the service's error means."""
    response: Mapping[str, Any] = error.response
    code = response.get("Error", {}).get("Code", "")
    message = response.get("Error", {}).get("Message") or response.get("Message") or str(error)
    if code == "ModelError":
        text = response.get("OriginalMessage") or message
        status = response.get("OriginalStatusCode")
        return container_error(what, status, text, response.get("LogStreamArn"))
    code, message = _plain(str(code), str(message))
    for row in SERVICE:
        if re.search(row.code, code) and re.search(row.message, message, re.IGNORECASE):
            return row.error(f"{what}: {message}", row.advice)
    return EndpointError(f"{what}: {code}: {message}", "see the AWS documentation of this error")


def printed_error(what: str, text: str) -> LmiRuntimeError | None:
    """Return what an error of boto3 means that another program has printed; `None` if none is there.

    Args:
        what: What was called.
        text: What was printed, such as a traceback.
    """
    found = _PRINTED.search(text)
    if not found:
        return None
    code, message = found[1], found[2].strip()
    answer: dict[str, Any] = {"Error": {"Code": code, "Message": message}}
    by_container = _FROM_CONTAINER.search(message)
    if by_container:
        answer |= {"OriginalStatusCode": int(by_container[1]), "OriginalMessage": by_container[2]}
    return service_error(what, botocore_errors.ClientError(answer, "Invoke"))  # type: ignore[arg-type]


def container_error(
    what: str, status: int | None, text: str, log_stream: str | None = None
) -> ContainerError:
    """Return what the container's error means.

    Args:
        what: What was called.
        status: HTTP status of the container.
        text: What it said; JSON with an `error` or `message` is unpacked.
        log_stream: ARN of the log stream.
    """
    said = _unpacked(text)
    shown = said if len(said) <= _TEXT_LENGTH else f"{said[:_TEXT_LENGTH]}..."
    kind, advice = ContainerError, SEE_LOG
    for row in CONTAINER:
        if status in row.statuses or re.search(row.text, said, re.IGNORECASE | re.DOTALL):
            kind, advice = row.error, row.advice
            break
    answered = f"the container answered {status}" if status else "the container failed"
    message = f"{what}: {answered}: {shown}"
    return kind(message, advice, status=status, text=said, log_stream=log_stream)


def error_in_answer(what: str, body: Mapping[str, Any]) -> ContainerError | None:
    """Return the error that an answer with status 200 holds, if it holds one.

    After the first piece of a stream, the container can report an error only inside the stream.
    """
    error = body.get("error")
    if error is None and body.get("object") == "error":
        error = body
    if error is None and ("token" in body or "generated_text" in body):
        details = body.get("details")
        failed = isinstance(details, dict) and details.get("finish_reason") == "error"
        error = "the generation failed" if failed else None
    if error is None:
        return None
    status = body.get("code") if not isinstance(error, dict) else error.get("code")
    text = error if isinstance(error, str) else json.dumps(error)
    return container_error(what, status if isinstance(status, int) else None, text)


def _stream_error(what: str, error: botocore_errors.EventStreamError) -> LmiRuntimeError:
    # boto3 keeps the message alone and drops ErrorCode, which would tell a time-out from a reset.
    words = error.response.get("Error", {}).get("Message") or str(error)
    if re.search(STREAM_TIME, words, re.IGNORECASE):
        return InvocationTimeoutError(
            f"{what}: the stream was ended: {words}",
            "the whole stream must end within SageMaker's time for it: ask for fewer tokens, or "
            "invoke asynchronously",
            text=words,
        )
    return StreamInterruptedError(
        f"{what}: the stream broke: {words}",
        "the answer is incomplete: ask again; if it happens often, " + SEE_LOG,
    )


def _local_error(what: str, error: Exception) -> LmiRuntimeError:
    for kinds, translated_kind, advice in LOCAL:
        if isinstance(error, kinds):
            return translated_kind(f"{what}: {error}", advice)
    return LmiRuntimeError(f"{what}: {error}", "see botocore's documentation of this error")


def _plain(code: str, message: str) -> tuple[str, str]:
    """Return code and words of an answer that is a page of XML or HTML.

    S3, gateways and proxies answer so; where botocore expects JSON, it takes the page for the words.
    """
    if not message.lstrip().startswith("<"):
        return code, message
    inner = re.search(_ELEMENT.format("Code"), message, re.DOTALL)
    words = next(
        (
            found[1]
            for name in ("Message", "message", "title", "TITLE")
            if (found := re.search(_ELEMENT.format(name), message, re.DOTALL))
        ),
        _NO_WORDS,
    )
    code = inner[1].strip() if inner else code
    return code, f"{code}: {' '.join(words.split())}"


def _unpacked(text: str) -> str:
    """Return the words inside an error that is written as JSON."""
    try:
        value = read_json(text)
    except ValueError:
        return text.strip()
    while isinstance(value, dict):
        inner = value.get("error") or value.get("message") or value.get("detail")
        if inner is None:
            return text.strip()
        value = inner
    return str(value)
