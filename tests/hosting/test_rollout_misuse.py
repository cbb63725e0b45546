"""Updates and what takes them back, as they are misused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_cloudwatch as cloudwatch

from lmi_constructs import LmiEndpoint, LmiError, ModelData, Rollout
from tests.hosting.fleets import component_on, fleet_in, refused

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = ModelData.s3_prefix("my-models", "m/")
MINUTES = cdk.Duration.minutes
TOKEN: Any = cdk.Token.as_number({"Fn::ImportValue": "Share"})


def endpoint_with(stack: cdk.Stack, rollout: Rollout, count: int = 4) -> LmiEndpoint:
    return LmiEndpoint(
        stack,
        "Chat",
        model_data=DATA,
        instance_type="ml.g6.12xlarge",
        initial_instance_count=count,
        deployment=rollout,
    )


def test_a_share_that_is_a_token_is_not_judged(stack: cdk.Stack, reported: Any) -> None:
    endpoint_with(stack, Rollout.rolling(percent=TOKEN, bake_time=MINUTES(5)))
    assert "LMI072" not in {rule for rule, _ in reported(stack)}


@pytest.mark.parametrize(
    ("make", "keyword"),
    [
        (lambda: Rollout(kind="ALL_AT_ONCE", percent=50), "percent"),
        (
            lambda: Rollout(
                kind="ROLLING", percent=25, bake_time=MINUTES(1), termination_wait=MINUTES(1)
            ),
            "termination_wait",
        ),
    ],
    ids=["a share of all", "a wait of a rolling one"],
)
def test_nothing_is_given_that_a_kind_of_update_does_not_have(
    make: Callable[[], Rollout], keyword: str
) -> None:
    assert refused(make) == {("LMI071", keyword)}


WHOLE = [
    (Rollout.blue_green(maximum_time=MINUTES(5)), "maximum_time is 300 seconds"),
    (Rollout.blue_green(maximum_time=cdk.Duration.hours(9)), "maximum_time is 32400 seconds"),
    (
        Rollout.blue_green(
            bake_time=MINUTES(50), termination_wait=MINUTES(50), maximum_time=MINUTES(60)
        ),
        "the waits alone take 6000",
    ),
    (
        Rollout.linear(percent=25, bake_time=MINUTES(30), maximum_time=MINUTES(60)),
        "the waits alone take 5400",
    ),
    (
        Rollout.rolling(percent=10, bake_time=MINUTES(20), maximum_time=MINUTES(60)),
        "the waits alone take 4800",
    ),
]


@pytest.mark.parametrize(("rollout", "message"), WHOLE)
def test_the_whole_is_longer_than_its_waits(
    stack: cdk.Stack, rollout: Rollout, message: str
) -> None:
    with pytest.raises(LmiError, match=message) as error:
        endpoint_with(stack, rollout)
    (finding,) = error.value.findings
    assert (finding.rule, finding.where) == ("LMI071", "deployment")


@pytest.mark.parametrize(
    "rollout",
    [
        Rollout.linear(percent=25, bake_time=MINUTES(30), maximum_time=MINUTES(91)),
        Rollout.canary(percent=25, bake_time=MINUTES(59), maximum_time=MINUTES(60)),
        Rollout.rolling(percent=25, bake_time=MINUTES(5), maximum_time=MINUTES(21)),
        Rollout.rolling(percent=TOKEN, bake_time=MINUTES(5), maximum_time=MINUTES(10)),
    ],
)
def test_a_time_that_is_long_enough_is_taken(
    stack: cdk.Stack, rollout: Rollout, reported: Any
) -> None:
    endpoint_with(stack, rollout)
    assert "LMI071" not in {rule for rule, _ in reported(stack)}


def test_the_update_of_a_component_ends_in_time_too(stack: cdk.Stack) -> None:
    chat = component_on(fleet_in(stack), initial_copy_count=2)
    alarms = chat.add_alarms()
    rollouts = [
        Rollout.rolling(percent=50, bake_time=MINUTES(5), maximum_time=MINUTES(5)),
        Rollout.rolling(percent=50, bake_time=MINUTES(10), maximum_time=MINUTES(20)),
    ]
    for rollout in rollouts:
        assert refused(lambda rollout=rollout: chat.roll_back_on(alarms, rollout=rollout)) == {  # type: ignore[misc]
            ("LMI071", "rollout")
        }


@pytest.mark.parametrize(
    ("arn", "message"),
    [
        ("arn:aws:cloudwatch:eu-west-1:111122223333:alarm:x", "region eu-west-1"),
        ("arn:aws:cloudwatch:us-west-2:999922223333:alarm:x", "account 999922223333"),
    ],
)
def test_an_imported_alarm_is_where_its_arn_says(stack: cdk.Stack, arn: str, message: str) -> None:
    alarm = cloudwatch.Alarm.from_alarm_arn(stack, "Imported", arn)
    endpoint = endpoint_with(stack, Rollout.canary(percent=25, bake_time=MINUTES(10)))
    with pytest.raises(LmiError, match=message) as error:
        endpoint.roll_back_on([alarm])
    (finding,) = error.value.findings
    assert (finding.rule, finding.where) == ("LMI073", "alarms")


def test_an_imported_alarm_of_this_place_is_taken(stack: cdk.Stack, resources: Any) -> None:
    endpoint = endpoint_with(stack, Rollout.canary(percent=25, bake_time=MINUTES(10)))
    endpoint.roll_back_on([cloudwatch.Alarm.from_alarm_name(stack, "Imported", "errors")])
    (rendered,) = resources(stack, "AWS::SageMaker::Endpoint")
    rollback = rendered["DeploymentConfig"]["AutoRollbackConfiguration"]
    assert rollback == {"Alarms": [{"AlarmName": "errors"}]}


def test_the_alarms_of_a_component_are_named_by_their_own_keyword(stack: cdk.Stack) -> None:
    chat = component_on(fleet_in(stack))
    rollout = Rollout.rolling(percent=50, bake_time=MINUTES(5))
    assert refused(lambda: chat.roll_back_on([], rollout=rollout)) == {("LMI073", "alarms")}


def test_a_component_rolls_back_on_alarms_of_its_fleet(stack: cdk.Stack, resources: Any) -> None:
    fleet = fleet_in(stack)
    chat = component_on(fleet)
    chat.roll_back_on(fleet.add_alarms(), rollout=Rollout.rolling(percent=50, bake_time=MINUTES(5)))
    (component,) = resources(stack, "AWS::SageMaker::InferenceComponent")
    assert len(component["DeploymentConfig"]["AutoRollbackConfiguration"]["Alarms"]) == 1


@pytest.mark.parametrize(
    ("bake_time", "warned"), [(None, True), (MINUTES(2), True), (MINUTES(3), False)]
)
def test_warns_of_alarms_that_cannot_go_off_in_time(
    stack: cdk.Stack, reported: Any, bake_time: cdk.Duration | None, warned: bool
) -> None:
    endpoint = endpoint_with(stack, Rollout.blue_green(bake_time=bake_time))
    endpoint.roll_back_on(endpoint.add_alarms())
    assert ("LMI073" in {rule for rule, _ in reported(stack)}) is warned
