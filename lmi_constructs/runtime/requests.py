"""What can be asked of an endpoint: one class a schema of the container.

The container looks for `prompt`, `inputs` and `messages` in this order and takes the first it
finds (djl-serving@d21927c4 lmi_vllm/vllm_async_service.py).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from lmi_constructs._near_names import did_you_mean
from lmi_constructs.runtime.errors import RequestError
from lmi_constructs.runtime.parameters import (
    ChatParameters,
    CompletionParameters,
    GenerationParameters,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Unpack

Schema = Literal["messages", "prompt", "inputs", "raw"]


class Request:
    """A request with any JSON body; its sub-classes know the schemas.

    Attributes:
        body: What is sent, without what a stream adds.
    """

    def __init__(self, body: Mapping[str, Any]) -> None:
        """Take a body as it is.

        Args:
            body: Any JSON object.

        Raises:
            RequestError: If the body cannot be written as JSON.
        """
        self.body: Mapping[str, Any] = dict(body)
        self.encoded()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Request) and self.body == other.body

    def __hash__(self) -> int:
        return hash(frozenset(self.body))  # equal bodies may be written in another order

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self.body)!r})"

    @property
    def schema(self) -> Schema:
        """Which schema the container takes the body for."""
        for key in ("prompt", "inputs", "messages"):
            if key in self.body:
                return key
        return "raw"

    def encoded(self, *, stream: bool = False, adapter: str | None = None) -> bytes:
        """Return the bytes to send.

        Args:
            stream: Whether the answer is to be streamed. Chats and completions are then also asked
                for their usage, which comes last.
            adapter: LoRA adapter to answer with.

        Raises:
            RequestError: If the body cannot be written as JSON, or the adapter is not one name.
        """
        body = {**self.body}
        if adapter is not None:
            body["adapters"] = adapter
        _check_adapter(body.get("adapters"))
        if stream:
            body["stream"] = True
            if self.schema in ("messages", "prompt"):
                body.setdefault("stream_options", {"include_usage": True})
        try:
            return json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise RequestError(
                f"the request cannot be written as JSON: {error}",
                "give texts in UTF-8, finite numbers, booleans, lists and mappings",
            ) from error


class ChatRequest(Request):
    """A conversation to go on with (OpenAI's chat completions)."""

    def __init__(
        self,
        messages: str | Sequence[Mapping[str, Any]],
        *,
        model: str | None = None,
        extra: Mapping[str, Any] | None = None,
        **parameters: Unpack[ChatParameters],
    ) -> None:
        """Put the body together.

        Args:
            messages: The conversation, each message with `role` and `content`; a text is one
                message of the user.
            model: Name of the model. The container fills in its own first name (`lmi` unless
                `served_model_name` is set); any other name is refused.
            extra: More keys of the body, unchanged.
            **parameters: See [`ChatParameters`][].

        Raises:
            RequestError: If there is no message, or a parameter is not known.
        """
        conversation = (
            [{"role": "user", "content": messages}] if isinstance(messages, str) else list(messages)
        )
        if not conversation or not all(map(_has_role, conversation)):
            raise RequestError(
                f"messages must be a text, or messages with a role each, got {messages!r}",
                'write [{"role": "user", "content": "..."}]',
            )
        body = {"messages": conversation, **({"model": model} if model else {})}
        super().__init__(body | _checked(parameters, ChatParameters, extra))


class CompletionRequest(Request):
    """A text to go on with (OpenAI's completions)."""

    def __init__(
        self,
        prompt: str | Sequence[str] | Sequence[int],
        *,
        model: str | None = None,
        extra: Mapping[str, Any] | None = None,
        **parameters: Unpack[CompletionParameters],
    ) -> None:
        """Put the body together.

        Args:
            prompt: The text; also several texts, or a text's tokens.
            model: See [`ChatRequest`][].
            extra: More keys of the body, unchanged.
            **parameters: See [`CompletionParameters`][].

        Raises:
            RequestError: If a parameter is not known.
        """
        body = {"prompt": prompt, **({"model": model} if model else {})}
        super().__init__(body | _checked(parameters, CompletionParameters, extra))


class GenerationRequest(Request):
    """A text to go on with, in the schema of Text Generation Inference."""

    def __init__(
        self,
        inputs: str,
        *,
        extra: Mapping[str, Any] | None = None,
        **parameters: Unpack[GenerationParameters],
    ) -> None:
        """Put the body together.

        Args:
            inputs: The text.
            extra: More parameters, unchanged; the container hands them on to the engine.
            **parameters: See [`GenerationParameters`][].

        Raises:
            RequestError: If a parameter is not known.
        """
        checked = _checked(parameters, GenerationParameters, extra)
        super().__init__({"inputs": inputs, "parameters": checked})


def _has_role(message: object) -> bool:
    return isinstance(message, Mapping) and "role" in message


def _checked(
    parameters: Mapping[str, Any], known: type, extra: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Join parameters and extra keys; the container would not tell of a misspelled one."""
    names = sorted(getattr(known, "__optional_keys__", ()))  # of a TypedDict with total=False
    unknown = [name for name in parameters if name not in names]
    if unknown:
        otherwise = f"pass what is not documented as extra={{{unknown[0]!r}: ...}} (--extra)"
        raise RequestError(
            f"unknown parameter {', '.join(unknown)}",
            did_you_mean(unknown[0], names, otherwise),
        )
    return {**parameters, **(extra or {})}


def _check_adapter(adapter: object) -> None:
    if adapter is not None and (not isinstance(adapter, str) or not adapter):
        raise RequestError(
            f"adapters must be one name, got {adapter!r}",
            "write the adapter's name as a text: the asynchronous handler (the default since v17) "
            "uses it as a key and answers a list with error 424; the rolling batch's list form can "
            "be sent with boto3's own invoke_endpoint",
        )
