"""A number that follows the load by policies, whatever it counts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import aws_cdk as cdk
from aws_cdk import aws_applicationautoscaling as autoscaling
from constructs import Construct

from lmi_constructs.hosting._cdk_tokens import is_token
from lmi_constructs.hosting._keywords import check_keywords
from lmi_constructs.hosting._report_findings import report
from lmi_constructs.hosting._scope_and_id import checked_scope_and_id
from lmi_constructs.hosting._units import whole_seconds
from lmi_constructs.hosting.scaling import _policies
from lmi_constructs.hosting.scaling._checks import (
    CONCURRENCY_TARGET_RATIO,
    check_action,
    check_capacity,
    check_place,
    check_policy,
    check_policy_name,
    check_schedule,
    check_target,
    check_time_zone,
    check_tracked_metric,
    check_tracked_once,
    check_when,
)
from lmi_constructs.hosting.scaling._steps import check_steps
from lmi_constructs.monitoring.metrics import check_evaluation_periods

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aws_cdk import aws_cloudwatch as cloudwatch

    from lmi_constructs.hosting.scaling._policies import Dimension


_ONCE = "add all policies to what the first call returned"


class ScalableCapacity(Construct):
    """What scaling of instances and of copies has in common; not made by itself.

    It uses the service-linked role of Application Auto Scaling for SageMaker, so there is no role
    of its own.

    Attributes:
        resource: The L1 construct.
        min_capacity: Fewest of them.
        max_capacity: Most of them.
        wake_up_policy: Policy that starts the first one from zero, if there is one.
        wake_up_alarm: Alarm that triggers it.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        dimension: Dimension,
        resource_id: str,
        min_capacity: int,
        max_capacity: int,
        least: int,
        concurrency: int | None,
        startup_seconds: int | None,
        is_async: bool,
    ) -> None:
        """Register what is scaled; see the classes that are made."""
        with checked_scope_and_id(scope, id, fix=_ONCE):
            super().__init__(scope, id)
        self._dimension = dimension
        self._least = least
        self._concurrency = concurrency
        self._startup_seconds = startup_seconds
        self._is_async = is_async
        report(self, check_capacity(min_capacity, max_capacity, least=least))
        self._tracked: dict[str, object] = {}
        self._scheduled: list[autoscaling.CfnScalableTarget.ScheduledActionProperty] = []
        self._least_scheduled: list[int] = []
        self.wake_up_policy: autoscaling.CfnScalingPolicy | None = None
        self.wake_up_alarm: cloudwatch.Alarm | None = None
        self.min_capacity = min_capacity
        self.max_capacity = max_capacity
        self.resource = autoscaling.CfnScalableTarget(
            self,
            "Resource",
            service_namespace="sagemaker",
            scalable_dimension=dimension.name,
            resource_id=resource_id,
            min_capacity=min_capacity,
            max_capacity=max_capacity,
        )

    def scale_on_concurrency(
        self,
        id: str,
        *,
        target: float | None = None,
        scale_in_cooldown: cdk.Duration | None = None,
        scale_out_cooldown: cdk.Duration | None = None,
        disable_scale_in: bool = False,
    ) -> autoscaling.CfnScalingPolicy:
        """Keep the requests each one works on at once near a target: right for LLMs.

        Answers of a language model take long and differ in length, so that concurrency tells its
        load where requests a minute do not. The metric has high resolution (10 seconds).

        Args:
            id: Id of the policy.
            target: Requests at once on an instance or copy. Default: 0.6 of what the engine works
                on at once (`max_rolling_batch_size`).
            scale_in_cooldown: Pause after taking some away. Default: 5 minutes.
            scale_out_cooldown: Pause after adding some. Default: the longest that the model may
                take to start, so that none is added because the last one is not there yet.
            disable_scale_in: Whether none is ever taken away.

        Raises:
            LmiError: If no target follows from the settings (LMI083), or the endpoint is
                asynchronous and publishes no such metric (LMI088).
        """
        self._check_kinds(
            {"target": target}, scale_in_cooldown, scale_out_cooldown, disable_scale_in
        )
        metric, concurrency = self._dimension.concurrency_metric, self._concurrency
        report(self, check_policy(metric, target, concurrency, is_async=self._is_async))
        if target is None and concurrency is not None:
            target = max(1, math.floor(concurrency * CONCURRENCY_TARGET_RATIO))
        return self._track(
            id, target, scale_in_cooldown, scale_out_cooldown, disable_scale_in, metric=metric
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
        """Keep the requests a minute on each one near a target.

        Args:
            id: Id of the policy.
            target_invocations_per_minute: Requests a minute on one instance or copy. It is rendered
                as it is: no safety factor, no conversion from seconds.
            scale_in_cooldown: Pause after taking some away. Default: 5 minutes.
            scale_out_cooldown: Pause after adding some. Default: the longest that the model may
                take to start.
            disable_scale_in: Whether none is ever taken away.

        Raises:
            LmiError: If the endpoint is asynchronous and publishes no such metric (LMI088).
        """
        target, metric = target_invocations_per_minute, self._dimension.invocations_metric
        self._check_kinds(
            {"target_invocations_per_minute": target},
            scale_in_cooldown,
            scale_out_cooldown,
            disable_scale_in,
        )
        report(self, check_policy(metric, target, None, is_async=self._is_async))
        return self._track(
            id, target, scale_in_cooldown, scale_out_cooldown, disable_scale_in, metric=metric
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
            metric: A metric that falls as some are added. Not GPU utilization: one request keeps a
                GPU busy (a warning, LMI084).
            target: Value to keep.
            scale_in_cooldown: Pause after taking some away. Default: 5 minutes.
            scale_out_cooldown: Pause after adding some. Default: the longest that the model may
                take to start.
            disable_scale_in: Whether none is ever taken away.

        Raises:
            LmiError: If the metric is none (LMI010), or the target is not above zero (LMI083).
        """
        keywords = {"target": target, "metric": metric}
        self._check_kinds(keywords, scale_in_cooldown, scale_out_cooldown, disable_scale_in)
        report(self, check_keywords({"target": target}, required="target"))
        report(self, check_target(target, "target"))
        report(self, check_tracked_metric(metric, self))
        return self._track(
            id, target, scale_in_cooldown, scale_out_cooldown, disable_scale_in, metric=metric
        )

    def scale_on_metric(
        self,
        id: str,
        *,
        metric: cloudwatch.Metric | cloudwatch.MathExpression,
        scaling_steps: Sequence[autoscaling.ScalingInterval],
        adjustment_type: autoscaling.AdjustmentType = autoscaling.AdjustmentType.CHANGE_IN_CAPACITY,
        cooldown: cdk.Duration | None = None,
        evaluation_periods: int = 1,
    ) -> autoscaling.StepScalingPolicy:
        """Add and take away by steps: for what no single target describes.

        The CDK makes one policy with an alarm for each direction.

        Args:
            id: Id of the policies.
            metric: The metric, or an expression over several.
            scaling_steps: At least two ranges of the metric that do not overlap, each with what
                changes: `ScalingInterval(lower=40, change=+2)`.
            adjustment_type: What `change` means. Default: that many more or fewer.
            cooldown: Pause after each change. Default: the longest that the model may take to start.
            evaluation_periods: Periods of the metric that a value must last.

        Raises:
            LmiError: If the steps are too few, unbounded or overlap (LMI083).
        """
        from aws_cdk import aws_cloudwatch as cloudwatch

        given: dict[str, object] = {
            "scaling_steps": scaling_steps,
            "adjustment_type": adjustment_type,
            "cooldown": cooldown,
            "evaluation_periods": evaluation_periods,
        }
        if not isinstance(metric, cloudwatch.MathExpression):
            given["metric"] = metric
        report(self, check_keywords(given))
        report(
            self,
            [
                *check_evaluation_periods(
                    evaluation_periods, metric.period.to_seconds(integral=False)
                ),
                *check_place(metric, self),
                *check_steps(metric, scaling_steps, adjustment_type),
            ],
        )
        pause = self._scale_out_seconds(None)
        if cooldown is not None:
            pause = whole_seconds(cooldown, "cooldown")
        with checked_scope_and_id(self, id):
            return autoscaling.StepScalingPolicy(
                self,
                id,
                scaling_target=autoscaling.ScalableTarget.from_scalable_target_attributes(
                    self,
                    f"{id}Target",
                    scalable_dimension=self._dimension.name,
                    scalable_target_id=self.resource.ref,
                    service_namespace="sagemaker",
                ),
                metric=metric,
                scaling_steps=scaling_steps,
                adjustment_type=adjustment_type,
                cooldown=cdk.Duration.seconds(pause),
                evaluation_periods=evaluation_periods,
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
            min_capacity: Fewest from then on. Default: as it was.
            max_capacity: Most from then on. Default: as it was.
            time_zone: Such as `Asia/Seoul`. Default: UTC.

        Raises:
            LmiError: If neither limit is given, or limits or schedule cannot be (LMI083), or the
                name is none (LMI065) or given twice (LMI067).
        """
        keywords = {"schedule": schedule, "time_zone": time_zone}
        limits = {"min_capacity": min_capacity, "max_capacity": max_capacity}
        limits = {name: value for name, value in limits.items() if value is not None}
        report(self, check_keywords({"id": id, **keywords, **limits}))
        report(self, check_action(id, [action.scheduled_action_name for action in self._scheduled]))
        least = self.min_capacity if min_capacity is None else min_capacity
        most = self.max_capacity if max_capacity is None else max_capacity
        if max_capacity is None and not is_token(most) and not is_token(least):
            most = max(most, least)  # an earlier action may have set the other limit
        report(
            self,
            [
                *check_schedule(min_capacity, max_capacity),
                *check_when(schedule.expression_string),
                *check_time_zone(time_zone),
                *check_capacity(least, most, least=self._least),
            ],
        )
        target = autoscaling.CfnScalableTarget
        self._least_scheduled.append(self.min_capacity if min_capacity is None else min_capacity)
        self._schedule(
            target.ScheduledActionProperty(
                scheduled_action_name=id,
                schedule=schedule.expression_string,
                timezone=time_zone,
                scalable_target_action=target.ScalableTargetActionProperty(
                    min_capacity=min_capacity, max_capacity=max_capacity
                ),
            )
        )

    def _schedule(self, action: autoscaling.CfnScalableTarget.ScheduledActionProperty) -> None:
        self._scheduled.append(action)
        self.resource.scheduled_actions = list(self._scheduled)

    @property
    def _may_be_zero(self) -> bool:
        """Whether there may be none at some time; a token may be zero."""
        return any(
            is_token(least) or least == 0 for least in (self.min_capacity, *self._least_scheduled)
        )

    def _check_kinds(
        self,
        given: Mapping[str, object],
        scale_in: object,
        scale_out: object,
        disable_scale_in: object = None,
    ) -> None:
        common = {
            "scale_in_cooldown": scale_in,
            "scale_out_cooldown": scale_out,
            "disable_scale_in": disable_scale_in,
        }
        report(self, check_keywords({**given, **common}))

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
        assert target is not None  # noqa: S101 - check_policy has made sure of it
        scale_in_seconds = _policies.SHORTEST_COOLDOWN_SECONDS
        if scale_in_cooldown is not None:
            scale_in_seconds = whole_seconds(scale_in_cooldown, "scale_in_cooldown")
        scale_out_seconds = self._scale_out_seconds(scale_out_cooldown)
        tracked = _policies.identity(metric)
        with checked_scope_and_id(self, id):
            report(self, check_policy_name(id))
            if id not in self._tracked:  # one that is taken is refused for that
                report(self, check_tracked_once(tracked, self._tracked.values()))
            policy = _policies.track(
                self,
                id,
                scaled=self.resource,
                metric=metric,
                target=target,
                scale_in_seconds=scale_in_seconds,
                scale_out_seconds=scale_out_seconds,
                disable_scale_in=disable_scale_in,
            )
        self._tracked[id] = tracked
        return policy

    def _scale_out_seconds(self, given: cdk.Duration | None) -> int:
        """Return the pause after adding some: what was said, else what starting may take."""
        if given is not None:
            return whole_seconds(given, "scale_out_cooldown")
        known = self._startup_seconds
        if known is None or is_token(known):
            return _policies.SHORTEST_COOLDOWN_SECONDS if known is None else known
        return max(_policies.SHORTEST_COOLDOWN_SECONDS, known)
