"""What the alarms of endpoints and of components have in common."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from lmi_constructs.container.cdk_tokens import is_number_token
from lmi_constructs.findings import Finding
from lmi_constructs.readable import readable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aws_cdk import aws_sns as sns

MICROSECONDS: Final = 1_000_000
_SECONDS_OF_PERIOD: Final = 60
"""Endpoints publish once a minute, and all alarms look at minutes."""


@dataclass(frozen=True, slots=True)
class AlarmKind:
    """One kind of alarm.

    Attributes:
        name: Keyword of `add_alarms`, and attribute of what it returns.
        construct_id: Id of the alarm.
        metric: Name of the metric.
        statistic: Statistic of the metric.
        periods: Minutes in a row that must reach the threshold.
        factor: What the threshold is multiplied by to get the metric's unit.
        largest: Largest threshold that makes sense, if there is one; 1 for a share of the requests.
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

    def words(self, threshold: float) -> str:
        """Return the words of an alarm; a threshold that is a token is written at deploy time."""
        is_share = self.largest == 1
        if is_number_token(threshold):
            spoken = cdk.Tokenization.stringify_number(threshold)
            return self.says.format(threshold=f"{spoken} (1 is all)" if is_share else spoken)
        return self.says.format(
            threshold=f"{threshold * 100:g} %" if is_share else f"{threshold:g}"
        )


def check_threshold(kind: AlarmKind, threshold: float, factor: float, owner: str) -> list[Finding]:
    """Check a threshold; one that is known at deploy time only cannot be multiplied.

    Args:
        kind: Kind of the alarm.
        threshold: What was given.
        factor: What it is multiplied by.
        owner: `endpoint` or `component`, whose method `metric` makes any other alarm.
    """
    if is_number_token(threshold):
        if factor == 1:
            return []
        message = f"{kind.name} is not known at synth"
        why = f"{kind.metric} has another unit, and CloudFormation cannot multiply"
        fix = f"give a number, or make the alarm from {owner}.metric({kind.metric!r})"
    else:
        most = math.inf if kind.largest is None else kind.largest
        if 0 < threshold <= most:
            return []
        message = f"{kind.name} is {readable(threshold)}"
        why = "the alarm would always fire, or never"
        fix = "give a value above 0" + (
            "" if kind.largest is None else f", up to {readable(kind.largest)}"
        )
        fix += ": a share, not percent" if kind.largest == 1 else ""
    return [Finding(rule="LMI088", message=message, why=why, fix=fix, where=kind.name)]


class AlarmSet(Construct):
    """Alarms of one thing, each an attribute by the name of its kind: `None` if it was left out.

    None of them fires without data: what has no traffic is not broken.

    A subclass says which kinds there are, which of them tell whether a new version is worse, and what
    its owner is called: `endpoint` or `component`.

    Attributes:
        composite: All of them as one, which pages; `None` without a topic for that.
    """

    _kinds: ClassVar[tuple[AlarmKind, ...]]
    _kinds_of_updates: ClassVar[tuple[str, ...]]
    _owner: ClassVar[str]

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        metric: Callable[[AlarmKind], cloudwatch.Metric],
        factor: Callable[[AlarmKind], float],
        topic: sns.ITopic | None,
        paging_topic: sns.ITopic | None,
        thresholds: Mapping[str, float | None],
    ) -> None:
        """Create the alarms that have a threshold.

        Args:
            scope: Parent.
            id: Id within the parent.
            metric: Returns the metric of a kind.
            factor: Returns what a kind's threshold is multiplied by.
            topic: Hears of each alarm.
            paging_topic: Hears of all of them as one.
            thresholds: Thresholds by the kinds' names.
        """
        super().__init__(scope, id)
        self.composite: cloudwatch.CompositeAlarm | None = None
        for kind in self._kinds:
            threshold = thresholds.get(kind.name)
            alarm = None
            if threshold is not None:
                alarm = self._alarm(kind, metric(kind), threshold, factor(kind))
            setattr(self, kind.name, alarm)
        if topic is not None:
            self._notify(topic)
        if paging_topic is not None and self.all:
            self._page(paging_topic)

    @property
    def all(self) -> tuple[cloudwatch.Alarm, ...]:
        """All alarms that were made."""
        return tuple(alarm for kind in self._kinds if (alarm := getattr(self, kind.name)))

    @property
    def of_updates(self) -> tuple[cloudwatch.Alarm, ...]:
        """Those that tell whether a new version is worse: errors of the container, latencies."""
        return tuple(alarm for name in self._kinds_of_updates if (alarm := getattr(self, name)))

    @property
    def reaction_seconds(self) -> int:
        """The shortest that one of `of_updates` takes to go off, in seconds; 0 without any."""
        told = self.of_updates
        periods = [kind.periods for kind in self._kinds if getattr(self, kind.name) in told]
        return _SECONDS_OF_PERIOD * min(periods, default=0)

    def _alarm(
        self, kind: AlarmKind, metric: cloudwatch.Metric, threshold: float, factor: float
    ) -> cloudwatch.Alarm:
        return cloudwatch.Alarm(
            self,
            kind.construct_id,
            metric=metric,
            threshold=threshold if factor == 1 else threshold * factor,
            evaluation_periods=kind.periods,
            datapoints_to_alarm=kind.periods,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
            alarm_description=kind.words(threshold),
        )

    def _notify(self, topic: sns.ITopic) -> None:
        from aws_cdk import aws_cloudwatch_actions as actions

        action = actions.SnsAction(topic)
        for alarm in self.all:
            alarm.add_alarm_action(action)

    def _page(self, topic: sns.ITopic) -> None:
        from aws_cdk import aws_cloudwatch_actions as actions

        self.composite = cloudwatch.CompositeAlarm(
            self,
            "Incident",
            alarm_rule=cloudwatch.AlarmRule.any_of(*self.all),
            alarm_description=f"At least one alarm of the {self._owner} is on: look at which, its own"
            " description says what to do.",
        )
        self.composite.add_alarm_action(actions.SnsAction(topic))
