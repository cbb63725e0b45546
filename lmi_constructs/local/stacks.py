"""CloudFormation's way with a stack: order, replacement, clean-up, roll-back.

moto applies a changed template by deleting and creating again, in the order of the file, and leaves
a half-made stack when a resource fails. These subclasses bring resources up in the order of their
references, replace before they delete, undo everything when one fails, and record an event for each
step, which is what the CDK CLI prints.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from moto.cloudformation.models import (
    CloudFormationBackend,
    Event,
    Stack,
    cloudformation_backends,
)
from moto.cloudformation.parsing import OutputMap, clean_json

from lmi_constructs.local.rollout import DeletionFailed, LocalResourceMap, RolloutFailed

if TYPE_CHECKING:
    from moto.cloudformation.parsing import ResourceMap


class ExportInUse(Exception):  # noqa: N818
    """Another stack imports what would be taken away or changed."""


class LocalStack(Stack):
    """A stack that rolls back as CloudFormation does.

    It has outputs and exports only once it has been rolled out: moto would make resources in
    passing when it looks at them earlier. They are kept with their values, as a resource that they
    name may be replaced or gone when somebody asks.
    """

    _outputs: dict[str, Any] = {}  # noqa: RUF012 (replaced, never changed)

    @property
    def stack_name(self) -> str:
        """The name, where moto finds it for ListStacks."""
        return self.name

    @property
    def stack_status(self) -> str:
        """The status, as above."""
        return self.status

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
