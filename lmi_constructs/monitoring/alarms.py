"""Alarms of an endpoint: one table, each with the words an operator needs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lmi_constructs.facts.metrics import endpoint_metrics
from lmi_constructs.findings import Finding, raise_errors
from lmi_constructs.monitoring.alarm_set import (
    MICROSECONDS,
    AlarmKind,
    AlarmSet,
    check_threshold,
)
from lmi_constructs.monitoring.metrics import endpoint_metric

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aws_cdk import aws_cloudwatch as cloudwatch
    from aws_cdk import aws_sns as sns
    from constructs import Construct

ALARM_KINDS = (
    AlarmKind(
        "error_rate",
        "ErrorRate",
        "Invocation5XXErrors",
        "Average",
        3,
        1,
        1,
        "At least {threshold} of requests fail in the container. Look at the endpoint's log for"
        " the engine's error; out of memory: shorter max_model_len or fewer requests at once.",
    ),
    AlarmKind(
        "client_error_rate",
        "ClientErrorRate",
        "Invocation4XXErrors",
        "Average",
        5,
        1,
        1,
        "At least {threshold} of requests are refused by the container. Clients send bodies it"
        " does not take, or prompts longer than max_model_len.",
    ),
    AlarmKind(
        "p99_latency",
        "P99Latency",
        "ModelLatency",
        "p99",
        3,
        MICROSECONDS,
        None,
        "One request in 100 takes longer than {threshold} s. Look at ConcurrentRequestsPerModel:"
        " if it is high, add instances; if not, answers have become longer.",
    ),
    AlarmKind(
        "p99_first_chunk_latency",
        "P99FirstChunkLatency",
        "FirstChunkLatency",
        "p99",
        3,
        MICROSECONDS,
        None,
        "One streamed answer in 100 starts later than after {threshold} s. Requests queue, or"
        " prompts have become longer.",
    ),
    AlarmKind(
        "p99_overhead_latency",
        "P99OverheadLatency",
        "OverheadLatency",
        "p99",
        3,
        MICROSECONDS,
        None,
        "SageMaker itself adds more than {threshold} s to one request in 100, outside the container."
        " Look at the size of requests and answers, and at ConcurrentRequestsPerModel; if neither"
        " has grown, the cause is not in this endpoint.",
    ),
    AlarmKind(
        "concurrent_requests",
        "ConcurrentRequests",
        "ConcurrentRequestsPerModel",
        "Maximum",
        3,
        1,
        None,
        "At least {threshold} requests are open at once in one container. Above the engine's"
        " concurrency they queue: add instances, or raise max_rolling_batch_size if the memory plan"
        " allows it.",
    ),
    AlarmKind(
        "disk_utilization",
        "DiskUtilization",
        "DiskUtilization",
        "Maximum",
        3,
        1,
        100,
        "The disk is at least {threshold} % full. A model from the hub is downloaded beside the"
        " image: mount it from S3, or take an instance type with more storage.",
    ),
    AlarmKind(
        "memory_utilization",
        "MemoryUtilization",
        "MemoryUtilization",
        "Maximum",
        3,
        1,
        100,
        "At least {threshold} % of the host's memory is in use. The container is killed at 100 %:"
        " less CPU offload, fewer adapters in CPU memory, or a larger instance.",
    ),
    AlarmKind(
        "gpu_memory_utilization",
        "GpuMemoryUtilization",
        "GPUMemoryUtilization",
        "Maximum",
        3,
        1,
        100,
        "GPUs use at least {threshold} % of their memory on average. The engine reserves its"
        " share at start; more than that points to a second process on the GPUs.",
    ),
)


class EndpointAlarms(AlarmSet):
    """The alarms of a variant, each an attribute: `None` if it was left out.

    None of them fires without data: an endpoint without traffic is not broken.

    Attributes:
        error_rate: Share of requests that fail in the container.
        client_error_rate: Share of requests that the container refuses.
        p99_latency: Time of a whole answer.
        p99_first_chunk_latency: Time to the first part of a streamed answer.
        p99_overhead_latency: Time that SageMaker adds to a request.
        concurrent_requests: Requests worked on or waiting.
        disk_utilization: Disk space.
        memory_utilization: Host memory.
        gpu_memory_utilization: Memory of the GPUs.
        composite: All of them as one, which pages; `None` without a topic for that.
    """

    error_rate: cloudwatch.Alarm | None
    client_error_rate: cloudwatch.Alarm | None
    p99_latency: cloudwatch.Alarm | None
    p99_first_chunk_latency: cloudwatch.Alarm | None
    p99_overhead_latency: cloudwatch.Alarm | None
    concurrent_requests: cloudwatch.Alarm | None
    disk_utilization: cloudwatch.Alarm | None
    memory_utilization: cloudwatch.Alarm | None
    gpu_memory_utilization: cloudwatch.Alarm | None

    _kinds = ALARM_KINDS
    _kinds_of_updates = ("error_rate", "p99_latency", "p99_first_chunk_latency")
    _owner = "endpoint"

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        endpoint_name: str,
        variant_name: str,
        accelerator_count: int | None,
        is_async: bool,
        topic: sns.ITopic | None,
        paging_topic: sns.ITopic | None,
        thresholds: Mapping[str, float | None],
    ) -> None:
        """Create the alarms that have a threshold; see `LmiEndpoint.add_alarms`."""
        factor = partial(_factor, accelerator_count=accelerator_count)
        raise_errors(
            finding
            for kind in ALARM_KINDS
            if (threshold := thresholds.get(kind.name)) is not None
            for finding in (
                *check_threshold(kind, threshold, factor(kind), self._owner),
                *_check_metric(kind, accelerator_count, is_async),
            )
        )

        def metric(kind: AlarmKind) -> cloudwatch.Metric:
            return endpoint_metric(
                kind.metric,
                endpoint_name=endpoint_name,
                variant_name=variant_name,
                statistic=kind.statistic,
            )

        super().__init__(
            scope,
            id,
            metric=metric,
            factor=factor,
            topic=topic,
            paging_topic=paging_topic,
            thresholds=thresholds,
        )


def _factor(kind: AlarmKind, accelerator_count: int | None) -> float:
    """Return what a threshold is multiplied by to become the metric's."""
    adds_up = endpoint_metrics()[kind.metric].adds_up_over == "accelerators"
    return kind.factor * (accelerator_count or 1) if adds_up else kind.factor


def _check_metric(
    kind: AlarmKind, accelerator_count: int | None, is_async: bool
) -> Iterator[Finding]:
    """Check that the metric is published, and what its values are to be divided by is known."""
    metric = endpoint_metrics()[kind.metric]
    if is_async and metric.on_async_endpoints is False:
        yield Finding(
            rule="LMI088",
            message=f"{kind.name} waits for {kind.metric}",
            why="asynchronous endpoints do not publish that metric",
            fix=f"give {kind.name}=None",
            where=kind.name,
            source="https://docs.aws.amazon.com/sagemaker/latest/dg/async-inference-monitor.html",
        )
    if metric.adds_up_over == "accelerators" and accelerator_count is None:
        yield Finding(
            rule="LMI087",
            message=f"{kind.name} needs the number of GPUs, which is not known here",
            why="CloudWatch adds the percentages of all GPUs up",
            fix=f"make the alarm from endpoint.metric({kind.metric!r}) with a threshold of"
            " your own",
            where=kind.name,
        )
