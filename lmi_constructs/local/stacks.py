"""CloudFormation's way with a stack: order, replacement, clean-up, roll-back.

moto applies a changed template by deleting and creating again, in the order of the file, and leaves
a half-made stack when a resource fails. These subclasses bring resources up in the order of their
references, replace before they delete, undo everything when one fails, and record an event for each
step, which is what the CDK CLI prints.
"""

from __future__ import annotations

import threading
from datetime import timedelta
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from moto.cloudformation import urls
from moto.cloudformation.exceptions import CloudFormationError
from moto.cloudformation.models import (
    CloudFormationBackend,
    Event,
    Stack,
    cloudformation_backends,
)
from moto.cloudformation.parsing import OutputMap, clean_json
from moto.cloudformation.responses import CloudFormationResponse
from moto.core.responses import ActionResult, EmptyResult

from lmi_constructs.local.rollout import DeletionFailed, LocalResourceMap, RolloutFailed

if TYPE_CHECKING:
    from collections.abc import Callable

    from moto.cloudformation.parsing import ResourceMap


ANSWER_SECONDS = 30
"""What takes longer, such as a smoke test inside the stack, goes on after the answer, as it does in
AWS. The CDK CLI asks again after 300 seconds without an answer (aws-cdk 2.1148.1, `requestTimeout`),
and a change set that is carried out twice at once ends in ruins."""


class ExportInUse(Exception):  # noqa: N818
    """Another stack imports what would be taken away or changed."""


