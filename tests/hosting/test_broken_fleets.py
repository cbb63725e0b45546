"""A user's mistake about fleets, components and scaling ends in a finding; an unknown value in none."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_cloudwatch as cloudwatch

from lmi_constructs import (
    AdapterData,
    LmiAdapter,
    LmiEndpoint,
    ManagedInstanceScaling,
    Rollout,
    S3Location,
)
from lmi_constructs.hosting import (
    AsyncInference,
    CapacityReservation,
    CoreDump,
    DataCapture,
    Routing,
)
from tests.hosting.fleets import (
    ARCHIVE,
    NIGHTLY,
    STEPS,
    component_on,
    fleet_in,
    refused,
    scaling_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable


WRONG = (None, "x", 5, True, math.nan, ["x"], {"a": 1}, object(), cdk.Duration.seconds(5))
NO_TEXT = tuple(value for value in WRONG if not isinstance(value, str))
NO_COUNT = ("x", 1.5, True, math.nan, math.inf, -math.inf, 10**400, ["x"], object())


@pytest.mark.parametrize(
    ("keyword", "values"),
    [
        ("fleet", WRONG),
        ("component_name", NO_TEXT[1:]),
        ("variant_name", NO_TEXT[1:]),
        ("cache_on_instances", ("x", 5, object())),
        ("adapter_location", WRONG[1:]),
        ("cpu_count", ("x", True, math.nan, math.inf)),
        ("initial_copy_count", (*NO_COUNT, None)),
        ("role", WRONG[1:]),
        ("model_data", WRONG[1:]),
    ],
)
def test_a_component_refuses_values_of_another_kind(
    stack: cdk.Stack, keyword: str, values: tuple[Any, ...]
) -> None:
    fleet = fleet_in(stack)
    for number, value in enumerate((*values, stack)):
        keywords = {"fleet": fleet, keyword: value}
        found = refused(
            lambda number=number, keywords=keywords: component_on(  # type: ignore[misc]
                keywords.pop("fleet"), f"C{number}", scope=stack, **keywords
            )
        )
        assert found == {("LMI010", keyword)}, value


@pytest.mark.parametrize(
    ("keyword", "values"),
    [
        ("role", WRONG[1:]),
        ("encryption_key", WRONG[1:]),
        ("initial_instance_count", (*NO_COUNT, None)),
        ("managed_instance_scaling", WRONG[1:]),
        ("deployment", WRONG[1:]),
        ("enable_ssm_access", ("x", 5)),
    ],
)
def test_a_fleet_refuses_values_of_another_kind(
    stack: cdk.Stack, keyword: str, values: tuple[Any, ...]
) -> None:
    for number, value in enumerate((*values, stack)):
        found = refused(
            lambda number=number, value=value: fleet_in(  # type: ignore[misc]
                stack, f"F{number}", **{keyword: value}
            )
        )
        assert found == {("LMI010", keyword)}, value


@pytest.mark.parametrize(
    ("make", "where"),
    [
        (lambda value: AdapterData.s3_archive(value, "a.tar.gz"), "bucket"),
        (lambda value: AdapterData.s3_archive("tenants", value), "key"),
        (lambda value: AdapterData(value), "archive"),
        (lambda value: S3Location(value, "a/"), "bucket"),
        (lambda value: S3Location("tenants", value), "prefix"),
        (lambda value: Rollout.canary(percent=value, bake_time=cdk.Duration.minutes(1)), "percent"),
        (lambda value: Rollout(kind=value), "kind"),
        (lambda value: ManagedInstanceScaling(value, 2), "min_instance_count"),
        (lambda value: ManagedInstanceScaling(0, value), "max_instance_count"),
        (lambda value: CoreDump(value), "bucket"),
        (lambda value: DataCapture(bucket=value), "bucket"),
        (lambda value: AsyncInference(bucket="answers", output_prefix=value), "output_prefix"),
        (lambda value: CapacityReservation(value), "arn"),
        (lambda value: Routing(value), "strategy"),
    ],
)
def test_values_refuse_fields_of_another_kind(make: Callable[[Any], object], where: str) -> None:
    for value in (None, True, math.nan, ["x"], object()):
        assert refused(lambda value=value: make(value)) == {("LMI010", where)}  # type: ignore[misc]


def test_steps_of_scaling_in_are_not_dropped_in_silence() -> None:
    found = refused(lambda: ManagedInstanceScaling(0, 2, scale_in_maximum_step_size=1))
    assert found == {("LMI079", "scale_in_strategy")}


@pytest.mark.parametrize(
    ("method", "keywords", "rule", "where"),
    [
        ("scale_to_zero", {"id": ""}, "LMI010", "id"),
        ("scale_to_zero", {"target": "5"}, "LMI010", "target"),
        ("scale_to_zero", {"target": math.nan}, "LMI010", "target"),
        ("scale_to_zero", {"wake_up_cooldown": 60}, "LMI010", "wake_up_cooldown"),
        (
            "scale_to_zero",
            {"wake_up_cooldown": cdk.Duration.millis(1500)},
            "LMI010",
            "wake_up_cooldown",
        ),
        ("scale_on_concurrency", {"id": None}, "LMI010", "id"),
        (
            "scale_on_concurrency",
            {"id": "C", "disable_scale_in": "no"},
            "LMI010",
            "disable_scale_in",
        ),
        (
            "scale_on_invocations",
            {"id": "I", "target_invocations_per_minute": "60"},
            "LMI010",
            "target_invocations_per_minute",
        ),
        ("scale_to_track_metric", {"id": "T", "metric": "CPU", "target": 3}, "LMI010", "metric"),
        (
            "scale_on_metric",
            {"id": "S", "metric": None, "scaling_steps": STEPS},
            "LMI010",
            "metric",
        ),
        ("scale_on_metric", {"id": "S", "scaling_steps": "up"}, "LMI010", "scaling_steps"),
        (
            "scale_on_metric",
            {"id": "S", "scaling_steps": [{"change": 1}]},
            "LMI010",
            "scaling_steps",
        ),
        ("scale_on_metric", {"id": "S", "adjustment_type": "x"}, "LMI010", "adjustment_type"),
        ("scale_on_metric", {"id": "S", "evaluation_periods": 0}, "LMI088", "evaluation_periods"),
        (
            "scale_on_metric",
            {"id": "S", "evaluation_periods": True},
            "LMI010",
            "evaluation_periods",
        ),
        ("scale_on_schedule", {"id": "A", "schedule": "cron(0 3 * * ? *)"}, "LMI010", "schedule"),
        ("scale_on_schedule", {"id": "", "schedule": NIGHTLY}, "LMI067", "id"),
        ("scale_on_schedule", {"id": 5, "schedule": NIGHTLY}, "LMI010", "id"),
        (
            "scale_on_schedule",
            {"id": "A", "schedule": NIGHTLY, "time_zone": 9},
            "LMI010",
            "time_zone",
        ),
        (
            "scale_on_schedule",
            {"id": "A", "schedule": NIGHTLY, "min_capacity": "1"},
            "LMI010",
            "min_capacity",
        ),
    ],
)
def test_policies_refuse_what_cannot_be(
    stack: cdk.Stack, method: str, keywords: dict[str, Any], rule: str, where: str
) -> None:
    scaling = scaling_of(stack)
    metric = cloudwatch.Metric(namespace="Own", metric_name="Load")
    defaults: dict[str, Any] = {
        "scale_on_metric": {"metric": metric, "scaling_steps": STEPS},
        "scale_on_schedule": {"max_capacity": 3},
    }.get(method, {})
    call = getattr(scaling, method)
    assert refused(lambda: call(**{**defaults, **keywords})) == {(rule, where)}


def test_a_target_of_any_metric_is_above_zero(stack: cdk.Stack) -> None:
    scaling = scaling_of(stack)
    metric = cloudwatch.Metric(namespace="Own", metric_name="Load")
    found = refused(lambda: scaling.scale_to_track_metric("T", metric=metric, target=0))
    assert found == {("LMI083", "target")}


def test_an_id_is_used_once(stack: cdk.Stack) -> None:
    fleet = fleet_in(stack)
    chat = component_on(fleet)
    scaling = chat.auto_scale_copy_count(min_capacity=0, max_capacity=2)
    scaling.scale_on_schedule("Night", schedule=NIGHTLY, max_capacity=1)
    scaling.scale_on_invocations("WakeUp", target_invocations_per_minute=60)
    chat.add_no_capacity_alarm()
    chat.add_smoke_test()
    fleet.add_alarms()
    fleet.add_dashboard()
    again: tuple[Callable[[], object], ...] = (
        lambda: fleet_in(stack),
        lambda: component_on(fleet),
        lambda: chat.auto_scale_copy_count(max_capacity=2),
        lambda: scaling.scale_on_schedule("Night", schedule=NIGHTLY, max_capacity=1),
        lambda: scaling.scale_on_invocations("WakeUp", target_invocations_per_minute=60),
        lambda: scaling.scale_to_zero(),
        chat.add_no_capacity_alarm,
        chat.add_smoke_test,
        lambda: fleet.add_smoke_test(component=chat),
        fleet.add_alarms,
        fleet.add_dashboard,
    )
    for call in again:
        assert refused(call) == {("LMI067", "id")}


def test_what_stands_nowhere_is_refused(stack: cdk.Stack) -> None:
    assert refused(lambda: fleet_in("stack")) == {("LMI010", "scope")}  # type: ignore[arg-type]
    assert refused(lambda: fleet_in(stack, "")) == {("LMI010", "id")}
    assert refused(lambda: fleet_in(stack, 5)) == {("LMI010", "id")}  # type: ignore[arg-type]


def test_an_adapter_needs_a_base_and_an_archive(stack: cdk.Stack) -> None:
    base = component_on(fleet_in(stack))
    tenant = base.add_adapter("A", ARCHIVE)
    wrong: Any = "base"
    assert refused(lambda: LmiAdapter(stack, "B", base=wrong, data=ARCHIVE)) == {("LMI010", "base")}
    assert refused(lambda: base.add_adapter("C", None)) == {("LMI010", "data")}
    assert refused(lambda: base.add_adapter("D", ARCHIVE, component_name=5)) == {
        ("LMI010", "component_name")
    }
    assert refused(lambda: LmiAdapter(stack, "E", base=tenant, data=ARCHIVE)) == {
        ("LMI059", "base")
    }
    for rank in (0, -1):
        found = refused(lambda rank=rank: AdapterData.s3_archive("tenants", "a.tar.gz", rank=rank))  # type: ignore[misc]
        assert found == {("LMI059", "rank")}


def test_grants_alarms_and_metrics_refuse_what_they_cannot_use(stack: cdk.Stack) -> None:
    fleet = fleet_in(stack)
    chat = component_on(fleet)
    wrong: Any = "arn:aws:iam::111122223333:role/app"
    calls: tuple[tuple[Callable[[], object], tuple[str, str]], ...] = (
        (lambda: chat.grant_invoke(wrong), ("LMI010", "grantee")),
        (lambda: fleet.grant_invoke(wrong), ("LMI010", "grantee")),
        (lambda: fleet.grant_invoke_openai(wrong), ("LMI010", "grantee")),
        (lambda: fleet.metric(5), ("LMI010", "name")),  # type: ignore[arg-type]
        (lambda: chat.metric("NoCapacityInvocationFailures", period=300), ("LMI010", "period")),
        (lambda: chat.add_no_capacity_alarm(topic=object()), ("LMI010", "topic")),
        (
            lambda: chat.add_no_capacity_alarm(evaluation_periods=0),
            ("LMI088", "evaluation_periods"),
        ),
        (
            lambda: chat.add_no_capacity_alarm(period=cdk.Duration.seconds(45)),
            ("LMI088", "period"),
        ),
        (lambda: fleet.metric("Invocations", period=cdk.Duration.days(8)), ("LMI088", "period")),
        (lambda: fleet.add_alarms(paging_topic=stack), ("LMI010", "paging_topic")),  # type: ignore[arg-type]
        (lambda: fleet.roll_back_on("alarms"), ("LMI010", "alarms")),  # type: ignore[arg-type]
        (lambda: fleet.add_smoke_test(component=fleet), ("LMI010", "component")),  # type: ignore[arg-type]
        (lambda: chat.add_smoke_test(adapters="legal"), ("LMI010", "adapters")),
        (lambda: chat.add_smoke_test(skip=None), ("LMI010", "skip")),
        (lambda: chat.add_smoke_test(max_tokens="8"), ("LMI010", "max_tokens")),
        (lambda: chat.add_smoke_test(timeout=60), ("LMI010", "timeout")),
        (
            lambda: LmiEndpoint.from_endpoint_name(stack, "E", "no name"),
            ("LMI065", "endpoint_name"),
        ),
    )
    for number, (call, expected) in enumerate(calls):
        assert refused(call) == {expected}, number
        for leftover in ("SmokeTest", "NoCapacity"):
            chat.node.try_remove_child(leftover)
