"""Bringing the resources of a template up in order, and undoing it.

`LocalResourceMap` is moto's map of a stack's resources with CloudFormation's algorithm: resources
in the order of their references; a resource whose resolved properties have changed is updated in
place or replaced; the old ones are deleted only once everything new is there.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from moto.cloudformation.parsing import (
    ResourceMap,
    clean_json,
    parse_and_create_resource,
    parse_and_update_resource,
    resource_class_from_type,
)

from lmi_constructs.local.resources import ApiResource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Template = dict[str, Any]

WITHOUT_EFFECT = frozenset(
    {
        "AWS::CDK::Metadata",
        "AWS::CloudFormation::WaitCondition",
        "AWS::CloudFormation::WaitConditionHandle",
    }
)
"""Types that make nothing one could look at."""


class RolloutFailed(Exception):  # noqa: N818
    """A resource failed; `undo` brings the stack back to where it was."""

    def __init__(self, reason: str, undo: Callable[[], None]) -> None:
        super().__init__(reason)
        self.undo = undo


class DeletionFailed(Exception):  # noqa: N818
    """Some resources could not be deleted."""


def _no_listener(*_: Any, **__: Any) -> None:
    """Stand in until the stack listens."""


class LocalResourceMap(ResourceMap):
    """The resources of one stack.

    Attributes:
        on_event: Called with logical id, type, status and keyword details at each step.
    """

    on_event: Callable[..., None] = staticmethod(_no_listener)

    def load(self) -> None:
        """Read parameters and conditions, and remember what each resource was made from."""
        self._made_from: dict[str, Template] = {}
        self._left_over: list[tuple[str, Any, Template]] = []
        super().load()

    def validate_outputs(self) -> None:
        """Leave outputs to the roll-out: moto's check cannot bear a type it does not know."""

    def __getitem__(self, key: str) -> Any:
        """Return a resource or parameter; unlike moto's map, looking makes nothing."""
        return self._parsed_resources[key]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the logical ids of the resources that exist."""
        return iter(list(self._made_from))

    def __len__(self) -> int:
        """Return how many resources exist."""
        return len(self._made_from)

    def roll_out(
        self,
        template: Template,
        parameters: dict[str, Any],
        accept: Callable[[Template], None] = _no_listener,
    ) -> Template:
        """Create, update and replace until the resources are those of a template.

        Args:
            template: The template.
            parameters: Values of its parameters.
            accept: Called with the outputs while everything can still be undone; raises to refuse.

        Returns:
            The outputs with their values, which nothing that happens to the resources later changes.

        Raises:
            RolloutFailed: If one of them fails; the others are as they were at that moment.
        """
        before = self._template, self.input_parameters
        undo: list[Callable[[], None]] = []
        self._left_over = []
        failed = "The template"
        try:
            self._adopt(template, parameters)
            order = dependency_order(template["Resources"])
            for failed in order:
                self._bring_up(failed, undo)
            failed = "The template's outputs"
            outputs = self._resolved_outputs(template.get("Outputs") or {})
            accept(outputs)
        except Exception as error:
            reason = f"The following resource(s) failed: [{failed}]. {_reason(error)}"
            raise RolloutFailed(reason, lambda: self._undo(*before, undo)) from error
        self._leave_over_removed()
        # What is made last goes first later on, and an update may have given an old resource a
        # reference to a new one.
        self._made_from = {one: self._made_from[one] for one in order if one in self._made_from}
        return outputs

    def clean_up(self) -> None:
        """Delete what the last roll-out has replaced or removed.

        What cannot be deleted is left behind, with an event that says why: the update has succeeded,
        as in CloudFormation (https://github.com/aws/aws-cdk-cli/pull/1564).
        """
        for logical_id, resource, template in reversed(self._left_over):
            with suppress(DeletionFailed):
                self._take_down(logical_id, resource, template)
        self._left_over = []

    def has_made(self, physical_id: str) -> bool:
        """Tell whether a resource of this physical id is there."""
        return any(_physical_id(one) == physical_id for one in self._parsed_resources.values())

    def delete(self) -> None:
        """Delete all resources, the last made first.

        Raises:
            DeletionFailed: If some are left.
        """
        faults = []
        for logical_id in reversed(list(self._made_from)):
            template = self._resource_json_map.get(logical_id, {})
            try:
                self._take_down(logical_id, self._parsed_resources[logical_id], template)
            except DeletionFailed as failure:
                faults.append(str(failure))
            else:
                self._forget(logical_id)
        if faults:
            raise DeletionFailed(" ".join(faults))

    def _adopt(self, template: Template, parameters: dict[str, Any]) -> None:
        self._template = template
        self._resource_json_map = template["Resources"]
        self.input_parameters = parameters
        self.resolved_parameters = {}
        self.load_mapping()
        self.load_parameters()
        self.load_conditions()
        self.tags.update(
            {
                "aws:cloudformation:stack-name": self._parsed_resources["AWS::StackName"],
                "aws:cloudformation:stack-id": self._parsed_resources["AWS::StackId"],
            }
        )

    def _bring_up(self, logical_id: str, undo: list[Callable[[], None]]) -> None:
        template = self._resource_json_map[logical_id]
        condition = template.get("Condition")
        if condition and not self.lazy_condition_map[condition]:
            return
        if template["Type"] in WITHOUT_EFFECT:
            return
        action = "UPDATE" if logical_id in self._made_from else "CREATE"
        try:
            self._require_known(template["Type"])
            resolved = clean_json(template, self)
            if action == "CREATE":
                self._event(logical_id, "CREATE_IN_PROGRESS")
                self._create(logical_id, resolved, undo)
            elif resolved.get("Properties") != self._made_from[logical_id].get("Properties"):
                self._event(logical_id, "UPDATE_IN_PROGRESS")
                self._change(logical_id, resolved, undo)
            else:
                return
        except Exception as error:
            self._event(logical_id, f"{action}_FAILED", reason=_reason(error))
            raise
        self._event(logical_id, f"{action}_COMPLETE")

    def _resolved_outputs(self, outputs: Template) -> Template:
        """Return the outputs that there are with their values; refuse one of what is not there."""
        resolved: Template = {}
        for name, output in outputs.items():
            condition = output.get("Condition")
            if not condition or self.lazy_condition_map[condition]:
                plain = {key: value for key, value in output.items() if key != "Condition"}
                resolved[name] = clean_json(plain, self)
        return resolved

    def _create(self, logical_id: str, resolved: Template, undo: list[Callable[[], None]]) -> None:
        resource: Any = parse_and_create_resource(
            logical_id, resolved, self, self._account_id, self._region_name
        )
        old, old_template = self._parsed_resources.get(logical_id), self._made_from.get(logical_id)
        self._keep(logical_id, resource, resolved)

        def take_back() -> None:
            self._take_down(logical_id, resource, _deletable(resolved))
            self._forget(logical_id)
            if old_template is not None:
                self._keep(logical_id, old, old_template)

        undo.append(take_back)

    def _change(self, logical_id: str, resolved: Template, undo: list[Callable[[], None]]) -> None:
        old, old_template = self._parsed_resources[logical_id], self._made_from[logical_id]
        if isinstance(old, ApiResource) and old.replaced_by(resolved.get("Properties", {})):
            reason = "Requested update requires the creation of a new physical resource"
            self._event(logical_id, "UPDATE_IN_PROGRESS", reason=f"{reason}; hence creating one.")
            self._create(logical_id, resolved, undo)
            self._left_over.append((logical_id, old, _replaced(old_template)))
            return
        kind = resource_class_from_type(resolved["Type"])
        if hasattr(kind.update_from_cloudformation_json, "__isabstractmethod__"):
            raise NotImplementedError(f"The local AWS cannot update the type {resolved['Type']}.")
        self._keep(logical_id, self._updated(logical_id, resolved), resolved)
        undo.append(
            lambda: self._keep(logical_id, self._updated(logical_id, old_template), old_template)
        )

    def _updated(self, logical_id: str, resolved: Template) -> Any:
        return parse_and_update_resource(
            logical_id, resolved, self, self._account_id, self._region_name
        )

    def _leave_over_removed(self) -> None:
        for logical_id, template in list(self._made_from.items()):
            now = self._resource_json_map.get(logical_id)
            condition = now.get("Condition") if now else None
            if now is None or (condition and not self.lazy_condition_map[condition]):
                self._left_over.append((logical_id, self._parsed_resources[logical_id], template))
                self._forget(logical_id)

    def _undo(
        self, template: Template, parameters: dict[str, Any], steps: list[Callable[[], None]]
    ) -> None:
        """Take the steps back, last first, and return to the template from before."""
        faults = []
        for step in reversed(steps):
            try:
                step()
            except Exception as error:  # noqa: PERF203 (go on: undo all that can be undone)
                faults.append(_reason(error))
        self._left_over = []
        if template:
            self._adopt(template, parameters)
        if faults:
            raise DeletionFailed(" ".join(faults))

    def _keep(self, logical_id: str, resource: Any, resolved: Template) -> None:
        self._parsed_resources[logical_id] = resource
        self._made_from[logical_id] = resolved

    def _forget(self, logical_id: str) -> None:
        self._parsed_resources.pop(logical_id, None)
        self._made_from.pop(logical_id, None)

    def _take_down(self, logical_id: str, resource: Any, template: Template) -> None:
        """Delete one resource unless its policy keeps it.

        Raises:
            DeletionFailed: If its service refuses.
        """
        kind, physical_id = template.get("Type", ""), _physical_id(resource)
        if template.get("DeletionPolicy", "Delete").startswith("Retain"):
            self.on_event(logical_id, kind, "DELETE_SKIPPED", physical_id)
            return
        self.on_event(logical_id, kind, "DELETE_IN_PROGRESS", physical_id)
        try:
            self._delete_resource(resource, template)
        except Exception as error:
            self.on_event(logical_id, kind, "DELETE_FAILED", physical_id, reason=_reason(error))
            raise DeletionFailed(f"{logical_id}: {_reason(error)}") from error
        self.on_event(logical_id, kind, "DELETE_COMPLETE", physical_id)

    def _event(self, logical_id: str, status: str, reason: str | None = None) -> None:
        kind = self._resource_json_map[logical_id]["Type"]
        physical_id = _physical_id(self._parsed_resources.get(logical_id))
        self.on_event(logical_id, kind, status, physical_id, reason=reason)

    @staticmethod
    def _require_known(resource_type: str) -> None:
        if not resource_type.startswith("Custom::") and not resource_class_from_type(resource_type):
            raise NotImplementedError(f"The local AWS does not know the type {resource_type}.")


def dependency_order(resources: Template) -> list[str]:
    """Return the logical ids such that each comes after those it refers to.

    Raises:
        ValueError: If resources refer to each other in a circle.
    """
    order: list[str] = []
    open_ids: list[str] = []

    def visit(logical_id: str) -> None:
        if logical_id in order:
            return
        if logical_id in open_ids:
            circle = ", ".join(open_ids[open_ids.index(logical_id) :])
            raise ValueError(f"Circular dependency between resources: [{circle}]")
        open_ids.append(logical_id)
        for reference in _references(resources[logical_id]):
            if reference in resources:
                visit(reference)
        open_ids.pop()
        order.append(logical_id)

    for logical_id in resources:
        visit(logical_id)
    return order


def _references(part: Any) -> Iterator[str]:
    """Yield the logical ids (and parameters) that a part of a template refers to."""
    if isinstance(part, list):
        for item in part:
            yield from _references(item)
    elif isinstance(part, dict):
        for key, item in part.items():
            if key == "Ref" and isinstance(item, str):
                yield item
            elif key == "DependsOn":
                yield from [item] if isinstance(item, str) else item
            elif key == "Fn::GetAtt":
                yield item.split(".")[0] if isinstance(item, str) else item[0]
            elif key == "Fn::Sub":
                text = item if isinstance(item, str) else item[0]
                yield from re.findall(r"\$\{([A-Za-z0-9]+)", text)
                yield from _references(item)
            else:
                yield from _references(item)


def _deletable(resolved: Template) -> Template:
    """A resource whose creation is undone goes, unless its policy is to retain it in any case."""
    policy = resolved.get("DeletionPolicy")
    return resolved if policy == "Retain" else {**resolved, "DeletionPolicy": "Delete"}


def _replaced(template: Template) -> Template:
    """A resource that was replaced goes or stays as its policy for that case says."""
    return {**template, "DeletionPolicy": template.get("UpdateReplacePolicy", "Delete")}


def _physical_id(resource: Any) -> str:
    return str(getattr(resource, "physical_resource_id", "") or "")


def _reason(error: Exception) -> str:
    """Return what went wrong in one sentence; some of moto's errors have it in `message`."""
    return str(getattr(error, "message", "") or error or type(error).__name__)
