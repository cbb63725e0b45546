"""What every rule is made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from lmi_constructs.findings import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.examples import Example
    from lmi_constructs.checks.resources import Resource


@dataclass(frozen=True, slots=True)
class PlacedFinding(Finding):
    """A finding in a template.

    Attributes:
        template: Name of the template.
        construct_path: Path of the resource in the construct tree, where it is known.
        acknowledged: The reason that the app accepts it with; `None` if it does not.
    """

    template: str | None = None
    construct_path: str | None = None
    acknowledged: str | None = None


class Rule(ABC):
    """One fault that can be seen before deploying.

    A rule is a pure function of a deployment. It abstains from what is not known.

    Attributes:
        id: Stable id, such as `LMI047`; it never changes.
        title: What is wrong, in a few words.
        why: What happens at deploy time, or afterward.
        fix: What to write instead.
        severity: `error` only if the service or a reported failure supports it.
        source: Public source of the fact that the rule rests on.
        failing: The smallest change of a good template that the rule finds.
        passing: A change nearby that it does not find.
    """

    id: ClassVar[str]
    title: ClassVar[str]
    why: ClassVar[str]
    fix: ClassVar[str]
    severity: ClassVar[Severity] = "error"
    source: ClassVar[str]
    failing: ClassVar[Example]
    passing: ClassVar[Example]

    @abstractmethod
    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield every place where the fault is."""

    def found(
        self,
        resource: Resource,
        path: str,
        message: str,
        *,
        why: str | None = None,
        fix: str | None = None,
        severity: Severity | None = None,
        source: str | None = None,
    ) -> PlacedFinding:
        """Return a finding of this rule on a resource.

        Args:
            resource: Where the fault is.
            path: Path of the value inside the resource's properties.
            message: What is wrong with which value.
            why: What would happen at deploy time, where it differs from the rule's own.
            fix: What to write instead, where it can be said better than in general.
            severity: Where it differs from the rule's own.
            source: Where it differs from the rule's own.
        """
        return PlacedFinding(
            rule=self.id,
            message=message,
            why=why or self.why,
            fix=fix or self.fix,
            severity=severity or self.severity,
            resource=resource.logical_id,
            path=path,
            source=source or self.source,
            template=resource.template,
            construct_path=resource.construct_path,
        )


def placed(
    finding: Finding, resource: Resource, path: str, source: str | None = None
) -> PlacedFinding:
    """Return a finding of another package as one on a resource, with a source if it has none."""
    return PlacedFinding(
        rule=finding.rule,
        message=finding.message,
        why=finding.why,
        fix=finding.fix,
        severity=finding.severity,
        where=finding.where,
        resource=resource.logical_id,
        path=path,
        source=finding.source or source,
        template=resource.template,
        construct_path=resource.construct_path,
    )


def with_severity(finding: Finding, severity: Severity) -> Finding:
    """Return the same finding with another severity."""
    return replace(finding, severity=severity)
