"""Assertions that a platform team writes about its stacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs.testing.replacement import replacements
from lmi_constructs.testing.templates import template_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from constructs import IConstruct

    from lmi_constructs.hosting import LmiEndpoint
    from lmi_constructs.testing.templates import Templated

REPLACED_BY_DESIGN = ("AWS::SageMaker::EndpointConfig", "AWS::SageMaker::Model")
"""Types that CloudFormation can only replace; the endpoint moves to the new ones without a gap."""


def assert_no_findings(stack: Templated, *, acknowledged: Collection[str] = ()) -> None:
    """Assert that no rule has anything to say about a stack.

    Args:
        stack: The stack, or its template. A template's region is not known, so that rules about
            regions abstain.
        acknowledged: Ids of rules whose findings are known and accepted, such as `LMI043`.

    Raises:
        AssertionError: With all findings.
    """
    from lmi_constructs.checks import check_template

    region = getattr(stack, "region", None)
    known = region if isinstance(region, str) and "${Token[" not in region else None
    findings = [
        finding
        for finding in check_template(template_of(stack), region=known)
        if finding.rule not in acknowledged
    ]
    if findings:
        raise AssertionError("\n\n".join(str(finding) for finding in findings))


def assert_fits(scope: IConstruct) -> None:
    """Assert that every endpoint below a construct fits its GPUs with certainty.

    An endpoint whose model or instance type is not known cannot be planned, and fails too: give
    `architecture=` to its model data.

    Args:
        scope: An endpoint, a stack or an app.

    Raises:
        AssertionError: With the plan of each endpoint that does not fit, or if there is no endpoint.
    """
    from lmi_constructs.hosting import LmiEndpoint

    endpoints = [item for item in scope.node.find_all() if isinstance(item, LmiEndpoint)]
    if not endpoints:
        raise AssertionError(f"there is no LmiEndpoint below {scope.node.path or 'the app'}")
    faults = [fault for endpoint in endpoints for fault in _faults(endpoint)]
    if faults:
        raise AssertionError("\n\n".join(faults))


def assert_updates_in_place(
    old: Templated, new: Templated, *, replaced: Collection[str] = REPLACED_BY_DESIGN
) -> None:
    """Assert that an update replaces and deletes nothing but models and their configurations.

    A replaced endpoint is a second one beside the first: new name, new scaling target, and an outage
    for whoever calls the old name.

    Args:
        old: Stack or template that is deployed, such as the last release's snapshot.
        new: Stack or template that is to be deployed.
        replaced: Types of resources that may be replaced.

    Raises:
        AssertionError: With what would be replaced, and why.
    """
    lost = [item for item in replacements(old, new) if item.type not in replaced]
    if lost:
        raise AssertionError("\n".join(str(item) for item in lost))


def _faults(endpoint: LmiEndpoint) -> list[str]:
    from lmi_constructs.planner.explanation import explain

    faults = []
    for variant in endpoint.endpoint_config.variants:
        if variant.variant.model is None:
            continue
        place = f"{endpoint.node.path}, variant {variant.variant.variant_name}"
        if variant.plan is None:
            faults.append(f"{place}: not planned, as model or instance type are not known")
        elif variant.plan.grade != "fits":
            lines = [str(finding) for finding in variant.plan.findings] + explain(variant.plan)
            faults.append("\n  ".join([f"{place}: {variant.plan.grade}", *lines]))
    return faults
