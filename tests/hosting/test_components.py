"""Several models on one fleet: what each takes of it, may read, and is refused."""

from __future__ import annotations

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns

from lmi_constructs import (
    LmiContainer,
    LmiEndpoint,
    LmiEndpointConfig,
    LmiError,
    LmiFleet,
    LmiInferenceComponent,
    LmiModel,
    LmiSettings,
    LmiVariant,
    ModelData,
)
from tests.hosting.fleets import COMPONENT, QWEN, component_on, fleet_in, refused


@pytest.fixture
def fleet(stack: cdk.Stack) -> LmiFleet:
    return fleet_in(stack)


def test_a_fleet_has_a_role_and_no_model(fleet: LmiFleet, stack: cdk.Stack, resources: Any) -> None:
    component_on(fleet)
    (config,) = resources(stack, "AWS::SageMaker::EndpointConfig")
    assert config["ExecutionRoleArn"] == stack.resolve(fleet.role.role_arn)
    (variant,) = config["ProductionVariants"]
    assert variant == {
        "VariantName": "AllTraffic",
        "InstanceType": "ml.g6.12xlarge",
        "InitialInstanceCount": 1,
        "InitialVariantWeight": 1,
        "InferenceAmiVersion": "al2023-ami-sagemaker-inference-gpu-4-1",
        "ManagedInstanceScaling": {
            "Status": "ENABLED",
            "MinInstanceCount": 0,
            "MaxInstanceCount": 2,
        },
        "RoutingConfig": {"RoutingStrategy": "LEAST_OUTSTANDING_REQUESTS"},
    }


def test_a_component_takes_accelerators_and_memory_of_an_instance(
    fleet: LmiFleet, stack: cdk.Stack, resources: Any
) -> None:
    chat = component_on(fleet, cpu_count=2, cache_on_instances=True)
    (made,) = resources(stack, COMPONENT)
    assert made == {
        "EndpointName": stack.resolve(fleet.endpoint_name),
        "VariantName": "AllTraffic",
        "InferenceComponentName": chat.component_name,
        "RuntimeConfig": {"CopyCount": 1},
        "Specification": {
            "ModelName": stack.resolve(chat.model.model_name),
            "ComputeResourceRequirements": {
                "NumberOfAcceleratorDevicesRequired": 1,
                "NumberOfCpuCoresRequired": 2,
                "MinMemoryRequiredInMb": 16384,
            },
            "StartupParameters": {
                "ContainerStartupHealthCheckTimeoutInSeconds": 1800,
                "ModelDataDownloadTimeoutInSeconds": 900,
            },
            "DataCacheConfig": {"EnableCaching": True},
        },
    }
    assert not cdk.Token.is_unresolved(chat.component_name)


def test_it_is_planned_on_its_own_accelerators(fleet: LmiFleet) -> None:
    alone = LmiEndpoint(
        cdk.Stack.of(fleet), "Alone", model_data=QWEN, instance_type="ml.g6.12xlarge"
    )
    chat = component_on(fleet)
    assert chat.plan is not None
    assert alone.plan is not None
    assert chat.plan.weights_gib > 3 * alone.plan.weights_gib


def test_what_does_not_fit_on_its_accelerators_is_refused(fleet: LmiFleet) -> None:
    large = ModelData.s3_prefix("my-models", "qwen3-32b/", architecture="Qwen/Qwen3-32B")
    with pytest.raises(LmiError, match="LMI050"):
        component_on(fleet, model_data=large)


def test_two_models_share_an_instance(fleet: LmiFleet, reported: Any, stack: cdk.Stack) -> None:
    component_on(fleet, "Chat")
    component_on(fleet, "Code")
    assert "LMI077" not in {rule for rule, _ in reported(stack)}


def test_more_copies_than_the_fleet_may_hold_are_reported(stack: cdk.Stack, reported: Any) -> None:
    small = LmiFleet(stack, "Fleet", instance_type="ml.g6.12xlarge")
    component_on(small, "Chat", initial_copy_count=3)
    component_on(small, "Code", initial_copy_count=2)
    assert "LMI077" in {rule for rule, _ in reported(stack)}


