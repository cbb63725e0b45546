"""The same deployment with other values of its parameters: what is found then only.

A template is judged by the defaults of its parameters. What else they may be is tried one at a time,
so that a fault of `prod` is seen though `dev` is the default.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.rules import Rule
    from lmi_constructs.findings import Finding

    Place = tuple[str, str | None, str | None, str | None]


@dataclass(frozen=True, slots=True)
class Choice:
    """Another value of a parameter than its default.

    Attributes:
        parameter: Name of the parameter.
        value: The value.
        of_all: How many values there are in all, where one has to be chosen; `None` with a default.
    """

    parameter: str
    value: str
    of_all: int | None = None


def findings_of_choices(
    deployment: Deployment, found: Iterable[Finding], rules: Sequence[Rule]
) -> Iterator[Finding]:
    """Yield what is found with other values of parameters, and not with their defaults.

    These are warnings, since other parameters may be changed along with the one. Where a value has
    to be chosen, and each has the fault, nothing can be changed along.

    Args:
        deployment: What is created with the defaults.
        found: What is found in it.
        rules: Rules to find more with.
    """
    known = {_place(finding) for finding in found}
    by_choice: dict[Finding, list[Choice]] = {}
    at_place: dict[tuple[Place, str], set[str]] = {}
    for choice, other in deployment.alternatives():
        for finding in dict.fromkeys(one for rule in rules for one in rule.check(other)):
            if _place(finding) not in known:
                by_choice.setdefault(finding, []).append(choice)
                at_place.setdefault((_place(finding), choice.parameter), set()).add(choice.value)
    for finding, choices in by_choice.items():
        first = choices[0]
        sure = first.of_all == len(at_place[_place(finding), first.parameter])
        yield _with(finding, choices, sure=sure)


def _place(finding: Finding) -> Place:
    return (finding.rule, getattr(finding, "template", None), finding.resource, finding.path)


def _with(finding: Finding, choices: Sequence[Choice], *, sure: bool) -> Finding:
    """Return a finding that says with which values it is one, as in `Env=prod or test`."""
    first = choices[0]
    values = [choice.value for choice in choices if choice.parameter == first.parameter]
    message = f"with {first.parameter}={' or '.join(values)}: {finding.message}"
    return replace(finding, message=message, severity=finding.severity if sure else "warning")
