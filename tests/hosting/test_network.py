"""A model in a network of one's own: what CDK's subnets say about it."""

from __future__ import annotations

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2

from lmi_constructs import LmiModel, ModelData

HUB = ModelData.hub("Qwen/Qwen3-8B")
S3 = ModelData.s3_prefix("my-models", "qwen3-8b/")
ISOLATED = ec2.SubnetSelection(subnet_type=ec2.SubnetType.PRIVATE_ISOLATED)


def elsewhere(stack: cdk.Stack) -> ec2.IVpc:
    return ec2.Vpc.from_vpc_attributes(
        stack,
        "Vpc",
        vpc_id="vpc-1",
        availability_zones=["us-west-2a", "us-west-2b"],
        private_subnet_ids=["subnet-nat-a", "subnet-nat-b"],
        isolated_subnet_ids=["subnet-closed-a", "subnet-closed-b"],
    )


def without_nat(stack: cdk.Stack) -> ec2.Vpc:
    closed = ec2.SubnetConfiguration(name="Closed", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED)
    return ec2.Vpc(stack, "Vpc", max_azs=2, nat_gateways=0, subnet_configuration=[closed])


def rules_at(reported: Any, stack: cdk.Stack) -> set[str]:
    return {rule for rule, _ in reported(stack)}


def test_warns_of_a_hub_model_in_isolated_subnets_made_elsewhere(
    stack: cdk.Stack, reported: Any
) -> None:
    model = LmiModel(stack, "Model", model_data=HUB, vpc=elsewhere(stack), vpc_subnets=ISOLATED)
    (finding,) = [one for one in model.findings if one.rule == "LMI090"]
    assert (finding.severity, finding.where) == ("warning", "vpc_subnets")
    assert "subnet-closed-a, subnet-closed-b" in finding.message
    assert "lmi stage" in finding.fix
    assert ("LMI090", "Stack/Model") in reported(stack)


@pytest.mark.parametrize(
    ("data", "subnets", "environment"),
    [
        pytest.param(HUB, None, None, id="subnets with egress"),
        pytest.param(S3, ISOLATED, None, id="data in S3"),
        pytest.param(HUB, ISOLATED, {"HF_ENDPOINT": "https://hub.internal"}, id="a mirror"),
    ],
)
def test_is_silent_where_the_model_can_be_had(
    stack: cdk.Stack, data: ModelData, subnets: Any, environment: Any
) -> None:
    model = LmiModel(
        stack,
        "Model",
        model_data=data,
        vpc=elsewhere(stack),
        vpc_subnets=subnets,
        environment=environment,
    )
    assert "LMI090" not in {finding.rule for finding in model.findings}


def test_lets_the_templates_decide_about_a_vpc_of_the_app(stack: cdk.Stack, reported: Any) -> None:
    LmiModel(stack, "Model", model_data=HUB, vpc=without_nat(stack))
    assert "LMI090" in rules_at(reported, stack)


def test_takes_a_route_that_was_added_for_a_way_out(stack: cdk.Stack, reported: Any) -> None:
    vpc = without_nat(stack)
    for index, subnet in enumerate(vpc.isolated_subnets):
        ec2.CfnRoute(
            stack,
            f"Route{index}",
            route_table_id=subnet.route_table.route_table_id,
            destination_cidr_block="0.0.0.0/0",
            transit_gateway_id="tgw-1",
        )
    LmiModel(stack, "Model", model_data=HUB, vpc=vpc)
    assert not {"LMI090", "LMI099"} & rules_at(reported, stack)


def test_finds_data_in_s3_out_of_reach_and_takes_a_gateway_endpoint(
    stack: cdk.Stack, reported: Any
) -> None:
    vpc = without_nat(stack)
    LmiModel(stack, "Model", model_data=S3, vpc=vpc)
    other = cdk.Stack(cdk.App(), "Other")
    served = without_nat(other)
    served.add_gateway_endpoint("S3", service=ec2.GatewayVpcEndpointAwsService.S3)
    LmiModel(other, "Model", model_data=S3, vpc=served)
    assert "LMI099" in rules_at(reported, stack)
    assert "LMI099" not in rules_at(reported, other)


def test_sees_a_network_in_another_stack_of_the_app(stack: cdk.Stack, reported: Any) -> None:
    environment = cdk.Environment(account=stack.account, region=stack.region)
    network = cdk.Stack(stack.node.root, "Network", env=environment)
    LmiModel(stack, "Model", model_data=HUB, vpc=without_nat(network))
    assert "LMI090" in rules_at(reported, stack)


def test_may_look_at_vpc_endpoints_as_the_guide_asks(stack: cdk.Stack, resources: Any) -> None:
    LmiModel(stack, "Model", model_data=S3, vpc=elsewhere(stack))
    (role,) = resources(stack, "AWS::IAM::Role")
    assert "ec2:DescribeVpcEndpoints" in str(role["Policies"])