def test_the_accelerators_must_be_known(fleet: LmiFleet) -> None:
    for id, wrong in (
        ("Unknown", {"settings": LmiSettings(max_model_len=8192)}),
        ("Zero", {"accelerator_count": 0}),
    ):
        found = refused(lambda id=id, wrong=wrong: component_on(fleet, id, **wrong))  # type: ignore[misc]
        assert found == {("LMI046", "accelerator_count")}
    assert component_on(fleet, "Given", settings=None, accelerator_count=2).accelerator_count == 2


@pytest.mark.parametrize(
    ("keywords", "rule"),
    [
        ({"model_data": None, "settings": None}, "LMI068"),
        ({"component_name": "not a name"}, "LMI065"),
        ({"min_memory": 16}, "LMI010"),
        ({"min_memory": None}, "LMI010"),
        ({"initial_copy_count": "1"}, "LMI010"),
        ({"accelerator_count": "1"}, "LMI010"),
        ({"startup_timeout": 1800}, "LMI010"),
        ({"model": "chat"}, "LMI010"),
    ],
)
def test_wrong_keywords_are_refused(fleet: LmiFleet, keywords: dict[str, Any], rule: str) -> None:
    where = "model" if rule == "LMI068" else next(iter(keywords))
    assert refused(lambda: component_on(fleet, **keywords)) == {(rule, where)}


def test_a_model_in_the_environment_of_a_component_is_said_to_be_model_data(
    fleet: LmiFleet,
) -> None:
    with pytest.raises(LmiError) as error:
        component_on(fleet, model_data=None, environment={"HF_MODEL_ID": "Qwen/Qwen3-8B"})
    (finding,) = error.value.findings
    assert 'model_data=ModelData.hub("Qwen/Qwen3-8B")' in finding.fix


def test_a_model_of_ones_own_takes_the_place_of_its_keywords(fleet: LmiFleet) -> None:
    stack = cdk.Stack.of(fleet)
    model = LmiModel(stack, "Own", model_data=QWEN, container=LmiContainer.V27)
    made = LmiInferenceComponent(
        stack,
        "Chat",
        fleet=fleet,
        model=model,
        accelerator_count=1,
        min_memory=cdk.Size.gibibytes(16),
    )
    assert made.model is model
    assert refused(lambda: component_on(fleet, "Both", model=model)) == {("LMI068", "model")}


def test_the_fleet_may_read_what_its_models_read_before_they_come(
    fleet: LmiFleet, stack: cdk.Stack, template: Any
) -> None:
    component_on(fleet)
    made = template(stack)["Resources"]
    ((name, policy),) = (
        (name, item)
        for name, item in made.items()
        if item["Type"] == "AWS::IAM::Policy"
        and item["Properties"]["Roles"] == [stack.resolve(fleet.role.role_name)]
    )
    read = [
        statement["Resource"]
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if statement["Action"] == "s3:GetObject"
    ]
    assert read == ["arn:aws:s3:::my-models/qwen3-8b/*"]
    (one,) = (item for item in made.values() if item["Type"] == COMPONENT)
    assert name in one["DependsOn"]


def test_both_roles_may_write_the_log_and_the_metrics_of_this_component(
    fleet: LmiFleet, stack: cdk.Stack, template: Any
) -> None:
    chat = component_on(fleet, component_name="chat")
    made = template(stack)["Resources"]
    (one,) = (item for item in made.values() if item["Type"] == COMPONENT)
    group = "arn:aws:logs:us-west-2:111122223333:log-group:/aws/sagemaker/InferenceComponents/chat"
    for role in (fleet.role, chat.model.role):
        ((name, policy),) = (
            (name, item)
            for name, item in made.items()
            if item["Type"] == "AWS::IAM::Policy"
            and item["Properties"]["Roles"] == [stack.resolve(role.role_name)]
        )
        statements = policy["Properties"]["PolicyDocument"]["Statement"]
        assert [group, f"{group}:*"] in [statement["Resource"] for statement in statements]
        assert {"StringEquals": {"cloudwatch:namespace": "/aws/sagemaker/InferenceComponents"}} in [
            statement.get("Condition") for statement in statements
        ]
        assert name in one["DependsOn"]


