"""The same deployment with other values of its parameters: what is found then only.

A template is judged by the defaults of its parameters. What else they may be is tried one at a time,
so that a fault of `prod` is seen though `dev` is the default. Where values of others mend the fault,
the parameters are meant to be chosen together, as the size of a model and the instance type.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.rules import Rule
    from lmi_constructs.findings import Finding

    Place = tuple[str, str | None, str | None, str | None]

_MOST_READ: Final = 300
_MOST_CHANGED: Final = 2


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

    These are warnings, since more may be changed along with the one parameter than is tried. Where a
    value has to be chosen, and each has the fault, nothing can be changed along.

    Args:
        deployment: What is created with the defaults.
        found: What is found in it.
        rules: Rules to find more with.
    """
    known = {_place(finding) for finding in found}
    by_choice: dict[Finding, list[Choice]] = {}
    at_place: dict[tuple[Place, str], set[str]] = {}
    joint = _Joint({rule.id: rule for rule in rules})
    for choice, other in deployment.alternatives():
        for finding in dict.fromkeys(one for rule in rules for one in rule.check(other)):
            if _place(finding) not in known and not joint.mend(finding, other):
                by_choice.setdefault(finding, []).append(choice)
                at_place.setdefault((_place(finding), choice.parameter), set()).add(choice.value)
    for finding, choices in by_choice.items():
        first = choices[0]
        sure = first.of_all == len(at_place[_place(finding), first.parameter])
        yield _with(finding, choices, sure=sure)


@dataclass
class _Joint:
    """Values of several parameters, tried together as long as that is quick.

    Attributes:
        rules: Rules by id.
        read: How many deployments were read.
    """

    rules: Mapping[str, Rule]
    read: int = 0
    _others: dict[int, tuple[Deployment, tuple[Deployment, ...]]] = field(default_factory=dict)

    def mend(self, finding: Finding, deployment: Deployment, changed: int = 1) -> bool:
        """Tell whether other values mend a finding, and leave the resource that has it."""
        nearer = []
        for other in self._alternatives(deployment):
            if not _exists(finding, other):
                continue
            found = [
                one
                for one in self.rules[finding.rule].check(other)
                if _place(one) == _place(finding)
            ]
            if not found:
                return True
            if found[0].message != finding.message:
                nearer.append((found[0], other))
        return changed < _MOST_CHANGED and any(
            self.mend(one, other, changed + 1) for one, other in nearer
        )

    def _alternatives(self, deployment: Deployment) -> tuple[Deployment, ...]:
        if id(deployment) not in self._others:
            left = max(0, _MOST_READ - self.read)
            others = tuple(other for _, other in islice(deployment.alternatives(), left))
            self.read += len(others)
            self._others[id(deployment)] = (deployment, others)
        return self._others[id(deployment)][1]


def _exists(finding: Finding, deployment: Deployment) -> bool:
    """Tell whether a deployment has the resource of a finding."""
    resources = chain(
        deployment.models,
        deployment.endpoint_configs,
        deployment.endpoints,
        deployment.components,
        deployment.roles,
        deployment.scalable_targets,
        deployment.scaling_policies,
        deployment.alarms,
    )
    key = (getattr(finding, "template", None), finding.resource)
    return any(one.key == key for one in resources)


def _place(finding: Finding) -> Place:
    return (finding.rule, getattr(finding, "template", None), finding.resource, finding.path)


def _with(finding: Finding, choices: Sequence[Choice], *, sure: bool) -> Finding:
    """Return a finding that says with which values it is one, as in `Env=prod or test`."""
    first = choices[0]
    values = [choice.value for choice in choices if choice.parameter == first.parameter]
    message = f"with {first.parameter}={' or '.join(values)}: {finding.message}"
    return replace(finding, message=message, severity=finding.severity if sure else "warning")
