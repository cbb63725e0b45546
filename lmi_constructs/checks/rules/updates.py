"""Updates of an endpoint in service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.checks.examples import REMOVED, Example
from lmi_constructs.checks.queries.scaled_resources import scaled
from lmi_constructs.checks.queries.variants import config_of
from lmi_constructs.checks.resources import UpdatePolicy
from lmi_constructs.checks.rules.base import Rule
from lmi_constructs.checks.values import UNKNOWN, literal, number, shown
from lmi_constructs.facts.limits import limits
from lmi_constructs.readable import readable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.resources import Capacity, Endpoint
    from lmi_constructs.findings import Finding

_BOTOCORE: Final = "botocore 1.44.8 sagemaker 2017-07-24 "
_EXCLUSIONS: Final = (
    "https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails-exclusions.html"
)
_SHIFTING: Final = (
    "https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails-blue-green-canary.html"
)
_POLICY: Final = "Endpoint/Properties/DeploymentConfig"
_FOUR: Final = {"Config/Properties/ProductionVariants/0/InitialInstanceCount": 4}


def _rolling(percent: int) -> dict[str, Any]:
    return {
        "MaximumBatchSize": {"Type": "CAPACITY_PERCENT", "Value": percent},
        "WaitIntervalInSeconds": 120,
    }


def _canary(percent: int) -> dict[str, Any]:
    return {
        "TrafficRoutingConfiguration": {
            "Type": "CANARY",
            "CanarySize": {"Type": "CAPACITY_PERCENT", "Value": percent},
            "WaitIntervalInSeconds": 300,
        }
    }


_PASSING: Final = Example({**_FOUR, f"{_POLICY}/RollingUpdatePolicy": _rolling(25)})


def _policies(deployment: Deployment) -> Iterator[tuple[Endpoint, UpdatePolicy]]:
    for endpoint in deployment.endpoints:
        if isinstance(endpoint.update_policy, UpdatePolicy):
            yield endpoint, endpoint.update_policy


class PolicyNotUsable(Rule):
    """LMI070."""

    id = "LMI070"
    title = "the update policy cannot be used here"
    why = "CreateEndpoint takes one policy, and rolling updates only for one real-time variant"
    fix = "keep one of BlueGreenUpdatePolicy and RollingUpdatePolicy"
    source = _EXCLUSIONS
    failing = Example(
        {
            **_FOUR,
            f"{_POLICY}/RollingUpdatePolicy": _rolling(25),
            f"{_POLICY}/BlueGreenUpdatePolicy": _canary(25),
        }
    )
    passing = _PASSING

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield both policies at once, and rolling updates of several variants."""
        for endpoint, policy in _policies(deployment):
            config = config_of(deployment, endpoint)
            if policy.blue_green and policy.rolling:
                message = "BlueGreenUpdatePolicy and RollingUpdatePolicy are both set"
                yield self.found(endpoint, "DeploymentConfig", message)
            elif policy.rolling and config and len(config.variants) > 1:
                message = (
                    f"RollingUpdatePolicy takes one variant, but there are {len(config.variants)}"
                )
                fix = "use a blue/green policy with several variants"
                path = "DeploymentConfig/RollingUpdatePolicy"
                yield self.found(endpoint, path, message, fix=fix)


