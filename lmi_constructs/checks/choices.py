"""The same deployment with other values of its parameters: what is found then only.

A template is judged by the defaults of its parameters. What else they may be is tried one at a time,
so that a fault of `prod` is seen though `dev` is the default. Where values of others mend the fault,
the parameters are meant to be chosen together, as the size of a model and the instance type.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.rules import Rule
    from lmi_constructs.findings import Finding

    Place = tuple[str, str | None, str | None, str | None]

_NOT_IN_REGION: Final = "LMI041"
_MOST_RESOURCES: Final = 1000
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
    by_id = {rule.id: rule for rule in rules}
    joint = _Joint(known, sum(1 for _ in deployment.resources()))
    for choice, other in deployment.alternatives():
        tried = _Tried(other, by_id)
        for finding in dict.fromkeys(one for rule in rules for one in rule.check(other)):
            if _place(finding) in known or _is_on_menu(choice, finding):
                continue
            if not joint.mend(finding, tried):
                by_choice.setdefault(finding, []).append(choice)
                at_place.setdefault((_place(finding), choice.parameter), set()).add(choice.value)
    for finding, choices in by_choice.items():
        first = choices[0]
        sure = first.of_all == len(at_place[_place(finding), first.parameter])
        yield _with(finding, choices, sure=sure)


def _is_on_menu(choice: Choice, finding: Finding) -> bool:
    """Tell whether a parameter is a list of instance types, of which regions offer some only."""
    return finding.rule == _NOT_IN_REGION and finding.message.startswith(f"{choice.value} ")


class _Tried:
    """One deployment with what the rules find in it, each asked but once.

    Attributes:
        deployment: The deployment.
        others: The same with other values of one more parameter.
        resources: Its resources, by template and logical id.
    """

    def __init__(self, deployment: Deployment, rules: Mapping[str, Rule]) -> None:
        self.deployment = deployment
        self.others: tuple[_Tried, ...] | None = None
        self.resources = frozenset(one.key for one in deployment.resources())
        self._rules = rules
        self._found: dict[str, dict[Place, Finding]] = {}

    def with_other(self, deployment: Deployment) -> _Tried:
        """Return another deployment for the same rules."""
        return _Tried(deployment, self._rules)

    def found(self, rule: str) -> Mapping[Place, Finding]:
        """Return what a rule finds, by place."""
        if rule not in self._found:
            findings = self._rules[rule].check(self.deployment)
            self._found[rule] = {_place(one): one for one in findings}
        return self._found[rule]

    def has_errors_besides(self, known: AbstractSet[Place]) -> bool:
        """Tell whether any rule finds an error elsewhere."""
        return any(
            one.severity == "error" and place not in known
            for rule in self._rules
            for place, one in self.found(rule).items()
        )


class _Joint:
    """Values of several parameters, tried together as long as that is quick."""

    def __init__(self, known: AbstractSet[Place], resources: int) -> None:
        self._known = known
        self._left = _MOST_RESOURCES // max(1, resources)

    def mend(self, finding: Finding, tried: _Tried, changed: int = 1) -> bool:
        """Tell whether other values mend a finding: the resource is left, and no new error comes."""
        nearer = []
        resource = (getattr(finding, "template", None), finding.resource)
        for other in self._others(tried):
            if resource not in other.resources:
                continue
            left = other.found(finding.rule).get(_place(finding))
            if left is None and not other.has_errors_besides(self._known):
                return True
            if left is None or left.message != finding.message:
                nearer.append((left or finding, other))
        return changed < _MOST_CHANGED and any(
            self.mend(one, other, changed + 1) for one, other in nearer
        )

    def _others(self, tried: _Tried) -> tuple[_Tried, ...]:
        if tried.others is None:
            read = islice(tried.deployment.alternatives(), self._left)
            tried.others = tuple(tried.with_other(other) for _, other in read)
            self._left -= len(tried.others)
        return tried.others


def _place(finding: Finding) -> Place:
    return (finding.rule, getattr(finding, "template", None), finding.resource, finding.path)


def _with(finding: Finding, choices: Sequence[Choice], *, sure: bool) -> Finding:
    """Return a finding that says with which values it is one, as in `Env=prod or test`."""
    first = choices[0]
    values = [choice.value for choice in choices if choice.parameter == first.parameter]
    message = f"with {first.parameter}={' or '.join(values)}: {finding.message}"
    return replace(finding, message=message, severity=finding.severity if sure else "warning")
