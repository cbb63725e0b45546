"""Policies as the L1 constructs of Application Auto Scaling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from aws_cdk import aws_applicationautoscaling as autoscaling

from lmi_constructs.hosting._scope_and_id import checked_scope_and_id

if TYPE_CHECKING:
    from aws_cdk import aws_cloudwatch as cloudwatch
    from constructs import Construct

SHORTEST_COOLDOWN_SECONDS = 300
"""What Application Auto Scaling does by default."""

_OTHER_ID = "give the policy of that id another one: what starts the first copy or instance has it"
_POLICY = autoscaling.CfnScalingPolicy


@dataclass(frozen=True, slots=True)
class Dimension:
    """What can be scaled, and the predefined metrics that belong to it.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling-add-code-define.html

    Attributes:
        name: Name of the scalable dimension.
        concurrency_metric: Requests at once on one of them, published every 10 seconds.
        invocations_metric: Requests a minute on one of them.
    """

    name: str
    concurrency_metric: str
    invocations_metric: str


INSTANCES = Dimension(
    "sagemaker:variant:DesiredInstanceCount",
    "SageMakerVariantConcurrentRequestsPerModelHighResolution",
    "SageMakerVariantInvocationsPerInstance",
)
COPIES = Dimension(
    "sagemaker:inference-component:DesiredCopyCount",
    "SageMakerInferenceComponentConcurrentRequestsPerCopyHighResolution",
    "SageMakerInferenceComponentInvocationsPerCopy",
)


def track(
    scope: Construct,
    id: str,
    *,
    scaled: autoscaling.CfnScalableTarget,
    metric: str | cloudwatch.Metric,
    target: float,
    scale_in_seconds: int,
    scale_out_seconds: int,
    disable_scale_in: bool,
) -> autoscaling.CfnScalingPolicy:
    """Return a policy that keeps a predefined (by name) or any other metric near a target."""
    return _POLICY(
        scope,
        id,
        policy_name=id,
        policy_type="TargetTrackingScaling",
        scaling_target_id=scaled.ref,
        target_tracking_scaling_policy_configuration=_POLICY.TargetTrackingScalingPolicyConfigurationProperty(
            target_value=target,
            predefined_metric_specification=_predefined(metric),
            customized_metric_specification=_customized(metric),
            scale_in_cooldown=scale_in_seconds,
            scale_out_cooldown=scale_out_seconds,
            disable_scale_in=disable_scale_in or None,
        ),
    )


def wake_up(
    scope: Construct,
    *,
    scaled: autoscaling.CfnScalableTarget,
    metric: cloudwatch.Metric,
    adjustment: Literal["ExactCapacity", "ChangeInCapacity"],
    cooldown_seconds: int,
    description: str,
) -> tuple[autoscaling.CfnScalingPolicy, cloudwatch.Alarm]:
    """Return a policy that goes from zero to one, and the alarm that triggers it."""
    from aws_cdk import aws_cloudwatch as cloudwatch

    with checked_scope_and_id(scope, "WakeUp", fix=_OTHER_ID):
        policy = _POLICY(
            scope,
            "WakeUp",
            policy_name="WakeUp",
            policy_type="StepScaling",
            scaling_target_id=scaled.ref,
            step_scaling_policy_configuration=_POLICY.StepScalingPolicyConfigurationProperty(
                adjustment_type=adjustment,
                metric_aggregation_type="Maximum",
                cooldown=cooldown_seconds,
                step_adjustments=[
                    _POLICY.StepAdjustmentProperty(
                        metric_interval_lower_bound=0, scaling_adjustment=1
                    )
                ],
            ),
        )
    with checked_scope_and_id(scope, metric.metric_name, fix=_OTHER_ID):
        alarm = cloudwatch.Alarm(
            scope,
            metric.metric_name,
            metric=metric,
            threshold=1,
            evaluation_periods=1,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.MISSING,
            alarm_description=description,
        )
    resource = alarm.node.default_child
    assert isinstance(resource, cloudwatch.CfnAlarm)  # noqa: S101 - the CDK's own alarm
    resource.alarm_actions = [policy.ref]
    return policy, alarm


def identity(metric: str | cloudwatch.Metric) -> object:
    """Return what tells a metric from others: a predefined one by its name."""
    if isinstance(metric, str):
        return metric
    dimensions = {name: str(value) for name, value in (metric.dimensions or {}).items()}
    return metric.namespace, metric.metric_name, metric.statistic, dimensions


def _predefined(
    metric: str | cloudwatch.Metric,
) -> autoscaling.CfnScalingPolicy.PredefinedMetricSpecificationProperty | None:
    if not isinstance(metric, str):
        return None
    return _POLICY.PredefinedMetricSpecificationProperty(predefined_metric_type=metric)


def _customized(
    metric: str | cloudwatch.Metric,
) -> autoscaling.CfnScalingPolicy.CustomizedMetricSpecificationProperty | None:
    if isinstance(metric, str):
        return None
    return _POLICY.CustomizedMetricSpecificationProperty(
        namespace=metric.namespace,
        metric_name=metric.metric_name,
        statistic=metric.statistic,
        dimensions=[
            _POLICY.MetricDimensionProperty(name=name, value=value)
            for name, value in (metric.dimensions or {}).items()
        ],
    )