class StepOutOfRange(Rule):
    """LMI071."""

    id = "LMI071"
    title = "a step or time of the update is missing or out of range"
    why = "CreateEndpoint refuses the value"
    fix = (
        "canary at most 50 %, linear steps 10 to 50 %, rolling batches 5 to 50 %, waits at most"
        " 3600 s, the whole 600 to 28800 s and more than its waits"
    )
    source = _BOTOCORE + "BlueGreenUpdatePolicy, RollingUpdatePolicy"
    failing = Example({**_FOUR, f"{_POLICY}/BlueGreenUpdatePolicy": _canary(80)})
    passing = Example({**_FOUR, f"{_POLICY}/BlueGreenUpdatePolicy": _canary(25)})

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield sizes and times that the API does not take."""
        for endpoint, policy in _policies(deployment):
            sizes = (
                ("capacity_percent_canary", policy.canary),
                ("capacity_percent_linear", policy.linear),
                ("capacity_percent_rolling", policy.batch),
            )
            for name, size in sizes:
                percent = number(size.value) if size and size.kind == "CAPACITY_PERCENT" else None
                if size and percent is not None and not limits()[name].allows(percent):
                    message = (
                        f"a step moves {percent} % of the capacity, but must move {limits()[name]}"
                    )
                    yield self.found(endpoint, f"{size.path}/Value", message)
            yield from self._missing(endpoint, policy)
            yield from self._times(endpoint, policy)

    def _missing(self, endpoint: Endpoint, policy: UpdatePolicy) -> Iterator[Finding]:
        """Yield traffic that is to be shifted in steps of no size."""
        base = "DeploymentConfig/BlueGreenUpdatePolicy/TrafficRoutingConfiguration"
        steps = {
            "CANARY": ("CanarySize", policy.canary),
            "LINEAR": ("LinearStepSize", policy.linear),
        }
        name, step = steps.get(literal(policy.routing) or "", ("", None))
        if name and step is None:
            message = f"Type is {shown(policy.routing)}, and {name} is missing"
            fix = f"set {name}, such as Type CAPACITY_PERCENT and Value 50, or use ALL_AT_ONCE"
            yield self.found(
                endpoint, f"{base}/{name}", message, fix=fix, severity="warning", source=_SHIFTING
            )

    def _times(self, endpoint: Endpoint, policy: UpdatePolicy) -> Iterator[Finding]:
        waits = {
            "WaitIntervalInSeconds": number(policy.wait_seconds),
            "TerminationWaitInSeconds": number(policy.termination_wait_seconds),
        }
        known = {name: wait for name, wait in waits.items() if wait is not None}
        for name, wait in known.items():
            if not limits()["update_wait"].allows(wait):
                message = f"{name} is {wait}, but must be {limits()['update_wait']}"
                yield self.found(endpoint, "DeploymentConfig", message)
        longest = number(policy.longest_seconds)
        if longest is None:
            return
        name, together = "MaximumExecutionTimeoutInSeconds", sum(known.values())
        if not limits()["update_execution"].allows(longest):
            message = f"{name} is {longest}, but must be {limits()['update_execution']}"
            yield self.found(endpoint, "DeploymentConfig", message)
        elif longest <= together:
            message = f"{name} is {longest}, but the waits alone take {together} seconds"
            yield self.found(endpoint, "DeploymentConfig", message)


class StepBelowOneInstance(Rule):
    """LMI072."""

    id = "LMI072"
    title = "a step of the update does not move whole instances"
    severity = "warning"
    why = "with so few instances the step is less than one instance, or all of them at once"
    fix = "use ALL_AT_ONCE with one instance, or more instances"
    source = _BOTOCORE + "TrafficRoutingConfig.CanarySize"
    failing = Example({f"{_POLICY}/RollingUpdatePolicy": _rolling(25)})
    passing = _PASSING

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield steps of less than one instance, and steps of more than half of the instances."""
        for endpoint, policy in _policies(deployment):
            config = config_of(deployment, endpoint)
            counts = (
                [number(one.initial_instance_count) for one in config.variants] if config else []
            )
            sizes = (policy.canary, policy.linear, policy.batch)
            steps = [step for step in sizes if step and step.kind is not UNKNOWN]
            count = counts[0] if len(counts) == 1 else None
            for step in steps if count is not None else ():
                if count is not None and _is_no_step(step, count):
                    message = f"{_spoken(step)} of {_instances(count)}"
                    yield self.found(endpoint, step.path, message)


class RollbackAlarmCycle(Rule):
    """LMI073."""

    id = "LMI073"
    title = "the endpoint and its rollback alarm need each other"
    why = "CloudFormation refuses the template: circular dependency"
    fix = "give the alarm a name and write that name as a string in AutoRollbackConfiguration"
    source = "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/troubleshooting.html"
    failing = Example(
        {f"{_POLICY}/AutoRollbackConfiguration": {"Alarms": [{"AlarmName": {"Ref": "Latency"}}]}},
        base="scaled",
    )
    passing = Example(
        {
            f"{_POLICY}/AutoRollbackConfiguration": {"Alarms": [{"AlarmName": "llama-latency"}]},
            "Latency/Properties/AlarmName": "llama-latency",
        },
        base="scaled",
    )

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield alarms that wait for the endpoint which waits for them."""
        for endpoint, policy in _policies(deployment):
            for index, name in enumerate(policy.alarms):
                alarm = deployment.alarm(name)
                if (
                    alarm is not None
                    and deployment.depends(endpoint, alarm.key)
                    and deployment.depends(alarm, endpoint.key)
                ):
                    path = f"DeploymentConfig/AutoRollbackConfiguration/Alarms/{index}/AlarmName"
                    message = f"the alarm {alarm.logical_id} refers to this endpoint"
                    yield self.found(endpoint, path, message)


class CapacityLostOnUpdate(Rule):
    """LMI074."""

    id = "LMI074"
    title = "an update takes the scaled capacity away"
    severity = "warning"
    why = (
        "an update starts again with InitialInstanceCount, whatever autoscaling had chosen, so a"
        " busy endpoint is suddenly too small"
    )
    fix = "set RetainAllVariantProperties to true on the endpoint"
    source = _BOTOCORE + "UpdateEndpointInput.RetainAllVariantProperties"
    failing = Example({"Endpoint/Properties/RetainAllVariantProperties": REMOVED}, base="scaled")
    passing = Example(base="scaled")

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield scaled endpoints that do not retain their variants' properties."""
        seen = set()
        for target in deployment.scalable_targets:
            thing = scaled(deployment, target.resource_id)
            endpoint = thing.endpoint if thing else None
            if endpoint is None or endpoint.key in seen:
                continue
            seen.add(endpoint.key)
            if endpoint.retains_variant_properties in (None, False):
                message = "the endpoint is scaled and does not retain its variants' properties"
                yield self.found(endpoint, "RetainAllVariantProperties", message)


def _is_no_step(step: Capacity, count: float) -> bool:
    """Tell whether a step is less than one instance, or more than half of them."""
    size, kind = number(step.value), literal(step.kind)
    if count <= 1:
        return True
    if size is None:
        return False
    if kind == "INSTANCE_COUNT":
        return size * 2 > count
    return kind == "CAPACITY_PERCENT" and size * count < 100


def _spoken(step: Capacity) -> str:
    size = number(step.value)
    if size is None:
        return "the update moves a part"
    if step.kind == "CAPACITY_PERCENT":
        return f"a step moves {readable(size)} %"
    return f"a step moves {_instances(size)}"


def _instances(count: float) -> str:
    return "1 instance" if count == 1 else f"{readable(count)} instances"
