"""The dashboard shows what an operator looks at, in units that can be read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from lmi_constructs import AsyncInference, LmiEndpoint, LmiSettings, ModelData

if TYPE_CHECKING:
    import aws_cdk as cdk

DATA = ModelData.s3_prefix("my-models", "m/")


def graphs(resources: Any, stack: cdk.Stack) -> dict[str, Any]:
    """The dashboard's graphs by title; names of the stack's resources are left as a word."""
    (dashboard,) = resources(stack, "AWS::CloudWatch::Dashboard")
    parts = dashboard["DashboardBody"]["Fn::Join"][1]
    body = json.loads("".join(part if isinstance(part, str) else "NAME" for part in parts))
    return {widget["properties"]["title"]: widget["properties"] for widget in body["widgets"]}


@pytest.fixture
def shown(stack: cdk.Stack, resources: Any) -> dict[str, Any]:
    endpoint = LmiEndpoint(
        stack,
        "Chat",
        model_data=DATA,
        instance_type="ml.g6.12xlarge",
        settings=LmiSettings(max_rolling_batch_size=64),
    )
    endpoint.add_dashboard()
    return graphs(resources, stack)


def test_shows_latencies_in_seconds(shown: dict[str, Any]) -> None:
    lines = shown["Whole answers, seconds"]["metrics"]
    assert [line[0]["expression"] for line in lines if isinstance(line[0], dict)] == [
        "p50 / 1000000",
        "p90 / 1000000",
        "p99 / 1000000",
    ]


def test_shows_gpus_for_each_card(shown: dict[str, Any]) -> None:
    lines = shown["GPUs, percent, each of 4"]["metrics"]
    assert [line[0]["expression"] for line in lines if isinstance(line[0], dict)] == [
        "busy / 4",
        "memory / 4",
    ]


def test_shows_what_an_instance_works_on_at_once(shown: dict[str, Any]) -> None:
    (limit,) = shown["Open requests"]["annotations"]["horizontal"]
    assert limit == {"value": 64, "label": "one instance works on 64 at once", "yAxis": "left"}


def test_every_line_is_about_this_endpoint(shown: dict[str, Any]) -> None:
    for graph in shown.values():
        for line in graph["metrics"]:
            if not isinstance(line[0], dict):
                assert "EndpointName" in line
                assert line[line.index("EndpointName") + 1] == "NAME"


def test_an_asynchronous_endpoint_has_its_queue_instead(stack: cdk.Stack, resources: Any) -> None:
    queue = AsyncInference(bucket="answers", output_prefix="out/")
    LmiEndpoint(
        stack, "Queue", model_data=DATA, instance_type="ml.g6.12xlarge", async_inference=queue
    ).add_dashboard()
    shown = graphs(resources, stack)
    assert "Queue" in shown
    assert "Requests" not in shown


def test_one_page_for_an_incident(stack: cdk.Stack, resources: Any) -> None:
    from aws_cdk import aws_sns as sns

    pager = sns.Topic(stack, "Pager")
    endpoint = LmiEndpoint(stack, "Chat", model_data=DATA, instance_type="ml.g6.12xlarge")
    alarms = endpoint.add_alarms(paging_topic=pager)
    (composite,) = resources(stack, "AWS::CloudWatch::CompositeAlarm")
    assert composite["AlarmActions"] == [stack.resolve(pager.topic_arn)]
    rule = json.dumps(composite["AlarmRule"])
    assert rule.count("ALARM(") == len(alarms.all) == 4
    assert alarms.composite is not None
    for alarm in resources(stack, "AWS::CloudWatch::Alarm"):
        assert "AlarmActions" not in alarm
