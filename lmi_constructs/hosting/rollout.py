"""How an update moves to a new configuration, and what brings it back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from aws_cdk import aws_sagemaker as sagemaker

from lmi_constructs.findings import raise_errors
from lmi_constructs.hosting._kinds import COUNT, DURATION, check_fields, needed, one_of
from lmi_constructs.hosting._rollout_checks import check_kind, check_rollout, check_steps
from lmi_constructs.hosting._units import seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    import aws_cdk as cdk

    from lmi_constructs.findings import Finding

_Endpoint = sagemaker.CfnEndpoint
_FIELDS = {
    "kind": needed(one_of("ALL_AT_ONCE", "CANARY", "LINEAR", "ROLLING")),
    "percent": needed(COUNT),
    "bake_time": DURATION,
    "termination_wait": DURATION,
    "maximum_time": DURATION,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """How an update of an endpoint moves to a new configuration.

    Make one with `blue_green`, `canary`, `linear` or `rolling`. The alarms that take an update back
    are named afterward: `endpoint.roll_back_on(endpoint.add_alarms(...))`.

    Attributes:
        kind: SageMaker's word for it.
        percent: Share of the instances that move in one step.
        bake_time: How long each step is watched before the next one.
        termination_wait: How long the old fleet stays after the last step, for a quick way back.
        maximum_time: How long the whole may take.
    """

    kind: Literal["ALL_AT_ONCE", "CANARY", "LINEAR", "ROLLING"]
    percent: int = 100
    bake_time: cdk.Duration | None = None
    termination_wait: cdk.Duration | None = None
    maximum_time: cdk.Duration | None = None

    def __post_init__(self) -> None:
        """Refuse values of another kind, and those that its kind of update does not have."""
        check_fields(self, _FIELDS)
        raise_errors(check_kind(self))

    @classmethod
    def blue_green(
        cls,
        *,
        bake_time: cdk.Duration | None = None,
        termination_wait: cdk.Duration | None = None,
        maximum_time: cdk.Duration | None = None,
    ) -> Rollout:
        """Start a whole new fleet, move all traffic at once, and watch.

        Both fleets run for a while: the account needs quota and capacity for twice the instances.

        Args:
            bake_time: How long the new fleet is watched before the old one goes. Default: not at
                all.
            termination_wait: How long the old fleet stays after that.
            maximum_time: How long the whole may take. Default: SageMaker's.
        """
        return cls(
            kind="ALL_AT_ONCE",
            bake_time=bake_time,
            termination_wait=termination_wait,
            maximum_time=maximum_time,
        )

    @classmethod
    def canary(
        cls,
        *,
        percent: int,
        bake_time: cdk.Duration,
        termination_wait: cdk.Duration | None = None,
        maximum_time: cdk.Duration | None = None,
    ) -> Rollout:
        """Start a whole new fleet, move a share of the traffic, watch, and move the rest.

        Args:
            percent: Share that moves first, 1 to 50.
            bake_time: How long the share is watched, up to an hour.
            termination_wait: How long the old fleet stays at the end.
            maximum_time: How long the whole may take. Default: SageMaker's.
        """
        return cls(
            kind="CANARY",
            percent=percent,
            bake_time=bake_time,
            termination_wait=termination_wait,
            maximum_time=maximum_time,
        )

    @classmethod
    def linear(
        cls,
        *,
        percent: int,
        bake_time: cdk.Duration,
        termination_wait: cdk.Duration | None = None,
        maximum_time: cdk.Duration | None = None,
    ) -> Rollout:
        """Start a whole new fleet, and move the traffic in equal steps.

        Args:
            percent: Share of each step, 10 to 50.
            bake_time: How long each step is watched, up to an hour.
            termination_wait: How long the old fleet stays at the end.
            maximum_time: How long the whole may take. Default: SageMaker's.
        """
        return cls(
            kind="LINEAR",
            percent=percent,
            bake_time=bake_time,
            termination_wait=termination_wait,
            maximum_time=maximum_time,
        )

    @classmethod
    def rolling(
        cls, *, percent: int, bake_time: cdk.Duration, maximum_time: cdk.Duration | None = None
    ) -> Rollout:
        """Replace some instances at a time: needs little more than the fleet itself.

        Not for several variants.

        Args:
            percent: Share of the instances that are replaced at a time, 5 to 50.
            bake_time: How long each batch is watched, up to an hour.
            maximum_time: How long the whole may take. Default: SageMaker's.
        """
        return cls(kind="ROLLING", percent=percent, bake_time=bake_time, maximum_time=maximum_time)

    def check(self, instance_count: int, variant_count: int) -> list[Finding]:
        """Return what is wrong with it for an endpoint of so many instances and variants."""
        findings = check_rollout(self, "deployment", instance_count)
        return findings or check_steps(self, instance_count, variant_count)

    def render(
        self, alarm_names: Sequence[str] = ()
    ) -> sagemaker.CfnEndpoint.DeploymentConfigProperty:
        """Return the L1 property, with the names of the alarms that take an update back."""
        rollback = None
        if alarm_names:
            rollback = _Endpoint.AutoRollbackConfigProperty(
                alarms=[_Endpoint.AlarmProperty(alarm_name=name) for name in alarm_names]
            )
        wait = seconds(self.bake_time, "bake_time") or 0
        size = _Endpoint.CapacitySizeProperty(type="CAPACITY_PERCENT", value=self.percent)
        if self.kind == "ROLLING":
            return _Endpoint.DeploymentConfigProperty(
                rolling_update_policy=_Endpoint.RollingUpdatePolicyProperty(
                    maximum_batch_size=size,
                    wait_interval_in_seconds=wait,
                    maximum_execution_timeout_in_seconds=seconds(self.maximum_time, "maximum_time"),
                ),
                auto_rollback_configuration=rollback,
            )
        return _Endpoint.DeploymentConfigProperty(
            blue_green_update_policy=_Endpoint.BlueGreenUpdatePolicyProperty(
                traffic_routing_configuration=_Endpoint.TrafficRoutingConfigProperty(
                    type=self.kind,
                    wait_interval_in_seconds=wait,
                    canary_size=size if self.kind == "CANARY" else None,
                    linear_step_size=size if self.kind == "LINEAR" else None,
                ),
                termination_wait_in_seconds=seconds(self.termination_wait, "termination_wait"),
                maximum_execution_timeout_in_seconds=seconds(self.maximum_time, "maximum_time"),
            ),
            auto_rollback_configuration=rollback,
        )
