"""A sweep as a picture: throughput and waiting over concurrency."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lmi_constructs.runtime.benchmark import BenchmarkLevel, Capacity


def draw(levels: Sequence[BenchmarkLevel], found: Capacity, title: str, file: Path) -> None:
    """Write the picture of a sweep, in the format that the file's name says (PNG, SVG, PDF).

    Raises:
        ValueError: If there is no such format.
        OSError: If the file cannot be written.
    """
    from matplotlib.figure import Figure

    concurrency = [level.concurrency for level in levels]
    figure = Figure(figsize=(8, 6), layout="constrained")
    throughput, waiting = figure.subplots(2, 1, sharex=True)
    throughput.plot(concurrency, [level.output_tokens_per_second for level in levels], "o-")
    throughput.set_ylabel("tokens a second")
    throughput.set_title(title)
    for name, values in (
        ("first token, median", [level.time_to_first_token.p50 for level in levels]),
        ("first token, 99 of 100", [level.time_to_first_token.p99 for level in levels]),
        ("between tokens, median", [level.inter_token_latency.p50 for level in levels]),
        ("between tokens, 99 of 100", [level.inter_token_latency.p99 for level in levels]),
    ):
        waiting.plot(concurrency, values, "o-", label=name)
    waiting.set_yscale("log")
    waiting.set_ylabel("milliseconds")
    waiting.set_xlabel("requests in flight")
    waiting.legend()
    if found.concurrency is not None:
        for axes in (throughput, waiting):
            axes.axvline(found.concurrency, linestyle="--", color="grey")
    figure.savefig(file)
