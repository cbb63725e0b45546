"""What errors of the service, the container and botocore mean: tables, first match wins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from botocore import exceptions as botocore_errors
from botocore.eventstream import ParserError
from urllib3.exceptions import HTTPError

from lmi_constructs.runtime.errors import (
    AsleepError,
    CallerError,
    ComponentError,
    ConnectionFailedError,
    ContainerError,
    EndpointError,
    EndpointNotFoundError,
    InvocationTimeoutError,
    LmiRuntimeError,
    NotAllowedError,
    NotReadyError,
    OutOfMemoryError,
    OverloadedError,
    RefusedError,
    RequestError,
    StreamInterruptedError,
    ThrottledError,
)

SEE_LOG: Final = "see the endpoint's log (lmi diagnose NAME)"
_TOO_LARGE: Final = (
    "the request is too large for a real-time invocation (the API model of boto3 says 6291456 "
    "bytes): shorten it, pass images by address, or use asynchronous invocation"
)


@dataclass(frozen=True, slots=True)
class ServiceMeaning:
    """An answer of the service itself: error code and message are searched."""

    code: str
    message: str
    error: type[LmiRuntimeError]
    advice: str


# Sources of the messages: https://github.com/langchain-ai/langchain/issues/16150 (component name),
# https://aws.amazon.com/blogs/machine-learning/unlock-cost-savings-with-the-new-scale-down-to-zero-feature-in-amazon-sagemaker-inference/
# (no capacity),
# the error shapes of botocore 1.44.8 sagemaker-runtime; the other messages are unverified wordings,
# matched loosely.
SERVICE: Final = (
    ServiceMeaning(
        "Validation",
        r"Inference Component Name header is required",
        ComponentError,
        "name the component: LmiClient(..., inference_component=...), --component",
    ),
    ServiceMeaning(
        "Validation|NotFound",
        r"could not find inference component"
        r"|inference component.*(not found|not exist|could not be found)",
        ComponentError,
        "list the endpoint's components: aws sagemaker list-inference-components",
    ),
    ServiceMeaning(
        "Validation|NotFound",
        r"could not find endpoint|endpoint.* not found|does not exist",
        EndpointNotFoundError,
        "check the name, the region and the account: aws sagemaker list-endpoints",
    ),
    ServiceMeaning(
        "Validation",
        r"inference component has no capacity",
        AsleepError,
        "no copy of the model runs: if it scales to zero, this request wakes it up, so call again in "
        "the minutes that it takes to start; if not, give it a copy",
    ),
    ServiceMeaning(
        "ModelNotReady|Validation",
        r"not (yet )?(ready|in service)|not InService|is (creating|updating)|has no copies",
        NotReadyError,
        "wait until it is in service: lmi wait NAME",
    ),
    ServiceMeaning(
        "ModelNotReady", "", NotReadyError, "the model is being loaded: call again soon"
    ),
    ServiceMeaning(
        "Validation", r"too large|exceed.*(size|limit|length)", RequestError, _TOO_LARGE
    ),
    ServiceMeaning(
        "Throttl|TooManyRequests|RequestLimitExceeded|SlowDown|^429$",
        "",
        ThrottledError,
        "call less often, or raise the account's quota; botocore has already retried",
    ),
    ServiceMeaning(
        "AccessDenied|NotAuthorized|UnauthorizedOperation|Forbidden|^403$",
        "",
        NotAllowedError,
        "give the caller's role the permission that the message names; endpoint.grant_invoke(role) "
        "gives what invoking needs, plain and streamed. If no permission is named, look whether a "
        "proxy or the policy of a VPC endpoint denies it",
    ),
    ServiceMeaning(
        "ExpiredToken|InvalidClientTokenId|UnrecognizedClient|InvalidSignature|SignatureDoesNotMatch",
        "",
        CallerError,
        "sign in again: the credentials of this machine are no longer valid",
    ),
    ServiceMeaning(
        r"ServiceUnavailable|InternalFailure|InternalDependency|InternalServer|^5\d\d$",
        "",
        EndpointError,
        "the service could not answer even after botocore's retries; try again later",
    ),
    ServiceMeaning("Validation", "", RequestError, "correct the request"),
)


@dataclass(frozen=True, slots=True)
class ContainerMeaning:
    """An answer of the container: its status and words are searched."""

    statuses: tuple[int | None, ...]
    text: str
    error: type[ContainerError]
    advice: str


_ANY: Final = ()

STREAM_TIME: Final = r"ModelInvocationTimeExceeded|time-?\s?out|timed out|time.*exceeded"

# Sources: djl-serving@d21927c4 InferenceRequestHandler.java (503, 507, 400) and
# lmi_vllm/vllm_async_service.py (424); the time-out is quoted in
# https://github.com/RamVegiraju/SageMaker-Deployment/issues/3.
CONTAINER: Final = (
    ContainerMeaning(
        _ANY,
        r"invocation timed out while waiting for a response|ModelInvocationTimeExceeded",
        InvocationTimeoutError,
        "an invocation that is not streamed must be answered within 60 seconds: stream the answer, "
        "ask for fewer tokens (max_tokens), or invoke asynchronously",
    ),
    ContainerMeaning(  # https://github.com/vllm-project/vllm/issues/42362
        _ANY,
        r"EngineDeadError|EngineCore encountered an issue",
        ContainerError,
        "the engine has stopped, and this request need not be the cause: find it in the endpoint's log "
        "(lmi diagnose NAME)",
    ),
    ContainerMeaning(
        (507,),
        r"out of memory|OutOfMemory",
        OutOfMemoryError,
        "the accelerators are full: lower max_model_len, max_rolling_batch_size or "
        "gpu_memory_utilization in the settings; lmi diagnose NAME shows the log",
    ),
    ContainerMeaning(
        (503,),
        r"queue.*(full|capacity)|no worker|ServiceUnavailable",
        OverloadedError,
        "the container's queue is full or its workers are dead: call less often, add instances "
        "(auto_scale_instance_count), or raise SERVING_JOB_QUEUE_SIZE",
    ),
    ContainerMeaning(
        _ANY,
        r"unhashable type: 'list'",
        RefusedError,
        "adapters must be one name as a text, not a list",
    ),
    ContainerMeaning(
        _ANY,
        r"LoRA adapter .* not found|adapter.*(not found|not registered|does not exist)",
        RefusedError,
        "name an adapter that is loaded: the directories under adapters/ next to the model",
    ),
    ContainerMeaning(
        _ANY,
        r"model .*does not exist|model .*not found",
        RefusedError,
        "leave model out, or use 'lmi', the configured served_model_name or an adapter's name",
    ),
    ContainerMeaning(
        _ANY,
        r"stateful sessions not enabled|session.*not found",
        RefusedError,
        "set enable_stateful_sessions in the settings, and open a new session when one expired",
    ),
    ContainerMeaning(
        _ANY,
        r"maximum (context|model) length|max_model_len|too many tokens|longer than the maximum",
        RefusedError,
        "shorten the prompt, ask for fewer tokens, or raise max_model_len in the settings",
    ),
    ContainerMeaning(
        _ANY,
        r"tool.choice.*requires|enable-auto-tool-choice|tool-call-parser",
        RefusedError,
        "set enable_auto_tool_choice and tool_call_parser in the settings",
    ),
    ContainerMeaning((413,), r"(payload|entity|request).* too large", RefusedError, _TOO_LARGE),
    ContainerMeaning(
        (400, 404, 422, 424),
        r"(?!)",
        RefusedError,
        "the container does not accept this request: correct what its message names",
    ),
)


NOT_SIGNED_IN: Final = (
    botocore_errors.NoCredentialsError,
    botocore_errors.PartialCredentialsError,
    botocore_errors.CredentialRetrievalError,
    botocore_errors.TokenRetrievalError,
    botocore_errors.SSOError,
)
UNREADABLE_CONFIGURATION: Final = (
    botocore_errors.ConfigParseError,
    botocore_errors.ConfigNotFound,
)
CORRECT_CONFIGURATION: Final = (
    "correct the AWS configuration file that it names, or AWS_CONFIG_FILE"
)
CORRECT_PROFILE: Final = "correct AWS_PROFILE, or unset it"

LOCAL: Final[tuple[tuple[tuple[type[Exception], ...], type[LmiRuntimeError], str], ...]] = (
    (
        (botocore_errors.NoRegionError,),
        CallerError,
        "name the region: --region, LmiClient(region=...) or AWS_DEFAULT_REGION",
    ),
    (NOT_SIGNED_IN, CallerError, "sign in to AWS, or set AWS_PROFILE"),
    ((botocore_errors.ProfileNotFound,), CallerError, CORRECT_PROFILE),
    (UNREADABLE_CONFIGURATION, CallerError, CORRECT_CONFIGURATION),
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
        "check the region, the network, and VPC endpoints where there is no internet; AWS_ENDPOINT_URL is used "
        "if it is set",
    ),
)
