"""What a dashboard shows of each component of a fleet."""

from __future__ import annotations

from dataclasses import dataclass

from aws_cdk import aws_cloudwatch as cloudwatch

from lmi_constructs.monitoring.graphs import (
    WIDTH,
    beside_each_other,
    count_graph,
    errors_graph,
    open_requests_graph,
    seconds_graph,
)
from lmi_constructs.monitoring.metrics import component_metric


@dataclass(frozen=True, slots=True)
class ShownComponent:
    """A component on a dashboard.

    Attributes:
        name: Name of the component.
        title: What its graphs are called.
        has_copies: Whether it has copies of its own; an adapter shares those of its base.
        concurrency: Requests that the engine of a copy works on at once, if it is known.
        limits: Fewest and most copies, `None` if nothing scales them.
    """

    name: str
    title: str
    has_copies: bool
    concurrency: int | None = None
    limits: tuple[int, int] | None = None


def rows_of(component: ShownComponent) -> list[list[cloudwatch.IWidget]]:
    """Return the rows of graphs of a component: requests, errors and latency, then its copies."""
    title = component.title

    def metric(name: str, statistic: str | None = None) -> cloudwatch.Metric:
        return component_metric(name, component_name=component.name, statistic=statistic)

    graphs = [
        cloudwatch.GraphWidget(
            title=f"{title}: requests",
            width=WIDTH,
            left=[metric("Invocations"), metric("NoCapacityInvocationFailures")],
        ),
        errors_graph(
            f"{title}: errors, share of requests",
            metric("Invocation5XXErrors"),
            metric("Invocation4XXErrors"),
        ),
        seconds_graph(
            f"{title}: whole answers", lambda statistic: metric("ModelLatency", statistic)
        ),
    ]
    if component.has_copies:
        graphs += [
            open_requests_graph(
                f"{title}: open requests of a copy",
                metric("ConcurrentRequestsPerCopy"),
                "copy",
                component.concurrency,
            ),
            cloudwatch.GraphWidget(
                title=f"{title}: GPUs of a copy, percent",
                width=WIDTH,
                left=[
                    metric("GPUUtilizationNormalized"),
                    metric("GPUMemoryUtilizationNormalized"),
                ],
                left_y_axis=cloudwatch.YAxisProps(min=0, max=100),
            ),
            count_graph(
                f"{title}: copies",
                metric("Invocations"),
                metric("InvocationsPerCopy"),
                component.limits,
            ),
        ]
    return beside_each_other(graphs)
