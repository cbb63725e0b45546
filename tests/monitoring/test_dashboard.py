"""The dashboard shows what an operator looks at, in units that can be read."""

from __future__ import annotations

import json
from typing import Any

import aws_cdk as cdk
import pytest

from lmi_constructs import (
    AdapterData,
    AsyncInference,
    LmiEndpoint,
    LmiFleet,
    LmiInferenceComponent,
    LmiSettings,
    ModelData,
)

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


def test_shows_how_many_instances_there_are_and_may_be(stack: cdk.Stack, resources: Any) -> None:
    endpoint = LmiEndpoint(stack, "Chat", model_data=DATA, instance_type="ml.g6.12xlarge")
    endpoint.auto_scale_instance_count(min_capacity=2, max_capacity=5)
    endpoint.add_dashboard()
    shown = graphs(resources, stack)["Instances, and limits of scaling"]
    assert shown["metrics"][0][0]["expression"] == "all / each"
    names = {line[1]: line[-1] for line in shown["metrics"][1:]}
    assert {name: line["id"] for name, line in names.items()} == {
        "Invocations": "all",
        "InvocationsPerInstance": "each",
    }
    limits = [(limit["value"], limit["label"]) for limit in shown["annotations"]["horizontal"]]
    assert limits == [(2, "fewest"), (5, "most")]


def test_graphs_stand_two_beside_each_other(stack: cdk.Stack, resources: Any) -> None:
    LmiEndpoint(stack, "Chat", model_data=DATA, instance_type="ml.g6.12xlarge").add_dashboard()
    (dashboard,) = resources(stack, "AWS::CloudWatch::Dashboard")
    parts = dashboard["DashboardBody"]["Fn::Join"][1]
    body = json.loads("".join(part if isinstance(part, str) else "NAME" for part in parts))
    assert [(widget["x"], widget["y"]) for widget in body["widgets"][:4]] == [
        (0, 0),
        (12, 0),
        (0, 6),
        (12, 6),
    ]


def test_a_fleet_shows_each_component_that_is_named(stack: cdk.Stack, resources: Any) -> None:
    fleet = LmiFleet(stack, "Fleet", instance_type="ml.g6.12xlarge")
    chat = LmiInferenceComponent(
        stack,
        "Chat",
        fleet=fleet,
        model_data=DATA,
        settings=LmiSettings(
            tensor_parallel_degree=2, max_rolling_batch_size=32, enable_lora=True, max_loras=2
        ),
        min_memory=cdk.Size.gibibytes(16),
    )
    tenant = chat.add_adapter("Acme", AdapterData.s3_archive("my-models", "acme.tar.gz"))
    chat.auto_scale_copy_count(min_capacity=1, max_capacity=2)
    fleet.add_dashboard(components=[chat, tenant])
    shown = graphs(resources, stack)

    (limit,) = shown["Chat: open requests of a copy"]["annotations"]["horizontal"]
    assert limit["value"] == 32
    copies = shown["Chat: copies"]
    assert [line["value"] for line in copies["annotations"]["horizontal"]] == [1, 2]
    assert "Acme: requests" in shown
    assert "Acme: copies" not in shown
    of_tenant = shown["Acme: requests"]["metrics"][0]
    assert of_tenant[:4] == [
        "AWS/SageMaker",
        "Invocations",
        "InferenceComponentName",
        tenant.component_name,
    ]


def test_says_nothing_of_periods_at_synth(stack: cdk.Stack) -> None:
    endpoint = LmiEndpoint(stack, "Chat", model_data=DATA, instance_type="ml.g6.12xlarge")
    dashboard = endpoint.add_dashboard()
    said = [entry.data for entry in dashboard.resource.node.metadata if "warning" in entry.type]
    assert said == []
