"""Scaling of a variant's instances."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aws_cdk import aws_applicationautoscaling as autoscaling
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from lmi_constructs.findings import Finding
from lmi_constructs.hosting._keywords import check_keywords
from lmi_constructs.hosting._planning import engine_concurrency
from lmi_constructs.hosting._report import report
from lmi_constructs.hosting._tokens import is_token

if TYPE_CHECKING:
    import aws_cdk as cdk
    from aws_cdk import aws_cloudwatch as cloudwatch

    from lmi_constructs.hosting._resolved_variant import ResolvedVariant
    from lmi_constructs.hosting.endpoint import LmiEndpoint

CONCURRENCY_TARGET_RATIO = 0.6
"""Share of the engine's own concurrency at which another instance is asked for.

A judgement, not a measurement: above 1 requests would queue before anything happens, and a new
instance takes minutes, in which the ones that are there must take what still comes.
"""

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
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        endpoint: LmiEndpoint,
        variant: ResolvedVariant,
        min_capacity: int,
        max_capacity: int,
    ) -> None:
        """Register the instance count of a variant; see `LmiEndpoint.auto_scale_instance_count`."""
        super().__init__(scope, id)
        report(self, _check_capacity(min_capacity, max_capacity))
        self._variant = variant
        self._is_async = endpoint.endpoint_config.is_async
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
        report(self, self._check_policy(_CONCURRENCY, target, concurrency))
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
        report(self, self._check_policy(_INVOCATIONS, target, None))
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
                keeps a GPU busy.
            target: Value to keep.
            scale_in_cooldown: Pause after taking instances away. Default: 5 minutes.
            scale_out_cooldown: Pause after adding instances. Default: the time the model takes to
                start.
            disable_scale_in: Whether instances are never taken away.
        """
        self._check_kinds(target, scale_in_cooldown, scale_out_cooldown)
        return self._track(
            id, target, scale_in_cooldown, scale_out_cooldown, disable_scale_in, metric=metric
        )

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

    def _check_policy(
        self, metric: str, target: float | None, concurrency: int | None
    ) -> list[Finding]:
        findings = []
        if self._is_async:
            findings.append(
                Finding(
                    rule="LMI088",
                    message=f"{metric} scales nothing on an asynchronous endpoint",
                    why="asynchronous endpoints do not publish the metric, so the policy never acts",
                    fix="track the backlog: scale_to_track_metric(metric=endpoint.metric("
                    "'ApproximateBacklogSizePerInstance'), ...)",
                    where="async_inference",
                    source="https://docs.aws.amazon.com/sagemaker/latest/dg/async-inference-monitor.html",
                )
            )
        if target is None and concurrency is None:
            findings.append(
                Finding(
                    rule="LMI083",
                    message="no target follows from the settings",
                    why="how many requests the engine works on at once is not known here",
                    fix="give target=, or max_rolling_batch_size in the settings as a number",
                    where="target",
                )
            )
        elif target is not None and not is_token(target) and target <= 0:
            findings.append(
                Finding(
                    rule="LMI083",
                    message=f"the target is {target}",
                    why="a target must be above zero",
                    fix="give a number above zero",
                    where="target",
                )
            )
        elif target is not None and concurrency is not None and target > concurrency:
            findings.append(
                Finding(
                    rule="LMI084",
                    message=f"the target is {target:g}, but the engine works on {concurrency}"
                    " requests at once",
                    why="requests queue on every instance before another one is added",
                    fix=f"give a target below {concurrency}, such as"
                    f" {max(1, math.floor(concurrency * CONCURRENCY_TARGET_RATIO))}",
                    severity="warning",
                    where="target",
                )
            )
        return findings


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


def _check_capacity(min_capacity: int, max_capacity: int) -> list[Finding]:
    if is_token(min_capacity) or is_token(max_capacity):
        return []
    findings = []
    if min_capacity < 1:
        findings.append(
            Finding(
                rule="LMI083",
                message=f"min_capacity is {min_capacity}",
                why="a variant with a model cannot serve from zero instances, and nothing would"
                " wake it",
                fix="give 1; scaling to zero takes inference components",
                where="min_capacity",
                source="https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling-zero-instances.html",
            )
        )
    if max_capacity < min_capacity:
        findings.append(
            Finding(
                rule="LMI083",
                message=f"max_capacity is {max_capacity}, min_capacity {min_capacity}",
                why="Application Auto Scaling refuses the target",
                fix=f"give max_capacity at least {min_capacity}",
                where="max_capacity",
            )
        )
    return findings
