"""Fleets of which something is not known at synth, or stands elsewhere, and tests of their components."""

from __future__ import annotations

import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_applicationautoscaling as autoscaling
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam

from lmi_constructs import (
    AdapterData,
    LmiAdapter,
    LmiEndpoint,
    LmiError,
    ManagedInstanceScaling,
    Rollout,
    S3Location,
)
from lmi_constructs.hosting import LmiSmokeTest
from tests.hosting.fleets import (
    ARCHIVE,
    COMPONENT,
    NIGHTLY,
    QWEN,
    STEPS,
    component_on,
    fleet_in,
    refused,
    scaling_of,
)


def test_takes_what_is_known_at_deploy_time_only(stack: cdk.Stack, resources: Any) -> None:
    number: Any = cdk.CfnParameter(stack, "Number", type="Number").value_as_number
    text = cdk.CfnParameter(stack, "Text").value_as_string
    seconds = cdk.Duration.seconds(number)
    fleet = fleet_in(
        stack,
        instance_type=text,
        initial_instance_count=number,
        managed_instance_scaling=ManagedInstanceScaling(number, number),
        deployment=Rollout.canary(
            percent=number, bake_time=seconds, termination_wait=seconds, maximum_time=seconds
        ),
    )
    chat = component_on(
        fleet,
        min_memory=cdk.Size.mebibytes(number),
        max_memory=cdk.Size.mebibytes(number),
        accelerator_count=number,
        cpu_count=number,
        initial_copy_count=number,
        component_name=text,
        startup_timeout=seconds,
        adapter_location=S3Location(text, text),
    )
    scaling = chat.auto_scale_copy_count(min_capacity=number, max_capacity=number)
    scaling.scale_to_zero(target=number, scale_in_cooldown=seconds, wake_up_cooldown=seconds)
    scaling.scale_on_metric(
        "Rush",
        metric=fleet.metric_concurrent_requests(),
        scaling_steps=[
            autoscaling.ScalingInterval(upper=number, change=number),
            autoscaling.ScalingInterval(lower=number, change=number),
        ],
        evaluation_periods=number,
    )
    scaling.scale_on_schedule("Night", schedule=NIGHTLY, min_capacity=number, time_zone=text)
    chat.add_adapter("A", AdapterData.s3_archive(text, text, rank=number))
    chat.add_smoke_test(max_tokens=number, timeout=seconds)
    unknown = {"Ref": "Number"}
    (endpoint,) = resources(stack, "AWS::SageMaker::Endpoint")
    policy = endpoint["DeploymentConfig"]["BlueGreenUpdatePolicy"]
    assert policy["TrafficRoutingConfiguration"]["WaitIntervalInSeconds"] == unknown
    assert policy["TerminationWaitInSeconds"] == unknown
    assert policy["MaximumExecutionTimeoutInSeconds"] == unknown
    base = next(item for item in resources(stack, COMPONENT) if "RuntimeConfig" in item)
    assert base["RuntimeConfig"] == {"CopyCount": unknown}
    needs = base["Specification"]["ComputeResourceRequirements"]
    assert needs == dict.fromkeys(needs, unknown)
    assert len(needs) == 4
    (target,) = resources(stack, "AWS::ApplicationAutoScaling::ScalableTarget")
    assert target["MinCapacity"] == target["MaxCapacity"] == unknown
    (action,) = target["ScheduledActions"]
    assert action["ScalableTargetAction"] == {"MinCapacity": unknown}
    # A start-up time-out that is not known is the pause after adding, as it would be if it were.
    made = resources(stack, "AWS::ApplicationAutoScaling::ScalingPolicy")
    (tracking,) = (
        item["TargetTrackingScalingPolicyConfiguration"]
        for item in made
        if item["PolicyType"] == "TargetTrackingScaling"
    )
    assert tracking["ScaleOutCooldown"] == unknown
    (wake_up,) = (item for item in made if item["PolicyName"] == "WakeUp")
    assert wake_up["StepScalingPolicyConfiguration"]["Cooldown"] == unknown


def test_a_token_that_cannot_be_converted_says_in_which_unit_to_give_it(stack: cdk.Stack) -> None:
    number = cdk.CfnParameter(stack, "Number", type="Number").value_as_number
    fleet = fleet_in(stack)
    with pytest.raises(LmiError, match=r"cdk\.Size\.mebibytes") as error:
        component_on(fleet, min_memory=cdk.Size.gibibytes(number))
    assert {finding.rule for finding in error.value.findings} == {"LMI010"}
    rollout = Rollout.blue_green(bake_time=cdk.Duration.minutes(number))
    with pytest.raises(LmiError, match=r"cdk\.Duration\.seconds"):
        fleet_in(stack, "Second", deployment=rollout)


