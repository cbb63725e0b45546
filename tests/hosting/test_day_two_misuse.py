"""What would fail after the first deployment is said when it is written."""

from __future__ import annotations

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_applicationautoscaling as autoscaling
from aws_cdk import aws_cloudwatch as cloudwatch

from lmi_constructs import (
    AsyncInference,
    DataCapture,
    EndpointMetrics,
    LmiEndpoint,
    LmiEndpointConfig,
    LmiError,
    LmiModel,
    LmiSettings,
    LmiVariant,
    ModelData,
    Rollout,
)
from tests.hosting.fleets import ARCHIVE, component_on, fleet_in

DATA = ModelData.s3_prefix("my-models", "m/")
MORNING = autoscaling.Schedule.cron(hour="7", minute="0")
ROLLING = Rollout.rolling(percent=50, bake_time=cdk.Duration.minutes(5))


def endpoint_in(stack: cdk.Stack, **keywords: Any) -> LmiEndpoint:
    return LmiEndpoint(
        stack,
        "Chat",
        model_data=DATA,
        instance_type="ml.g6.12xlarge",
        settings=LmiSettings(max_rolling_batch_size=64),
        **keywords,
    )


@pytest.fixture
def scaling(stack: cdk.Stack) -> Any:
    return endpoint_in(stack).auto_scale_instance_count(max_capacity=2)


def rule_of(error: pytest.ExceptionInfo[LmiError]) -> str:
    (finding,) = error.value.findings
    return finding.rule


def test_an_id_that_is_a_token_is_refused_where_it_is_written(stack: cdk.Stack) -> None:
    token = cdk.Token.as_string({"Ref": "Tenant"})
    base = component_on(fleet_in(stack))
    with pytest.raises(LmiError, match="id is not known at synth") as error:
        base.add_adapter(token, ARCHIVE)
    assert rule_of(error) == "LMI010"


@pytest.mark.parametrize("name", ["x" * 257, "\u00fc"])
def test_the_name_of_a_policy_is_one_that_is_taken(scaling: Any, name: str) -> None:
    with pytest.raises(LmiError) as error:
        scaling.scale_on_concurrency(name)
    assert rule_of(error) == "LMI065"


@pytest.mark.parametrize("name", ["x" * 257, "a/b", "a:b", "a|b", " a", "a "])
def test_the_name_of_a_scheduled_action_is_one_that_is_taken(scaling: Any, name: str) -> None:
    with pytest.raises(LmiError) as error:
        scaling.scale_on_schedule(name, schedule=MORNING, min_capacity=1)
    assert rule_of(error) == "LMI065"


@pytest.mark.parametrize("name", ["Open the office", "x" * 256, "a_b-c.d"])
def test_other_names_of_scheduled_actions_are_kept(
    scaling: Any, stack: cdk.Stack, resources: Any, name: str
) -> None:
    scaling.scale_on_schedule(name, schedule=MORNING, min_capacity=1, time_zone="Asia/Seoul")
    (target,) = resources(stack, "AWS::ApplicationAutoScaling::ScalableTarget")
    assert target["ScheduledActions"][0]["ScheduledActionName"] == name


def test_a_schedule_is_of_a_kind_that_there_is(scaling: Any) -> None:
    schedule = autoscaling.Schedule.expression("every morning")
    with pytest.raises(LmiError, match="the schedule is 'every morning'") as error:
        scaling.scale_on_schedule("Morning", schedule=schedule, min_capacity=1)
    assert rule_of(error) == "LMI083"


def test_a_metric_is_tracked_once(scaling: Any, stack: cdk.Stack) -> None:
    scaling.scale_on_concurrency("First")
    scaling.scale_on_invocations("Invocations", target_invocations_per_minute=60)
    with pytest.raises(LmiError, match="track the same metric") as error:
        scaling.scale_on_concurrency("Second", target=8)
    assert rule_of(error) == "LMI083"


def test_a_metric_of_ones_own_is_tracked_once(scaling: Any) -> None:
    def metric(name: str) -> cloudwatch.Metric:
        return cloudwatch.Metric(namespace="Mine", metric_name=name, dimensions_map={"A": "b"})

    scaling.scale_to_track_metric("First", metric=metric("Waiting"), target=2)
    scaling.scale_to_track_metric("Other", metric=metric("Running"), target=2)
    with pytest.raises(LmiError, match="track the same metric"):
        scaling.scale_to_track_metric("Again", metric=metric("Waiting"), target=3)


