"""Scaling of a variant's instances."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aws_cdk import aws_applicationautoscaling as autoscaling
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from lmi_constructs.hosting._keywords import check_keywords
from lmi_constructs.hosting._planning import engine_concurrency
from lmi_constructs.hosting._report import report
from lmi_constructs.hosting._scaling_checks import (
    CONCURRENCY_TARGET_RATIO,
    check_backlog,
    check_capacity,
    check_policy,
    check_schedule,
    check_tracked_metric,
)

if TYPE_CHECKING:
    import aws_cdk as cdk
    from aws_cdk import aws_cloudwatch as cloudwatch

    from lmi_constructs.hosting._resolved_variant import ResolvedVariant
    from lmi_constructs.hosting.endpoint_operations import EndpointOperations

_SHORTEST_COOLDOWN_SECONDS = 300
"""What Application Auto Scaling does by default."""

_CONCURRENCY = "SageMakerVariantConcurrentRequestsPerModelHighResolution"
_INVOCATIONS = "SageMakerVariantInvocationsPerInstance"

_TRACKING = autoscaling.CfnScalingPolicy


class ScalableInstanceCount(Construct):
    """The instance count of a variant, which follows the load by the policies added to it.

    It uses the service-linked role of Application Auto Scaling for SageMaker, so there is no role
    of its own. An update that changes the instance type of a scaled variant is refused by SageMaker
    until the scaling is taken away: deploy without scaling first, then with the new type.

    Attributes:
        resource: The L1 construct.
        min_capacity: Fewest instances.
        max_capacity: Most instances.
        wake_up_policy: Policy that starts the first instance of an asynchronous endpoint at zero.
        wake_up_alarm: Alarm that triggers it.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        endpoint: EndpointOperations,
        variant: ResolvedVariant,
        min_capacity: int,
        max_capacity: int,
    ) -> None:
        """Register the instance count of a variant; see `LmiEndpoint.auto_scale_instance_count`."""
        super().__init__(scope, id)
        self._variant = variant
        self._endpoint = endpoint
        self._is_async = endpoint.endpoint_config.is_async
        report(self, check_capacity(min_capacity, max_capacity, is_async=self._is_async))
        self._scheduled: list[autoscaling.CfnScalableTarget.ScheduledActionProperty] = []
        self.wake_up_policy: autoscaling.CfnScalingPolicy | None = None
        self.wake_up_alarm: cloudwatch.Alarm | None = None
        self.min_capacity = min_capacity
        self.max_capacity = max_capacity
        name = variant.variant.variant_name
        self.resource = autoscaling.CfnScalableTarget(
            self,
            "Resource",
            service_namespace="sagemaker",
            scalable_dimension="sagemaker:variant:DesiredInstanceCount",
            resource_id=f"endpoint/{endpoint.endpoint_name}/variant/{name}",
            min_capacity=min_capacity,
            max_capacity=max_capacity,
        )
        _keep_scaled_capacity(endpoint.resource)

    def scale_on_concurrency(
        self,
        id: str,
        *,
        target: float | None = None,
        scale_in_cooldown: cdk.Duration | None = None,
        scale_out_cooldown: cdk.Duration | None = None,
        disable_scale_in: bool = False,
    ) -> autoscaling.CfnScalingPolicy:
        """Keep the requests an instance works on at once near a target: right for LLMs.

        Answers of a language model take long and differ in length, so that concurrency tells its
        load where requests a minute do not. The metric has high resolution (10 seconds).

        Args:
            id: Id of the policy.
            target: Requests at once on an instance. Default: 0.6 of what the engine works on at
                once (`max_rolling_batch_size`).
            scale_in_cooldown: Pause after taking instances away. Default: 5 minutes.
            scale_out_cooldown: Pause after adding instances. Default: the time the model takes to
                start, so that no instance is added because the last one is not there yet.
            disable_scale_in: Whether instances are never taken away.

        Raises:
            LmiError: If no target follows from the settings (LMI083), or the endpoint is
                asynchronous and publishes no such metric (LMI088).
        """
        self._check_kinds(target, scale_in_cooldown, scale_out_cooldown)
        concurrency = engine_concurrency(self._variant.verdict)
        report(self, check_policy(_CONCURRENCY, target, concurrency, is_async=self._is_async))
        if target is None and concurrency is not None:
            target = max(1, math.floor(concurrency * CONCURRENCY_TARGET_RATIO))
        return self._track(
            id, target, scale_in_cooldown, scale_out_cooldown, disable_scale_in, metric=_CONCURRENCY
        )

    def scale_on_invocations(
        self,
        id: str,
        *,
        target_invocations_per_minute: float,
        scale_in_cooldown: cdk.Duration | None = None,
        scale_out_cooldown: cdk.Duration | None = None,
        disable_scale_in: bool = False,
    ) -> autoscaling.CfnScalingPolicy:
        """Keep the requests a minute on an instance near a target.

        Args:
            id: Id of the policy.
            target_invocations_per_minute: Requests a minute on one instance. It is rendered as it
                is: no safety factor, no conversion from seconds.
            scale_in_cooldown: Pause after taking instances away. Default: 5 minutes.
            scale_out_cooldown: Pause after adding instances. Default: the time the model takes to
                start.
            disable_scale_in: Whether instances are never taken away.

        Raises:
            LmiError: If the endpoint is asynchronous and publishes no such metric (LMI088).
        """
        target = target_invocations_per_minute
        self._check_kinds(target, scale_in_cooldown, scale_out_cooldown)
        report(self, check_policy(_INVOCATIONS, target, None, is_async=self._is_async))
        return self._track(
            id, target, scale_in_cooldown, scale_out_cooldown, disable_scale_in, metric=_INVOCATIONS
        )

    def scale_to_track_metric(
        self,
        id: str,
        *,
        metric: cloudwatch.Metric,
        target: float,
        scale_in_cooldown: cdk.Duration | None = None,
        scale_out_cooldown: cdk.Duration | None = None,
        disable_scale_in: bool = False,
    ) -> autoscaling.CfnScalingPolicy:
        """Keep any metric near a target.

        Args:
            id: Id of the policy.
            metric: A metric that falls as instances are added. Not GPU utilisation: one request
                keeps a GPU busy (a warning, LMI084).
            target: Value to keep.
            scale_in_cooldown: Pause after taking instances away. Default: 5 minutes.
            scale_out_cooldown: Pause after adding instances. Default: the time the model takes to
                start.
            disable_scale_in: Whether instances are never taken away.
        """
        self._check_kinds(target, scale_in_cooldown, scale_out_cooldown)
        report(self, check_tracked_metric(metric.metric_name))
        return self._track(
            id, target, scale_in_cooldown, scale_out_cooldown, disable_scale_in, metric=metric
        )

    def scale_on_backlog(
        self,
        id: str,
        *,
        target_per_instance: float,
        scale_in_cooldown: cdk.Duration | None = None,
        scale_out_cooldown: cdk.Duration | None = None,
    ) -> autoscaling.CfnScalingPolicy:
        """Keep the queue of an asynchronous endpoint near a length for each instance.

        With `min_capacity=0` the last instance goes when the queue is empty. Nothing would bring it
        back, as a queue without instances has no length for each of them: so an alarm on
        `HasBacklogWithoutCapacity` starts the first one (`wake_up_alarm`, `wake_up_policy`).

        Args:
            id: Id of the policy.
            target_per_instance: Requests that wait or run, for each instance.
            scale_in_cooldown: Pause after taking instances away. Default: 5 minutes.
            scale_out_cooldown: Pause after adding instances. Default: the time the model takes to
                start.

        Raises:
            LmiError: If the endpoint is not asynchronous (LMI088), or the target is not above zero
                (LMI083).
        """
        report(self, check_backlog(target_per_instance, is_async=self._is_async))
        self._check_kinds(target_per_instance, scale_in_cooldown, scale_out_cooldown)
        if self.min_capacity == 0 and self.wake_up_policy is None:
            self._wake_up()
        return self._track(
            id,
            target_per_instance,
            scale_in_cooldown,
            scale_out_cooldown,
            False,
            metric=self._endpoint.metric("ApproximateBacklogSizePerInstance"),
        )

    def scale_on_schedule(
        self,
        id: str,
        *,
        schedule: autoscaling.Schedule,
        min_capacity: int | None = None,
        max_capacity: int | None = None,
        time_zone: str | None = None,
    ) -> None:
        """Change the limits at certain times, such as before the office opens.

        Args:
            id: Name of the scheduled action.
            schedule: When, such as `Schedule.cron(hour="7", minute="30", week_day="MON-FRI")`.
            min_capacity: Fewest instances from then on. Default: as it was.
            max_capacity: Most instances from then on. Default: as it was.
            time_zone: Such as `Asia/Seoul`. Default: UTC.

        Raises:
            LmiError: If neither limit is given, or the limits cannot be (LMI083).
        """
        least = self.min_capacity if min_capacity is None else min_capacity
        most = self.max_capacity if max_capacity is None else max_capacity
        report(
            self,
            [
                *check_schedule(min_capacity, max_capacity),
                *check_capacity(least, max(most, least), is_async=self._is_async),
                *(check_capacity(least, most, is_async=self._is_async) if max_capacity else ()),
            ],
        )
        target = autoscaling.CfnScalableTarget
        self._scheduled.append(
            target.ScheduledActionProperty(
                scheduled_action_name=id,
                schedule=schedule.expression_string,
                timezone=time_zone,
                scalable_target_action=target.ScalableTargetActionProperty(
                    min_capacity=min_capacity, max_capacity=max_capacity
                ),
            )
        )
        self.resource.scheduled_actions = list(self._scheduled)

    def _wake_up(self) -> None:
        """Start the first instance when requests wait and there is none."""
        from aws_cdk import aws_cloudwatch as cloudwatch

        self.wake_up_policy = autoscaling.CfnScalingPolicy(
            self,
            "WakeUp",
            policy_name="WakeUp",
            policy_type="StepScaling",
            scaling_target_id=self.resource.ref,
            step_scaling_policy_configuration=_TRACKING.StepScalingPolicyConfigurationProperty(
                adjustment_type="ExactCapacity",
                metric_aggregation_type="Maximum",
                cooldown=_SHORTEST_COOLDOWN_SECONDS,
                step_adjustments=[
                    _TRACKING.StepAdjustmentProperty(
                        metric_interval_lower_bound=0, scaling_adjustment=1
                    )
                ],
            ),
        )
        self.wake_up_alarm = cloudwatch.Alarm(
            self,
            "HasBacklogWithoutCapacity",
            metric=self._endpoint.metric("HasBacklogWithoutCapacity"),
            threshold=1,
            evaluation_periods=1,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.MISSING,
            alarm_description="Requests wait and there is no instance: starts the first one. It is no"
            " fault, and nobody has to look.",
        )
        resource = self.wake_up_alarm.node.default_child
        assert isinstance(resource, cloudwatch.CfnAlarm)  # noqa: S101 - the CDK's own alarm
        resource.alarm_actions = [self.wake_up_policy.ref]

    def _check_kinds(self, target: object, scale_in: object, scale_out: object) -> None:
        given = {"scale_in_cooldown": scale_in, "scale_out_cooldown": scale_out}
        report(self, check_keywords({"target": target, **given}))

    def _track(
        self,
        id: str,
        target: float | None,
        scale_in_cooldown: cdk.Duration | None,
        scale_out_cooldown: cdk.Duration | None,
        disable_scale_in: bool,
        *,
        metric: str | cloudwatch.Metric,
    ) -> autoscaling.CfnScalingPolicy:
        assert target is not None  # noqa: S101 - _check_policy has made sure of it
        return autoscaling.CfnScalingPolicy(
            self,
            id,
            policy_name=id,
            policy_type="TargetTrackingScaling",
            scaling_target_id=self.resource.ref,
            target_tracking_scaling_policy_configuration=_TRACKING.TargetTrackingScalingPolicyConfigurationProperty(
                target_value=target,
                predefined_metric_specification=_predefined(metric),
                customized_metric_specification=_customized(metric),
                scale_in_cooldown=_seconds(scale_in_cooldown) or _SHORTEST_COOLDOWN_SECONDS,
                scale_out_cooldown=self._scale_out_seconds(scale_out_cooldown),
                disable_scale_in=disable_scale_in or None,
            ),
        )

    def _scale_out_seconds(self, given: cdk.Duration | None) -> int:
        """Return the pause after adding instances: what was said, else what starting takes."""
        if given is not None:
            return int(given.to_seconds())
        return max(_SHORTEST_COOLDOWN_SECONDS, self._variant.startup_seconds or 0)