def test_a_grant_reaches_one_component_and_no_other(
    fleet: LmiFleet, stack: cdk.Stack, resources: Any
) -> None:
    chat, user = component_on(fleet), iam.User(stack, "User")
    chat.grant_invoke(user)
    granted = [
        statement
        for policy in resources(stack, "AWS::IAM::Policy")
        if "Users" in policy
        for statement in policy["PolicyDocument"]["Statement"]
    ]
    assert granted == [
        {
            "Effect": "Allow",
            "Action": [
                "sagemaker:InvokeEndpoint",
                "sagemaker:InvokeEndpointWithResponseStream",
            ],
            "Resource": [
                stack.resolve(fleet.endpoint_arn),
                f"arn:aws:sagemaker:us-west-2:111122223333:inference-component/{chat.component_name}",
            ],
        }
    ]


def test_copies_scale_to_zero_in_one_call(
    fleet: LmiFleet, stack: cdk.Stack, resources: Any, reported: Any
) -> None:
    chat = component_on(fleet)
    scaling = chat.auto_scale_copy_count(min_capacity=0, max_capacity=4)
    scaling.scale_to_zero()
    (target,) = resources(stack, "AWS::ApplicationAutoScaling::ScalableTarget")
    assert target["ResourceId"] == f"inference-component/{chat.component_name}"
    policies = resources(stack, "AWS::ApplicationAutoScaling::ScalingPolicy")
    assert {policy["PolicyName"] for policy in policies} == {"ScaleToZero", "WakeUp"}
    assert {rule for rule, _ in reported(stack)}.isdisjoint({"LMI080", "LMI082", "LMI083"})


def test_an_alarm_hears_of_requests_that_go_on_finding_no_copy(
    fleet: LmiFleet, stack: cdk.Stack, resources: Any
) -> None:
    topic = sns.Topic(stack, "Operators")
    chat = component_on(fleet)
    chat.add_no_capacity_alarm(topic=topic)
    (alarm,) = resources(stack, "AWS::CloudWatch::Alarm")
    assert alarm["MetricName"] == "NoCapacityInvocationFailures"
    assert (alarm["Period"], alarm["EvaluationPeriods"]) == (300, 3)
    assert alarm["Dimensions"] == [{"Name": "InferenceComponentName", "Value": chat.component_name}]
    assert alarm["AlarmActions"] == [stack.resolve(topic.topic_arn)]


def test_a_role_looked_up_as_immutable_is_left_alone(stack: cdk.Stack, resources: Any) -> None:
    role = iam.Role.from_role_arn(
        stack, "Role", "arn:aws:iam::111122223333:role/fleet", mutable=False
    )
    fleet = LmiFleet(stack, "Fleet", instance_type="ml.g6.12xlarge", role=role)
    chat = component_on(fleet)
    (policy,) = resources(stack, "AWS::IAM::Policy")
    assert policy["Roles"] == [stack.resolve(chat.model.role.role_name)]
    (config,) = resources(stack, "AWS::SageMaker::EndpointConfig")
    assert config["ExecutionRoleArn"] == "arn:aws:iam::111122223333:role/fleet"


def test_a_fleet_of_a_configuration_of_ones_own_may_read_what_its_models_read(
    stack: cdk.Stack, resources: Any
) -> None:
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    config = LmiEndpointConfig(
        stack,
        "Config",
        variants=[
            LmiVariant(model=None, instance_type="ml.g6.12xlarge", container=LmiContainer.V27)
        ],
        execution_role=role,
    )
    endpoint = LmiEndpoint(stack, "Own", endpoint_config=config)
    component_on(endpoint)
    assert endpoint.role is role
    (policy,) = (
        item
        for item in resources(stack, "AWS::IAM::Policy")
        if item["Roles"] == [stack.resolve(role.role_name)]
    )
    assert "arn:aws:s3:::my-models/qwen3-8b/*" in str(policy)


def test_a_metric_that_components_do_not_publish_is_refused(fleet: LmiFleet) -> None:
    chat = component_on(fleet)
    assert refused(lambda: chat.metric("GpuTemperature")) == {("LMI085", "metric")}
