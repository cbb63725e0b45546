"""Faults found in neighboring libraries, and that this one does not have them."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import pytest
from aws_cdk import aws_iam as iam

from lmi_constructs import LmiEndpoint, LmiEndpointConfig, LmiError, LmiModel, ModelData

if TYPE_CHECKING:
    from collections.abc import Callable

    import aws_cdk as cdk

    from lmi_constructs.hosting import EndpointBase

DATA = ModelData.s3_prefix("my-models", "some_model.v1/")


@pytest.fixture
def endpoint(stack: cdk.Stack) -> LmiEndpoint:
    return LmiEndpoint(stack, "Chat", model_data=DATA, instance_type="ml.g6.12xlarge")


def test_never_renders_a_prefix_as_a_model_data_url(
    endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any
) -> None:
    """A prefix as ModelDataUrl is a valid template that fails at deploy time."""
    (model,) = resources(stack, "AWS::SageMaker::Model")
    assert "ModelDataUrl" not in str(model)


def test_makes_no_alarm_on_a_backlog_that_a_real_time_endpoint_never_has(
    endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any
) -> None:
    endpoint.auto_scale_instance_count(max_capacity=2).scale_on_concurrency("Concurrency")
    endpoint.add_alarms()
    alarms = resources(stack, "AWS::CloudWatch::Alarm")
    assert alarms
    for alarm in alarms:
        assert "Backlog" not in alarm["MetricName"]
        names = [dimension["Name"] for dimension in alarm["Dimensions"]]
        assert names == ["EndpointName", "VariantName"]


def test_gives_the_backlog_its_single_dimension(endpoint: LmiEndpoint) -> None:
    backlog = endpoint.metric("ApproximateBacklogSizePerInstance")
    assert list(backlog.dimensions or {}) == ["EndpointName"]


def test_lets_two_endpoints_live_in_one_region(stack: cdk.Stack, resources: Any) -> None:
    """A required or fixed endpoint name makes the second stack fail."""
    for id in ("One", "Two"):
        LmiEndpoint(stack, id, model_data=DATA, instance_type="ml.g6.12xlarge")
    assert all("EndpointName" not in item for item in resources(stack, "AWS::SageMaker::Endpoint"))


@pytest.mark.parametrize("construct", [LmiModel, LmiEndpointConfig])
def test_offers_no_keyword_for_a_name_that_would_collide(construct: type) -> None:
    """Models and configurations are replaced on change, the new one before the old one goes."""
    parameters = inspect.signature(construct).parameters
    assert not {"model_name", "endpoint_config_name", "name"} & set(parameters)


def test_keeps_the_endpoint_when_the_model_changes(
    template: Callable[[cdk.Stack], dict[str, Any]],
) -> None:
    """Ids made of the model's name would replace the endpoint."""
    import aws_cdk as cdk

    def logical_ids(model_id: str) -> list[str]:
        stack = cdk.Stack(cdk.App(), "S", env=cdk.Environment(region="us-west-2"))
        data = ModelData.hub(model_id)
        LmiEndpoint(stack, "Chat", model_data=data, instance_type="ml.g6.12xlarge")
        return sorted(template(stack)["Resources"])

    assert logical_ids("Qwen/Qwen3-8B") == logical_ids("some_org/Other_Model-1.5")


def test_makes_all_children_under_itself(endpoint: LmiEndpoint, stack: cdk.Stack) -> None:
    assert [child.node.id for child in stack.node.children] == ["Chat"]


def test_attaches_no_managed_policy(
    endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any
) -> None:
    """AmazonSageMakerFullAccess reads only buckets with sagemaker in their name, and much else."""
    (role,) = resources(stack, "AWS::IAM::Role")
    assert "ManagedPolicyArns" not in role
    assert "FullAccess" not in str(role)


def test_lets_the_role_neither_write_models_nor_pass_itself(
    endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any
) -> None:
    (role,) = resources(stack, "AWS::IAM::Role")
    assert not any(
        action in str(role)
        for action in ("s3:Put", "s3:Delete", "iam:PassRole", "sagemaker:Create", "kms:Decrypt")
    )


def test_pulls_an_image_of_another_account(
    endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any
) -> None:
    """A pull permission for the own account's repositories cannot pull AWS's images."""
    (role,) = resources(stack, "AWS::IAM::Role")
    assert "arn:aws:ecr:us-west-2:763104351884:repository/djl-inference" in str(role)


def test_makes_no_scaling_role(endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any) -> None:
    endpoint.auto_scale_instance_count(max_capacity=2).scale_on_concurrency("Concurrency")
    principals = str(
        [role["AssumeRolePolicyDocument"] for role in resources(stack, "AWS::IAM::Role")]
    )
    assert "application-autoscaling" not in principals


def test_asks_for_the_instance_type_instead_of_guessing_a_cpu(stack: cdk.Stack) -> None:
    with pytest.raises(LmiError, match="LMI048"):
        LmiEndpoint(stack, "Chat", model_data=DATA)


@pytest.mark.parametrize("made", ["here", "elsewhere"])
def test_grants_streaming_too(
    endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any, made: str
) -> None:
    caller = iam.Role(stack, "Caller", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
    other: EndpointBase = LmiEndpoint.from_endpoint_name(stack, "Other", "other")
    (endpoint if made == "here" else other).grant_invoke(caller)
    (policy,) = resources(stack, "AWS::IAM::Policy")
    assert "sagemaker:InvokeEndpointWithResponseStream" in str(policy)


def test_keeps_the_volume_size_or_refuses_it(stack: cdk.Stack) -> None:
    """A volume size that is dropped without a word leaves the user with a full disk."""
    import aws_cdk as cdk

    with pytest.raises(LmiError, match="LMI042"):
        LmiEndpoint(
            stack,
            "Chat",
            model_data=DATA,
            instance_type="ml.g5.12xlarge",
            volume_size=cdk.Size.gibibytes(300),
        )


def test_never_names_the_model_twice(
    endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any
) -> None:
    """HF_MODEL_ID beside mounted files makes the container load two models."""
    (model,) = resources(stack, "AWS::SageMaker::Model")
    environment = model["PrimaryContainer"].get("Environment", {})
    assert not {"HF_MODEL_ID", "OPTION_MODEL_ID"} & set(environment)


def test_sets_the_host_image_and_both_time_outs(
    endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any
) -> None:
    """Without them the default host and five minutes decide, and large models never start."""
    (config,) = resources(stack, "AWS::SageMaker::EndpointConfig")
    (variant,) = config["ProductionVariants"]
    assert {
        "InferenceAmiVersion",
        "ContainerStartupHealthCheckTimeoutInSeconds",
        "ModelDataDownloadTimeoutInSeconds",
    } <= set(variant)


def test_writes_nothing_into_the_description_of_the_stack(
    endpoint: LmiEndpoint, stack: cdk.Stack, template: Callable[[cdk.Stack], dict[str, Any]]
) -> None:
    assert "Description" not in template(stack)
