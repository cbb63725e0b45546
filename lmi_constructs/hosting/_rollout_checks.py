"""What is wrong about an update, of an endpoint or a component, and about what takes it back."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal

from lmi_constructs.facts.limits import limits
from lmi_constructs.findings import Finding
from lmi_constructs.hosting._cdk_tokens import is_token
from lmi_constructs.hosting._stack_environment import StackEnvironment
from lmi_constructs.hosting._units import seconds
from lmi_constructs.readable import readable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aws_cdk import aws_cloudwatch as cloudwatch
    from constructs import Construct

    from lmi_constructs.hosting.rollout import Rollout
    from lmi_constructs.monitoring.alarms import EndpointAlarms
    from lmi_constructs.monitoring.component_alarms import ComponentAlarms

_SOURCE: Final = "botocore 1.44.8 sagemaker 2017-07-24 DeploymentConfig"
_SHARES: Final = {
    "CANARY": "capacity_percent_canary",
    "LINEAR": "capacity_percent_linear",
    "ROLLING": "capacity_percent_rolling",
}
_MOST_ALARMS: Final = 10


def check_rollout(rollout: Rollout, where: str, count: int | None) -> list[Finding]:
    """Return what SageMaker does not take, of so many instances or copies; `None` is not known."""
    wrong = _check_share(rollout, where)
    return [
        *wrong,
        *_check_waits(rollout, where),
        *([] if wrong else _check_whole(rollout, where, count)),
    ]


def check_kind(rollout: Rollout) -> list[Finding]:
    """Return what would have no effect with a kind of update."""
    findings = []
    if rollout.kind == "ALL_AT_ONCE" and rollout.percent != 100:
        findings.append(
            _finding(
                "LMI071",
                "percent",
                f"percent is {readable(rollout.percent)}, of ALL_AT_ONCE",
                "all instances move at once, and the share would have no effect",
                "leave percent out, or use Rollout.canary(...)",
            )
        )
    if rollout.kind == "ROLLING" and rollout.termination_wait is not None:
        findings.append(
            _finding(
                "LMI071",
                "termination_wait",
                "termination_wait is given for ROLLING",
                "a rolling update has no such wait, and it would have no effect",
                "leave termination_wait out",
            )
        )
    return findings


def _check_share(rollout: Rollout, where: str) -> list[Finding]:
    if rollout.kind not in _SHARES or is_token(rollout.percent):
        return []
    allowed = limits()[_SHARES[rollout.kind]]
    if allowed.allows(rollout.percent):
        return []
    takes = f"{allowed.minimum} to {allowed.maximum}"
    return [
        _finding(
            "LMI071",
            where,
            f"percent is {rollout.percent}",
            f"SageMaker takes {takes} for {rollout.kind}",
            f"give {takes}",
        )
    ]


def _check_waits(rollout: Rollout, where: str) -> list[Finding]:
    longest = limits()["update_wait"].maximum
    given = {"bake_time": rollout.bake_time, "termination_wait": rollout.termination_wait}
    waits = {name: seconds(wait, name) for name, wait in given.items()}
    return [
        _finding(
            "LMI071",
            where,
            f"{name} is {wait} seconds",
            f"SageMaker waits at most {longest}",
            "give up to an hour",
        )
        for name, wait in waits.items()
        if wait is not None and not is_token(wait) and not limits()["update_wait"].allows(wait)
    ]


def _check_whole(rollout: Rollout, where: str, count: int | None) -> list[Finding]:
    """Check the time that the whole update may take; a token is not known."""
    whole = seconds(rollout.maximum_time, "maximum_time")
    if whole is None or is_token(whole):
        return []
    allowed = limits()["update_execution"]
    if not allowed.allows(whole):
        message, why = f"maximum_time is {whole} seconds", f"SageMaker takes {allowed}"
        return [_finding("LMI071", where, message, why, f"give {allowed}")]
    waits = _waits(rollout, count)
    if whole > waits:
        return []
    return [
        _finding(
            "LMI071",
            where,
            f"maximum_time is {whole} seconds, the waits alone take {waits}",
            "the update runs out of time before its last step, and is taken back",
            f"give more than {waits} seconds, or shorter waits",
        )
    ]


def _waits(rollout: Rollout, count: int | None) -> int:
    """Return the seconds that an update surely waits: steps move one instance at least."""
    bake = seconds(rollout.bake_time, "bake_time") or 0
    after = seconds(rollout.termination_wait, "termination_wait") or 0
    steps = 1
    if count is not None and not is_token(count) and not is_token(rollout.percent):
        steps = max(1, min(math.ceil(100 / rollout.percent), count))
    between = {"LINEAR": max(1, steps - 1), "ROLLING": steps}.get(rollout.kind, 1)
    return (0 if is_token(bake) else bake * between) + (0 if is_token(after) else after)


def check_steps(rollout: Rollout, instance_count: int, variant_count: int) -> list[Finding]:
    """Check the steps of an endpoint's update, which are whole instances of one variant."""
    findings = []
    is_known = not is_token(instance_count) and not is_token(rollout.percent)
    if rollout.kind != "ALL_AT_ONCE" and is_known and instance_count * rollout.percent < 100:
        findings.append(
            _finding(
                "LMI072",
                "deployment",
                f"{rollout.percent} percent of {instance_count} instances is less than one",
                "SageMaker moves whole instances",
                "use Rollout.blue_green(...), or more instances",
                severity="warning",
            )
        )
    if rollout.kind == "ROLLING" and variant_count > 1:
        findings.append(
            _finding(
                "LMI070",
                "deployment",
                f"a rolling update of {variant_count} variants",
                "SageMaker rolls endpoints with one variant only",
                "use Rollout.blue_green(...)",
            )
        )
    return findings


