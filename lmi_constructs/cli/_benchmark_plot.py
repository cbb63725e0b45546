"""A sweep as a picture: throughput and waiting over concurrency."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lmi_constructs.runtime.benchmark import BenchmarkLevel, Capacity, Percentiles

_SUSTAINED: Final = "tab:green"
_FAILED: Final = "tab:red"


def draw(
    levels: Sequence[BenchmarkLevel],
    found: Capacity,
    title: str,
    limits: tuple[float | None, float | None],
    file: Path,
) -> None:
    """Write the picture of a sweep, in the format that the file's name says (PNG, SVG, PDF).

    Each measure has an axis of its own that begins at 0, so that heights can be compared. Levels
    double, so that the axis of concurrency does.

    Args:
        levels: The sweep.
        found: What follows from it; the level is marked.
        title: What was measured.
        limits: Longest time to the first token and between two, in milliseconds, where given.
        file: File to write.

    Raises:
        ValueError: If there is no such format.
        OSError: If the file cannot be written.
    """
    from matplotlib.figure import Figure

    concurrency = [level.concurrency for level in levels]
    figure = Figure(figsize=(8, 9), layout="constrained")
    axes = figure.subplots(3, 1, sharex=True)
    throughput, first, between = axes
    throughput.plot(concurrency, [level.output_tokens_per_second for level in levels], "o-")
    throughput.set_ylabel("output tokens a second")
    throughput.set_title(title)
    _latency(first, "first token, ms", levels, [one.time_to_first_token for one in levels])
    _latency(between, "between tokens, ms", levels, [one.inter_token_latency for one in levels])
    for place, limit in zip((first, between), limits, strict=True):
        if limit is not None:
            place.axhline(limit, linestyle=":", color=_FAILED, label=f"limit {limit:g} ms")
    between.set_xlabel("requests in flight")
    between.set_xscale("log", base=2)
    between.set_xticks(concurrency, [str(one) for one in concurrency])
    between.minorticks_off()
    _failures(throughput, levels)
    for place in axes:
        if found.concurrency is not None:
            label = f"sustained: {found.concurrency} (target {found.target})"
            place.axvline(found.concurrency, linestyle="--", color=_SUSTAINED, label=label)
        place.set_ylim(bottom=0)
        place.grid(alpha=0.3)
        if place.get_legend_handles_labels()[0]:
            place.legend()
    figure.savefig(file)


def _failures(place: Any, levels: Sequence[BenchmarkLevel]) -> None:
    """Cross the levels with failed requests."""
    failing = [level for level in levels if level.failed]
    if failing:
        place.plot(
            [level.concurrency for level in failing],
            [level.output_tokens_per_second for level in failing],
            "x",
            color=_FAILED,
            markersize=12,
            label="requests failed",
        )


def _latency(
    place: Any, title: str, levels: Sequence[BenchmarkLevel], values: Sequence[Percentiles]
) -> None:
    """Draw the median and the 99th percentile; a level without answers has none."""
    known = [
        (level.concurrency, value)
        for level, value in zip(levels, values, strict=True)
        if level.completed
    ]
    counts = [count for count, _ in known]
    place.plot(counts, [value.p50 for _, value in known], "o-", label="median")
    place.plot(counts, [value.p99 for _, value in known], "o-", label="p99")
    place.set_ylabel(title)
