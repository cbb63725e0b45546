"""Scaling of an inference component's copies, down to zero and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs.hosting._keywords import check_keywords
from lmi_constructs.hosting._report_findings import report
from lmi_constructs.hosting._units import whole_seconds
from lmi_constructs.hosting.scaling import _policies
from lmi_constructs.hosting.scaling._checks import check_scale_to_zero
from lmi_constructs.hosting.scaling.capacity import ScalableCapacity
from lmi_constructs.monitoring.metrics import component_metric

if TYPE_CHECKING:
    import aws_cdk as cdk
    from aws_cdk import aws_applicationautoscaling as autoscaling
    from constructs import Construct, IDependable

_WAKE_UP_PERIOD_SECONDS = 30
_WAKE_UP_COOLDOWN_SECONDS = 60
"""Both as AWS's own recipe has them: aws-samples/sagemaker-genai-hosting-examples,
01-models/Qwen/Qwen-QwQ-32B/Qwen-QwQ-32B-SGLang-Scale-Down-to-Zero.ipynb (2026-08-06)."""


class ScalableCopyCount(ScalableCapacity):
    """The copies of an inference component, which follow the load by the policies added to it.

    It uses the service-linked role of Application Auto Scaling for SageMaker, so there is no role
    of its own. Copies are added on the instances of the fleet; how many instances there are, the
    fleet's `ManagedInstanceScaling` decides. A deployment that changes `CopyCount` of the component
    takes the copies that scaling chose back to that number.

    Attributes:
        resource: The L1 construct.
        min_capacity: Fewest copies.
        max_capacity: Most copies.
        wake_up_policy: Policy that starts the first copy from zero.
        wake_up_alarm: Alarm that triggers it.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        component_name: str,
        depends_on: IDependable,
        min_capacity: int,
        max_capacity: int,
        concurrency: int | None = None,
        startup_seconds: int | None = None,
    ) -> None:
        """Register the copies of an inference component.

        Args:
            scope: Parent.
            id: Id within the parent.
            component_name: Name of the component.
            depends_on: The component: a literal name alone would let CloudFormation register the
                copies before there are any.
            min_capacity: Fewest copies. 0 takes `scale_to_zero`, or nothing wakes it up.
            max_capacity: Most copies.
            concurrency: Requests that the engine of a copy works on at once, if it is known.
            startup_seconds: The longest that a copy may take to start, in seconds. Default: not
                known, 5 minutes between additions.

        Raises:
            LmiError: If the limits cannot be (LMI083).
        """
        super().__init__(
            scope,
            id,
            dimension=_policies.COPIES,
            resource_id=f"inference-component/{component_name}",
            min_capacity=min_capacity,
            max_capacity=max_capacity,
            least=0,
            concurrency=concurrency,
            startup_seconds=startup_seconds,
            is_async=False,
        )
        self._component_name = component_name
        self.resource.node.add_dependency(depends_on)

    def scale_to_zero(
        self,
        id: str = "ScaleToZero",
        *,
        target: float | None = None,
        scale_in_cooldown: cdk.Duration | None = None,
        scale_out_cooldown: cdk.Duration | None = None,
        wake_up_cooldown: cdk.Duration | None = None,
    ) -> autoscaling.CfnScalingPolicy:
        """Go to zero copies while nobody asks, and back: the whole recipe.

        Three things, as AWS describes them: concurrency for each copy is kept near a target, which
        takes the last copy away; an alarm hears of requests that found no copy
        (`NoCapacityInvocationFailures`, every 30 seconds); a step policy then adds the first one.
        Requests fail for the minutes that it takes, so clients must try again.

        Instances cost until the fleet gives them back: it needs `ManagedInstanceScaling` with
        `min_instance_count=0`; LMI083 warns at synth if it keeps some.

        Source: https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling-zero-instances.html

        Args:
            id: Id of the policy that tracks concurrency.
            target: Requests at once on a copy. Default: 0.6 of what the engine works on at once.
            scale_in_cooldown: Pause after taking copies away. Default: 5 minutes.
            scale_out_cooldown: Pause after adding copies. Default: the longest that the model may
                take to start.
            wake_up_cooldown: Pause after the first copy was added. Default: 1 minute.

        Raises:
            LmiError: If `min_capacity` is not 0, it was called before, or no target follows from
                the settings (LMI083).
        """
        report(
            self,
            [
                *check_keywords({"wake_up_cooldown": wake_up_cooldown}),
                *check_scale_to_zero(self.min_capacity, again=self.wake_up_policy is not None),
            ],
        )
        cooldown = _WAKE_UP_COOLDOWN_SECONDS
        if wake_up_cooldown is not None:
            cooldown = whole_seconds(wake_up_cooldown, "wake_up_cooldown")
        policy = self.scale_on_concurrency(
            id,
            target=target,
            scale_in_cooldown=scale_in_cooldown,
            scale_out_cooldown=scale_out_cooldown,
        )
        self.wake_up_policy, self.wake_up_alarm = _policies.wake_up(
            self,
            scaled=self.resource,
            metric=component_metric(
                "NoCapacityInvocationFailures",
                component_name=self._component_name,
                period_seconds=_WAKE_UP_PERIOD_SECONDS,
            ),
            adjustment="ChangeInCapacity",
            cooldown_seconds=cooldown,
            description="A request found no copy of the model: starts the first one. It is no fault,"
            " and nobody has to look.",
        )
        return policy
