"""The model: role, isolation, environment, network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam

from lmi_constructs import ContainerImage, LmiError, LmiModel, LmiSettings, ModelData

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = ModelData.s3_prefix("my-models", "m/")


def test_isolates_a_model_that_sagemaker_mounts(stack: cdk.Stack, resources: Any) -> None:
    LmiModel(stack, "Model", model_data=DATA)
    (model,) = resources(stack, "AWS::SageMaker::Model")
    assert model["EnableNetworkIsolation"] is True


def test_refuses_isolation_of_a_model_that_must_be_downloaded(stack: cdk.Stack) -> None:
    with pytest.raises(LmiError) as raised:
        LmiModel(stack, "Model", model_data=ModelData.hub("Qwen/Qwen3-8B"), network_isolation=True)
    (finding,) = raised.value.findings
    assert (finding.rule, finding.where) == ("LMI090", "network_isolation")
    assert finding.resource == "Stack/Model"
    assert "s3_prefix" in finding.fix


def test_says_that_a_hub_model_is_not_isolated(stack: cdk.Stack) -> None:
    LmiModel(stack, "Model", model_data=ModelData.hub("Qwen/Qwen3-8B"))
    pattern = assertions.Match.string_like_regexp("isolation is off")
    assert assertions.Annotations.from_stack(stack).find_info("/Stack/Model", pattern)


def test_gives_a_model_no_name_of_its_own(stack: cdk.Stack, resources: Any) -> None:
    LmiModel(stack, "Model", model_data=DATA)
    (model,) = resources(stack, "AWS::SageMaker::Model")
    assert "ModelName" not in model


def test_gives_its_own_role_nothing_but_what_is_needed(stack: cdk.Stack, resources: Any) -> None:
    LmiModel(stack, "Model", model_data=DATA)
    (role,) = resources(stack, "AWS::IAM::Role")
    assert "ManagedPolicyArns" not in role
    statements = role["Policies"][0]["PolicyDocument"]["Statement"]
    actions = {
        action
        for item in statements
        for action in ([item["Action"]] if isinstance(item["Action"], str) else item["Action"])
    }
    assert not any("*" in action for action in actions)
    assert {action.split(":")[0] for action in actions} == {"cloudwatch", "ecr", "logs", "s3"}
    unbounded = [item["Action"] for item in statements if item["Resource"] == "*"]
    assert unbounded == ["cloudwatch:PutMetricData", "ecr:GetAuthorizationToken"]
    metrics = next(item for item in statements if item["Action"] == "cloudwatch:PutMetricData")
    assert metrics["Condition"]["StringEquals"]["cloudwatch:namespace"] == [
        "AWS/SageMaker",
        "/aws/sagemaker/Endpoints",
    ]


def test_puts_the_policies_of_a_given_role_before_the_model(
    stack: cdk.Stack, template: Callable[[cdk.Stack], dict[str, Any]]
) -> None:
    role = iam.Role(stack, "Mine", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    LmiModel(stack, "Model", model_data=DATA, role=role)
    found = template(stack)["Resources"]
    (policy,) = [name for name, item in found.items() if item["Type"] == "AWS::IAM::Policy"]
    (model,) = [item for item in found.values() if item["Type"] == "AWS::SageMaker::Model"]
    assert policy in model["DependsOn"]
    assert len([item for item in found.values() if item["Type"] == "AWS::IAM::Role"]) == 1


def test_takes_an_immutable_role_as_it_is(stack: cdk.Stack, resources: Any) -> None:
    role = iam.Role.from_role_arn(
        stack, "Mine", "arn:aws:iam::111122223333:role/llm", mutable=False
    )
    LmiModel(stack, "Model", model_data=DATA, role=role)
    (model,) = resources(stack, "AWS::SageMaker::Model")
    assert model["ExecutionRoleArn"] == "arn:aws:iam::111122223333:role/llm"
    assert resources(stack, "AWS::IAM::Policy") == []


def test_renders_settings_and_further_variables(stack: cdk.Stack, resources: Any) -> None:
    LmiModel(
        stack,
        "Model",
        model_data=DATA,
        settings=LmiSettings(max_model_len=4096),
        environment={"NCCL_DEBUG": "INFO"},
    )
    (model,) = resources(stack, "AWS::SageMaker::Model")
    environment = model["PrimaryContainer"]["Environment"]
    assert environment["OPTION_MAX_MODEL_LEN"] == "4096"
    assert environment["NCCL_DEBUG"] == "INFO"


def test_refuses_a_variable_that_is_said_twice(stack: cdk.Stack) -> None:
    with pytest.raises(LmiError, match="LMI013 Stack/Model environment: HF_MODEL_ID"):
        LmiModel(
            stack,
            "Model",
            model_data=ModelData.hub("Qwen/Qwen3-8B"),
            environment={"HF_MODEL_ID": "Qwen/Qwen3-14B"},
        )


def test_refuses_settings_for_an_image_nothing_is_known_of(stack: cdk.Stack) -> None:
    image = ContainerImage.from_uri("999988887777.dkr.ecr.us-west-2.amazonaws.com/tgi:3")
    with pytest.raises(LmiError, match="LMI019"):
        LmiModel(
            stack, "Model", model_data=DATA, container=image, settings=LmiSettings(max_model_len=1)
        )


def test_refuses_an_environment_that_the_release_rejects(stack: cdk.Stack) -> None:
    with pytest.raises(LmiError) as raised:
        LmiModel(stack, "Model", model_data=DATA, environment={"OPTION_DTYPE": "fp8"})
    assert any(finding.where == "OPTION_DTYPE" for finding in raised.value.findings)


def test_reports_warnings_at_synth(
    stack: cdk.Stack, reported: Callable[[cdk.Stack], set[tuple[str, str]]]
) -> None:
    environment = {"OPTION_SWAP_SPACE": "4"}
    model = LmiModel(stack, "Model", model_data=DATA, environment=environment)
    (finding,) = model.findings
    assert finding.severity == "warning"
    assert reported(stack) == {("LMI002", "Stack/Model/Resource")}


def test_warns_once_of_settings_of_adapters_that_are_off_and_of_another_servers_variables(
    stack: cdk.Stack, reported: Callable[[cdk.Stack], set[tuple[str, str]]]
) -> None:
    model = LmiModel(
        stack,
        "Model",
        model_data=DATA,
        settings=LmiSettings(max_loras=4),
        environment={"MAX_TOTAL_TOKENS": "8192"},
    )
    assert sorted((one.rule, one.severity, one.where) for one in model.findings) == [
        ("LMI002", "warning", "settings.max_loras"),
        ("LMI007", "warning", "MAX_TOTAL_TOKENS"),
    ]
    assert reported(stack) == {
        ("LMI002", "Stack/Model/Resource"),
        ("LMI007", "Stack/Model/Resource"),
    }


def test_one_acknowledgment_above_is_enough(
    stack: cdk.Stack, reported: Callable[[cdk.Stack], set[tuple[str, str]]]
) -> None:
    model = LmiModel(stack, "Model", model_data=DATA, environment={"OPTION_SWAP_SPACE": "4"})
    for finding in model.findings:
        cdk.Validations.of(stack).acknowledge(
            cdk.Acknowledgment(id=f"lmi::{finding.rule}", reason="kept for older releases")
        )
    assert not [found for found in reported(stack) if found[0] == "LMI002"]


def test_places_a_model_into_a_vpc(stack: cdk.Stack, resources: Any) -> None:
    vpc = ec2.Vpc(stack, "Vpc", max_azs=2, nat_gateways=0)
    vpc.add_gateway_endpoint("S3", service=ec2.GatewayVpcEndpointAwsService.S3)
    model = LmiModel(
        stack,
        "Model",
        model_data=DATA,
        vpc=vpc,
        vpc_subnets=ec2.SubnetSelection(subnet_type=ec2.SubnetType.PRIVATE_ISOLATED),
    )
    (rendered,) = resources(stack, "AWS::SageMaker::Model")
    assert len(rendered["VpcConfig"]["Subnets"]) == 2
    assert len(rendered["VpcConfig"]["SecurityGroupIds"]) == 1
    assert model.connections is not None
    (role,) = [r for r in resources(stack, "AWS::IAM::Role") if "Policies" in r]
    actions = str(role["Policies"])
    assert "ec2:CreateNetworkInterface" in actions


def test_refuses_subnets_without_a_vpc(stack: cdk.Stack) -> None:
    with pytest.raises(LmiError, match="LMI096"):
        LmiModel(stack, "Model", model_data=DATA, vpc_subnets=ec2.SubnetSelection())


def test_says_all_faults_at_once(stack: cdk.Stack) -> None:
    with pytest.raises(LmiError) as raised:
        LmiModel(
            stack,
            "Model",
            model_data=ModelData.hub("Qwen/Qwen3-8B"),
            network_isolation=True,
            vpc_subnets=ec2.SubnetSelection(),
        )
    assert {finding.rule for finding in raised.value.findings} == {"LMI090", "LMI096"}


@pytest.mark.parametrize("wrong", ["s3://my-models/q/", None, 7])
def test_says_what_model_data_must_be(stack: cdk.Stack, wrong: Any) -> None:
    with pytest.raises(LmiError, match=r"LMI010 \S+ model_data: (.|\n)*ModelData\.s3_prefix"):
        LmiModel(stack, "Model", model_data=wrong)


def test_refuses_a_gated_model_of_the_hub_without_a_token(stack: cdk.Stack) -> None:
    with pytest.raises(LmiError) as raised:
        LmiModel(stack, "Model", model_data=ModelData.hub("meta-llama/Meta-Llama-3-8B"))
    (finding,) = raised.value.findings
    assert finding.rule == "LMI014"
    assert "token=secret" in finding.fix


@pytest.mark.parametrize(
    "variables",
    [
        {"HF_TOKEN": "{{resolve:secretsmanager:hub}}"},
        {"HF_ENDPOINT": "https://hub.example.com"},
        {"HF_HUB_OFFLINE": "1"},
    ],
)
def test_takes_a_gated_model_that_can_be_had(stack: cdk.Stack, variables: dict[str, str]) -> None:
    data = ModelData.hub("meta-llama/Meta-Llama-3-8B")
    model = LmiModel(stack, "Model", model_data=data, environment=variables)
    assert model.environment["HF_MODEL_ID"] == "meta-llama/Meta-Llama-3-8B"


def test_says_nothing_of_planning_where_the_model_is_known(stack: cdk.Stack) -> None:
    for number, architecture in enumerate(("Qwen/Qwen3-32B", None)):
        data = ModelData.s3_prefix("my-models", "m/", architecture=architecture)
        LmiModel(stack, f"Model{number}", model_data=data)
    infos = assertions.Annotations.from_stack(stack).find_info("*", assertions.Match.any_value())
    assert infos == []
