"""`lmi stream`: ask an endpoint and print the answer as it is generated."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from lmi_constructs.cli._endpoint_call import (
    make_client,
    make_request,
    readable_errors,
    request_options,
)

if TYPE_CHECKING:
    from lmi_constructs.runtime import AnswerStream


@click.command()
@request_options
def stream(
    name: str,
    prompt: str | None,
    schema: str,
    system: str | None,
    max_tokens: int | None,
    temperature: float | None,
    parameters: tuple[str, ...],
    extra: tuple[str, ...],
    body: str | None,
    adapter: str | None,
    component: str | None,
    session: str | None,
    form: str,
    region: str | None,
) -> None:
    """Send a request to endpoint NAME and print the response as it is generated.

    PROMPT is a string, or - (or nothing) for standard input. Reasoning and a final line with counts
    and timings go to standard error. With --format json every event is a line of JSON.
    """
    with readable_errors():
        request = make_request(
            prompt, schema, system, max_tokens, temperature, parameters, extra, body
        )
        started = time.monotonic()
        with make_client(name, region, adapter, component, session).stream(request) as answer:
            if form == "json":
                _print_events(answer)
            else:
                _print_text(answer, started)


def _print_events(answer: AnswerStream) -> None:
    for event in answer:
        line = {"event": type(event).__name__, **asdict(event)}
        click.echo(json.dumps(line, ensure_ascii=False))


def _print_text(answer: AnswerStream, started: float) -> None:
    from lmi_constructs.runtime import ReasoningDelta, TextDelta, UnknownChunk

    first: float | None = None
    try:
        for event in answer:
            if isinstance(event, TextDelta | ReasoningDelta):
                first = first if first is not None else time.monotonic() - started
                thought = isinstance(event, ReasoningDelta)
                click.secho(event.text, nl=False, err=thought, dim=thought)
            elif isinstance(event, UnknownChunk):  # from an output formatter of the model's own
                click.echo(json.dumps(event.data, ensure_ascii=False))
    finally:
        click.echo()
    whole = answer.answer
    for call in whole.tool_calls:
        click.echo(f"{call.name}({call.arguments})")
    facts = [f"{time.monotonic() - started:.2f} s"]
    if first is not None:
        facts.append(f"first text after {first:.2f} s")
    if whole.usage:
        facts.append(f"{whole.usage.completion_tokens} tokens")
    if whole.finish_reason:
        facts.append(f"finish reason {whole.finish_reason}")
    click.echo(f"({', '.join(facts)})", err=True)
