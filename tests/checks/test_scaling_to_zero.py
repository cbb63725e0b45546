"""Copies that go to zero: what it takes to wake them, and what is paid meanwhile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lmi_constructs.checks import check_template
from lmi_constructs.checks.examples import Example, changed
from tests.checks.support import findings

FROM_ZERO = json.loads((Path(__file__).parent / "good" / "components_from_zero.json").read_text())
SCALING = "Config/Properties/ProductionVariants/0/ManagedInstanceScaling"


def said(change: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [
        (finding.rule, finding.severity, finding.message)
        for finding in check_template(changed(FROM_ZERO, change), region="us-east-1")
    ]


def test_says_nothing_of_the_whole_recipe() -> None:
    assert said({}) == []


def test_warns_of_copies_that_nothing_here_wakes() -> None:
    """An alarm of another stack may wake them."""
    found = said({"Alarm/Properties/MetricName": "Invocations"})
    message = (
        "MinCapacity is 0, and nothing in these templates watches NoCapacityInvocationFailures"
    )
    assert ("LMI083", "warning", message) in found


def nights(*minima: int) -> dict[str, Any]:
    actions = [
        {"ScheduledActionName": f"at {number}", "ScalableTargetAction": {"MinCapacity": least}}
        for number, least in enumerate(minima)
    ]
    return {
        "Alarm/Properties/MetricName": "Invocations",
        "Target/Properties/MinCapacity": 1,
        "Target/Properties/ScheduledActions": actions,
    }


def test_warns_of_a_schedule_that_takes_the_last_copy() -> None:
    message = (
        "a scheduled action sets MinCapacity 0, and nothing in these templates watches"
        " NoCapacityInvocationFailures"
    )
    assert ("LMI083", "warning", message) in said(nights(0))


def test_a_schedule_that_brings_copies_back_wakes_them() -> None:
    assert said(nights(0, 2)) == []


def test_warns_of_instances_that_stay_while_copies_go() -> None:
    assert ("LMI083", "warning", "copies go to zero, but 1 instance stays") in said(
        {f"{SCALING}/MinInstanceCount": 1}
    )


def test_warns_of_a_fleet_that_nobody_makes_smaller() -> None:
    message = "copies go to zero, but nothing in these templates takes the instances away"
    assert ("LMI083", "warning", message) in said({f"{SCALING}/Status": "DISABLED"})


def test_says_nothing_of_instances_where_a_copy_stays() -> None:
    change = {f"{SCALING}/MinInstanceCount": 1, "Target/Properties/MinCapacity": 1}
    assert said(change) == []


@pytest.mark.parametrize("metric", ["GPUUtilization", "GPUMemoryUtilization"])
def test_warns_of_a_step_policy_that_an_alarm_on_gpus_triggers(metric: str) -> None:
    alarm: dict[str, Any] = {
        "Type": "AWS::CloudWatch::Alarm",
        "Properties": {
            "Namespace": "/aws/sagemaker/Endpoints",
            "MetricName": metric,
            "Dimensions": [{"Name": "EndpointName", "Value": "llama"}],
            "AlarmActions": [{"Ref": "Policy"}],
        },
    }
    found = findings(Example({"Busy": alarm}, base="scaled"))
    assert [item.resource for item in found if item.rule == "LMI084"] == ["Busy"]
    alarm["Properties"]["AlarmActions"] = ["arn:aws:sns:us-east-1:123456789012:pager"]
    found = findings(Example({"Busy": alarm}, base="scaled"))
    assert "LMI084" not in {item.rule for item in found}
