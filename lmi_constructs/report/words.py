"""Alarms and scaling in words: CloudWatch's names with what they mean, numbers with their units."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lmi_constructs.checks.queries.scaled_resources import scaled
from lmi_constructs.checks.values import literal, number
from lmi_constructs.facts.metrics import component_metrics, endpoint_metrics
from lmi_constructs.readable import readable

if TYPE_CHECKING:
    from lmi_constructs.checks import Deployment
    from lmi_constructs.checks.resources import (
        Alarm,
        Component,
        Metric,
        ScalableTarget,
        ScalingPolicy,
    )
    from lmi_constructs.facts.metrics import EndpointMetric

UNKNOWN: Final = "known at deployment"
_COMPARISONS: Final = {
    "GreaterThanThreshold": "above",
    "GreaterThanOrEqualToThreshold": "at or above",
    "LessThanThreshold": "below",
    "LessThanOrEqualToThreshold": "at or below",
    "GreaterThanUpperThreshold": "above its expected band",
    "LessThanLowerThreshold": "below its expected band",
    "LessThanLowerOrGreaterThanUpperThreshold": "outside its expected band",
}
"""Every `ComparisonOperator` of CloudWatch (botocore, service model of cloudwatch)."""

_STATISTICS: Final = {
    "Average": "average",
    "Sum": "sum",
    "Maximum": "highest value",
    "Minimum": "lowest value",
    "SampleCount": "number of values",
}
_PERCENTILE: Final = re.compile(r"p(\d+(?:\.\d+)?)")
_PREDEFINED: Final = re.compile(r"SageMaker(?:Variant|InferenceComponent)(\w+?)(?:HighResolution)?")
_SHARES: Final = frozenset({"Invocation4XXErrors", "Invocation5XXErrors"})
"""Metrics whose average is a share of the requests, as their rows say."""


@dataclass(frozen=True)
class Sentence:
    """What an alarm or a policy does.

    Attributes:
        text: The condition, or what is kept where.
        meanings: What each metric is, where it is known.
        advice: What its description says, if it has one.
    """

    text: str
    meanings: tuple[str, ...] = ()
    advice: str | None = None


def shown(value: object) -> str:
    """Return a value of a template, or that it is known at deployment."""
    if isinstance(value, (int, float)):
        return readable(value)
    return literal(value) or UNKNOWN


def name_of(component: Component) -> str:
    """Return what an inference component is called."""
    return shown(component.name) if component.name is not None else component.logical_id


def alarm_sentence(alarm: Alarm) -> Sentence:
    """Return when an alarm rings."""
    names = ", ".join(map(_watched, alarm.metrics)) or "a metric that is not known"
    subject = names if alarm.simple else f"a calculation from {names}"
    comparison = literal(alarm.comparison) or ""
    condition = _COMPARISONS.get(comparison, comparison or UNKNOWN)
    if "band" not in condition:
        condition += f" {_threshold(alarm)}"
    return Sentence(
        f"{subject} {condition}{_duration(alarm)}",
        tuple(dict.fromkeys(m for metric in alarm.metrics if (m := _meaning(metric)))),
        literal(alarm.description),
    )


def limits_sentence(deployment: Deployment, target: ScalableTarget) -> Sentence:
    """Return between which counts something is scaled."""
    found = scaled(deployment, target.resource_id)
    what = f"copies of {name_of(found.component)}" if found and found.component else "instances"
    return Sentence(f"{shown(target.minimum)} to {shown(target.maximum)} {what}")


def policy_sentence(policy: ScalingPolicy) -> Sentence:
    """Return what a scaling policy does."""
    if literal(policy.kind) == "StepScaling":
        return Sentence("by steps, when an alarm says so")
    predefined = literal(policy.predefined_metric)
    metric = policy.metric.metric_name if policy.metric else None
    match = _PREDEFINED.fullmatch(predefined or "")
    name = match[1] if match else predefined or shown(metric)
    facts = _facts(name, of_component="Component" in (predefined or ""))
    if name == UNKNOWN:
        return Sentence("by a metric that is not known from the template")
    value = number(policy.target_value)
    target = UNKNOWN if value is None else _with_unit(value, facts, None)
    return Sentence(
        f"adds and removes them to keep {name} near {target}",
        (f"{name}: {facts.description}",) if facts else (),
    )


def _watched(metric: Metric) -> str:
    dimensions = metric.dimensions if isinstance(metric.dimensions, dict) else {}
    component = dimensions.get("InferenceComponentName")
    name = shown(metric.metric_name)
    of_component = "" if component is None else f" of {shown(component)}"
    statistic = _statistic(literal(metric.statistic))
    return f"{name}{of_component}{f' ({statistic})' if statistic else ''}"


def _statistic(name: str | None) -> str:
    match = _PERCENTILE.fullmatch(name or "")
    if match:
        return f"{_ordinal(match[1])} percentile"
    return _STATISTICS.get(name or "", name or "")


def _ordinal(number: str) -> str:
    teen = number[-2:] in ("11", "12", "13") or "." in number
    return number + ("th" if teen else {"1": "st", "2": "nd", "3": "rd"}.get(number[-1], "th"))


def _threshold(alarm: Alarm) -> str:
    """Return a threshold as a person reads it: in the unit of the metrics, if they have one."""
    known = number(alarm.threshold)
    if known is None:
        return f"a threshold {UNKNOWN}"
    units = {_with_unit(known, _facts_of(m), literal(m.statistic)) for m in alarm.metrics}
    return units.pop() if alarm.simple and len(units) == 1 else readable(known)


def _with_unit(value: float, facts: EndpointMetric | None, statistic: str | None) -> str:
    if facts is None:
        return readable(value)
    if facts.unit == "Microseconds":
        return f"{readable(value / 1_000_000)} s"
    if facts.unit == "Percent":
        return f"{readable(value)} %"
    if facts.name in _SHARES and statistic == "Average":
        return f"{readable(value * 100)} % of requests"
    return readable(value)


def _duration(alarm: Alarm) -> str:
    """Return how long the condition must last; empty where it is not known."""
    periods, seconds = number(alarm.periods), number(alarm.period_seconds)
    needed = number(alarm.needed_periods) or periods
    if not periods or not needed or not seconds:
        return ""
    if needed == periods:
        return f" for {_time(periods * seconds)}"
    return f" in {readable(needed)} of {readable(periods)} periods of {_time(seconds)}"


def _time(seconds: float) -> str:
    if seconds % 60:
        return f"{readable(seconds)} seconds"
    minutes = readable(seconds / 60)
    return f"{minutes} minute{'' if minutes == '1' else 's'}"


def _facts_of(metric: Metric) -> EndpointMetric | None:
    dimensions = metric.dimensions if isinstance(metric.dimensions, dict) else {}
    name = literal(metric.metric_name) or ""
    return _facts(name, of_component="InferenceComponentName" in dimensions)


def _facts(name: str, *, of_component: bool) -> EndpointMetric | None:
    return (component_metrics() if of_component else endpoint_metrics()).get(name)


def _meaning(metric: Metric) -> str | None:
    facts = _facts_of(metric)
    return f"{facts.name}: {facts.description}" if facts else None