def _keep_scaled_capacity(endpoint: sagemaker.CfnEndpoint) -> None:
    """Let updates keep the instance count that scaling chose, and nothing else.

    Without it an update goes back to InitialInstanceCount. Weights and data capture are excluded,
    so that changing them in code still has an effect. It is not set on endpoints without scaling,
    where a changed instance count in code is meant.
    """
    endpoint.retain_all_variant_properties = True
    endpoint.exclude_retained_variant_properties = [
        sagemaker.CfnEndpoint.VariantPropertyProperty(variant_property_type=kind)
        for kind in ("DesiredWeight", "DataCaptureConfig")
    ]


def _predefined(
    metric: str | cloudwatch.Metric,
) -> autoscaling.CfnScalingPolicy.PredefinedMetricSpecificationProperty | None:
    if not isinstance(metric, str):
        return None
    return _TRACKING.PredefinedMetricSpecificationProperty(predefined_metric_type=metric)


def _customized(
    metric: str | cloudwatch.Metric,
) -> autoscaling.CfnScalingPolicy.CustomizedMetricSpecificationProperty | None:
    if isinstance(metric, str):
        return None
    return _TRACKING.CustomizedMetricSpecificationProperty(
        namespace=metric.namespace,
        metric_name=metric.metric_name,
        statistic=metric.statistic,
        dimensions=[
            _TRACKING.MetricDimensionProperty(name=name, value=value)
            for name, value in (metric.dimensions or {}).items()
        ],
    )


def _seconds(duration: cdk.Duration | None) -> int | None:
    return None if duration is None else int(duration.to_seconds())
