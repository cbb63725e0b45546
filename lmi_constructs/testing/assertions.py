"""Assertions that a platform team writes about its stacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lmi_constructs.testing.replacement import replacements

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from constructs import IConstruct

    from lmi_constructs.planner import Plan
    from lmi_constructs.testing.templates import Templated

__tracebackhide__ = True  # pytest shows the line of the test

REPLACED_BY_DESIGN = ("AWS::SageMaker::EndpointConfig", "AWS::SageMaker::Model")
"""Types that CloudFormation can only replace; the endpoint moves to the new ones without a gap."""


def assert_no_findings(stack: Templated, *, acknowledged: Collection[str] = ()) -> None:
    """Assert that neither a rule nor a construct has anything to say about a stack.

    Its nested stacks are checked too. What its app acknowledges is accepted.

    Args:
        stack: The stack, its template, or the path of a template file in JSON or YAML. The region of
            a template alone is not known, so that rules about regions abstain.
        acknowledged: Ids of rules whose findings are known and accepted, such as `LMI043`. An error
            of our own constructs stops synth, so it is acknowledged in the app.

    Raises:
        AssertionError: With all findings, or if there is nothing of SageMaker to check.
        LmiError: If there is no rule of an acknowledged id (LMI010).
        RuntimeError: If a validation refuses the app for what is no finding of this stack.
        TypeError: If it is neither a stack nor a template, or if `acknowledged` is one text.
        UnreadableError: If a file cannot be read, or holds no template.
    """
    from lmi_constructs.checks.run import unknown_rules
    from lmi_constructs.findings import raise_errors
    from lmi_constructs.testing.checked import checked

    if isinstance(acknowledged, str):
        raise TypeError(f"acknowledged takes a list of ids, such as [{acknowledged!r}]")
    result = checked(stack)
    said = {finding.rule for finding in result.findings}  # some ids only constructs say, no rule
    raise_errors(unknown_rules(set(acknowledged) - said, "acknowledged"))
    if not any(_has_sagemaker(one.body) for one in result.templates):
        where = getattr(getattr(stack, "node", None), "path", None) or "the template"
        raise AssertionError(f"there is no SageMaker resource in {where}, so nothing is checked")
    findings = [finding for finding in result.findings if finding.rule not in acknowledged]
    if findings:
        raise AssertionError("\n\n".join(str(finding) for finding in findings))
    if result.failure is not None:
        raise result.failure


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
    old: Templated, new: Templated, *, accepted: Collection[str] = ()
) -> None:
    """Assert that an update replaces and deletes nothing but models, configurations and what you accept.

    A replaced endpoint is a second one beside the first: new name, new scaling target, and an outage
    for whoever calls the old name.

    Args:
        old: Stack or template that is deployed, or the `Path` of a template file, such as the last
            release's snapshot.
        new: Stack, template or file that is to be deployed.
        accepted: What else may be replaced or deleted: types such as `AWS::IAM::Role`, or logical ids,
            in a nested stack after that of the nested stack and a slash. One that does not occur is an
            error, so that a list is not kept longer than it is true. What CloudFormation refuses, and
            a deletion that takes away what the new template has just set up, cannot be accepted.

    Raises:
        AssertionError: With what would be replaced, and why, what CloudFormation would refuse, and what
            is accepted in vain.
        TypeError: If something is neither a stack nor a template, or if `accepted` is one text.
        UnreadableError: If a file cannot be read, or holds no template.
    """
    if isinstance(accepted, str):
        raise TypeError(f"accepted takes a list of types and logical ids, such as [{accepted!r}]")
    lost = replacements(old, new)
    may = {*REPLACED_BY_DESIGN, *accepted}
    faults = [
        str(item)
        for item in lost
        if item.refused or item.same_as or not may & {item.type, item.logical_id}
    ]
    occurring = {name for item in lost for name in (item.type, item.logical_id)}
    faults += [
        f"accepted has {name!r}, and no such thing would be replaced or deleted: take it out"
        for name in accepted
        if name not in occurring
    ]
    if faults:
        raise AssertionError("\n".join(faults))


def _has_sagemaker(template: Mapping[str, Any]) -> bool:
    return any(
        isinstance(one, dict) and str(one.get("Type")).startswith("AWS::SageMaker::")
        for one in template.get("Resources", {}).values()
    )


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
