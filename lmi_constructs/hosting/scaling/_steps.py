"""What is wrong about the steps of a step scaling policy."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from lmi_constructs.findings import Finding
from lmi_constructs.hosting._cdk_tokens import is_token
from lmi_constructs.readable import readable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aws_cdk import aws_applicationautoscaling as autoscaling
    from aws_cdk import aws_cloudwatch as cloudwatch

_SOURCE = "https://docs.aws.amazon.com/autoscaling/application/userguide/step-scaling-policy-overview.html"


class _Step(NamedTuple):
    """A range of the metric and what changes in it."""

    lower: float
    upper: float
    change: float

    def __str__(self) -> str:
        return f"{readable(self.lower)} to {readable(self.upper)}"


def check_steps(
    metric: cloudwatch.Metric | cloudwatch.MathExpression,
    steps: Sequence[autoscaling.ScalingInterval],
    adjustment_type: autoscaling.AdjustmentType,
) -> list[Finding]:
    """Check the steps of a policy; nothing is said of steps that are known only when deployed."""
    if any(is_token(bound) for step in steps for bound in (step.lower, step.upper, step.change)):
        return []
    is_exact = adjustment_type.name == "EXACT_CAPACITY"
    if numbers := _check_numbers(steps, is_exact=is_exact):
        return numbers
    changing = sum(is_exact or step.change != 0 for step in steps)
    if changing < 2:
        return [_finding(f"scaling_steps has {changing} of at least 2 changes", *_TOO_FEW)]
    findings = [
        _finding(f"a step of {step.change:+g} has neither lower nor upper bound", *_UNBOUNDED)
        for step in steps
        if step.lower is None and step.upper is None
    ]
    bounded = sorted(
        _Step(
            -math.inf if step.lower is None else step.lower,
            math.inf if step.upper is None else step.upper,
            step.change,
        )
        for step in steps
        if not (step.lower is None and step.upper is None)
    )
    # The CDK completes a bound that is left out by the neighbor's: only what both say can clash.
    bounded = _completed(bounded)
    findings += [
        _finding(f"the step {step} ends before it begins", *_REVERSED)
        for step in bounded
        if step.lower >= step.upper
    ]
    findings += [
        _finding(f"the steps {one} and {other} overlap", *_OVERLAP)
        for one, other in pairwise(bounded)
        if other.lower < one.upper
    ]
    if not findings and len(gaps := _gaps(bounded, is_exact=is_exact)) > 1:
        findings.append(_finding(f"nothing changes at {' and at '.join(gaps)}", *_GAPS))
    if not findings:
        findings += _check_direction(metric, bounded)
    return findings


def _check_numbers(
    steps: Sequence[autoscaling.ScalingInterval], *, is_exact: bool
) -> list[Finding]:
    """Check that changes are whole, and that an exact capacity is one that there can be."""
    findings = [
        _finding(f"a step changes by {readable(step.change)}", *_BROKEN)
        for step in steps
        if step.change != int(step.change)
    ]
    findings += [
        _finding(f"a step sets the exact capacity {readable(step.change)}", *_BELOW_ZERO)
        for step in steps
        if is_exact and step.change < 0
    ]
    return findings


def _completed(steps: list[_Step]) -> list[_Step]:
    """Return the steps with open bounds in the middle closed, as the CDK closes them."""
    closed = list(steps)
    for place, (one, other) in enumerate(pairwise(steps)):
        if one.upper == math.inf and other.lower > one.lower and other.lower != -math.inf:
            closed[place] = one._replace(upper=other.lower)
    for place in range(1, len(closed)):
        if closed[place].lower == -math.inf and closed[place - 1].upper < closed[place].upper:
            closed[place] = closed[place]._replace(lower=closed[place - 1].upper)
    return closed


def _gaps(steps: list[_Step], *, is_exact: bool) -> list[str]:
    """Return the ranges, from zero up, in which nothing changes."""
    changing = [step for step in steps if is_exact or step.change != 0]
    edges = [_Step(-math.inf, 0, 0), *changing, _Step(math.inf, math.inf, 0)]
    return [
        f"{readable(one.upper)} to {readable(other.lower)}"
        for one, other in pairwise(edges)
        if one.upper < other.lower
    ]


def _check_direction(
    metric: cloudwatch.Metric | cloudwatch.MathExpression, steps: list[_Step]
) -> list[Finding]:
    """Check that more load never means fewer, as far as the metric is known to mean load."""
    from lmi_constructs.facts.metrics import endpoint_metrics

    changes = [step.change for step in steps]
    name = getattr(metric, "metric_name", None)
    falls = any(later < earlier for earlier, later in pairwise(changes))
    rises = any(later > earlier for earlier, later in pairwise(changes))
    if falls and rises:
        return [
            _finding(
                f"the changes {', '.join(f'{change:+g}' for change in changes)} go up and down",
                "a higher value adds in one place and takes away in another, so it swings",
                "let the changes only grow with the metric, or only shrink",
                rule="LMI084",
                severity="warning",
            )
        ]
    if falls and name in endpoint_metrics():
        return [
            _finding(
                f"more of {name} takes some away",
                "the metric grows with the load, so that the busiest endpoint gets the smallest",
                "swap the signs: add at high values, take away at low ones",
                rule="LMI084",
                severity="warning",
            )
        ]
    return []


_BROKEN = (
    "Application Auto Scaling takes whole numbers, and CloudFormation refuses the policy",
    "give a whole number",
)
_BELOW_ZERO = (
    "Application Auto Scaling takes 0 or more for an exact capacity",
    "give the number there should be, or adjustment_type=AdjustmentType.CHANGE_IN_CAPACITY",
)
_TOO_FEW = (
    "one step goes in one direction only: what it adds is never taken away, or the other way round",
    "give one step for each direction, such as ScalingInterval(lower=40, change=+1) and"
    " ScalingInterval(upper=10, change=-1)",
)
_UNBOUNDED = (
    "it would hold for all values, and scale for ever",
    "give lower=, upper= or both",
)
_REVERSED = ("Application Auto Scaling refuses the policy", "give lower below upper")
_OVERLAP = (
    "Application Auto Scaling refuses steps of which two hold for the same value",
    "let each step begin where the one below ends",
)
_GAPS = (
    "an alarm stands on each side of the one range in which all is well; there cannot be two",
    "let each step begin where the one below ends, but for one range in the middle",
)


def _finding(
    message: str, why: str, fix: str, *, rule: str = "LMI083", severity: str = "error"
) -> Finding:
    return Finding(
        rule=rule,
        message=message,
        why=why,
        fix=fix,
        severity="warning" if severity == "warning" else "error",
        where="scaling_steps",
        source=_SOURCE,
    )
