"""Alarms of an endpoint: one table, each with the words an operator needs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from lmi_constructs.container.cdk_tokens import is_number_token
from lmi_constructs.facts.metrics import endpoint_metrics
from lmi_constructs.findings import Finding, raise_errors
from lmi_constructs.monitoring.metrics import endpoint_metric
from lmi_constructs.readable import readable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aws_cdk import aws_sns as sns


@dataclass(frozen=True, slots=True)
class AlarmKind:
    """One kind of alarm.

    Attributes:
        name: Keyword of `add_alarms`, and attribute of what it returns.
        construct_id: Id of the alarm.
        metric: Name of the metric.
        statistic: Statistic of the metric.
        periods: Minutes in a row that must be over the threshold.
        factor: What the threshold is multiplied by to get the metric's unit.
        largest: Largest threshold that makes sense, if there is one.
        says: What it means, with `{threshold}`; and what to look at.
    """

    name: str
    construct_id: str
    metric: str
    statistic: str
    periods: int
    factor: float
    largest: float | None
    says: str


_MICROSECONDS = 1_000_000
SECONDS_OF_PERIOD: Final = 60
"""Endpoints publish once a minute, and all alarms look at minutes."""
_THRESHOLD = re.compile(r"\{threshold[^}]*\}")

ALARM_KINDS = (
    AlarmKind(
        "error_rate",
        "ErrorRate",
        "Invocation5XXErrors",
        "Average",
        3,
        1,
        1,
        "More than {threshold:.1%} of requests fail in the container. Look at the endpoint's log for"
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
        "More than {threshold:.1%} of requests are refused by the container. Clients send bodies it"
        " does not take, or prompts longer than max_model_len.",
    ),
    AlarmKind(
        "p99_latency",
        "P99Latency",
        "ModelLatency",
        "p99",
        3,
        _MICROSECONDS,
        None,
        "One request in 100 takes longer than {threshold:g} s. Look at ConcurrentRequestsPerModel:"
        " if it is high, add instances; if not, answers have become longer.",
    ),
    AlarmKind(
        "p99_first_chunk_latency",
        "P99FirstChunkLatency",
        "FirstChunkLatency",
        "p99",
        3,
        _MICROSECONDS,
        None,
        "One streamed answer in 100 starts later than after {threshold:g} s. Requests queue, or"
        " prompts have become longer.",
    ),
    AlarmKind(
        "p99_overhead_latency",
        "P99OverheadLatency",
        "OverheadLatency",
        "p99",
        3,
        _MICROSECONDS,
        None,
        "SageMaker itself adds more than {threshold:g} s to one request in 100, outside the container."
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
        "At least {threshold:g} requests are open at once in one container. Above the engine's"
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
        "The disk is fuller than {threshold:g} %. A model from the hub is downloaded beside the"
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
        "More than {threshold:g} % of the host's memory is in use. The container is killed at 100 %:"
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
        "GPUs use more than {threshold:g} % of their memory on average. The engine reserves its"
        " share at start; more than that points to a second process on the GPUs.",
    ),
)


class EndpointAlarms(Construct):
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
        composite: All of them as one, which pages.
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
        super().__init__(scope, id)
        wanted = [kind for kind in ALARM_KINDS if thresholds.get(kind.name) is not None]
        raise_errors(_check(wanted, thresholds, accelerator_count, is_async))
        self.composite: cloudwatch.CompositeAlarm | None = None
        for kind in ALARM_KINDS:
            setattr(self, kind.name, None)
        for kind in wanted:
            threshold = thresholds[kind.name] or 0
            factor = _factor(kind, accelerator_count)
            alarm = cloudwatch.Alarm(
                self,
                kind.construct_id,
                metric=endpoint_metric(
                    kind.metric,
                    endpoint_name=endpoint_name,
                    variant_name=variant_name,
                    statistic=kind.statistic,
                ),
                threshold=threshold if factor == 1 else threshold * factor,
                evaluation_periods=kind.periods,
                datapoints_to_alarm=kind.periods,
                comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
                treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
                alarm_description=_says(kind, threshold),
            )
            setattr(self, kind.name, alarm)
        if topic is not None:
            self._notify(topic)
        if paging_topic is not None and wanted:
            self._page(paging_topic)

    @property
    def all(self) -> tuple[cloudwatch.Alarm, ...]:
        """All alarms that were made."""
        made = (getattr(self, kind.name) for kind in ALARM_KINDS)
        return tuple(alarm for alarm in made if alarm is not None)

    @property
    def of_updates(self) -> tuple[cloudwatch.Alarm, ...]:
        """Those that tell whether a new version is worse: errors of the container, latencies."""
        told = (self.error_rate, self.p99_latency, self.p99_first_chunk_latency)
        return tuple(alarm for alarm in told if alarm is not None)

    @property
    def reaction_seconds(self) -> int:
        """The shortest that one of `of_updates` takes to go off, in seconds; 0 without any."""
        told = self.of_updates
        periods = [kind.periods for kind in ALARM_KINDS if getattr(self, kind.name) in told]
        return SECONDS_OF_PERIOD * min(periods, default=0)

    def _page(self, topic: sns.ITopic) -> None:
        from aws_cdk import aws_cloudwatch_actions as actions

        self.composite = cloudwatch.CompositeAlarm(
            self,
            "Incident",
            alarm_rule=cloudwatch.AlarmRule.any_of(*self.all),
            alarm_description="At least one alarm of the endpoint is on: look at which, its own"
            " description says what to do.",
        )
        self.composite.add_alarm_action(actions.SnsAction(topic))

    def _notify(self, topic: sns.ITopic) -> None:
        from aws_cdk import aws_cloudwatch_actions as actions

        action = actions.SnsAction(topic)
        for alarm in self.all:
            alarm.add_alarm_action(action)


def _factor(kind: AlarmKind, accelerator_count: int | None) -> float:
    """Return what a threshold is multiplied by to become the metric's."""
    adds_up = endpoint_metrics()[kind.metric].adds_up_over == "accelerators"
    return kind.factor * (accelerator_count or 1) if adds_up else kind.factor


