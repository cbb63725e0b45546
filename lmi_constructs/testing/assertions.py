"""Assertions that a platform team writes about its stacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lmi_constructs.testing.replacement import replacements
from lmi_constructs.testing.templates import template_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from constructs import IConstruct

    from lmi_constructs.planner import Plan
    from lmi_constructs.testing.templates import Templated

REPLACED_BY_DESIGN = ("AWS::SageMaker::EndpointConfig", "AWS::SageMaker::Model")
"""Types that CloudFormation can only replace; the endpoint moves to the new ones without a gap."""


def assert_no_findings(stack: Templated, *, acknowledged: Collection[str] = ()) -> None:
    """Assert that no rule has anything to say about a stack.

    Args:
        stack: The stack, its template, or the path of a template file. A template's region is not
            known, so that rules about regions abstain.
        acknowledged: Ids of rules whose findings are known and accepted, such as `LMI043`.

    Raises:
        AssertionError: With all findings, or if there is nothing of SageMaker to check.
        LmiError: If there is no rule of an acknowledged id (LMI010).
        TypeError: If it is neither a stack nor a template, or if `acknowledged` is one text.
    """
    from lmi_constructs.checks import check_template
    from lmi_constructs.checks.run import unknown_rules
    from lmi_constructs.findings import raise_errors

    if isinstance(acknowledged, str):
        raise TypeError(f"acknowledged takes a list of ids, such as [{acknowledged!r}]")
    raise_errors(unknown_rules(acknowledged, "acknowledged"))
    template = template_of(stack)
    if not any(_is_of_sagemaker(one) for one in template.get("Resources", {}).values()):
        where = getattr(getattr(stack, "node", None), "path", None) or "the template"
        raise AssertionError(f"there is no SageMaker resource in {where}, so nothing is checked")
    region = getattr(stack, "region", None)
    known = region if isinstance(region, str) and "${Token[" not in region else None
    findings = [
        finding
        for finding in check_template(template, region=known)
        if finding.rule not in acknowledged
    ]
    if findings:
        raise AssertionError("\n\n".join(str(finding) for finding in findings))


def assert_fits(scope: IConstruct) -> None:
    """Assert that every endpoint and inference component below a construct fits its GPUs.

    One whose model or instance type is not known cannot be planned, and fails too: give
    `architecture=` to its model data.

    Args:
        scope: An endpoint, a stack or an app.

    Raises:
        AssertionError: With the plan of each that does not fit, or if there is nothing to plan.
        TypeError: If it is no construct.
    """
    if not hasattr(scope, "node"):
        raise TypeError(f"an endpoint, a stack or an app is needed, not {type(scope).__name__}")
    plans = [plan for item in scope.node.find_all() for plan in _plans(item)]
    if not plans:
        where = scope.node.path or "the app"
        raise AssertionError(f"there is no LmiEndpoint or LmiInferenceComponent below {where}")
    faults = [fault for place, plan in plans for fault in _faults(place, plan)]
    if faults:
        raise AssertionError("\n\n".join(faults))


def assert_updates_in_place(
    old: Templated, new: Templated, *, replaced: Collection[str] = REPLACED_BY_DESIGN
) -> None:
    """Assert that an update replaces and deletes nothing but models and their configurations.

    A replaced endpoint is a second one beside the first: new name, new scaling target, and an outage
    for whoever calls the old name.

    Args:
        old: Stack or template that is deployed, or the `Path` of a template file, such as the last
            release's snapshot.
        new: Stack, template or file that is to be deployed.
        replaced: Types of resources that may be replaced.

    Raises:
        AssertionError: With what would be replaced, and why.
        OSError: If a file cannot be read.
        TypeError: If something is neither a stack nor a template.
        ValueError: If a file holds no JSON.
    """
    lost = [item for item in replacements(old, new) if item.type not in replaced]
    if lost:
        raise AssertionError("\n".join(str(item) for item in lost))


def _is_of_sagemaker(resource: object) -> bool:
    kind = resource.get("Type") if isinstance(resource, Mapping) else None
    return str(kind).startswith("AWS::SageMaker::")


def _plans(item: IConstruct) -> list[tuple[str, Plan | None]]:
    """Return the plans of a construct that serves models, each with its place."""
    from lmi_constructs.hosting import LmiEndpoint, LmiInferenceComponent

    if isinstance(item, LmiInferenceComponent):
        return [(item.node.path, item.plan)]
    if not isinstance(item, LmiEndpoint):
        return []
    return [
        (f"{item.node.path}, variant {variant.variant.variant_name}", variant.plan)
        for variant in item.endpoint_config.variants
        if variant.variant.model is not None
    ]


def _faults(place: str, plan: Plan | None) -> list[str]:
    from lmi_constructs.planner import advised_findings

    if plan is None:
        return [
            f"{place}: not planned, as model or instance type are not known; give architecture= to its"
            " model data (a hub id such as 'Qwen/Qwen3-8B', or an Architecture) and the instance type"
            " as a plain text"
        ]
    if plan.grade == "fits":
        return []
    found = advised_findings(plan, door="settings")
    lines = [str(finding) for finding in found] + plan.explain()
    return ["\n  ".join([f"{place}: {plan.grade}", *lines])]
