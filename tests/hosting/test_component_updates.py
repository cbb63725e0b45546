"""Updates of a component: copies in batches, taken back by its own alarms, without a circle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions

from lmi_constructs import LmiError, Rollout
from tests.hosting.fleets import COMPONENT, component_on, fleet_in

if TYPE_CHECKING:
    from lmi_constructs import LmiInferenceComponent

ROLLING = Rollout.rolling(percent=50, bake_time=cdk.Duration.minutes(5))


@pytest.fixture
def chat(stack: cdk.Stack) -> LmiInferenceComponent:
    made: LmiInferenceComponent = component_on(fleet_in(stack), component_name="chat")
    return made


def test_replaces_copies_in_batches_and_names_the_alarms(
    chat: LmiInferenceComponent, stack: cdk.Stack, resources: Any
) -> None:
    alarms = chat.add_alarms(p99_latency=cdk.Duration.seconds(30))
    chat.roll_back_on(alarms, rollout=ROLLING)
    (component,) = resources(stack, COMPONENT)
    update = component["DeploymentConfig"]
    assert update["RollingUpdatePolicy"] == {
        "MaximumBatchSize": {"Type": "CAPACITY_PERCENT", "Value": 50},
        "WaitIntervalInSeconds": 300,
    }
    names = [alarm["AlarmName"]["Ref"] for alarm in update["AutoRollbackConfiguration"]["Alarms"]]
    assert ["ErrorRate" in names[0], "P99Latency" in names[1], len(names)] == [True, True, 2]


def test_there_is_no_circle_and_the_fleet_may_see_the_alarms_first(
    chat: LmiInferenceComponent, stack: cdk.Stack, reported: Any
) -> None:
    chat.roll_back_on(chat.add_alarms(), rollout=ROLLING)
    assert not {rule for rule, _ in reported(stack)} & {"LMI073", "LMI082", "LMI088", "LMI097"}
    template = assertions.Template.from_stack(stack).to_json()["Resources"]
    (component,) = [one for one in template.values() if one["Type"] == COMPONENT]
    (policy,) = [
        name
        for name, one in template.items()
        if one["Type"] == "AWS::IAM::Policy" and "DescribeAlarms" in str(one)
    ]
    assert policy in component["DependsOn"]


@pytest.mark.parametrize(
    ("rollout", "rule"),
    [
        (Rollout.blue_green(), "LMI070"),
        (Rollout.rolling(percent=80, bake_time=cdk.Duration.minutes(5)), "LMI071"),
        (Rollout.rolling(percent=50, bake_time=cdk.Duration.minutes(61)), "LMI071"),
    ],
)
def test_refuses_what_sagemaker_does_not_take(
    chat: LmiInferenceComponent, rollout: Rollout, rule: str
) -> None:
    with pytest.raises(LmiError) as raised:
        chat.roll_back_on(chat.add_alarms(), rollout=rollout)
    assert [(one.rule, one.where) for one in raised.value.findings] == [(rule, "rollout")]


def test_refuses_an_update_that_nothing_could_take_back(chat: LmiInferenceComponent) -> None:
    with pytest.raises(LmiError, match="LMI073"):
        chat.roll_back_on(chat.add_alarms(error_rate=None), rollout=ROLLING)
