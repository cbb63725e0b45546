"""Talking to an endpoint with boto3, without the CDK and without Node (extra `runtime`).

[`LmiClient`][] sends typed requests in the container's three schemas, plain, streamed or
asynchronous, and raises errors that say what to do.
"""

from __future__ import annotations

from lmi_constructs._extras import needed

with needed("lmi_constructs.runtime", "runtime"):
    from lmi_constructs.runtime.answer_stream import AnswerStream
    from lmi_constructs.runtime.answers import Answer, AnswerError, Choice, ToolCall
    from lmi_constructs.runtime.async_invocation import AsyncInvocation
    from lmi_constructs.runtime.client import LmiClient
    from lmi_constructs.runtime.connection import default_client, service_client
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
        MalformedStreamError,
        NotAllowedError,
        NotReadyError,
        OutOfMemoryError,
        OverloadedError,
        RefusedError,
        RequestError,
        StreamError,
        StreamInterruptedError,
        ThrottledError,
    )
    from lmi_constructs.runtime.openai_compatible import (
        DEFAULT_MODEL,
        BearerToken,
        openai_base_url,
        openai_client,
    )
    from lmi_constructs.runtime.parameters import (
        ChatParameters,
        CompletionParameters,
        GenerationParameters,
    )
    from lmi_constructs.runtime.readiness import (
        EndpointState,
        component_state,
        endpoint_state,
        wait_until_in_service,
    )
    from lmi_constructs.runtime.requests import (
        ChatRequest,
        CompletionRequest,
        GenerationRequest,
        Request,
    )
    from lmi_constructs.runtime.routing import Routing
    from lmi_constructs.runtime.stream_decoder import decode_stream
    from lmi_constructs.runtime.stream_events import (
        Finished,
        ReasoningDelta,
        StreamEvent,
        TextDelta,
        ToolCallDelta,
        UnknownChunk,
        Usage,
    )

__all__ = [
    "DEFAULT_MODEL",
    "Answer",
    "AnswerError",
    "AnswerStream",
    "AsleepError",
    "AsyncInvocation",
    "BearerToken",
    "CallerError",
    "ChatParameters",
    "ChatRequest",
    "Choice",
    "CompletionParameters",
    "CompletionRequest",
    "ComponentError",
    "ConnectionFailedError",
    "ContainerError",
    "EndpointError",
    "EndpointNotFoundError",
    "EndpointState",
    "Finished",
    "GenerationParameters",
    "GenerationRequest",
    "InvocationTimeoutError",
    "LmiClient",
    "LmiRuntimeError",
    "MalformedStreamError",
    "NotAllowedError",
    "NotReadyError",
    "OutOfMemoryError",
    "OverloadedError",
    "ReasoningDelta",
    "RefusedError",
    "Request",
    "RequestError",
    "Routing",
    "StreamError",
    "StreamEvent",
    "StreamInterruptedError",
    "TextDelta",
    "ThrottledError",
    "ToolCall",
    "ToolCallDelta",
    "UnknownChunk",
    "Usage",
    "component_state",
    "decode_stream",
    "default_client",
    "endpoint_state",
    "openai_base_url",
    "openai_client",
    "service_client",
    "wait_until_in_service",
]
