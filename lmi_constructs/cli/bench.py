"""`lmi bench`: measure an endpoint under load."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lmi_constructs._extras import how_to_get
from lmi_constructs.cli._endpoint_call import readable_errors, region_option
from lmi_constructs.cli._number import Number

if TYPE_CHECKING:
    from lmi_constructs.runtime.benchmark import BenchmarkLevel, Capacity, Schema

_COLUMNS = (
    ("in flight", 9),
    ("answered", 9),
    ("failed", 7),
    ("req/s", 8),
    ("tokens/s", 9),
    ("first token ms", 17),
    ("between ms", 14),
    ("answer ms", 18),
)


_SERVING = ("InService", "Updating", "SystemUpdating", "RollingBack")
_PICTURES = (".png", ".svg", ".pdf")
_MOST_IN_FLIGHT = 10_000
"""A bound against slips of the keyboard: ports and threads of one machine end earlier."""


def _counts(ctx: click.Context, param: click.Parameter, value: str) -> list[int]:
    """Read whole numbers above 0, separated by commas."""
    try:
        counts = [int(part) for part in value.split(",")]
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is not a list of whole numbers such as 1,4,16"
        ) from None
    if any(count < 1 for count in counts):
        raise click.BadParameter("at least one request must be in flight")
    if max(counts) > _MOST_IN_FLIGHT:
        raise click.BadParameter(f"one machine does not keep {max(counts)} requests in flight")
    return sorted(set(counts))


def _picture(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | None:
    """Refuse what could not be written after an hour of measuring."""
    if value is None:
        return None
    if value.suffix not in _PICTURES:
        raise click.BadParameter(f"{value} ends in none of {', '.join(_PICTURES)}")
    if not os.access(value.parent, os.W_OK):
        raise click.BadParameter(f"{value.parent} is no folder that can be written to")
    if importlib.util.find_spec("matplotlib") is None:
        raise click.UsageError(f"--plot {how_to_get('matplotlib', 'bench')}")
    return value


@click.command()
@click.argument("name")
@click.option(
    "--concurrency",
    "concurrencies",
    callback=_counts,
    default="1,2,4,8,16,32",
    show_default=True,
    metavar="N,N,...",
    help="Requests in flight, one level after another.",
)
@click.option(
    "--input-tokens",
    type=click.IntRange(min=1),
    default=1024,
    show_default=True,
    help="Tokens per prompt.",
)
@click.option(
    "--output-tokens",
    type=click.IntRange(min=1),
    default=128,
    show_default=True,
    help="Tokens per response.",
)
@click.option(
    "--requests",
    type=click.IntRange(min=1),
    help="Requests per level. Default: four for each one in flight, at least 10.",
)
@click.option(
    "--schema",
    type=click.Choice(["chat", "completion"]),
    default="chat",
    show_default=True,
    help="Request format.",
)
@click.option("--first-token-ms", type=Number(min=0, min_open=True), help="Highest acceptable p99.")
@click.option(
    "--between-tokens-ms",
    type=Number(min=0, min_open=True),
    help="Highest acceptable p99.",
)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=_picture,
    help="Plot to write (.png, .svg, .pdf).",
)
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format."
)
@region_option
def bench(
    name: str,
    concurrencies: list[int],
    input_tokens: int,
    output_tokens: int,
    requests: int | None,
    schema: Schema,
    first_token_ms: float | None,
    between_tokens_ms: float | None,
    plot: Path | None,
    form: str,
    region: str | None,
) -> None:
    """Measure endpoint NAME with increasing concurrency, and report what it sustains.

    Each request costs tokens, and each level takes time. Latencies are the median and the 99th
    percentile. The exit code is 1 if a request failed. Requires the extra `bench`.
    """
    from lmi_constructs.runtime.benchmark import benchmark, capacity, require_tool

    levels: list[BenchmarkLevel] = []
    with readable_errors():
        require_tool()
        _find(name, region)
        for level in benchmark(
            name,
            concurrencies=concurrencies,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            requests_per_level=requests,
            schema=schema,
            region=region,
        ):
            if form == "text" and not levels:
                click.echo("  ".join(f"{title:>{width}}" for title, width in _COLUMNS))
            if form == "text":
                _print(level, {kind for before in levels for kind in before.errors})
            levels.append(level)
    found = capacity(
        levels, time_to_first_token_ms=first_token_ms, inter_token_latency_ms=between_tokens_ms
    )
    if form == "json":
        said = {**asdict(found), "target": found.target}
        text = {"levels": [asdict(level) for level in levels], "capacity": said}
        click.echo(json.dumps(text, indent=2))
    else:
        click.echo(f"\n{_said(found)}")
    if plot is not None:
        limits = (first_token_ms, between_tokens_ms)
        _draw(levels, found, f"{name}\n{input_tokens} tokens in, {output_tokens} out", limits, plot)
    sys.exit(any(level.failed for level in levels))


def _find(name: str, region: str | None) -> None:
    """Refuse an endpoint that does not answer yet, where the caller may look.

    Raises:
        LmiRuntimeError: If there is none, it is not ready, or nothing can be asked.
    """
    from lmi_constructs.runtime import service_client
    from lmi_constructs.runtime.errors import NotAllowedError, NotReadyError
    from lmi_constructs.runtime.readiness import endpoint_state

    try:
        state = endpoint_state(name, service_client("sagemaker", region))
    except NotAllowedError:
        return  # who may only call it may measure it
    if state.status not in _SERVING:
        raise NotReadyError(str(state), f"wait for it: lmi wait {name}")


def _print(level: BenchmarkLevel, explained: set[str]) -> None:
    """Print a level, and why requests failed where that was not said of a level before."""
    latencies = (level.time_to_first_token, level.inter_token_latency, level.whole_answer)
    values = (
        str(level.concurrency),
        str(level.completed),
        str(level.failed),
        f"{level.requests_per_second:.2f}",
        f"{level.output_tokens_per_second:.0f}" + ("?" if level.without_usage else ""),
        *(
            f"{latency.p50:.1f} / {latency.p99:.1f}" if level.completed else "-"
            for latency in latencies
        ),
    )
    pairs = zip(values, _COLUMNS, strict=True)
    click.echo("  ".join(f"{value:>{width}}" for value, (_, width) in pairs))
    if level.without_usage:
        click.echo(f"  ? {level.without_usage} answers came without a count of their tokens")
    for error, count in level.errors.items():
        reason = None if error in explained else level.reasons.get(error)
        click.echo(f"  {count} x {error}" + (f": {reason}" if reason else ""))


def _said(found: Capacity) -> str:
    if found.concurrency is None:
        return f"no level to recommend: {found.reason}"
    return (
        f"sustains {found.concurrency} requests at once: {found.reason}\n"
        f"for one instance, that implies scale_on_concurrency(..., target={found.target})"
    )


def _draw(
    levels: list[BenchmarkLevel],
    found: Capacity,
    title: str,
    limits: tuple[float | None, float | None],
    plot: Path,
) -> None:
    from lmi_constructs.cli._benchmark_plot import draw

    try:
        draw(levels, found, title, limits, plot)
    except (OSError, ValueError) as error:
        raise click.ClickException(f"{plot} cannot be written: {error}") from error
    click.echo(f"written: {plot}", err=True)
