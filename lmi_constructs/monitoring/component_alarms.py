"""Alarms of one inference component, whoever shares its instances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from lmi_constructs.container.cdk_tokens import is_number_token
from lmi_constructs.findings import Finding, raise_errors
from lmi_constructs.monitoring.alarms import SECONDS_OF_PERIOD, AlarmKind
from lmi_constructs.monitoring.metrics import component_metric

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aws_cdk import aws_sns as sns

COMPONENT_ALARM_KINDS = (
    AlarmKind(
        "error_rate",
        "ErrorRate",
        "Invocation5XXErrors",
        "Average",
        3,
        1,
        1,
        "At least {threshold} of requests to the component (1 is all) fail in its container. Look at"
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
        "At least {threshold} of requests to the component (1 is all) are refused by its container."
        " Clients send bodies it does not take, or prompts longer than max_model_len.",
    ),
    AlarmKind(
        "p99_latency",
        "P99Latency",
        "ModelLatency",
        "p99",
        3,
        1_000_000,
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


class ComponentAlarms(Construct):
    """The alarms of a component or adapter, each an attribute: `None` if it was left out.

    None of them fires without data: a component without traffic is not broken.

    Attributes:
        error_rate: Share of requests that fail in the container.
        client_error_rate: Share of requests that the container refuses.
        p99_latency: Time of a whole answer.
        concurrent_requests: Requests at once on a copy.
        composite: All of them as one, which pages.
    """

    error_rate: cloudwatch.Alarm | None
    client_error_rate: cloudwatch.Alarm | None
    p99_latency: cloudwatch.Alarm | None
    concurrent_requests: cloudwatch.Alarm | None

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
        super().__init__(scope, id)
        self.composite: cloudwatch.CompositeAlarm | None = None
        wanted = {kind: thresholds.get(kind.name) for kind in COMPONENT_ALARM_KINDS}
        raise_errors(
            finding
            for kind, threshold in wanted.items()
            if threshold is not None
            for finding in _check(kind, threshold)
        )
        for kind, threshold in wanted.items():
            alarm = None if threshold is None else self._alarm(kind, component_name, threshold)
            setattr(self, kind.name, alarm)
        if topic is not None or paging_topic is not None:
            self._notify(topic, paging_topic)

    @property
    def all(self) -> tuple[cloudwatch.Alarm, ...]:
        """All alarms that were made."""
        made = (getattr(self, kind.name) for kind in COMPONENT_ALARM_KINDS)
        return tuple(alarm for alarm in made if alarm is not None)

    @property
    def of_updates(self) -> tuple[cloudwatch.Alarm, ...]:
        """Those that tell whether a new version is worse: errors of the container, latency."""
        told = (self.error_rate, self.p99_latency)
        return tuple(alarm for alarm in told if alarm is not None)

    @property
    def reaction_seconds(self) -> int:
        """The shortest that one of `of_updates` takes to go off, in seconds; 0 without any."""
        told = self.of_updates
        periods = [
            kind.periods for kind in COMPONENT_ALARM_KINDS if getattr(self, kind.name) in told
        ]
        return SECONDS_OF_PERIOD * min(periods, default=0)

    def _alarm(self, kind: AlarmKind, component_name: str, threshold: float) -> cloudwatch.Alarm:
        known = not is_number_token(threshold)
        spoken = f"{threshold:g}" if known else cdk.Tokenization.stringify_number(threshold)
        return cloudwatch.Alarm(
            self,
            kind.construct_id,
            metric=component_metric(
                kind.metric, component_name=component_name, statistic=kind.statistic
            ),
            threshold=threshold if kind.factor == 1 else threshold * kind.factor,
            evaluation_periods=kind.periods,
            datapoints_to_alarm=kind.periods,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
            alarm_description=kind.says.format(threshold=spoken),
        )

    def _notify(self, topic: sns.ITopic | None, paging_topic: sns.ITopic | None) -> None:
        from aws_cdk import aws_cloudwatch_actions as actions

        if topic is not None:
            action = actions.SnsAction(topic)
            for alarm in self.all:
                alarm.add_alarm_action(action)
        if paging_topic is not None and self.all:
            self.composite = cloudwatch.CompositeAlarm(
                self,
                "Incident",
                alarm_rule=cloudwatch.AlarmRule.any_of(*self.all),
                alarm_description="At least one alarm of the component is on: look at which, its own"
                " description says what to do.",
            )
            self.composite.add_alarm_action(actions.SnsAction(paging_topic))


def _check(kind: AlarmKind, threshold: float) -> list[Finding]:
    if is_number_token(threshold):
        message = f"{kind.name} is not known at synth" if kind.factor != 1 else ""
        why = f"{kind.metric} has another unit, and CloudFormation cannot multiply"
        fix = f"give a number, or make the alarm from component.metric({kind.metric!r})"
    else:
        wrong = threshold <= 0 or (kind.largest is not None and threshold > kind.largest)
        message = f"{kind.name} is {threshold:g}" if wrong else ""
        why = "the alarm would always fire, or never"
        fix = "give a share above 0, up to 1" if kind.largest == 1 else "give a value above 0"
    if not message:
        return []
    return [Finding(rule="LMI088", message=message, why=why, fix=fix, where=kind.name)]
