"""An OpenAI client for an endpoint (extra `openai`).

SageMaker endpoints serve `/openai/v1/chat/completions` with short-lived bearer tokens. Plain
answers work with any OpenAI client. Streams do not by themselves: this container takes vLLM's
`data: ` framing off and sends JSON lines, which an OpenAI client does not understand. The client
made here puts the framing back.

Sources: https://docs.aws.amazon.com/sagemaker/latest/dg/realtime-endpoints-openai-compatible.html;
djl-serving@d21927c4 lmi_vllm/request_response_utils.py; sagemaker-core 2.27.0 token_generator.
"""

from __future__ import annotations

import json
import time
from datetime import timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs._extras import install
from lmi_constructs.runtime.connection import service_client
from lmi_constructs.runtime.errors import CallerError
from lmi_constructs.runtime.json_text import read_json
from lmi_constructs.runtime.routing import check_endpoint_name
from lmi_constructs.runtime.stream_decoder import decode_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import openai

DEFAULT_MODEL: Final = "lmi"
"""The name that the container gives its model unless `served_model_name` is set."""

_EXTRA: Final = install("openai")
_TOKEN_LIFETIME: Final = timedelta(hours=1)
_TOKEN_KEPT_SECONDS: Final = 300  # making one is local and quick, and credentials change


def openai_client(
    endpoint_name: str,
    *,
    region: str | None = None,
    inference_component: str | None = None,
    token: Callable[[], str] | None = None,
) -> openai.OpenAI:
    """Return an OpenAI client of an endpoint, whose streams work.

    The caller needs `sagemaker:CallWithBearerToken` and the right to invoke the endpoint
    (`endpoint.grant_invoke_openai(role)`). The model to name in requests is `lmi`, unless
    `served_model_name` is set, or the name of a LoRA adapter.

    Args:
        endpoint_name: Name of the endpoint.
        region: Region of the endpoint; the default of the environment if left out.
        inference_component: Component to call.
        token: Returns a bearer token for the next request; by default one is made from the AWS
            credentials of the environment, and renewed as needed.

    Raises:
        RequestError: If no endpoint can have this name.
        CallerError: If there is no region, or a package is missing.

    Example:
        ```python
        client = openai_client("chat")
        for chunk in client.chat.completions.create(
            model=DEFAULT_MODEL, messages=[...], stream=True
        ):
            print(chunk.choices[0].delta.content or "", end="")
        ```
    """
    library: Any = _imported("openai")
    hooks = _hooks()
    return library.OpenAI(  # type: ignore[no-any-return]
        api_key=token or BearerToken(region),
        base_url=openai_base_url(
            endpoint_name, region=region, inference_component=inference_component
        ),
        http_client=library.DefaultHttpxClient(event_hooks=hooks),
    )


def openai_base_url(
    endpoint_name: str, *, region: str | None = None, inference_component: str | None = None
) -> str:
    """Return the base URL of an endpoint's OpenAI-compatible path.

    Raises:
        RequestError: If no endpoint can have this name.
        CallerError: If there is no region.
    """
    check_endpoint_name(endpoint_name)
    host = service_client("sagemaker-runtime", region).meta.endpoint_url
    component = f"/inference-components/{inference_component}" if inference_component else ""
    return f"{host}/endpoints/{endpoint_name}{component}/openai/v1"


class BearerToken:
    """Returns a bearer token whenever it is called; a new one every few minutes.

    The token is made without calling AWS, by the generator of sagemaker-core, and is valid for an
    hour or until the credentials expire.
    """

    def __init__(self, region: str | None = None) -> None:
        """Prepare tokens for a region; the default of the environment if left out.

        Raises:
            CallerError: If there is no region.
        """
        self._region = service_client("sagemaker-runtime", region).meta.region_name
        self._token, self._made_at = "", float("-inf")

    def __call__(self) -> str:
        """Return a token that is valid now.

        Raises:
            CallerError: If there are no AWS credentials, or sagemaker-core is not installed.
        """
        if time.monotonic() - self._made_at >= _TOKEN_KEPT_SECONDS:
            generator: Any = _imported("sagemaker.core.token_generator")
            try:
                self._token = generator.generate_token(self._region, expiry=_TOKEN_LIFETIME)
            except RuntimeError as error:
                raise CallerError(str(error), "sign in to AWS, or set AWS_PROFILE") from error
            self._made_at = time.monotonic()
        return self._token


def _imported(module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise CallerError(f"the package {error.name} is not installed", _EXTRA) from error


def _hooks() -> dict[str, list[Callable[..., None]]]:
    """Return hooks that turn the container's streams into server-sent events.

    A transport could do so as well, but a client with one of its own asks no proxy of the environment.
    """
    http: Any = _imported("httpx2")

    class Events(http.SyncByteStream):  # type: ignore[misc]
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        def __iter__(self) -> Iterator[bytes]:
            return _as_events(self._stream)

        def close(self) -> None:
            self._stream.close()

    def ask(request: Any) -> None:
        if _asks_for_stream(request.content):
            request.headers["Accept-Encoding"] = "identity"

    def read(response: Any) -> None:
        is_ok = response.status_code == http.codes.OK
        if is_ok and _asks_for_stream(response.request.content):
            response.headers["Content-Type"] = "text/event-stream"
            response.stream = Events(response.stream)

    return {"request": [ask], "response": [read]}


def _asks_for_stream(body: bytes) -> bool:
    try:
        return read_json(body).get("stream") is True
    except (AttributeError, ValueError):
        return False


def _as_events(parts: Iterable[bytes]) -> Iterator[bytes]:
    for item in decode_stream(parts):
        yield f"data: {json.dumps(item)}\n\n".encode()
    yield b"data: [DONE]\n\n"
