"""Calling an endpoint of the LMI container: plain, streamed, asynchronous, with adapters."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.runtime.answer_stream import AnswerStream
from lmi_constructs.runtime.answers import read_answer
from lmi_constructs.runtime.async_invocation import AsyncInvocation, check_inline_size
from lmi_constructs.runtime.connection import default_client
from lmi_constructs.runtime.error_translation import error_in_answer, translated
from lmi_constructs.runtime.errors import ContainerError, LmiRuntimeError, RequestError
from lmi_constructs.runtime.json_text import read_json
from lmi_constructs.runtime.requests import (
    ChatRequest,
    CompletionRequest,
    GenerationRequest,
    Request,
)
from lmi_constructs.runtime.routing import Routing, check_endpoint_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from typing_extensions import Unpack

    from lmi_constructs.runtime.answers import Answer
    from lmi_constructs.runtime.parameters import (
        ChatParameters,
        CompletionParameters,
        GenerationParameters,
    )

_JSON: Final = "application/json"


class LmiClient:
    """A client of one endpoint.

    Example:
        ```python
        client = LmiClient("chat")
        print(client.chat("Why is the sky blue?", max_tokens=200).text)
        legal = client.using(adapter="legal")
        ```

    Attributes:
        endpoint_name: Name of the endpoint.
        routing: Where on the endpoint requests go.
    """

    def __init__(
        self,
        endpoint_name: str,
        *,
        region: str | None = None,
        routing: Routing | None = None,
        client: Any = None,
        s3_client: Any = None,
    ) -> None:
        """Prepare calls; nothing is called yet.

        Args:
            endpoint_name: Name of the endpoint.
            region: Region of the endpoint; the default of the environment if left out.
            routing: Where on the endpoint requests go; [`using`][] changes it.
            client: A boto3 client of `sagemaker-runtime`, to bring your own configuration; by
                default one that retries throttled calls and waits longer than the service does.
            s3_client: A boto3 client of `s3`, for results of asynchronous invocations.

        Raises:
            RequestError: If no endpoint can have this name.
            CallerError: If there is no region.
        """
        check_endpoint_name(endpoint_name)
        self.endpoint_name, self.routing = endpoint_name, routing or Routing()
        self._runtime = client if client is not None else default_client(region)
        self._s3, self._region = s3_client, region

    def __repr__(self) -> str:
        chosen = {f.name: getattr(self.routing, f.name) for f in fields(Routing)}
        shown = "".join(f", {name}={value!r}" for name, value in chosen.items() if value)
        return f"LmiClient({self.endpoint_name!r}{shown})"

    def using(
        self,
        *,
        inference_component: str | None = None,
        adapter: str | None = None,
        session_id: str | None = None,
        prefix_id: str | None = None,
        target_variant: str | None = None,
    ) -> LmiClient:
        """Return a client of the same endpoint with other routing; what is left out stays."""
        given = {
            "inference_component": inference_component,
            "adapter": adapter,
            "session_id": session_id,
            "prefix_id": prefix_id,
            "target_variant": target_variant,
        }
        chosen = {name: value for name, value in given.items() if value is not None}
        return LmiClient(
            self.endpoint_name,
            region=self._region,
            routing=replace(self.routing, **chosen),
            client=self._runtime,
            s3_client=self._s3,
        )

    def chat(
        self,
        messages: str | Sequence[Mapping[str, Any]],
        *,
        model: str | None = None,
        extra: Mapping[str, Any] | None = None,
        **parameters: Unpack[ChatParameters],
    ) -> Answer:
        """Go on with a conversation; see [`ChatRequest`][] and [`send`][]."""
        return self.send(ChatRequest(messages, model=model, extra=extra, **parameters))

    def stream_chat(
        self,
        messages: str | Sequence[Mapping[str, Any]],
        *,
        model: str | None = None,
        extra: Mapping[str, Any] | None = None,
        **parameters: Unpack[ChatParameters],
    ) -> AnswerStream:
        """Go on with a conversation, streamed; see [`ChatRequest`][] and [`stream`][]."""
        return self.stream(ChatRequest(messages, model=model, extra=extra, **parameters))

    def complete(
        self,
        prompt: str | Sequence[str] | Sequence[int],
        *,
        model: str | None = None,
        extra: Mapping[str, Any] | None = None,
        **parameters: Unpack[CompletionParameters],
    ) -> Answer:
        """Go on with a text; see [`CompletionRequest`][] and [`send`][]."""
        return self.send(CompletionRequest(prompt, model=model, extra=extra, **parameters))

    def stream_complete(
        self,
        prompt: str | Sequence[str] | Sequence[int],
        *,
        model: str | None = None,
        extra: Mapping[str, Any] | None = None,
        **parameters: Unpack[CompletionParameters],
    ) -> AnswerStream:
        """Go on with a text, streamed; see [`CompletionRequest`][] and [`stream`][]."""
        return self.stream(CompletionRequest(prompt, model=model, extra=extra, **parameters))

    def generate(
        self,
        inputs: str,
        *,
        extra: Mapping[str, Any] | None = None,
        **parameters: Unpack[GenerationParameters],
    ) -> Answer:
        """Go on with a text in TGI's schema; see [`GenerationRequest`][] and [`send`][]."""
        return self.send(GenerationRequest(inputs, extra=extra, **parameters))

    def stream_generate(
        self,
        inputs: str,
        *,
        extra: Mapping[str, Any] | None = None,
        **parameters: Unpack[GenerationParameters],
    ) -> AnswerStream:
        """Go on with a text in TGI's schema, streamed; see [`GenerationRequest`][]."""
        return self.stream(GenerationRequest(inputs, extra=extra, **parameters))

    def embed(self, texts: str | Sequence[str]) -> list[list[float]]:
        """Return one vector a text, from a model that is deployed for embeddings.

        Needs `task=text-embedding` (LMI v25 and later).

        Raises:
            LmiRuntimeError: See [`send`][].
        """
        given = [texts] if isinstance(texts, str) else list(texts)
        vectors, _ = self._invoke(Request({"inputs": given}))
        if not isinstance(vectors, list) or not all(isinstance(item, list) for item in vectors):
            raise ContainerError(
                f"{self._what}: the answer is no list of vectors",
                "deploy the model with task='text-embedding'; a generating model answers a text",
                text=str(vectors)[:200],
            )
        return vectors

    def send(self, request: Request) -> Answer:
        """Send a request and wait for the whole answer (at most 60 seconds).

        Raises:
            RequestError: If the request cannot be sent as it is.
            CallerError: If this machine may not call.
            EndpointError: If the endpoint cannot be called.
            ContainerError: If the container answers with an error.
        """
        return read_answer(*self._invoke(request))

    def stream(self, request: Request) -> AnswerStream:
        """Send a request and return the answer as it is generated.

        Raises:
            LmiRuntimeError: See [`send`][]; reading the stream raises `StreamError`, too.
        """
        body = request.encoded(stream=True, adapter=self.routing.adapter)
        with translated(self._what):
            response = self._runtime.invoke_endpoint_with_response_stream(
                **self._parameters(), Body=body
            )
        return AnswerStream(response["Body"], self._what, response.get("InvokedProductionVariant"))

    def submit(
        self,
        request: Request | None = None,
        *,
        input_location: str | None = None,
        inference_id: str | None = None,
        invocation_timeout_seconds: int | None = None,
    ) -> AsyncInvocation:
        """Queue a request on an asynchronous endpoint; its answer is written to S3.

        Args:
            request: What to ask; at most 128000 bytes.
            input_location: S3 address of a body that was put there before, instead.
            inference_id: Name of the request in logs.
            invocation_timeout_seconds: Seconds that the container may take; the service's default
                is 900, at most 3600.

        Raises:
            RequestError: If neither or both of request and address are given, or it is too large.
            EndpointError: If the endpoint cannot be called.
        """
        if (request is None) == (input_location is None):
            raise RequestError(
                "give either a request or an input_location", "leave one of them out"
            )
        given: dict[str, Any] = {"EndpointName": self.endpoint_name, "ContentType": _JSON}
        if request is not None:
            given["Body"] = check_inline_size(request.encoded(adapter=self.routing.adapter))
        else:
            given["InputLocation"] = input_location
        if inference_id is not None:
            given["InferenceId"] = inference_id
        if invocation_timeout_seconds is not None:
            given["InvocationTimeoutSeconds"] = invocation_timeout_seconds
        with translated(self._what):
            response = self._runtime.invoke_endpoint_async(**given)
        return AsyncInvocation(
            output_location=response["OutputLocation"],
            failure_location=response.get("FailureLocation"),
            inference_id=response.get("InferenceId"),
            region=self._region,
            s3_client=self._s3,
        )

    @contextmanager
    def session(self) -> Iterator[LmiClient]:
        """Open a sticky session: all calls of the client it yields go to one instance.

        Needs `enable_stateful_sessions` in the settings (LMI v16 and later). The session is closed
        at the end of the `with` block.

        Raises:
            LmiRuntimeError: See [`send`][].
        """
        opened = self.using(session_id="NEW_SESSION")._call(Request({"requestType": "NEW_SESSION"}))
        new = opened.get("NewSessionId")
        if not new:
            raise ContainerError(
                f"{self._what}: no session was opened",
                "set enable_stateful_sessions in the settings (LMI v16 and later)",
            )
        inside = self.using(session_id=new.partition(";")[0])  # "id; Expires=..."
        close = Request({"requestType": "CLOSE"})
        try:
            yield inside
        except BaseException:
            with suppress(LmiRuntimeError):  # what failed first is what matters
                inside._call(close)
            raise
        inside._call(close)

    @property
    def _what(self) -> str:
        component = self.routing.inference_component
        return f"endpoint {self.endpoint_name}{f', component {component}' if component else ''}"

    def _parameters(self) -> dict[str, str]:
        routing = self.routing.parameters()
        return {"EndpointName": self.endpoint_name, "ContentType": _JSON, **routing}

    def _call(self, request: Request) -> dict[str, Any]:
        """Invoke and return the service's response, its body read."""
        body = request.encoded(adapter=self.routing.adapter)
        with translated(self._what):
            response = self._runtime.invoke_endpoint(**self._parameters(), Body=body)
            return {**response, "Body": response["Body"].read()}

    def _invoke(self, request: Request) -> tuple[Any, str | None]:
        response = self._call(request)
        text = response["Body"].decode(errors="replace")
        try:
            body = read_json(text)
        except ValueError:
            body = text  # an output formatter of the model's own
        if isinstance(body, dict) and (error := error_in_answer(self._what, body)):
            raise error
        return body, response.get("InvokedProductionVariant")
