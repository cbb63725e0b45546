"""Reading scaling and alarms out of evaluated properties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lmi_constructs.checks.resources import Alarm, Metric, ScalableTarget, ScalingPolicy
from lmi_constructs.checks.values import (
    UNKNOWN,
    Number,
    String,
    Unknown,
    as_mapping,
    as_number,
    as_sequence,
    as_string,
    resource_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lmi_constructs.checks.template.sagemaker_resources import Context


def read_target(properties: Mapping[str, Any], context: Context) -> ScalableTarget:
    """Read an `AWS::ApplicationAutoScaling::ScalableTarget`."""
    return ScalableTarget(
        **context.common(None),
        namespace=as_string(properties.get("ServiceNamespace")),
        dimension=as_string(properties.get("ScalableDimension")),
        resource_id=as_string(properties.get("ResourceId")),
        minimum=as_number(properties.get("MinCapacity")),
        maximum=as_number(properties.get("MaxCapacity")),
        scheduled_minima=_scheduled_minima(properties.get("ScheduledActions")),
    )


def _scheduled_minima(actions: object) -> tuple[Number | None, ...] | Unknown:
    """Return the fewest that each scheduled action allows."""
    if actions is not None and not isinstance(actions, list):
        return UNKNOWN
    return tuple(
        as_number(as_mapping(as_mapping(action).get("ScalableTargetAction")).get("MinCapacity"))
        for action in as_sequence(actions)
    )


def read_policy(properties: Mapping[str, Any], context: Context) -> ScalingPolicy:
    """Read an `AWS::ApplicationAutoScaling::ScalingPolicy`."""
    tracking = as_mapping(properties.get("TargetTrackingScalingPolicyConfiguration"))
    predefined = as_mapping(tracking.get("PredefinedMetricSpecification"))
    custom = tracking.get("CustomizedMetricSpecification")
    path = "TargetTrackingScalingPolicyConfiguration/CustomizedMetricSpecification"
    plain = isinstance(custom, dict) and "MetricName" in custom
    return ScalingPolicy(
        **context.common(properties.get("PolicyName")),
        kind=as_string(properties.get("PolicyType")),
        target=resource_of(properties.get("ScalingTargetId")),
        dimension=as_string(properties.get("ScalableDimension")),
        resource_id=as_string(properties.get("ResourceId")),
        predefined_metric=as_string(predefined.get("PredefinedMetricType")),
        metric=_metric(custom, path) if plain else None,
        target_value=as_number(tracking.get("TargetValue")),
        scale_out_cooldown=as_number(tracking.get("ScaleOutCooldown")),
    )


def read_alarm(properties: Mapping[str, Any], context: Context) -> Alarm:
    """Read an `AWS::CloudWatch::Alarm`."""
    metrics = []
    queries = properties.get("Metrics")
    if "MetricName" in properties:
        metrics.append(_metric(properties, ""))
    for index, query in enumerate(as_sequence(queries)):
        statistic = as_mapping(as_mapping(query).get("MetricStat"))
        if isinstance(statistic.get("Metric"), dict):
            path = f"Metrics/{index}/MetricStat/Metric"
            metrics.append(
                _metric({**statistic["Metric"], "Statistic": statistic.get("Stat")}, path)
            )
    actions = as_sequence(properties.get("AlarmActions"))
    return Alarm(
        **context.common(properties.get("AlarmName")),
        metrics=tuple(metrics),
        simple=queries is None,
        threshold=as_number(properties.get("Threshold")),
        comparison=as_string(properties.get("ComparisonOperator")),
        periods=as_number(properties.get("EvaluationPeriods")),
        needed_periods=as_number(properties.get("DatapointsToAlarm")),
        period_seconds=as_number(properties.get("Period")),
        description=as_string(properties.get("AlarmDescription")),
        actions=tuple(action for action in map(as_string, actions) if action is not None),
    )


def _metric(value: object, path: str) -> Metric:
    metric = as_mapping(value)
    return Metric(
        path=path,
        namespace=as_string(metric.get("Namespace")),
        metric_name=as_string(metric.get("MetricName")),
        dimensions=_dimensions(metric.get("Dimensions")),
        statistic=as_string(metric.get("Statistic", metric.get("ExtendedStatistic"))),
    )


def _dimensions(value: object) -> Mapping[str, String] | Unknown:
    found: dict[str, String] = {}
    if value is not None and not isinstance(value, list):
        return UNKNOWN
    for dimension in as_sequence(value):
        name = as_mapping(dimension).get("Name")
        content = as_string(as_mapping(dimension).get("Value"))
        if not isinstance(name, str):
            return UNKNOWN
        found[name] = UNKNOWN if content is None else content
    return found
