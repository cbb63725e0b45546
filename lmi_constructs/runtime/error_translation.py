"""From what botocore raises to errors that say what to do: tables, first match wins."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from botocore import exceptions as botocore_errors
from botocore.eventstream import ParserError
from urllib3.exceptions import HTTPError

from lmi_constructs.runtime.errors import (
    CallerError,
    ComponentError,
    ConnectionFailedError,
    ContainerError,
    EndpointError,
    EndpointNotFoundError,
    InvocationTimeoutError,
    LmiRuntimeError,
    NotReadyError,
    OutOfMemoryError,
    OverloadedError,
    RefusedError,
    RequestError,
    StreamInterruptedError,
    ThrottledError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_TEXT_LENGTH: Final = 600
_SEE_LOG: Final = "see the endpoint's log (lmi diagnose NAME)"
_TOO_LARGE: Final = (
    "the request is too large for a real-time invocation (the API model of boto3 says 6291456 "
    "bytes): shorten it, pass images by address, or use asynchronous invocation"
)


@dataclass(frozen=True, slots=True)
class _Service:
    """An answer of the service itself: error code and message are searched."""

    code: str
    message: str
    error: type[LmiRuntimeError]
    advice: str


# Sources of the messages: https://github.com/langchain-ai/langchain/issues/16150 (component name),
# the error shapes of botocore 1.44.8 sagemaker-runtime; the other messages are unverified wordings,
# matched loosely.
_SERVICE: Final = (
    _Service(
        "Validation",
        r"Inference Component Name header is required",
        ComponentError,
        "name the component: LmiClient(..., inference_component=...), --component",
    ),
    _Service(
        "Validation|NotFound",
        r"inference component.*(not found|not exist|could not be found)",
        ComponentError,
        "list the endpoint's components: aws sagemaker list-inference-components",
    ),
    _Service(
        "Validation|NotFound",
        r"could not find endpoint|endpoint.* not found|does not exist",
        EndpointNotFoundError,
        "check the name, the region and the account: aws sagemaker list-endpoints",
    ),
    _Service(
        "ModelNotReady|Validation",
        r"not (yet )?(ready|in service)|not InService|is (creating|updating)|has no copies",
        NotReadyError,
        "wait until it is in service: lmi wait NAME",
    ),
    _Service("ModelNotReady", "", NotReadyError, "the model is being loaded: call again soon"),
    _Service("Validation", r"too large|exceed.*(size|limit|length)", RequestError, _TOO_LARGE),
    _Service(
        "Throttl|TooManyRequests|RequestLimitExceeded|SlowDown",
        "",
        ThrottledError,
        "call less often, or raise the account's quota; botocore has already retried",
    ),
    _Service(
        "AccessDenied|NotAuthorized|UnauthorizedOperation",
        "",
        CallerError,
        "the caller's role lacks a permission: endpoint.grant_invoke(role) gives what invoking "
        "plain and streamed needs",
    ),
    _Service(
        "ExpiredToken|InvalidClientTokenId|UnrecognizedClient|InvalidSignature|SignatureDoesNotMatch",
        "",
        CallerError,
        "sign in again: the credentials of this machine are no longer valid",
    ),
    _Service(
        "ServiceUnavailable|InternalFailure|InternalDependency|InternalServer",
        "",
        EndpointError,
        "the service could not answer even after botocore's retries; try again later",
    ),
    _Service("Validation", "", RequestError, "correct the request"),
)


@dataclass(frozen=True, slots=True)
class _Container:
    """An answer of the container: its status and words are searched."""

    statuses: tuple[int | None, ...]
    text: str
    error: type[ContainerError]
    advice: str


_ANY: Final = ()

_STREAM_TIME: Final = r"ModelInvocationTimeExceeded|time-?\s?out|timed out|time.*exceeded"

# Sources: djl-serving@d21927c4 InferenceRequestHandler.java (503, 507, 400) and
# lmi_vllm/vllm_async_service.py (424); the time-out is quoted in
# https://github.com/RamVegiraju/SageMaker-Deployment/issues/3.
_CONTAINER: Final = (
    _Container(
        _ANY,
        r"invocation timed out while waiting for a response|ModelInvocationTimeExceeded",
        InvocationTimeoutError,
        "an invocation that is not streamed must be answered within 60 seconds: stream the answer, "
        "ask for fewer tokens (max_tokens), or invoke asynchronously",
    ),
    _Container(
        (507,),
        r"out of memory|OutOfMemory",
        OutOfMemoryError,
        "the accelerators are full: lower max_model_len, max_rolling_batch_size or "
        "gpu_memory_utilization in the settings; lmi diagnose NAME shows the log",
    ),
    _Container(
        (503,),
        r"queue.*(full|capacity)|no worker|ServiceUnavailable",
        OverloadedError,
        "the container's queue is full or its workers are dead: call less often, add instances "
        "(auto_scale_instance_count), or raise SERVING_JOB_QUEUE_SIZE",
    ),
    _Container(
        _ANY,
        r"unhashable type: 'list'",
        RefusedError,
        "adapters must be one name as a text, not a list",
    ),
    _Container(
        _ANY,
        r"LoRA adapter .* not found|adapter.*(not found|not registered|does not exist)",
        RefusedError,
        "name an adapter that is loaded: the directories under adapters/ next to the model",
    ),
    _Container(
        _ANY,
        r"model .*does not exist|model .*not found",
        RefusedError,
        "leave model out, or use 'lmi', the configured served_model_name or an adapter's name",
    ),
    _Container(
        _ANY,
        r"stateful sessions not enabled|session.*not found",
        RefusedError,
        "set enable_stateful_sessions in the settings, and open a new session when one expired",
    ),
    _Container(
        _ANY,
        r"maximum (context|model) length|max_model_len|too many tokens|longer than the maximum",
        RefusedError,
        "shorten the prompt, ask for fewer tokens, or raise max_model_len in the settings",
    ),
    _Container(
        _ANY,
        r"tool.choice.*requires|enable-auto-tool-choice|tool-call-parser",
        RefusedError,
        "set enable_auto_tool_choice and tool_call_parser in the settings",
    ),
    _Container((413,), r"(payload|entity|request).* too large", RefusedError, _TOO_LARGE),
    _Container(
        (400, 404, 422, 424),
        r"(?!)",
        RefusedError,
        "the container does not accept this request: correct what its message names",
    ),
)


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
    for row in _SERVICE:
        if re.search(row.code, code) and re.search(row.message, message, re.IGNORECASE):
            return row.error(f"{what}: {message}", row.advice)
    return EndpointError(f"{what}: {code}: {message}", "see the AWS documentation of this error")


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
    kind, advice = ContainerError, _SEE_LOG
    for row in _CONTAINER:
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
    if error is None:
        failed = (body.get("details") or {}) if "token" in body or "generated_text" in body else {}
        error = "the generation failed" if failed.get("finish_reason") == "error" else None
    if error is None:
        return None
    status = body.get("code") if not isinstance(error, dict) else error.get("code")
    text = error if isinstance(error, str) else json.dumps(error)
    return container_error(what, status if isinstance(status, int) else None, text)


def _stream_error(what: str, error: botocore_errors.EventStreamError) -> LmiRuntimeError:
    # boto3 keeps the message alone and drops ErrorCode, which would tell a time-out from a reset.
    words = error.response.get("Error", {}).get("Message") or str(error)
    if re.search(_STREAM_TIME, words, re.IGNORECASE):
        return InvocationTimeoutError(
            f"{what}: the stream was ended: {words}",
            "the whole stream must end within SageMaker's time for it: ask for fewer tokens, or "
            "invoke asynchronously",
            text=words,
        )
    return StreamInterruptedError(
        f"{what}: the stream broke: {words}",
        "the answer is incomplete: ask again; if it happens often, " + _SEE_LOG,
    )


_LOCAL: Final[tuple[tuple[tuple[type[Exception], ...], type[LmiRuntimeError], str], ...]] = (
    (
        (botocore_errors.NoRegionError,),
        CallerError,
        "name the region: --region, LmiClient(region=...) or AWS_DEFAULT_REGION",
    ),
    (
        (
            botocore_errors.NoCredentialsError,
            botocore_errors.PartialCredentialsError,
            botocore_errors.CredentialRetrievalError,
            botocore_errors.TokenRetrievalError,
            botocore_errors.SSOError,
            botocore_errors.ProfileNotFound,
        ),
        CallerError,
        "sign in to AWS, or set AWS_PROFILE",
    ),
    (
        (botocore_errors.ParamValidationError, botocore_errors.ValidationError),
        RequestError,
        "correct the value",
    ),
    (
        (botocore_errors.ReadTimeoutError,),
        ConnectionFailedError,
        "no answer came in time: stream the answer, ask for fewer tokens, or give the boto3 client "
        "a longer read_timeout",
    ),
    (
        (
            botocore_errors.ResponseStreamingError,
            botocore_errors.IncompleteReadError,
            HTTPError,  # botocore does not wrap what breaks inside an event stream
            ParserError,
        ),
        StreamInterruptedError,
        "the connection broke: the answer is incomplete, ask again",
    ),
    (
        (botocore_errors.HTTPClientError, botocore_errors.ConnectionError),
        ConnectionFailedError,
        "check the network, and VPC endpoints where there is no internet; AWS_ENDPOINT_URL is used "
        "if it is set",
    ),
)


def _local_error(what: str, error: Exception) -> LmiRuntimeError:
    for kinds, translated_kind, advice in _LOCAL:
        if isinstance(error, kinds):
            return translated_kind(f"{what}: {error}", advice)
    return LmiRuntimeError(f"{what}: {error}", "see botocore's documentation of this error")


def _unpacked(text: str) -> str:
    """Return the words inside an error that is written as JSON."""
    try:
        value = json.loads(text)
    except ValueError:
        return text.strip()
    while isinstance(value, dict):
        inner = value.get("error") or value.get("message") or value.get("detail")
        if inner is None:
            return text.strip()
        value = inner
    return str(value)
