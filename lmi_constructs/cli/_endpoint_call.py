"""What the commands that talk to an endpoint share: options, requests, readable errors."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from lmi_constructs.cli._name_and_value import name_and_value
from lmi_constructs.cli._text_input import read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lmi_constructs.runtime import LmiClient, Request

_Command = TypeVar("_Command", bound="Callable[..., Any]")


class NotStarted(click.ClickException):
    """Ends the command with exit status 2: the user must write it in another way."""

    exit_code = 2


@contextmanager
def readable_errors() -> Iterator[None]:
    """Print what goes wrong with an endpoint as a message; the exit status is 1, or 2 for usage."""
    from lmi_constructs.runtime import LmiRuntimeError, RequestError

    try:
        yield
    except RequestError as error:
        raise NotStarted(_text(error)) from error
    except LmiRuntimeError as error:
        raise click.ClickException(_text(error)) from error


def _text(error: Any) -> str:
    return f"{error.message}\n  what to do: {error.advice}"


def region_option(command: _Command) -> _Command:
    """Add `--region`."""
    return click.option(
        "--region", callback=_named, help="Region. Default: that of your AWS configuration."
    )(command)


def _named(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse an empty text, as a variable without a value gives."""
    if value is not None and not value.strip():
        raise click.BadParameter("it is empty; leave it out for that of your AWS configuration")
    return value


def request_options(command: _Command) -> _Command:
    """Add the endpoint's name, the prompt and everything that shapes a request."""
    for decorate in reversed(_REQUEST_OPTIONS):
        command = decorate(command)
    return command


_REQUEST_OPTIONS = (
    click.argument("name"),
    click.argument("prompt", required=False),
    click.option(
        "--schema",
        type=click.Choice(["chat", "completion", "inputs"]),
        default="chat",
        show_default=True,
        help="Request format.",
    ),
    click.option("--system", help="System message of a chat."),
    click.option(
        "--max-tokens", type=click.IntRange(min=1), help="Maximum tokens in the response."
    ),
    click.option(
        "--temperature",
        type=float,
        help="Sampling temperature; 0 always picks the most likely token.",
    ),
    click.option(
        "-p",
        "--parameter",
        "parameters",
        multiple=True,
        metavar="NAME=VALUE",
        help="Another documented parameter; the value is JSON, or else a string.",
    ),
    click.option(
        "--extra",
        multiple=True,
        metavar="NAME=VALUE",
        help="A parameter that is sent unchecked.",
    ),
    click.option(
        "--body",
        metavar="FILE",
        help="JSON file with the whole request instead of a prompt; - reads standard input.",
    ),
    click.option("--adapter", help="LoRA adapter to use."),
    click.option("--component", help="Inference component to call."),
    click.option("--session", help="Sticky session id."),
    click.option(
        "--format",
        "form",
        type=click.Choice(["text", "json"]),
        default="text",
        help="Output format.",
    ),
    region_option,
)


def make_client(
    name: str,
    region: str | None,
    adapter: str | None,
    component: str | None,
    session: str | None = None,
) -> LmiClient:
    """Return a client of an endpoint."""
    from lmi_constructs.runtime import LmiClient, Routing

    routing = Routing(inference_component=component, adapter=adapter, session_id=session)
    return LmiClient(name, region=region, routing=routing)


def make_request(
    prompt: str | None,
    schema: str,
    system: str | None,
    max_tokens: int | None,
    temperature: float | None,
    parameters: Sequence[str],
    extra: Sequence[str],
    body: str | None,
) -> Request:
    """Return the request that the options describe.

    Raises:
        click.UsageError: If they describe none.
    """
    from lmi_constructs.runtime import ChatRequest, CompletionRequest, GenerationRequest, Request

    if body is not None:
        if prompt is not None:
            raise click.UsageError("give either a PROMPT or --body")
        return Request(_json_object(read_text(body, "--body"), body))
    text = _prompt(prompt)
    given: Any = dict(_parameter(item, "--parameter") for item in parameters)
    unchecked = dict(_parameter(item, "--extra") for item in extra)
    if max_tokens is not None:
        given["max_new_tokens" if schema == "inputs" else "max_tokens"] = max_tokens
    if temperature is not None:
        given["temperature"] = temperature
    if system is not None and schema != "chat":
        raise click.UsageError("--system belongs to --schema chat")
    if schema == "completion":
        return CompletionRequest(text, extra=unchecked, **given)
    if schema == "inputs":
        return GenerationRequest(text, extra=unchecked, **given)
    before = [{"role": "system", "content": system}] if system is not None else []
    messages = [*before, {"role": "user", "content": text}]
    return ChatRequest(messages, extra=unchecked, **given)


def _prompt(prompt: str | None) -> str:
    if prompt is None and sys.stdin.isatty():
        raise click.UsageError("give a PROMPT, - for standard input, or --body FILE")
    text = read_text("-", "PROMPT") if prompt in (None, "-") else prompt
    if not text or not text.strip():
        raise click.UsageError("the prompt is empty")
    return text


def _json_object(text: str, path: str) -> dict[str, Any]:
    from lmi_constructs.runtime.json_text import read_json

    try:
        value = read_json(text)
    except ValueError as error:
        raise click.BadParameter(f"{path} is no JSON: {error}", param_hint="--body") from error
    if not isinstance(value, dict):
        raise click.BadParameter(f"{path} is no JSON object", param_hint="--body")
    return value


def _parameter(item: str, option: str) -> tuple[str, Any]:
    name, value = name_and_value(item, "NAME=VALUE", option, value_may_be_empty=True)
    from lmi_constructs.runtime.json_text import read_json

    try:
        return name, read_json(value)
    except ValueError:
        return name, value
