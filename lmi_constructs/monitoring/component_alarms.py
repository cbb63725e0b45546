"""Alarms of one inference component, whoever shares its instances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs.findings import raise_errors
from lmi_constructs.monitoring.alarm_set import (
    MICROSECONDS,
    AlarmKind,
    AlarmSet,
    check_threshold,
)
from lmi_constructs.monitoring.metrics import component_metric

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aws_cdk import aws_cloudwatch as cloudwatch
    from aws_cdk import aws_sns as sns
    from constructs import Construct

COMPONENT_ALARM_KINDS = (
    AlarmKind(
        "error_rate",
        "ErrorRate",
        "Invocation5XXErrors",
        "Average",
        3,
        1,
        1,
        "At least {threshold} of requests to the component fail in its container. Look at"
        " the component's log for the engine's error.",
    ),
    AlarmKind(
        "client_error_rate",
        "ClientErrorRate",
        "Invocation4XXErrors",
        "Average",
        5,
        1,
        1,
        "At least {threshold} of requests to the component are refused by its container."
        " Clients send bodies it does not take, or prompts longer than max_model_len.",
    ),
    AlarmKind(
        "p99_latency",
        "P99Latency",
        "ModelLatency",
        "p99",
        3,
        MICROSECONDS,
        None,
        "One request in 100 to the component takes longer than {threshold} s. Look at"
        " ConcurrentRequestsPerCopy: if it is high, add copies; if not, answers have become longer.",
    ),
    AlarmKind(
        "concurrent_requests",
        "ConcurrentRequests",
        "ConcurrentRequestsPerCopy",
        "Maximum",
        3,
        1,
        None,
        "At least {threshold} requests are open at once on a copy. Above the engine's concurrency"
        " they queue: add copies, and instances for them.",
    ),
)


class ComponentAlarms(AlarmSet):
    """The alarms of a component or adapter, each an attribute: `None` if it was left out.

    None of them fires without data: a component without traffic is not broken.

    Attributes:
        error_rate: Share of requests that fail in the container.
        client_error_rate: Share of requests that the container refuses.
        p99_latency: Time of a whole answer.
        concurrent_requests: Requests at once on a copy.
        composite: All of them as one, which pages; `None` without a topic for that.
    """

    error_rate: cloudwatch.Alarm | None
    client_error_rate: cloudwatch.Alarm | None
    p99_latency: cloudwatch.Alarm | None
    concurrent_requests: cloudwatch.Alarm | None

    _kinds = COMPONENT_ALARM_KINDS
    _kinds_of_updates = ("error_rate", "p99_latency")
    _owner = "component"

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        component_name: str,
        topic: sns.ITopic | None,
        paging_topic: sns.ITopic | None,
        thresholds: Mapping[str, float | None],
    ) -> None:
        """Create the alarms that have a threshold; see `LmiInferenceComponent.add_alarms`."""
        raise_errors(
            finding
            for kind in COMPONENT_ALARM_KINDS
            if (threshold := thresholds.get(kind.name)) is not None
            for finding in check_threshold(kind, threshold, kind.factor, self._owner)
        )
        super().__init__(
            scope,
            id,
            metric=lambda kind: component_metric(
                kind.metric, component_name=component_name, statistic=kind.statistic
            ),
            factor=lambda kind: kind.factor,
            topic=topic,
            paging_topic=paging_topic,
            thresholds=thresholds,
        )
