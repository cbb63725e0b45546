"""CloudWatch metrics of an endpoint as CDK metrics, with the right dimensions."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from lmi_constructs._near_names import did_you_mean
from lmi_constructs.container.cdk_tokens import is_number_token
from lmi_constructs.facts.metrics import component_metrics, endpoint_metrics
from lmi_constructs.findings import Finding, LmiError
from lmi_constructs.readable import readable, said_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    import aws_cdk as cdk
    from aws_cdk import aws_cloudwatch as cloudwatch

    from lmi_constructs.facts.metrics import EndpointMetric

_SOURCE = "https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html"
_MINUTE = 60
_SHORT_PERIODS = (10, 20, 30)
_HOUR, _DAY, _WEEK = 3_600, 86_400, 604_800


def endpoint_metric(
    name: str,
    *,
    endpoint_name: str,
    variant_name: str,
    statistic: str | None = None,
    period: cdk.Duration | None = None,
) -> cloudwatch.Metric:
    """Return a metric of a variant.

    Args:
        name: Name of the metric, such as `ModelLatency`.
        endpoint_name: The endpoint.
        variant_name: The variant.
        statistic: Default: the one that makes sense of this metric.
        period: Default: one minute, at which endpoints publish.

    Raises:
        LmiError: If endpoints publish no metric of this name (LMI085).
    """
    from aws_cdk import aws_cloudwatch as cloudwatch

    of_endpoints = {
        known.name: known
        for known in endpoint_metrics().values()
        if known.dimensions[:1] == ("EndpointName",)
    }
    row = _row(name, "endpoints", of_endpoints)
    values = {"EndpointName": endpoint_name, "VariantName": variant_name}
    return cloudwatch.Metric(
        namespace=row.namespace,
        metric_name=row.name,
        dimensions_map={dimension: values[dimension] for dimension in row.dimensions},
        statistic=statistic or row.statistic,
        period=_one_minute() if period is None else period,
    )


def component_metric(
    name: str, *, component_name: str, period_seconds: int = 60, statistic: str | None = None
) -> cloudwatch.Metric:
    """Return a metric of an inference component.

    Args:
        name: Name of the metric, such as `NoCapacityInvocationFailures`.
        component_name: The component.
        period_seconds: Seconds over which values are put together.
        statistic: Default: the one that makes sense of this metric.

    Raises:
        LmiError: If components are not known to publish a metric of this name (LMI085).
    """
    import aws_cdk as cdk
    from aws_cdk import aws_cloudwatch as cloudwatch

    row = _row(name, "inference components", component_metrics())
    return cloudwatch.Metric(
        namespace=row.namespace,
        metric_name=row.name,
        dimensions_map={"InferenceComponentName": component_name},
        statistic=statistic or row.statistic,
        period=cdk.Duration.seconds(period_seconds),
    )


def seconds_of_period(period: cdk.Duration | None, default: int) -> int:
    """Return the seconds of a metric's period.

    Args:
        period: The period.
        default: Seconds without one.

    Raises:
        LmiError: If CloudWatch takes no such period (LMI088).
    """
    if period is None:
        return default
    try:
        seconds = period.to_seconds(integral=False)
    except RuntimeError as error:
        raise LmiError(_wrong_period(said_by(error))) from error
    if is_number_token(seconds):
        raise LmiError(_wrong_period("it is not known at synth, and the CDK takes no such period"))
    is_long = seconds > 0 and seconds % _MINUTE == 0
    if not (is_long or seconds in _SHORT_PERIODS) or seconds > _WEEK:
        raise LmiError(_wrong_period(f"it is {readable(seconds)} seconds"))
    return int(seconds)


def check_evaluation_periods(count: int, period_seconds: float) -> list[Finding]:
    """Check how many periods an alarm looks at; a token is not known.

    Args:
        count: How many.
        period_seconds: How long each is.
    """
    if is_number_token(count):
        return []
    longest = _WEEK if period_seconds >= _HOUR else _DAY
    if count < 1:
        message, fix = f"evaluation_periods is {count}", "give 1 or more"
        why = "an alarm looks at one period at least, and CloudWatch refuses fewer"
    elif count * period_seconds > longest:
        message = f"evaluation_periods is {count}, of {readable(period_seconds)} seconds each"
        why = "an alarm looks back one day, and seven with periods of an hour or more"
        fix = f"give {int(longest // period_seconds)} or fewer"
    else:
        return []
    return [
        Finding(
            rule="LMI088",
            message=message,
            why=why,
            fix=fix,
            where="evaluation_periods",
            source=_SOURCE,
        )
    ]


def _wrong_period(message: str) -> Finding:
    return Finding(
        rule="LMI088",
        message=f"the period cannot be: {message}",
        why="CloudWatch puts values together over 10, 20 or 30 seconds or whole minutes up to a week,"
        " and refuses the alarm otherwise",
        fix="give a period that is known at synth, such as cdk.Duration.minutes(5)",
        where="period",
        source=_SOURCE,
    )


def _row(name: str, publishers: str, known: Mapping[str, EndpointMetric]) -> EndpointMetric:
    if name in known:
        return known[name]
    raise LmiError(
        Finding(
            rule="LMI085",
            message=f"{publishers} publish no metric {name!r}",
            why="an alarm on it would wait for data for ever",
            fix=did_you_mean(name, known, "use one of " + ", ".join(known)),
            where="metric",
        )
    )


@cache
def _one_minute() -> cdk.Duration:
    """Return the period at which endpoints publish: made once, as it is a call over the bridge."""
    import aws_cdk as cdk

    return cdk.Duration.minutes(1)
