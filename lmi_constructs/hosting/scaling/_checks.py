"""What is wrong about limits and policies of scaling."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final
from zoneinfo import available_timezones

from lmi_constructs.findings import Finding
from lmi_constructs.hosting._cdk_tokens import is_token
from lmi_constructs.hosting._stack_environment import StackEnvironment
from lmi_constructs.readable import readable

if TYPE_CHECKING:
    from collections.abc import Collection

    from aws_cdk import aws_cloudwatch as cloudwatch
    from constructs import Construct

_BOTOCORE: Final = "botocore 1.44.8 application-autoscaling 2016-02-06"
_POLICY_NAME: Final = re.compile(r"[ -~]{1,256}")
_ACTION_NAME: Final = re.compile(r"(?! )[^\x00-\x1f\x7f-\x9f:/|]{1,256}(?<! )")
_SCHEDULE: Final = re.compile(
    r"at\(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\)"
    r"|rate\([1-9]\d* (minute|hour|day)s?\)"
    r"|cron\(\S+( +\S+){5}\)"
)
_STATISTICS: Final = ("Average", "Minimum", "Maximum", "SampleCount", "Sum")
_SHOWN: Final = 40
"""Characters of a wrong name that are shown."""

CONCURRENCY_TARGET_RATIO = 0.6
"""Share of the engine's own concurrency at which another instance is asked for.

