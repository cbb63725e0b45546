"""Scaling of a variant's instances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import aws_sagemaker as sagemaker

from lmi_constructs.hosting._planning import engine_concurrency
from lmi_constructs.hosting._report_findings import report
from lmi_constructs.hosting.scaling import _policies
from lmi_constructs.hosting.scaling._checks import check_backlog
from lmi_constructs.hosting.scaling.capacity import ScalableCapacity

if TYPE_CHECKING:
    import aws_cdk as cdk
    from aws_cdk import aws_applicationautoscaling as autoscaling
    from constructs import Construct

    from lmi_constructs.hosting._resolved_variant import ResolvedVariant
    from lmi_constructs.hosting.endpoint_operations import EndpointOperations


class ScalableInstanceCount(ScalableCapacity):
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
        is_async = endpoint.endpoint_config.is_async
        name = variant.variant.variant_name
        super().__init__(
            scope,
            id,
            dimension=_policies.INSTANCES,
            resource_id=f"endpoint/{endpoint.endpoint_name}/variant/{name}",
            min_capacity=min_capacity,
            max_capacity=max_capacity,
            least=0 if is_async else 1,
            concurrency=engine_concurrency(variant.verdict),
            startup_seconds=variant.longest_start_seconds,
            is_async=is_async,
        )
        self._endpoint = endpoint
        self._follows_backlog = False
        _keep_scaled_capacity(endpoint.resource)

    def scale_on_backlog(
        self,
        id: str,
        *,
        target_per_instance: float,
        scale_in_cooldown: cdk.Duration | None = None,
        scale_out_cooldown: cdk.Duration | None = None,
    ) -> autoscaling.CfnScalingPolicy:
        """Keep the queue of an asynchronous endpoint near a length for each instance.

        With `min_capacity=0`, of the target or of a scheduled action, the last instance goes when the queue is empty. Nothing would bring it
        back, as a queue without instances has no length for each of them: so an alarm on
        `HasBacklogWithoutCapacity` starts the first one (`wake_up_alarm`, `wake_up_policy`).

        Args:
            id: Id of the policy.
            target_per_instance: Requests that wait or run, for each instance.
            scale_in_cooldown: Pause after taking instances away. Default: 5 minutes.
            scale_out_cooldown: Pause after adding instances. Default: the longest that the model
                may take to start.

        Raises:
            LmiError: If the endpoint is not asynchronous (LMI088), or the target is not above zero
                (LMI083).
        """
        keywords = {"target_per_instance": target_per_instance}
        self._check_kinds(keywords, scale_in_cooldown, scale_out_cooldown)
        report(self, check_backlog(target_per_instance, is_async=self._is_async))
        self._follows_backlog = True
        self._wake_up_from_zero()
        return self._track(
            id,
            target_per_instance,
            scale_in_cooldown,
            scale_out_cooldown,
            False,
            metric=self._endpoint.metric("ApproximateBacklogSizePerInstance"),
        )

    def _schedule(self, action: autoscaling.CfnScalableTarget.ScheduledActionProperty) -> None:
        super()._schedule(action)
        if self._follows_backlog:
            self._wake_up_from_zero()

    def _wake_up_from_zero(self) -> None:
        """Add what starts the first instance, where there may be none at some time."""
        if not self._may_be_zero or self.wake_up_policy is not None:
            return
        self.wake_up_policy, self.wake_up_alarm = _policies.wake_up(
            self,
            scaled=self.resource,
            metric=self._endpoint.metric("HasBacklogWithoutCapacity"),
            adjustment="ExactCapacity",
            cooldown_seconds=_policies.SHORTEST_COOLDOWN_SECONDS,
            description="Requests wait and there is no instance: starts the first one. It is no"
            " fault, and nobody has to look.",
        )


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
