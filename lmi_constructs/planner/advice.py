"""The findings of a plan with the changes that make the model fit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from lmi_constructs.container.setting_names import translated
from lmi_constructs.planner.grading import ABOUT_DEGREE
from lmi_constructs.planner.suggestions import suggest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lmi_constructs.container.setting_names import Door
    from lmi_constructs.findings import Finding
    from lmi_constructs.planner.plan import Plan
    from lmi_constructs.planner.suggestions import Suggestion

_MENDED: Final = ABOUT_DEGREE | {"LMI050", "LMI051", "LMI054", "LMI056", "LMI101", "LMI102"}
"""Rules about what a suggestion can change."""

_DEGREE_ALONE: Final = ("tensor_parallel_degree",)
_MOST_ADVICE: Final = 2
"""Ways out that a finding names; `lmi plan` lists all of them."""


def advised_findings(
    current: Plan,
    region: str | None = None,
    ways: Iterable[Suggestion] | None = None,
    *,
    door: Door = "python",
) -> tuple[Finding, ...]:
    """Return the findings of a plan; the first that a change mends also says which.

    A finding about the tensor-parallel degree names the degree that fits, if one does.

    Args:
        current: The plan.
        region: Region whose instance types may be named. Default: any.
        ways: What [`suggest`][] says of the same plan. Default: it is asked.
        door: Where the reader gives the settings, whose names the advice has.
    """
    mended = [one for one in current.findings if one.rule in _MENDED]
    fitting: list[Suggestion] = []
    if current.instance_type is not None and mended:
        if ways is None:
            ways = suggest(
                current.architecture, current.instance_type, current.configuration, region
            )
        fitting = [way for way in ways if way.plan.grade == "fits"]
    first = min(mended, key=lambda one: one.severity, default=None)  # errors first
    degree = next((way for way in fitting if tuple(way.changes) == _DEGREE_ALONE), None)
    found = []
    for finding in current.findings:
        fix, others = finding.fix, fitting
        if finding.rule in ABOUT_DEGREE and degree is not None:
            fix = f"set tensor_parallel_degree to {degree.plan.setup.tensor}"
            others = [way for way in fitting if way is not degree]
        if finding is first and others:
            fix += f": it {'also ' if others != fitting else ''}fits with {_best(others, door)}"
        found.append(replace(finding, fix=translated(fix, door)))
    return tuple(found)


def _best(ways: Sequence[Suggestion], door: Door) -> str:
    return " or with ".join(way.written(door) for way in ways[:_MOST_ADVICE])
