"""CloudFormation's API over stacks: change sets, deletions, and its answers.

moto knows neither which stack a change set is of, nor that either can fail or take its time.
"""

from __future__ import annotations

import threading
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from moto.cloudformation import urls
from moto.cloudformation.exceptions import CloudFormationError
from moto.cloudformation.models import CloudFormationBackend
from moto.cloudformation.responses import CloudFormationResponse
from moto.core.responses import ActionResult, EmptyResult

from lmi_constructs.local.stacks import LocalStack

if TYPE_CHECKING:
    from collections.abc import Callable

    from moto.cloudformation.models import ChangeSet

ANSWER_SECONDS = 30
"""What takes longer, such as a smoke test inside the stack, goes on after the answer, as it does in
AWS. The CDK CLI asks again after 300 seconds without an answer (aws-cdk 2.1148.1, `requestTimeout`),
and a change set that is carried out twice at once ends in ruins."""


class LocalCloudFormationBackend(CloudFormationBackend):
    """CloudFormation whose change sets and deletions can fail."""

    @property
    def _url_module(self) -> SimpleNamespace:
        """Moto's place for the addresses of a service."""
        paths = {**urls.url_paths, "{0}/$": LocalCloudFormationResponse.dispatch}
        return SimpleNamespace(url_bases=urls.url_bases, url_paths=paths)

    def create_change_set(
        self,
        stack_name: str,
        change_set_name: str,
        template: str,
        parameters: dict[str, str],
        description: str,
        change_set_type: str,
        *options: Any,
        **named: Any,
    ) -> tuple[str, str]:
        """Make a change set; the first ones of a stack share the stack that nothing is in yet.

        Raises:
            AlreadyExistsException: If the stack has a change set of that name.
        """
        if any(one.change_set_name == change_set_name for one in self.change_sets_of(stack_name)):
            raise AlreadyExistsException(
                f"ChangeSet {change_set_name} cannot be created due to the ChangeSet with same name"
            )
        reviewed = next((one for one in self.stacks.values() if one.name == stack_name), None)
        if change_set_type == "CREATE" and reviewed and reviewed.status != "REVIEW_IN_PROGRESS":
            raise WrongStackException(
                f"Stack [{stack_name}] already exists and cannot be created again with the changeSet"
                f" [{change_set_name}]"
            )
        change_set_id, stack_id = super().create_change_set(
            stack_name,
            change_set_name,
            template,
            parameters,
            description,
            change_set_type,
            *options,
            **named,
        )
        if change_set_type != "CREATE" or reviewed is None:
            return change_set_id, stack_id
        del self.stacks[stack_id]
        change_set = self.change_sets[change_set_id]
        change_set.stack, change_set.stack_id = reviewed, reviewed.stack_id
        return change_set_id, reviewed.stack_id

    def change_sets_of(self, stack_name_or_id: str) -> list[ChangeSet]:
        """Return the change sets of a stack."""
        return [
            change_set
            for change_set in self.change_sets.values()
            if stack_name_or_id in (change_set.stack_name, change_set.stack_id)
        ]

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
            for change_set in self.change_sets_of(stack.stack_id):
                del self.change_sets[change_set.change_set_id]


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


class AlreadyExistsException(CloudFormationError):  # noqa: N818 (as above)
    """There is a change set of that name already."""

    code = "AlreadyExistsException"


class WrongStackException(CloudFormationError):  # noqa: N818 (as above)
    """There is no such stack, or one too many; CloudFormation has no code of its own for that."""

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
            raise WrongStackException(f"Stack for {physical_id} does not exist")
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

    def list_change_sets(self) -> ActionResult:
        """Answer ListChangeSets with those of one stack."""
        return ActionResult({"Summaries": self._local.change_sets_of(self.params["StackName"])})

    @property
    def _local(self) -> LocalCloudFormationBackend:
        backend = self.cloudformation_backend
        assert isinstance(backend, LocalCloudFormationBackend)  # noqa: S101
        return backend

    def _name_by_id(self) -> None:
        for change_set in self._local.change_sets_of(self.params.get("StackName", "")):
            if change_set.change_set_name == self.params["ChangeSetName"]:
                self.params["ChangeSetName"] = change_set.change_set_id