def check_watched(
    scope: Construct,
    rollout: Rollout,
    alarms: Sequence[cloudwatch.IAlarm],
    reaction_seconds: int,
    *,
    again: bool,
) -> list[Finding]:
    """Check what takes an update back.

    Args:
        scope: What is updated.
        rollout: How it is updated.
        alarms: The alarms.
        reaction_seconds: The shortest that one of them takes to go off, 0 if it is not known.
        again: Whether alarms were named before.
    """
    if again:
        return [
            _finding(
                "LMI073",
                "alarms",
                "roll_back_on is called twice",
                "the alarms of the second call would replace those of the first",
                "give all in one list: roll_back_on([*alarms.of_updates, mine])",
            )
        ]
    if not 1 <= len(alarms) <= _MOST_ALARMS:
        return [
            _finding(
                "LMI073",
                "alarms",
                f"{len(alarms)} alarms to roll back on",
                f"SageMaker takes 1 to {_MOST_ALARMS}",
                "name the alarms on errors and latencies",
            )
        ]
    return [*_check_environments(scope, alarms), *_check_reaction(rollout, reaction_seconds)]


def watched_alarms(
    alarms: EndpointAlarms | ComponentAlarms | Sequence[cloudwatch.IAlarm],
) -> tuple[Sequence[cloudwatch.IAlarm], int]:
    """Return alarms that take an update back, and the seconds that the first one needs, if known."""
    from lmi_constructs.monitoring.alarms import EndpointAlarms
    from lmi_constructs.monitoring.component_alarms import ComponentAlarms

    if isinstance(alarms, (EndpointAlarms, ComponentAlarms)):
        return alarms.of_updates, alarms.reaction_seconds
    return alarms, 0


def _check_environments(scope: Construct, alarms: Sequence[cloudwatch.IAlarm]) -> list[Finding]:
    """Check that alarms are in the region and account of what they take back."""
    here = StackEnvironment.of(scope)
    findings = []
    for alarm in alarms:
        region, account = _environment_of(alarm)
        for what, mine, theirs in (
            ("region", here.region, region),
            ("account", here.account, account),
        ):
            if mine != theirs and not is_token(mine) and not is_token(theirs):
                finding = _finding(
                    "LMI073",
                    "alarms",
                    f"an alarm is in {what} {theirs}, what it should take back in {mine}",
                    "SageMaker looks for the alarm by its name where the update is, and finds none",
                    "make the alarm in a stack of the same account and region",
                )
                findings.append(finding)
    return findings


def _environment_of(alarm: cloudwatch.IAlarm) -> tuple[str, str]:
    """Return region and account of an alarm: one that was made elsewhere has them in its ARN."""
    arn = alarm.alarm_arn
    if not is_token(arn) and arn.count(":") > 4:
        _, _, _, region, account, *_ = arn.split(":")
        return region, account
    return alarm.env.region, alarm.env.account


def _check_reaction(rollout: Rollout, reaction_seconds: int) -> list[Finding]:
    """Warn of a new version that is not watched for as long as an alarm needs to go off."""
    bake = seconds(rollout.bake_time, "bake_time") or 0
    if is_token(bake) or bake >= max(reaction_seconds, 1):
        return []
    needed = f", and the first alarm needs {reaction_seconds}" if reaction_seconds else ""
    return [
        _finding(
            "LMI073",
            "bake_time",
            f"a new version is watched for {bake} seconds{needed}",
            "SageMaker watches the alarms while a new version bakes; the update may be through"
            " before one of them goes off, and stays",
            f"give bake_time=cdk.Duration.seconds({max(reaction_seconds, 300)}) or more",
            severity="warning",
        )
    ]


def missing_rollout() -> Finding:
    """Return what is said of alarms of an endpoint whose name is not known."""
    return _finding(
        "LMI073",
        "deployment",
        "roll_back_on(...) of an endpoint without a Rollout",
        "alarm and endpoint would need each other: the alarm's metric carries the endpoint's"
        " name, and the endpoint must be created after the alarm",
        "give deployment=Rollout.blue_green(bake_time=...) to the endpoint, and its name is known",
    )


def _finding(
    rule: str,
    where: str,
    message: str,
    why: str,
    fix: str,
    severity: Literal["error", "warning"] = "error",
) -> Finding:
    return Finding(
        rule=rule,
        message=message,
        why=why,
        fix=fix,
        severity=severity,
        where=where,
        source=_SOURCE,
    )
