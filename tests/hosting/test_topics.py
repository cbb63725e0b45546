"""Alarms speak to topics of their own region only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from aws_cdk import aws_sns as sns

from lmi_constructs import LmiEndpoint, ModelData
from tests.hosting.fleets import component_on, fleet_in, refused

if TYPE_CHECKING:
    import aws_cdk as cdk


def topic_in(stack: cdk.Stack, region: str) -> sns.ITopic:
    arn = f"arn:aws:sns:{region}:999922223333:alarms"
    return sns.Topic.from_topic_arn(stack, f"Topic{region}", arn)


@pytest.mark.parametrize("keyword", ["topic", "paging_topic"])
def test_refuses_a_topic_of_another_region(stack: cdk.Stack, keyword: str) -> None:
    elsewhere = {keyword: topic_in(stack, "eu-west-1")}
    endpoint = LmiEndpoint(
        stack,
        "Own",
        model_data=ModelData.s3_prefix("my-models", "m/"),
        instance_type="ml.g6.12xlarge",
    )
    chat = component_on(fleet_in(stack))
    for alarmed in (endpoint, chat):
        assert refused(lambda alarmed=alarmed: alarmed.add_alarms(**elsewhere)) == {  # type: ignore[misc]
            ("LMI088", keyword)
        }


def test_refuses_it_for_the_lack_of_copies_too(stack: cdk.Stack) -> None:
    chat, topic = component_on(fleet_in(stack)), topic_in(stack, "eu-west-1")
    assert refused(lambda: chat.add_no_capacity_alarm(topic=topic)) == {("LMI088", "topic")}


def test_takes_a_topic_of_another_account_here(stack: cdk.Stack, resources: Any) -> None:
    topic = topic_in(stack, "us-west-2")
    component_on(fleet_in(stack)).add_alarms(topic=topic, concurrent_requests=None)
    (alarm,) = resources(stack, "AWS::CloudWatch::Alarm")
    assert alarm["AlarmActions"] == [topic.topic_arn]


def test_a_stack_without_a_region_may_be_anywhere(agnostic_stack: cdk.Stack) -> None:
    topic = topic_in(agnostic_stack, "eu-west-1")
    alarms = component_on(fleet_in(agnostic_stack)).add_alarms(topic=topic)
    assert alarms.all