def _says(kind: AlarmKind, threshold: float) -> str:
    """Return the words of an alarm; a threshold that is a token is written at deploy time."""
    if not is_number_token(threshold):
        return kind.says.format(threshold=threshold)
    return _THRESHOLD.sub(cdk.Tokenization.stringify_number(threshold), kind.says)


def _check(
    kinds: list[AlarmKind],
    thresholds: Mapping[str, float | None],
    accelerator_count: int | None,
    is_async: bool,
) -> list[Finding]:
    findings = []
    for kind in kinds:
        value = thresholds[kind.name] or 0
        if is_number_token(value):
            findings += _check_unknown(kind, accelerator_count)
        elif value <= 0 or (kind.largest is not None and value > kind.largest):
            limits = (
                "above 0" if kind.largest is None else f"above 0, up to {readable(kind.largest)}"
            )
            findings.append(
                Finding(
                    rule="LMI088",
                    message=f"{kind.name} is {readable(value)}",
                    why="the alarm would always fire, or never",
                    fix=f"give a value {limits}"
                    + (": a share, not percent" if kind.largest == 1 else ""),
                    where=kind.name,
                )
            )
        metric = endpoint_metrics()[kind.metric]
        if is_async and metric.on_async_endpoints is False:
            findings.append(
                Finding(
                    rule="LMI088",
                    message=f"{kind.name} waits for {kind.metric}",
                    why="asynchronous endpoints do not publish that metric",
                    fix=f"give {kind.name}=None",
                    where=kind.name,
                    source="https://docs.aws.amazon.com/sagemaker/latest/dg/async-inference-monitor.html",
                )
            )
        if metric.adds_up_over == "accelerators" and accelerator_count is None:
            findings.append(
                Finding(
                    rule="LMI087",
                    message=f"{kind.name} needs the number of GPUs, which is not known here",
                    why="CloudWatch adds the percentages of all GPUs up",
                    fix=f"make the alarm from endpoint.metric({kind.metric!r}) with a threshold of"
                    " your own",
                    where=kind.name,
                )
            )
    return findings


def _check_unknown(kind: AlarmKind, accelerator_count: int | None) -> list[Finding]:
    """Check a threshold that is known at deploy time only, where nothing can be multiplied."""
    if _factor(kind, accelerator_count) == 1:
        return []
    return [
        Finding(
            rule="LMI088",
            message=f"{kind.name} is not known at synth",
            why=f"{kind.metric} has another unit, and CloudFormation cannot multiply",
            fix=f"give a number, or make the alarm from endpoint.metric({kind.metric!r})",
            where=kind.name,
        )
    ]