def test_a_second_call_of_roll_back_on_does_not_lose_the_first_alarms(stack: cdk.Stack) -> None:
    guarded = endpoint_in(stack, deployment=Rollout.blue_green())
    guarded.roll_back_on(guarded.add_alarms())
    mine = guarded.metric("Invocations").create_alarm(
        stack, "Mine", threshold=1, evaluation_periods=1
    )
    with pytest.raises(LmiError, match="called twice") as error:
        guarded.roll_back_on([mine])
    assert rule_of(error) == "LMI073"


def test_a_component_too_names_its_alarms_once(stack: cdk.Stack) -> None:
    chat = component_on(fleet_in(stack))
    chat.roll_back_on(chat.add_alarms(), rollout=ROLLING)
    with pytest.raises(LmiError, match="called twice"):
        chat.roll_back_on([chat.add_no_capacity_alarm()], rollout=ROLLING)


def test_alarms_of_a_component_are_alarms(stack: cdk.Stack) -> None:
    with pytest.raises(LmiError, match="alarms is None") as error:
        component_on(fleet_in(stack)).roll_back_on(None, rollout=ROLLING)
    assert rule_of(error) == "LMI010"


def test_an_alarm_of_another_region_takes_nothing_back() -> None:
    app = cdk.App()
    account = "123456789012"
    here = cdk.Stack(app, "Here", env=cdk.Environment(account=account, region="us-east-1"))
    there = cdk.Stack(app, "There", env=cdk.Environment(account=account, region="eu-west-1"))
    guarded = endpoint_in(here, deployment=Rollout.blue_green())
    alarm = guarded.metric("Invocations").create_alarm(
        there, "Mine", threshold=1, evaluation_periods=1
    )
    with pytest.raises(LmiError, match="region eu-west-1") as error:
        guarded.roll_back_on([alarm])
    assert rule_of(error) == "LMI073"


@pytest.mark.parametrize("share", [-1, 101])
def test_captures_a_share_of_the_requests(share: int) -> None:
    with pytest.raises(LmiError, match=f"sampling_percentage is {share}"):
        DataCapture(bucket="captured", sampling_percentage=share)


@pytest.mark.parametrize("share", [0, 100])
def test_captures_none_or_all(share: int) -> None:
    assert DataCapture(bucket="captured", sampling_percentage=share).sampling_percentage == share


@pytest.mark.parametrize("most", [0, 1001])
def test_hands_an_instance_a_number_of_requests_that_sagemaker_takes(most: int) -> None:
    with pytest.raises(LmiError, match=f"per_instance is {most}"):
        AsyncInference(
            bucket="answers", output_prefix="a/", max_concurrent_invocations_per_instance=most
        )


def test_records_one_mode_or_more() -> None:
    with pytest.raises(LmiError, match="modes is empty"):
        DataCapture(bucket="captured", modes=[])


def test_publishes_metrics_as_often_as_sagemaker_can() -> None:
    with pytest.raises(LmiError, match="publish_frequency is 15 seconds"):
        EndpointMetrics(publish_frequency=cdk.Duration.seconds(15))
    assert EndpointMetrics(publish_frequency=cdk.Duration.minutes(5)).publish_frequency is not None


def variant(stack: cdk.Stack, name: str, weight: float = 1) -> LmiVariant:
    model = LmiModel(stack, f"Model{name}", model_data=DATA)
    return LmiVariant(model=model, instance_type="ml.g6.12xlarge", variant_name=name, weight=weight)


@pytest.mark.parametrize(("production", "shadows"), [(0, 0), (2, 1), (1, 2), (11, 0)])
def test_numbers_of_variants_that_are_refused(
    stack: cdk.Stack, production: int, shadows: int
) -> None:
    variants = [variant(stack, f"v{number}") for number in range(production)]
    behind = [variant(stack, f"s{number}") for number in range(shadows)]
    with pytest.raises(LmiError, match=f"{production} variants and {shadows} shadow") as error:
        LmiEndpointConfig(stack, "Config", variants=variants, shadow_variants=behind)
    assert rule_of(error) == "LMI069"


def test_no_weight_is_below_zero(stack: cdk.Stack, resources: Any) -> None:
    wrong = [variant(stack, "a"), variant(stack, "b", weight=-1)]
    with pytest.raises(LmiError, match="weight is -1") as error:
        LmiEndpointConfig(stack, "Wrong", variants=wrong)
    assert rule_of(error) == "LMI010"


def test_words_of_capture_and_notification_are_those_that_there_are() -> None:
    with pytest.raises(LmiError, match="modes"):
        DataCapture(bucket="captured", modes=["Everything"])  # type: ignore[list-item]
    with pytest.raises(LmiError, match="include_response_in"):
        AsyncInference(bucket="answers", output_prefix="a/", include_response_in=["all"])  # type: ignore[list-item]
