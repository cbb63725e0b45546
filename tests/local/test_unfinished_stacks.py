"""Stacks that take long, that leave something behind, or whose roll-out crashes."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from lmi_constructs.local.resources import ApiResource

if TYPE_CHECKING:
    from collections.abc import Iterator


def test_what_cannot_be_cleaned_up_stays_and_the_update_is_complete(stack: Any) -> None:
    topic = {"Type": "AWS::SNS::Topic"}
    gateway = {"Type": "AWS::EC2::InternetGateway"}
    stack.create({"Resources": {"Topic": topic, "Gateway": gateway}})
    ec2 = stack.aws.client("ec2")
    (made,) = ec2.describe_internet_gateways()["InternetGateways"]
    (vpc,) = ec2.describe_vpcs()["Vpcs"]
    ec2.attach_internet_gateway(InternetGatewayId=made["InternetGatewayId"], VpcId=vpc["VpcId"])
    assert stack.update({"Resources": {"Topic": topic}}) == "UPDATE_COMPLETE"
    assert ("Gateway", "DELETE_FAILED") in [(name, status) for name, status, _ in stack.events]


@pytest.fixture
def held_back(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """An event that calls of stacks' resources wait for, while operations are answered at once."""
    go_on, call = threading.Event(), ApiResource.call.__func__  # type: ignore[attr-defined]

    def wait_and_call(kind: type[ApiResource], *arguments: Any) -> Any:
        go_on.wait()
        return call(kind, *arguments)

    monkeypatch.setattr(ApiResource, "call", classmethod(wait_and_call))
    monkeypatch.setattr("lmi_constructs.local.cloudformation.ANSWER_SECONDS", 0)
    yield go_on
    go_on.set()


def test_a_long_roll_out_and_deletion_go_on_after_the_answer(
    stack: Any, template: dict[str, Any], held_back: threading.Event
) -> None:
    cloudformation, soon = stack.cloudformation, {"Delay": 0.05, "MaxAttempts": 200}
    name = {"StackName": "S", "ChangeSetName": "first"}
    body = json.dumps(template)
    cloudformation.create_change_set(**name, ChangeSetType="CREATE", TemplateBody=body)
    cloudformation.execute_change_set(**name)
    assert stack.status == "CREATE_IN_PROGRESS"
    assert cloudformation.describe_change_set(**name)["ExecutionStatus"] == "EXECUTE_IN_PROGRESS"
    held_back.set()
    cloudformation.get_waiter("stack_create_complete").wait(StackName="S", WaiterConfig=soon)
    held_back.clear()
    cloudformation.delete_stack(StackName="S")
    assert stack.status == "DELETE_IN_PROGRESS"
    held_back.set()
    cloudformation.get_waiter("stack_delete_complete").wait(StackName="S", WaiterConfig=soon)
    assert not any(stack.inventory().values())


def test_a_crash_of_a_roll_out_ends_the_wait_for_it(
    stack: Any, template: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    monkeypatch.setattr("lmi_constructs.local.rollout.LocalResourceMap.clean_up", crash)
    name = {"StackName": "S", "ChangeSetName": "first"}
    body = json.dumps(template)
    stack.cloudformation.create_change_set(**name, ChangeSetType="CREATE", TemplateBody=body)
    stack.cloudformation.execute_change_set(**name)
    assert stack.status == "CREATE_FAILED"
    assert "ZeroDivisionError" in stack.description["StackStatusReason"]