def test_a_component_and_its_fleet_are_in_one_region_and_account() -> None:
    app = cdk.App()
    one, other, anywhere = (
        cdk.Stack(app, name, env=cdk.Environment(account="111122223333", region=region))
        for name, region in (("A", "us-west-2"), ("B", "eu-west-1"), ("C", None))
    )
    fleet = fleet_in(one)
    found = refused(lambda: component_on(fleet, scope=other))
    assert found == {("LMI069", "fleet")}
    base = component_on(fleet)
    assert refused(lambda: LmiAdapter(other, "T", base=base, data=ARCHIVE)) == {("LMI069", "fleet")}
    assert LmiAdapter(anywhere, "T", base=base, data=ARCHIVE).base is base


def test_fleet_component_and_tenant_may_stand_in_three_stacks(reported: Any) -> None:
    app = cdk.App()
    where = cdk.Environment(account="111122223333", region="us-west-2")
    first, second, third = (cdk.Stack(app, name, env=where) for name in "ABC")
    chat = component_on(fleet_in(first), scope=second)
    tenant = LmiAdapter(third, "Tenant", base=chat, data=ARCHIVE)
    tenant.grant_invoke(iam.User(third, "User"))
    tenant.add_smoke_test()
    assert not reported(first)
    assert second in third.dependencies
    assert first in second.dependencies


def test_a_fleet_whose_alarms_take_it_back_may_see_them(stack: cdk.Stack, reported: Any) -> None:
    fleet = fleet_in(stack, deployment=Rollout.blue_green(bake_time=cdk.Duration.minutes(5)))
    component_on(fleet)
    fleet.roll_back_on(fleet.add_alarms())
    assert "LMI097" not in {rule for rule, _ in reported(stack)}


def test_an_expression_over_metrics_scales_by_steps(stack: cdk.Stack, resources: Any) -> None:
    scaling = scaling_of(stack)
    scaling.scale_to_zero()
    load = cloudwatch.Metric(namespace="Own", metric_name="Load")
    twice = cloudwatch.MathExpression(expression="load * 2", using_metrics={"load": load})
    scaling.scale_on_metric("Rush", metric=twice, scaling_steps=STEPS)
    expressions = json.dumps(resources(stack, "AWS::CloudWatch::Alarm"))
    assert expressions.count('"load * 2"') == 2


def test_a_component_is_tested_inside_the_deployment(stack: cdk.Stack, template: Any) -> None:
    fleet = fleet_in(stack)
    chat = component_on(fleet, component_name="chat")
    tenant = chat.add_adapter("A", ARCHIVE, component_name="tenant-a")
    fleet.add_smoke_test(component=chat)
    tenant.add_smoke_test()
    made = template(stack)["Resources"]
    tests = {
        item["Properties"]["InferenceComponentName"]: item
        for item in made.values()
        if item["Type"] == "Custom::LmiSmokeTest"
    }
    assert tests["chat"]["Properties"]["Served"] == stack.resolve(chat.model.model_name)
    assert tests["tenant-a"]["Properties"]["Served"] == "s3://tenants/a.tar.gz"
    assert stack.get_logical_id(chat.resource) in tests["chat"]["DependsOn"]
    assert stack.get_logical_id(tenant.resource) in tests["tenant-a"]["DependsOn"]
    (statements,) = (
        item["Properties"]["PolicyDocument"]["Statement"]
        for name, item in made.items()
        if item["Type"] == "AWS::IAM::Policy" and name.startswith("ChatSmokeTestRole")
    )
    (called,) = (item for item in statements if "sagemaker:InvokeEndpoint" in item["Action"])
    assert "sagemaker:DescribeInferenceComponent" in called["Action"]
    assert called["Resource"] == [
        stack.resolve(fleet.endpoint_arn),
        "arn:aws:sagemaker:us-west-2:111122223333:inference-component/chat",
    ]


def test_a_smoke_test_asks_what_can_answer(stack: cdk.Stack) -> None:
    fleet = fleet_in(stack)
    chat = component_on(fleet)
    assert refused(fleet.add_smoke_test) == {("LMI012", "component")}
    own = LmiEndpoint(stack, "Own", model_data=QWEN, instance_type="ml.g6.12xlarge")
    assert refused(lambda: own.add_smoke_test(component=chat)) == {("LMI012", "component")}
    assert refused(
        lambda: LmiSmokeTest(
            stack, "Both", endpoint=fleet, component=chat, inference_component_name="chat"
        )
    ) == {("LMI012", "component")}
    too_long = cdk.Duration.minutes(16)
    chat.node.try_remove_child("SmokeTest")
    assert refused(lambda: chat.add_smoke_test(timeout=too_long)) == {("LMI012", "timeout")}
