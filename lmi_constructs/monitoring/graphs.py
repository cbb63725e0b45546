"""Graphs that dashboards of endpoints and of components have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MICROSECONDS: Final = 1_000_000
WIDTH: Final = 12
"""Two graphs beside each other: CloudWatch's grid has 24 columns."""


def beside_each_other(
    graphs: Sequence[cloudwatch.GraphWidget],
) -> list[list[cloudwatch.IWidget]]:
    """Return rows of two graphs."""
    return [list(graphs[at : at + 2]) for at in range(0, len(graphs), 2)]


def seconds_graph(title: str, metric: Callable[[str], cloudwatch.Metric]) -> cloudwatch.GraphWidget:
    """Return percentiles in seconds of what CloudWatch counts in microseconds.

    Args:
        title: Title without the unit.
        metric: Returns the metric with a statistic.
    """
    lines: list[cloudwatch.IMetric] = [
        cloudwatch.MathExpression(
            expression=f"{statistic} / {_MICROSECONDS}",
            using_metrics={statistic: metric(statistic)},
            period=cdk.Duration.minutes(1),
            label=statistic,
        )
        for statistic in ("p50", "p90", "p99")
    ]
    return cloudwatch.GraphWidget(
        title=f"{title}, seconds",
        width=WIDTH,
        left=lines,
        left_y_axis=cloudwatch.YAxisProps(min=0, label="seconds", show_units=False),
    )


def errors_graph(
    title: str, failed: cloudwatch.Metric, refused: cloudwatch.Metric
) -> cloudwatch.GraphWidget:
    """Return the shares of requests that fail in the container, and that it refuses."""
    return cloudwatch.GraphWidget(
        title=title,
        width=WIDTH,
        left=[
            failed.with_(label="failed in the container"),
            refused.with_(label="refused by the container"),
        ],
        left_y_axis=cloudwatch.YAxisProps(min=0, max=1),
    )


def open_requests_graph(
    title: str, metric: cloudwatch.Metric, one: str, concurrency: int | None
) -> cloudwatch.GraphWidget:
    """Return open requests against what one instance or copy works on at once, if it is known."""
    limits = []
    if concurrency is not None:
        label = f"one {one} works on {concurrency} at once"
        limits = [cloudwatch.HorizontalAnnotation(value=concurrency, label=label)]
    return cloudwatch.GraphWidget(title=title, width=WIDTH, left=[metric], left_annotations=limits)


def count_graph(
    title: str,
    invocations: cloudwatch.Metric,
    invocations_of_each: cloudwatch.Metric,
    limits: tuple[int, int] | None,
) -> cloudwatch.GraphWidget:
    """Return how many instances or copies answer, between the limits of scaling.

    No metric says it: each request counts 1 of the first and one divided by their number of the
    second, so that the sums of both tell. Without requests there is no line.

    Args:
        title: Title.
        invocations: Requests.
        invocations_of_each: Requests divided by the number of instances or copies.
        limits: Fewest and most, `None` if nothing scales.
    """
    return cloudwatch.GraphWidget(
        title=title,
        width=WIDTH,
        left=[
            cloudwatch.MathExpression(
                expression="all / each",
                using_metrics={
                    "all": invocations.with_(statistic="Sum"),
                    "each": invocations_of_each.with_(statistic="Sum"),
                },
                label="while requests come",
                period=cdk.Duration.minutes(1),
            )
        ],
        left_annotations=[
            cloudwatch.HorizontalAnnotation(value=value, label=label)
            for value, label in zip(limits or (), ("fewest", "most"), strict=False)
        ],
        left_y_axis=cloudwatch.YAxisProps(min=0),
    )
