"""What the container's own code does before the engine sees a setting, by release."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from lmi_constructs.facts._data import load, row


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerProperty:
    """One setting that the container's own classes declare.

    Attributes:
        name: Option name, as in `option.<name>`.
        owner: Who declares it: `common` (every handler), `huggingface`, `vllm`, `handler` (read by
            the asynchronous handler directly) or `server` (read by DJL Serving itself).
        type: How its text is read.
        engine: Name of the engine argument it becomes, where the names differ.
        choices: Allowed texts, where the type is a choice.
        since: First LMI number that declares it.
        until: Last LMI number that declares it.
        source: Public source of the row.
        as_of: ISO date of the research.
    """

    name: str
    owner: Literal["common", "huggingface", "vllm", "handler", "server"]
    type: str
    engine: str | None = None
    choices: tuple[str, ...] = ()
    since: int = 0
    until: int = 999
    source: str
    as_of: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """A name of another server that the image's entry script copies to an LMI name if unset."""

    name: str
    sets: str
    negated: bool = False
    source: str
    as_of: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerBehavior:
    """What a span of releases does with settings.

    Attributes:
        since: First LMI number of the span.
        until: Last LMI number of the span.
        text_generation: What `rolling_batch=auto` becomes for a text-generation model.
        async_entry_point: Whether asynchronous mode selects vLLM's handler by itself.
        bitsandbytes_checked_unless: Rolling batches with which the Transformers classes leave
            bitsandbytes settings alone; with others they refuse them.
        rolling_batch: Values that the Python side knows.
        value_form: How values reach the engine's parser: `--name=value` or `--name value`.
        false_form: What becomes of `false`: the argument is dropped, or passed as `--no-name`.
        source: Public source of the row.
        as_of: ISO date of the research.
    """

    since: int
    until: int
    text_generation: Literal["vllm", "async"]
    async_entry_point: bool
    bitsandbytes_checked_unless: tuple[str, ...]
    rolling_batch: tuple[str, ...]
    value_form: Literal["equals", "separate"]
    false_form: Literal["dropped", "negated"]
    source: str
    as_of: str


@cache
def handler_properties(lmi: int) -> dict[str, HandlerProperty]:
    """Return the settings that the container's classes declare in a release, by name."""
    properties = (
        row(HandlerProperty, values, "handler") for values in load("handler")["properties"]
    )
    return {one.name: one for one in properties if one.since <= lmi <= one.until}


@cache
def handler_behavior(lmi: int) -> HandlerBehavior | None:
    """Return the behavior of a release, or `None` where it has not been studied."""
    spans = (row(HandlerBehavior, values, "handler") for values in load("handler")["behavior"])
    return next((span for span in spans if span.since <= lmi <= span.until), None)


@cache
def aliases() -> tuple[Alias, ...]:
    """Return the foreign names that the entry script understands."""
    return tuple(row(Alias, values, "handler") for values in load("handler")["aliases"])
