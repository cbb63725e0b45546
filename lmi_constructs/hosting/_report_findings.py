"""Findings of a construct: errors raise, warnings go into the construct tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs.checks.plugin import remark
from lmi_constructs.findings import LmiError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from constructs import Construct

    from lmi_constructs.findings import Finding


def report(scope: Construct, findings: Iterable[Finding]) -> None:
    """Raise all errors at once, or report the warnings at synth.

    A warning is acknowledged by its rule's id, on the endpoint, its stack or the app:
    `cdk.Validations.of(endpoint).acknowledge(cdk.Acknowledgment(id="lmi::LMI039", ...))`.

    Raises:
        LmiError: If at least one of the findings is an error.
    """
    found = tuple(findings)
    if not found:
        return
    path = scope.node.path
    placed = [finding if finding.resource else finding.at(path) for finding in found]
    errors = [finding for finding in placed if finding.severity == "error"]
    if errors:
        raise LmiError(errors)
    remark(scope, placed)
