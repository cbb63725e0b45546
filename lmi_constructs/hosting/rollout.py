"""How an update moves to a new configuration, and what brings it back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from aws_cdk import aws_sagemaker as sagemaker

from lmi_constructs.findings import Finding
from lmi_constructs.hosting._kinds import COUNT, DURATION, check_fields, needed, one_of
from lmi_constructs.hosting._surroundings import Surroundings
from lmi_constructs.hosting._tokens import is_token
from lmi_constructs.hosting._units import seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    import aws_cdk as cdk
    from aws_cdk import aws_cloudwatch as cloudwatch
    from constructs import Construct

_Endpoint = sagemaker.CfnEndpoint
_SOURCE = "botocore 1.44.8 sagemaker 2017-07-24 CreateEndpointInput.DeploymentConfig"
_FIELDS = {
    "kind": needed(one_of("ALL_AT_ONCE", "CANARY", "LINEAR", "ROLLING")),
    "percent": needed(COUNT),
    "bake_time": DURATION,
    "termination_wait": DURATION,
    "maximum_time": DURATION,
}
_LONGEST_SECONDS = 3600
_MOST_ALARMS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """How an update of an endpoint moves to a new configuration.

    Make one with `blue_green`, `canary`, `linear` or `rolling`. The alarms that take an update back
    are named afterwards: `endpoint.roll_back_on(endpoint.add_alarms(...))`.

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
        """Refuse values of another kind."""
        check_fields(self, _FIELDS)

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
        least, most = {"CANARY": (1, 50), "LINEAR": (10, 50), "ROLLING": (5, 50)}.get(
            self.kind, (100, 100)
        )
        findings = []
        if not is_token(self.percent) and not least <= self.percent <= most:
            findings.append(
                _finding(
                    "LMI071",
                    f"percent is {self.percent}",
                    f"SageMaker takes {least} to {most} for {self.kind}",
                    f"give {least} to {most}",
                )
            )
        elif (
            self.kind != "ALL_AT_ONCE"
            and not is_token(instance_count)
            and instance_count * self.percent < 100
        ):
            findings.append(
                _finding(
                    "LMI072",
                    f"{self.percent} percent of {instance_count} instances is less than one",
                    "SageMaker moves whole instances",
                    "use Rollout.blue_green(...), or more instances",
                    severity="warning",
                )
            )
        if self.kind == "ROLLING" and variant_count > 1:
            findings.append(
                _finding(
                    "LMI070",
                    f"a rolling update of {variant_count} variants",
                    "SageMaker rolls endpoints with one variant only",
                    "use Rollout.blue_green(...)",
                )
            )
        for where, given in (
            ("bake_time", self.bake_time),
            ("termination_wait", self.termination_wait),
        ):
            waits = seconds(given, where)
            if waits is not None and not is_token(waits) and waits > _LONGEST_SECONDS:
                findings.append(
                    _finding(
                        "LMI071",
                        f"{where} is {waits} seconds",
                        f"SageMaker waits at most {_LONGEST_SECONDS}",
                        "give up to an hour",
                    )
                )
        return findings

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


def check_watched(
    scope: Construct, alarms: Sequence[cloudwatch.IAlarm], *, again: bool
) -> list[Finding]:
    """Check that alarms are named once, and stand where what they take back does."""
    if again:
        return [
            _finding(
                "LMI073",
                "roll_back_on is called twice",
                "the alarms of the second call would replace those of the first",
                "give all in one list: roll_back_on([*alarms.of_updates, mine])",
            )
        ]
    here = Surroundings.of(scope)
    return [
        _finding(
            "LMI073",
            f"an alarm is in {what} {theirs}, what it should take back in {mine}",
            "SageMaker looks for the alarm by its name where the update is, and finds none",
            "make the alarm in a stack of the same account and region",
        )
        for alarm in alarms
        for what, mine, theirs in (
            ("region", here.region, alarm.env.region),
            ("account", here.account, alarm.env.account),
        )
        if mine != theirs and not is_token(mine) and not is_token(theirs)
    ]


def check_rollback(rollout: Rollout | None, count: int) -> list[Finding]:
    """Check what should take an update back."""
    if rollout is None:
        return [
            _finding(
                "LMI073",
                "roll_back_on(...) of an endpoint without a Rollout",
                "alarm and endpoint would need each other: the alarm's metric carries the endpoint's"
                " name, and the endpoint must be created after the alarm",
                "give deployment=Rollout.blue_green(...) to the endpoint, and its name is known",
            )
        ]
    if 1 <= count <= _MOST_ALARMS:
        return []
    return [
        _finding(
            "LMI073",
            f"{count} alarms to roll back on",
            f"SageMaker takes 1 to {_MOST_ALARMS}",
            "name the alarms on errors and latencies",
        )
    ]


def _finding(
    rule: str, message: str, why: str, fix: str, severity: Literal["error", "warning"] = "error"
) -> Finding:
    return Finding(
        rule=rule,
        message=message,
        why=why,
        fix=fix,
        severity=severity,
        where="deployment",
        source=_SOURCE,
    )
