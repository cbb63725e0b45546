"""A dashboard of an endpoint: what an operator looks at, top to bottom."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from lmi_constructs.facts.metrics import endpoint_metrics
from lmi_constructs.monitoring.component_graphs import rows_of
from lmi_constructs.monitoring.graphs import (
    WIDTH,
    beside_each_other,
    count_graph,
    errors_graph,
    open_requests_graph,
    seconds_graph,
)
from lmi_constructs.monitoring.metrics import endpoint_metric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lmi_constructs.monitoring.component_graphs import ShownComponent


class EndpointDashboard(Construct):
    """One CloudWatch dashboard for a variant of an endpoint.

    Traffic, latency, time to first chunk, errors, requests against what the engine works on at once,
    GPU and memory for each card, disk and host memory, instances within the limits of scaling; then
    each component of a fleet. Graphs whose metrics an asynchronous endpoint does not publish are left
    out; it has its queue instead. Latencies are in seconds.

    Attributes:
        resource: The dashboard.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        endpoint_name: str,
        variant_name: str,
        accelerator_count: int | None,
        concurrency: int | None,
        is_async: bool,
        limits: tuple[int, int] | None = None,
        components: Sequence[ShownComponent] = (),
    ) -> None:
        """Create the dashboard; see `LmiEndpoint.add_dashboard`."""
        super().__init__(scope, id)
        self._names = (endpoint_name, variant_name)
        self._is_async = is_async
        graphs = [
            self._graph("Requests", ["Invocations", "InvocationsPerInstance"]),
            self._errors(),
            self._seconds("Whole answers", "ModelLatency"),
            self._seconds("First chunk of streamed answers", "FirstChunkLatency"),
            self._open_requests(concurrency),
            self._graph("Queue", ["ApproximateBacklogSize"], only_async=True),
            self._cards(accelerator_count),
            self._graph("Host memory and disk", ["MemoryUtilization", "DiskUtilization"]),
            self._instances(limits),
        ]
        shown = [graph for graph in graphs if graph is not None]
        self.resource = cloudwatch.Dashboard(
            self,
            "Resource",
            default_interval=cdk.Duration.hours(3),
            widgets=[
                *beside_each_other(shown),
                *(row for one in components for row in rows_of(one)),
            ],
        )

    def _metric(
        self, name: str, statistic: str | None = None, label: str | None = None
    ) -> cloudwatch.Metric:
        endpoint_name, variant_name = self._names
        metric = endpoint_metric(
            name, endpoint_name=endpoint_name, variant_name=variant_name, statistic=statistic
        )
        return metric.with_(label=label) if label else metric

    def _graph(
        self, title: str, names: Sequence[str], *, only_async: bool = False
    ) -> cloudwatch.GraphWidget | None:
        published = [name for name in names if self._is_published(name)]
        if not published or (only_async and not self._is_async):
            return None
        return cloudwatch.GraphWidget(
            title=title, width=WIDTH, left=[self._metric(name) for name in published]
        )

    def _errors(self) -> cloudwatch.GraphWidget:
        return errors_graph(
            "Errors: share of requests",
            self._metric("Invocation5XXErrors"),
            self._metric("Invocation4XXErrors"),
        )

    def _seconds(self, title: str, name: str) -> cloudwatch.GraphWidget | None:
        if not self._is_published(name):
            return None
        return seconds_graph(title, partial(self._metric, name))

    def _open_requests(self, concurrency: int | None) -> cloudwatch.GraphWidget | None:
        name = "ConcurrentRequestsPerModel"
        if not self._is_published(name):
            return None
        return open_requests_graph(
            "Open requests", self._metric(name, "Maximum"), "instance", concurrency
        )

    def _instances(self, limits: tuple[int, int] | None) -> cloudwatch.GraphWidget | None:
        """Show how many instances answer, which no metric says outright."""
        return (
            count_graph(
                "Instances, and limits of scaling" if limits else "Instances",
                self._metric("Invocations"),
                self._metric("InvocationsPerInstance"),
                limits,
            )
            if self._is_published("InvocationsPerInstance")
            else None
        )

    def _cards(self, accelerator_count: int | None) -> cloudwatch.GraphWidget:
        """Show the GPUs for each card: CloudWatch adds their percentages up."""
        lines: list[cloudwatch.IMetric] = []
        for key, name, label in (
            ("busy", "GPUUtilization", "busy"),
            ("memory", "GPUMemoryUtilization", "memory"),
        ):
            metric = self._metric(name, label=label)
            if accelerator_count:
                lines.append(
                    cloudwatch.MathExpression(
                        expression=f"{key} / {accelerator_count}",
                        using_metrics={key: metric},
                        period=cdk.Duration.minutes(1),
                        label=label,
                    )
                )
            else:
                lines.append(metric)
        each = f"each of {accelerator_count}" if accelerator_count else "all added up"
        return cloudwatch.GraphWidget(
            title=f"GPUs, percent, {each}",
            width=WIDTH,
            left=lines,
            left_y_axis=cloudwatch.YAxisProps(min=0),
        )

    def _is_published(self, name: str) -> bool:
        return not (self._is_async and endpoint_metrics()[name].on_async_endpoints is False)
