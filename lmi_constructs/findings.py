"""What every part of the library says when something is wrong.

A [`Finding`][] is one fault in one place. Settings, the planner, the rules and the constructs all
speak in findings, so that a fault has the same id and the same words wherever it is reported.
[`LmiError`][] carries all findings of one step at once, so that a user mends them in one go.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault: what is wrong, why it fails at deploy time and what to write instead.

    Attributes:
        rule: Stable id of the rule, such as `LMI047`; it never changes.
        message: What is wrong with which value, in the words of the user's own code.
        why: What would happen at deploy time.
        fix: What to write instead.
        severity: `error` stops synth unless it is acknowledged, `warning` never does.
        where: Keyword or environment variable the value was given in, such as `settings.dtype`.
        resource: Logical id or construct path of the resource, where there is one.
        path: Path of the value inside the resource's properties, parts joined by `/`.
        source: Public source of the fact the rule rests on.
    """

    rule: str
    message: str
    why: str
    fix: str
    severity: Severity = "error"
    where: str | None = None
    resource: str | None = None
    path: str | None = None
    source: str | None = None

    def at(self, resource: str | None, path: str | None = None) -> Finding:
        """Return the same finding placed on a resource of a template or construct tree."""
        return replace(self, resource=resource, path=path if path is not None else self.path)

    def __str__(self) -> str:
        """Return the finding as a sentence or two for an operator."""
        place = " ".join(part for part in (self.resource, self.where) if part)
        head = f"{self.rule} {place}: {self.message}" if place else f"{self.rule} {self.message}"
        return f"{head}\n    why: {self.why}\n    fix: {self.fix}"


class LmiError(ValueError):
    """Something that would fail at deploy time, found before.

    Attributes:
        findings: All faults that were found in this step, errors first.
    """

    def __init__(self, findings: Finding | Iterable[Finding]) -> None:
        """Carry one finding or all findings of a step."""
        found = (findings,) if isinstance(findings, Finding) else tuple(findings)
        self.findings = tuple(sorted(found, key=lambda finding: finding.severity))
        super().__init__("\n".join(str(finding) for finding in self.findings))


def raise_errors(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Raise all errors among the findings at once, or return the warnings that are left.

    Raises:
        LmiError: If at least one of the findings is an error.
    """
    found = tuple(findings)
    errors = [finding for finding in found if finding.severity == "error"]
    if errors:
        raise LmiError(errors)
    return found
