"""`lmi invoke`: ask an endpoint and print the whole answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from lmi_constructs.cli._endpoint_call import (
    make_client,
    make_request,
    readable_errors,
    request_options,
)

if TYPE_CHECKING:
    from lmi_constructs.runtime import Answer


_KNOWN = frozenset({"choices", "generated_text", "token"})
"""Keys of which every answer of the container's own schemas has one."""


@click.command()
@request_options
def invoke(
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
    """Send a request to endpoint NAME and print the response.

    PROMPT is a string, or - (or nothing) for standard input. A response that takes longer than 60
    seconds is lost; `lmi stream` does not have that limit.
    """
    with readable_errors():
        request = make_request(
            prompt, schema, system, max_tokens, temperature, parameters, extra, body
        )
        answer = make_client(name, region, adapter, component, session).send(request)
    if form == "json":
        click.echo(json.dumps(answer.raw, ensure_ascii=False, indent=2))
    else:
        _print(answer)


def _print(answer: Answer) -> None:
    if answer.reasoning:
        click.secho(answer.reasoning, dim=True, err=True)
    for choice in answer.choices:
        if choice.text:
            click.echo(choice.text)
        for call in choice.tool_calls:
            click.echo(f"{call.name}({call.arguments})")
    if answer.raw and not answer.raw.keys() & _KNOWN:  # of an output formatter of the model's own
        click.echo(json.dumps(answer.raw, ensure_ascii=False, indent=2))
    elif not any(choice.text or choice.tool_calls for choice in answer.choices):
        click.echo("(the answer is empty)", err=True)
    if answer.finish_reason == "length":
        click.echo("(cut: the answer has reached its most tokens; raise --max-tokens)", err=True)