A judgment, not a measurement: above 1 requests would queue before anything happens, and a new
instance takes minutes, in which the ones that are there must take what still comes.
"""


def check_policy(
    metric: str, target: float | None, concurrency: int | None, *, is_async: bool
) -> list[Finding]:
    """Check a policy that tracks a predefined metric."""
    findings = []
    if is_async:
        findings.append(
            Finding(
                rule="LMI088",
                message=f"{metric} scales nothing on an asynchronous endpoint",
                why="asynchronous endpoints do not publish the metric, so the policy never acts",
                fix="follow the backlog: scale_on_backlog('Backlog', target_per_instance=...)",
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
    elif target is not None and (wrong := check_target(target, "target")):
        findings += wrong
    elif target is not None and concurrency is not None and target > concurrency:
        findings.append(
            Finding(
                rule="LMI084",
                message=f"the target is {readable(target)}, but the engine works on {concurrency}"
                " requests at once",
                why="requests queue on every instance before another one is added",
                fix=f"give a target below {concurrency}, such as"
                f" {max(1, math.floor(concurrency * CONCURRENCY_TARGET_RATIO))}",
                severity="warning",
                where="target",
            )
        )
    return findings


def check_capacity(min_capacity: int, max_capacity: int, *, least: int) -> list[Finding]:
    """Check the limits of what is scaled, of which there may be `least` at least."""
    findings = []
    if not is_token(min_capacity) and min_capacity < least:
        findings.append(
            Finding(
                rule="LMI083",
                message=f"min_capacity is {min_capacity}",
                why="a real-time variant cannot serve from zero instances, and nothing would wake it"
                if min_capacity == 0
                else "there cannot be fewer than none",
                fix="give 1; to zero go asynchronous endpoints, and copies on a fleet with"
                " managed_instance_scaling=ManagedInstanceScaling(0, ...)"
                if least
                else "give 0 or more",
                where="min_capacity",
                source="https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling-zero-instances.html",
            )
        )
    fewest = least if is_token(min_capacity) else min_capacity
    if not is_token(max_capacity) and max_capacity < fewest:
        findings.append(
            Finding(
                rule="LMI083",
                message=f"max_capacity is {max_capacity}"
                + ("" if is_token(min_capacity) else f", min_capacity {min_capacity}"),
                why="Application Auto Scaling refuses the target",
                fix=f"give max_capacity at least {max(fewest, least)}",
                where="max_capacity",
            )
        )
    return findings


def check_backlog(target: float, *, is_async: bool) -> list[Finding]:
    """Check a policy that follows the queue of an asynchronous endpoint."""
    findings = []
    if not is_async:
        findings.append(
            Finding(
                rule="LMI088",
                message="the backlog scales nothing on a real-time endpoint",
                why="only asynchronous endpoints have a queue, so the policy never acts",
                fix="use scale_on_concurrency(...), or give async_inference= to the endpoint",
                where="async_inference",
                source="https://docs.aws.amazon.com/sagemaker/latest/dg/async-inference-monitor.html",
            )
        )
    if not is_token(target) and target <= 0:
        findings.append(
            Finding(
                rule="LMI083",
                message=f"target_per_instance is {target}",
                why="a target must be above zero",
                fix="give the number of requests that may wait for each instance",
                where="target_per_instance",
            )
        )
    return findings


def check_target(target: float, where: str) -> list[Finding]:
    """Check a target of whatever metric; a token is not known."""
    if is_token(target) or target > 0:
        return []
    return [
        Finding(
            rule="LMI083",
            message=f"the target is {target}",
            why="a target must be above zero",
            fix="give a number above zero",
            where=where,
        )
    ]


def check_policy_name(name: str) -> list[Finding]:
    """Check the id of a tracking policy, which is its name too."""
    if is_token(name) or _POLICY_NAME.fullmatch(name):
        return []
    return [
        Finding(
            rule="LMI065",
            message=f"{shortened(name)} is not a name of a scaling policy",
            why="the policy is named by its id, and Application Auto Scaling refuses the name",
            fix="use up to 256 printable ASCII characters",
            where="id",
            source=f"{_BOTOCORE} PolicyName",
        )
    ]


def check_tracked_once(metric: object, others: Collection[object]) -> list[Finding]:
    """Check that no two policies keep the same metric near a target."""
    if metric not in others:
        return []
    return [
        Finding(
            rule="LMI083",
            message="two policies track the same metric",
            why="target tracking policies of one target must each use a metric of their own",
            fix="add one of the two; scale_to_zero tracks concurrency already",
            where="metric",
            source="https://docs.aws.amazon.com/autoscaling/application/userguide/application-auto-scaling-target-tracking.html",
        )
    ]


def check_action(name: str, others: list[str]) -> list[Finding]:
    """Check that a scheduled action has a name of its own, and one that is taken."""
    if name and name not in others:
        if is_token(name) or _ACTION_NAME.fullmatch(name):
            return []
        return [
            Finding(
                rule="LMI065",
                message=f"{shortened(name)} is not a name of a scheduled action",
                why="Application Auto Scaling refuses it",
                fix="use up to 256 characters without : / | and without a space at either end",
                where="id",
                source=f"{_BOTOCORE} ScheduledActionName",
            )
        ]
    return [
        Finding(
            rule="LMI067",
            message=f"the scheduled action {name!r} is named twice"
            if name
            else "the scheduled action has no name",
            why="Application Auto Scaling knows scheduled actions by their names",
            fix="give each an id of its own",
            where="id",
        )
    ]


def check_tracked_metric(metric: cloudwatch.Metric, scope: Construct) -> list[Finding]:
    """Check that a metric can be followed, and follows the load."""
    return [
        *_check_statistic(metric.statistic),
        *check_place(metric, scope),
        *_check_load(metric.metric_name),
    ]


def _check_statistic(statistic: str) -> list[Finding]:
    if is_token(statistic) or statistic in _STATISTICS:
        return []
    return [
        Finding(
            rule="LMI083",
            message=f"the metric's statistic is {statistic}",
            why="Application Auto Scaling tracks none but " + ", ".join(_STATISTICS),
            fix='give the metric statistic="Average" or another of these, or use scale_on_metric(...)',
            where="metric",
            source=f"{_BOTOCORE} MetricStatistic",
        )
    ]


def check_place(
    metric: cloudwatch.Metric | cloudwatch.MathExpression, scope: Construct
) -> list[Finding]:
    """Check that a metric is one of this region and account; an expression names neither."""
    here = StackEnvironment.of(scope)
    return [
        Finding(
            rule="LMI083",
            message=f"the metric is one of {what} {theirs}, what it scales is in {mine}",
            why="policies name no region and no account, and alarms watch no other region",
            fix=f"leave {what}= of the metric out, and publish it here",
            where="metric",
            source=f"{_BOTOCORE} CustomizedMetricSpecification",
        )
        for what, mine, theirs in (
            ("region", here.region, getattr(metric, "region", None)),
            ("account", here.account, getattr(metric, "account", None)),
        )
        if theirs not in (None, mine) and not is_token(mine) and not is_token(theirs)
    ]


def _check_load(name: str) -> list[Finding]:
    """Check that a metric follows the load.

    NVML's utilization is the share of time in which any kernel ran on the GPU
    (https://docs.nvidia.com/deploy/nvml-api/structnvmlUtilization__t.html, as of 2026-12-02): an
    engine that decodes one request keeps it near full. Its memory is reserved at start.
    """
    if name not in ("GPUUtilization", "GPUMemoryUtilization"):
        return []
    return [
        Finding(
            rule="LMI084",
            message=f"{name} is near its maximum with a single request",
            why="a policy that follows it adds instances as soon as anybody asks, and keeps them",
            fix="follow concurrency: scale_on_concurrency(...); if this is meant, acknowledge the"
            " warning",
            severity="warning",
            where="metric",
            source="https://github.com/bentoml/Yatai/issues/500",
        )
    ]


def check_when(expression: str) -> list[Finding]:
    """Check that a schedule is one of the three kinds that there are."""
    if is_token(expression) or _SCHEDULE.fullmatch(expression):
        return []
    return [
        Finding(
            rule="LMI083",
            message=f"the schedule is {shortened(expression)}",
            why="Application Auto Scaling takes at(2027-01-31T07:30:00), rate(5 minutes) and cron(...)"
            " with six fields, and nothing else",
            fix='use autoscaling.Schedule.cron(hour="7", minute="30"), or its rate(...) or at(...)',
            where="schedule",
            source=f"{_BOTOCORE} PutScheduledAction",
        )
    ]


def check_time_zone(name: str | None) -> list[Finding]:
    """Warn of a time zone that this machine does not know; nothing is said where it knows none."""
    known = available_timezones()
    if name is None or is_token(name) or not known or name in known:
        return []
    return [
        Finding(
            rule="LMI083",
            message=f"no time zone {shortened(name)} is known here",
            why="Application Auto Scaling takes names of the IANA database, and refuses others",
            fix='give a name such as "Asia/Seoul", or leave it out for UTC',
            severity="warning",
            where="time_zone",
            source=f"{_BOTOCORE} PutScheduledAction",
        )
    ]


def check_schedule(min_capacity: int | None, max_capacity: int | None) -> list[Finding]:
    """Check that a scheduled action changes something."""
    if min_capacity is not None or max_capacity is not None:
        return []
    return [
        Finding(
            rule="LMI083",
            message="a scheduled action changes neither limit",
            why="Application Auto Scaling refuses it",
            fix="give min_capacity, max_capacity or both",
            where="min_capacity",
        )
    ]


def check_scale_to_zero(min_capacity: int, *, again: bool) -> list[Finding]:
    """Check that what is to scale to zero may do so, and is told so once."""
    if again:
        return [
            Finding(
                rule="LMI083",
                message="scale_to_zero is called twice",
                why="the second policy and alarm would do what the first ones do",
                fix="call it once",
                where="scale_to_zero",
            )
        ]
    if is_token(min_capacity) or min_capacity == 0:
        return []
    return [
        Finding(
            rule="LMI083",
            message=f"scale_to_zero is called, but min_capacity is {min_capacity}",
            why="the last copies would stay, and the alarm that wakes it up would never hear anything",
            fix="give min_capacity=0, or use scale_on_concurrency instead",
            where="min_capacity",
            source="https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling-zero-instances.html",
        )
    ]


def shortened(text: str) -> str:
    """Return a text in quotes, cut where it is long."""
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")