class LocalStack(Stack):
    """A stack that rolls back as CloudFormation does.

    It has outputs and exports only once it has been rolled out: moto would make resources in
    passing when it looks at them earlier. They are kept with their values, as a resource that they
    name may be replaced or gone when somebody asks.
    """

    _outputs: dict[str, Any] = {}  # noqa: RUF012 (replaced, never changed)

    def _create_resource_map(self) -> ResourceMap:
        resource_map = LocalResourceMap(
            self.stack_id,
            self.name,
            self.parameters,
            self.tags,
            account_id=self.account_id,
            region_name=self.region_name,
            template=self.template_dict,
            cross_stack_resources=self._backend.exports,
        )
        resource_map.on_event = self._record
        resource_map.load()
        return resource_map

    def _create_output_map(self) -> OutputMap:
        return OutputMap(self.resource_map, {"Outputs": self._outputs}, self.stack_id)

    @property
    def stack_parameters(self) -> dict[str, Any]:
        """Parameters as given: moto's are resolved, and an SSM parameter resolves only once."""
        slots = self.template_dict.get("Parameters", {})
        return {
            name: self.parameters.get(name, slot.get("Default")) for name, slot in slots.items()
        }

    def create_resources(self) -> None:
        """Create everything in the stack's own template (CreateStack)."""
        self.roll_out(self.template, self.parameters, "CREATE")

    def update(
        self,
        template: str,
        role_arn: str | None = None,
        parameters: dict[str, Any] | None = None,
        tags: dict[str, str] | None = None,
    ) -> None:
        """Move the stack to another template (UpdateStack)."""
        self.role_arn = role_arn
        self.tags = self.tags if tags is None else tags
        self.begin("UPDATE")
        self.roll_out(template, parameters or {}, "UPDATE")

    def begin(self, action: str) -> None:
        """Record that an action has been asked for."""
        self._set_status(f"{action}_IN_PROGRESS", "User Initiated")

    def break_off(self, error: Exception) -> None:
        """Record that what was begun came to no end, so that nobody waits for one."""
        self._set_status(self.status.replace("IN_PROGRESS", "FAILED"), repr(error))

    def roll_out(self, template: Any, parameters: dict[str, Any], action: str) -> bool:
        """Bring the stack to a template, or back to where it was, and return whether it got there.

        Args:
            template: Template text.
            parameters: Values of the template's parameters.
            action: `CREATE` or `UPDATE`.
        """
        rollback = "ROLLBACK" if action == "CREATE" else "UPDATE_ROLLBACK"
        wanted = self.parse_template(template) if isinstance(template, str) else template
        try:
            outputs = self._local_map.roll_out(wanted, parameters, self._refuse_lost_exports)
        except RolloutFailed as failure:
            self._set_status(f"{rollback}_IN_PROGRESS", str(failure))
            try:
                failure.undo()
            except DeletionFailed as remaining:
                self._set_status(f"{rollback}_FAILED", str(remaining))
            else:
                self._set_status(f"{rollback}_COMPLETE")
            return False
        self._withdraw_exports()
        self.template, self.template_dict, self.parameters = template, wanted, parameters
        self.description = wanted.get("Description")
        self._outputs = outputs
        self.output_map = self._create_output_map()
        self._backend.exports.update({export.name: export for export in self.exports})
        if action == "UPDATE":
            self._set_status("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
        self._local_map.clean_up()
        self._set_status(f"{action}_COMPLETE")
        return True

    def delete(self) -> None:
        """Delete every resource that is not to be retained, last created first."""
        self._set_status("DELETE_IN_PROGRESS", "User Initiated")
        exports = [export.name for export in self.exports]
        try:
            self._refuse_lost_exports({})
        except ExportInUse as failure:
            self._set_status("DELETE_FAILED", str(failure))
            return
        try:
            self._local_map.delete()
        except DeletionFailed as failure:
            self._drop_outputs()
            self._set_status("DELETE_FAILED", str(failure))
        else:
            self._drop_outputs()
            for name in exports:
                self._backend.exports.pop(name, None)
            self._set_status("DELETE_COMPLETE")

    def has_made(self, physical_id: str) -> bool:
        """Tell whether a resource of this physical id is one of the stack's own."""
        return self._local_map.has_made(physical_id)

    @property
    def _local_map(self) -> LocalResourceMap:
        assert isinstance(self.resource_map, LocalResourceMap)  # noqa: S101
        return self.resource_map

    @property
    def _backend(self) -> CloudFormationBackend:
        return cloudformation_backends[self.account_id][self.region_name]

    def _drop_outputs(self) -> None:
        """Forget the outputs, whose resources can no longer be asked."""
        self._outputs = {}
        self.output_map = self._create_output_map()

    def _refuse_lost_exports(self, outputs: dict[str, Any]) -> None:
        """Refuse outputs that take away or change what another stack imports.

        Raises:
            ExportInUse: If there is such an export.
        """
        wanted = {
            output["Export"]["Name"]: output["Value"]
            for output in outputs.values()
            if "Export" in output
        }
        for export in self.exports:
            if wanted.get(export.name) == export.value:
                continue
            change = "updated" if export.name in wanted else "deleted"
            users = [
                other.name
                for other in self._backend.stacks.values()
                if other is not self and len(other.resource_map) and _imports(other, export.name)
            ]
            if users:
                reason = f"cannot be {change} as it is in use by {' and '.join(users)}"
                raise ExportInUse(f"Export {export.name} {reason}")

    def _withdraw_exports(self) -> None:
        for export in self.exports:
            self._backend.exports.pop(export.name, None)

    def _set_status(self, status: str, reason: str | None = None) -> None:
        self.status = status
        self.status_reason = reason
        self._add_stack_event(status, resource_status_reason=reason)
        self._put_last_event_last()

    def _record(
        self,
        logical_id: str,
        resource_type: str,
        status: str,
        physical_id: str = "",
        reason: str | None = None,
    ) -> None:
        self.events.append(
            Event(
                stack_id=self.stack_id,
                stack_name=self.name,
                logical_resource_id=logical_id,
                physical_resource_id=physical_id,
                resource_type=resource_type,
                resource_status=status,
                resource_status_reason=reason,
                resource_properties=None,
            )
        )
        self._put_last_event_last()

    def _put_last_event_last(self) -> None:
        """Keep events a millisecond apart: the CDK CLI sorts them by that."""
        if len(self.events) > 1:
            earliest = self.events[-2].timestamp + timedelta(milliseconds=1)
            self.events[-1].timestamp = max(self.events[-1].timestamp, earliest)


def _imports(stack: Stack, name: str) -> bool:
    """Tell whether a stack's template imports an export."""

    def within(part: Any) -> bool:
        if isinstance(part, list):
            return any(map(within, part))
        if not isinstance(part, dict):
            return False
        if "Fn::ImportValue" in part:
            return bool(clean_json(part["Fn::ImportValue"], stack.resource_map) == name)
        return any(map(within, part.values()))

    return within(stack.template_dict.get("Resources", {}))


class LocalCloudFormationBackend(CloudFormationBackend):
    """CloudFormation whose change sets and deletions can fail."""

    @property
    def _url_module(self) -> SimpleNamespace:
        """Moto's place for the addresses of a service."""
        paths = {**urls.url_paths, "{0}/$": LocalCloudFormationResponse.dispatch}
        return SimpleNamespace(url_bases=urls.url_bases, url_paths=paths)

    def execute_change_set(self, change_set_name: str, stack_name: str | None = None) -> None:
        """Carry a change set out; whether it worked is in the stack's status."""
        change_set = self.describe_change_set(change_set_name)
        assert change_set is not None  # noqa: S101 (moto raises itself when there is none)
        stack = self.stacks[change_set.stack_id]
        assert isinstance(stack, LocalStack)  # noqa: S101
        if change_set.tags is not None:
            stack.tags = change_set.tags
        stack.role_arn = change_set.role_arn
        action = "CREATE" if change_set.change_set_type == "CREATE" else "UPDATE"
        stack.begin(action)
        change_set.execution_status = "EXECUTE_IN_PROGRESS"

        def carry_out() -> None:
            done = stack.roll_out(change_set.template, change_set.parameters, action)
            change_set.execution_status = "EXECUTE_COMPLETE" if done else "EXECUTE_FAILED"

        _start(stack, carry_out)

    def delete_stack(self, name_or_stack_id: str) -> None:
        """Delete a stack; it stays when one of its resources does."""
        for stack in list(self.stacks.values()):
            if name_or_stack_id in (stack.name, stack.stack_id):
                assert isinstance(stack, LocalStack)  # noqa: S101
                _start(stack, partial(self._delete, stack))

    def _delete(self, stack: LocalStack) -> None:
        stack.delete()
        if stack.status == "DELETE_COMPLETE":
            self.deleted_stacks[stack.stack_id] = self.stacks.pop(stack.stack_id)


def _start(stack: LocalStack, work: Callable[[], None]) -> None:
    """Do something with a stack, and return in time though it may not be done: the status says so."""

    def carry_out() -> None:
        try:
            work()
        except Exception as error:
            stack.break_off(error)
            raise

    thread = threading.Thread(target=carry_out, daemon=True)
    thread.start()
    thread.join(ANSWER_SECONDS)


class ChangeSetNotFoundException(CloudFormationError):  # noqa: N818 (the API's name)
    """There is no change set of that name."""

    code = "ChangeSetNotFound"


class StackNotFoundException(CloudFormationError):  # noqa: N818 (as above)
    """There is no such stack; CloudFormation has no code of its own for that."""

    code = "ValidationError"


class LocalCloudFormationResponse(CloudFormationResponse):
    """Finds a change set by its stack too, and a stack by what it has made.

    The CDK CLI uses one name for all change sets.
    """

    def describe_stack_resources(self) -> ActionResult:
        """Answer DescribeStackResources, which also takes the physical id of a resource."""
        physical_id = self._get_param("PhysicalResourceId")
        if physical_id and not self._get_param("StackName"):
            for stack in list(self.cloudformation_backend.stacks.values()):
                if isinstance(stack, LocalStack) and stack.has_made(physical_id):
                    self.params["StackName"] = stack.name
                    return super().describe_stack_resources()
            raise StackNotFoundException(f"Stack for {physical_id} does not exist")
        return super().describe_stack_resources()

    def describe_change_set(self) -> ActionResult:
        """Answer DescribeChangeSet.

        Raises:
            ChangeSetNotFoundException: If there is none; the CDK CLI waits for that.
        """
        self._name_by_id()
        name = self.params["ChangeSetName"]
        if name not in self.cloudformation_backend.change_sets:
            raise ChangeSetNotFoundException(f"ChangeSet [{name}] does not exist")
        return super().describe_change_set()

    def execute_change_set(self) -> ActionResult:
        """Answer ExecuteChangeSet."""
        self._name_by_id()
        return super().execute_change_set()

    def delete_change_set(self) -> ActionResult:
        """Answer DeleteChangeSet; one that does not exist needs no deleting."""
        self._name_by_id()
        if self.params["ChangeSetName"] in self.cloudformation_backend.change_sets:
            return super().delete_change_set()
        return EmptyResult()

    def _name_by_id(self) -> None:
        name, stack = self.params["ChangeSetName"], self.params.get("StackName")
        for change_set_id, change_set in self.cloudformation_backend.change_sets.items():
            if change_set.change_set_name == name and stack in (
                change_set.stack_name,
                change_set.stack_id,
            ):
                self.params["ChangeSetName"] = change_set_id
