"""A fleet in a network of one's own: the endpoint configuration carries it."""

from __future__ import annotations

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2

from lmi_constructs import LmiError, LmiSettings, ModelData
from tests.hosting.fleets import component_on, fleet_in


def network(stack: cdk.Stack) -> ec2.Vpc:
    closed = ec2.SubnetConfiguration(name="Closed", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED)
    return ec2.Vpc(stack, "Vpc", max_azs=2, nat_gateways=0, subnet_configuration=[closed])


def test_places_the_fleet_into_the_private_subnets_with_a_group_of_its_own(
    stack: cdk.Stack, resources: Any
) -> None:
    fleet_in(stack, vpc=network(stack))
    (config,) = resources(stack, "AWS::SageMaker::EndpointConfig")
    (group,) = config["VpcConfig"]["SecurityGroupIds"]
    assert group["Fn::GetAtt"][1] == "GroupId"
    assert len(config["VpcConfig"]["Subnets"]) == 2
    (role,) = resources(stack, "AWS::IAM::Role")
    assert "ec2:CreateNetworkInterface" in str(role["Policies"])


def test_takes_subnets_and_groups_of_ones_own(stack: cdk.Stack, resources: Any) -> None:
    vpc = network(stack)
    one = ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1")
    fleet = fleet_in(
        stack,
        vpc=vpc,
        vpc_subnets=ec2.SubnetSelection(availability_zones=[vpc.availability_zones[0]]),
        security_groups=[one],
    )
    (config,) = resources(stack, "AWS::SageMaker::EndpointConfig")
    assert config["VpcConfig"]["SecurityGroupIds"] == ["sg-1"]
    assert len(config["VpcConfig"]["Subnets"]) == 1
    assert resources(stack, "AWS::EC2::SecurityGroup") == []
    assert fleet.connections is not None
    assert [group.security_group_id for group in fleet.connections.security_groups] == ["sg-1"]


def test_opens_a_port_to_the_fleet(stack: cdk.Stack, resources: Any) -> None:
    vpc = network(stack)
    fleet = fleet_in(stack, vpc=vpc)
    database = ec2.SecurityGroup(stack, "Database", vpc=vpc)
    assert fleet.connections is not None
    database.connections.allow_from(fleet.connections, ec2.Port.tcp(5432))
    (rule,) = resources(stack, "AWS::EC2::SecurityGroupIngress")
    assert rule["FromPort"] == 5432


def test_has_no_network_of_yours_by_default(stack: cdk.Stack, resources: Any) -> None:
    fleet = fleet_in(stack)
    (config,) = resources(stack, "AWS::SageMaker::EndpointConfig")
    assert "VpcConfig" not in config
    assert fleet.connections is None
    (role,) = resources(stack, "AWS::IAM::Role")
    assert "ec2:" not in str(role["Policies"])


def test_refuses_subnets_without_a_vpc(stack: cdk.Stack) -> None:
    with pytest.raises(LmiError) as raised:
        fleet_in(stack, vpc_subnets=ec2.SubnetSelection())
    assert {(one.rule, one.where) for one in raised.value.findings} == {("LMI096", "vpc")}


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (ModelData.hub("Qwen/Qwen3-8B"), "LMI090"),
        (ModelData.s3_prefix("my-models", "qwen3-8b/"), "LMI099"),
    ],
)
def test_says_that_components_have_no_way_out_of_the_fleets_subnets(
    stack: cdk.Stack, reported: Any, data: ModelData, rule: str
) -> None:
    fleet = fleet_in(stack, vpc=network(stack))
    component_on(fleet, model_data=data, settings=LmiSettings(tensor_parallel_degree=1))
    assert (rule, "Stack/Fleet/Config/Resource") in reported(stack)


def test_takes_a_gateway_endpoint_for_the_fleets_way_to_s3(stack: cdk.Stack, reported: Any) -> None:
    vpc = network(stack)
    vpc.add_gateway_endpoint("S3", service=ec2.GatewayVpcEndpointAwsService.S3)
    component_on(fleet_in(stack, vpc=vpc))
    assert "LMI099" not in {rule for rule, _ in reported(stack)}
