"""Pauses between additions against the time that the model is known to take."""

from __future__ import annotations

from typing import Any

from lmi_constructs.checks.examples import Example
from lmi_constructs.checks.rules.loading_times import ScaledBeforeLoaded
from tests.checks.support import findings

FAILING = ScaledBeforeLoaded.failing
PAUSE = "Policy/Properties/TargetTrackingScalingPolicyConfiguration/ScaleOutCooldown"


def found(change: dict[str, Any], config: Any = FAILING.model_config) -> list[Any]:
    example = Example({**FAILING.change, **change}, base="scaled", model_config=config)
    return [one for one in findings(example) if one.rule == "LMI100"]


def test_names_the_pause_and_what_was_measured() -> None:
    (finding,) = found({})
    assert (finding.severity, finding.resource) == ("warning", "Policy")
    assert "ScaleOutCooldown is 60, but weights of this size took 3 min to" in finding.message


def test_finds_the_end_of_the_shortest_measured_time() -> None:
    """378 GiB at the fastest rates published: 59 s to the instance, and 66 s to the GPUs."""
    assert found({PAUSE: 123})
    assert not found({PAUSE: 126})


def test_says_nothing_of_a_model_that_is_not_known() -> None:
    assert not found({}, None)


def test_says_nothing_of_a_pause_that_is_not_known() -> None:
    assert not found({PAUSE: {"Ref": "Given"}})


def test_says_nothing_of_another_variant() -> None:
    resource_id = {"Fn::Sub": "endpoint/${Endpoint.EndpointName}/variant/Other"}
    assert not found({"Target/Properties/ResourceId": resource_id})
