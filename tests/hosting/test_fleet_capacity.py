"""Copies against the instances that their fleet may have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest

from lmi_constructs import LmiEndpoint, ManagedInstanceScaling
from lmi_constructs.checks import check_template
from tests.hosting.fleets import component_on, fleet_in, refused

if TYPE_CHECKING:
    from collections.abc import Callable

GIBIBYTES = cdk.Size.gibibytes
TOKEN: Any = cdk.Token.as_number({"Fn::ImportValue": "Most"})


@pytest.fixture
def said(template: Callable[[cdk.Stack], dict[str, Any]]) -> Callable[[cdk.Stack], list[str]]:
    """What is said of the capacity of fleets in a stack."""

    def messages(stack: cdk.Stack) -> list[str]:
        found = check_template(template(stack), region="us-west-2")
        return [one.message for one in found if one.rule in ("LMI077", "LMI083")]

    return messages


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        (
            {"initial_copy_count": 9},
            "all copies ask for 9 accelerators, at most 2 instances have 8",
        ),
        (
            {"initial_copy_count": 4, "min_memory": GIBIBYTES(100)},
            "all copies ask for 409600 MB, at most 2 instances have 393216",
        ),
        (
            {"initial_copy_count": 3, "cpu_count": 40},
            "all copies ask for 120 vCPUs, at most 2 instances have 96",
        ),
    ],
)
def test_warns_of_copies_that_are_never_placed(
    stack: cdk.Stack, said: Any, keywords: dict[str, Any], message: str
) -> None:
    component_on(fleet_in(stack), **keywords)
    assert said(stack) == [message]


@pytest.mark.parametrize(
    "keywords",
    [
        {"initial_copy_count": 8},
        {"initial_copy_count": 3, "min_memory": GIBIBYTES(100)},
        {"initial_copy_count": TOKEN},
        {"accelerator_count": TOKEN, "initial_copy_count": 9},
    ],
)
def test_says_nothing_of_copies_that_fit_or_may_fit(
    stack: cdk.Stack, said: Any, keywords: dict[str, Any]
) -> None:
    component_on(fleet_in(stack), **keywords)
    assert said(stack) == []


@pytest.mark.parametrize(
    ("keywords", "most", "fitting"),
    [({}, 9, 8), ({"min_memory": GIBIBYTES(100)}, 3, 2), ({"accelerator_count": 3}, 3, 2)],
)
def test_warns_of_copies_that_scaling_could_never_place(
    stack: cdk.Stack, said: Any, keywords: dict[str, Any], most: int, fitting: int
) -> None:
    chat = component_on(fleet_in(stack), **keywords)
    chat.auto_scale_copy_count(max_capacity=most).scale_on_concurrency("Concurrency")
    assert said(stack) == [f"MaxCapacity is {most}, the fleet holds {fitting} copies at most"]


@pytest.mark.parametrize("most", [8, TOKEN], ids=["eight", "token"])
def test_says_nothing_of_scaling_that_has_room(stack: cdk.Stack, said: Any, most: int) -> None:
    chat = component_on(fleet_in(stack))
    chat.auto_scale_copy_count(max_capacity=most).scale_on_concurrency("Concurrency")
    assert said(stack) == []


@pytest.mark.parametrize(
    "managed", [None, ManagedInstanceScaling(0, TOKEN)], ids=["scaled by policy", "token"]
)
def test_a_fleet_that_grows_has_the_room_it_grows_to(
    stack: cdk.Stack, said: Any, managed: ManagedInstanceScaling | None
) -> None:
    fleet = fleet_in(stack, managed_instance_scaling=managed)
    if managed is None:
        scaling = fleet.auto_scale_instance_count(max_capacity=3)
        scaling.scale_on_concurrency("Concurrency", target=8)
    component_on(fleet, initial_copy_count=12)
    assert said(stack) == []


def test_a_copy_without_accelerators_is_said_once(stack: cdk.Stack) -> None:
    fleet = fleet_in(stack)
    assert refused(lambda: component_on(fleet, accelerator_count=0)) == {
        ("LMI046", "accelerator_count")
    }


def test_the_variant_of_an_imported_fleet_has_a_name(stack: cdk.Stack) -> None:
    fleet = LmiEndpoint.from_endpoint_name(stack, "Fleet", "prod")
    assert refused(
        lambda: component_on(fleet, scope=stack, accelerator_count=1, variant_name="V_1")
    ) == {("LMI065", "variant_name")}
