"""A dashboard of an endpoint: what an operator looks at, top to bottom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from lmi_constructs.facts.metrics import endpoint_metrics
from lmi_constructs.monitoring.metrics import endpoint_metric

if TYPE_CHECKING:
    from collections.abc import Sequence

_MICROSECONDS: Final = 1_000_000
_WIDTH: Final = 12
"""Two graphs beside each other: CloudWatch's grid has 24 columns."""


class EndpointDashboard(Construct):
    """One CloudWatch dashboard for a variant of an endpoint.

    Traffic, latency, time to first chunk, errors, requests against what the engine works on at once,
    GPU and memory for each card, disk and host memory. Graphs whose metrics an asynchronous endpoint
    does not publish are left out; it has its queue instead. Latencies are in seconds.

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
        ]
        self.resource = cloudwatch.Dashboard(
            self,
            "Resource",
            default_interval=cdk.Duration.hours(3),
            widgets=[[graph] for graph in graphs if graph is not None],
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
            title=title, width=_WIDTH, left=[self._metric(name) for name in published]
        )

    def _errors(self) -> cloudwatch.GraphWidget:
        return cloudwatch.GraphWidget(
            title="Errors: share of requests",
            width=_WIDTH,
            left=[
                self._metric("Invocation5XXErrors", label="failed in the container"),
                self._metric("Invocation4XXErrors", label="refused by the container"),
            ],
            left_y_axis=cloudwatch.YAxisProps(min=0, max=1),
        )

    def _seconds(self, title: str, name: str) -> cloudwatch.GraphWidget | None:
        if not self._is_published(name):
            return None
        lines = [
            cloudwatch.MathExpression(
                expression=f"{statistic} / {_MICROSECONDS}",
                using_metrics={statistic: self._metric(name, statistic)},
                label=statistic,
            )
            for statistic in ("p50", "p90", "p99")
        ]
        return cloudwatch.GraphWidget(
            title=f"{title}, seconds",
            width=_WIDTH,
            left=lines,
            left_y_axis=cloudwatch.YAxisProps(min=0, label="seconds", show_units=False),
        )

    def _open_requests(self, concurrency: int | None) -> cloudwatch.GraphWidget | None:
        name = "ConcurrentRequestsPerModel"
        if not self._is_published(name):
            return None
        limits = []
        if concurrency is not None:
            label = f"one instance works on {concurrency} at once"
            limits = [cloudwatch.HorizontalAnnotation(value=concurrency, label=label)]
        return cloudwatch.GraphWidget(
            title="Open requests",
            width=_WIDTH,
            left=[self._metric(name, "Maximum")],
            left_annotations=limits,
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
                        label=label,
                    )
                )
            else:
                lines.append(metric)
        each = f"each of {accelerator_count}" if accelerator_count else "all added up"
        return cloudwatch.GraphWidget(
            title=f"GPUs, percent, {each}",
            width=_WIDTH,
            left=lines,
            left_y_axis=cloudwatch.YAxisProps(min=0),
        )

    def _is_published(self, name: str) -> bool:
        return not (self._is_async and endpoint_metrics()[name].on_async_endpoints is False)
