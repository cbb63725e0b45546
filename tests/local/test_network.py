"""A VPC on the local AWS: with all its ways out, and gone without a trace."""

from __future__ import annotations

import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3


def template_of(*, endpoints: bool) -> dict[str, Any]:
    """Return a VPC with public, private and isolated subnets, as CDK renders it."""
    stack = cdk.Stack(cdk.App(), "Network")
    kinds = ec2.SubnetType
    vpc = ec2.Vpc(
        stack,
        "Vpc",
        max_azs=1,
        subnet_configuration=[
            ec2.SubnetConfiguration(name="Public", subnet_type=kinds.PUBLIC),
            ec2.SubnetConfiguration(name="Private", subnet_type=kinds.PRIVATE_WITH_EGRESS),
            ec2.SubnetConfiguration(name="Closed", subnet_type=kinds.PRIVATE_ISOLATED),
        ],
    )
    if endpoints:
        vpc.add_gateway_endpoint("S3", service=ec2.GatewayVpcEndpointAwsService.S3)
        vpc.add_interface_endpoint(
            "Runtime", service=ec2.InterfaceVpcEndpointAwsService.SAGEMAKER_RUNTIME
        )
    bucket = s3.Bucket(stack, "Models")
    cdk.CfnOutput(stack, "BucketArn", value=bucket.bucket_arn, export_name="bucket")
    rendered: dict[str, Any] = assertions.Template.from_stack(stack).to_json()
    for key in ("Rules", "Parameters"):
        rendered.pop(key, None)
    return rendered


@pytest.fixture
def cloudformation(aws: Any) -> Any:
    return aws.client("cloudformation")


def roll_out(cloudformation: Any, action: str, template: dict[str, Any]) -> str:
    call = getattr(cloudformation, f"{action}_stack")
    call(StackName="Network", TemplateBody=json.dumps(template))
    (stack,) = cloudformation.describe_stacks(StackName="Network")["Stacks"]
    return str(stack["StackStatus"])


def test_routes_each_subnet_as_the_template_says(aws: Any, cloudformation: Any) -> None:
    assert roll_out(cloudformation, "create", template_of(endpoints=True)) == "CREATE_COMPLETE"
    api = aws.client("ec2")
    ways = {}
    for table in api.describe_route_tables()["RouteTables"]:
        tags = {tag["Key"]: tag["Value"] for tag in table["Tags"]}
        kind = tags.get("Name", "").removeprefix("Network/Vpc/").removesuffix("Subnet1")
        used = [item for item in table["Associations"] if item.get("SubnetId")]
        ways[kind] = (len(used), _targets(table["Routes"]))
    assert ways["Public"] == (1, {"igw", "vpce"})
    assert ways["Private"] == (1, {"nat", "vpce"})
    assert ways["Closed"] == (1, {"vpce"})


def _targets(routes: list[dict[str, Any]]) -> set[str]:
    targets = (route.get("NatGatewayId") or route.get("GatewayId", "") for route in routes)
    return {target.split("-")[0] for target in targets} - {"local"}


def test_adds_and_takes_away_vpc_endpoints(aws: Any, cloudformation: Any) -> None:
    roll_out(cloudformation, "create", template_of(endpoints=False))
    assert roll_out(cloudformation, "update", template_of(endpoints=True)) == "UPDATE_COMPLETE"
    api = aws.client("ec2")
    found = {item["ServiceName"].rpartition(".")[2] for item in _endpoints(api)}
    assert found == {"s3", "runtime"}
    assert roll_out(cloudformation, "update", template_of(endpoints=False)) == "UPDATE_COMPLETE"
    assert _endpoints(api) == []


def _endpoints(api: Any) -> list[dict[str, Any]]:
    found = api.describe_vpc_endpoints()["VpcEndpoints"]
    return [item for item in found if item["State"] != "deleted"]


def test_leaves_nothing_behind(aws: Any, cloudformation: Any) -> None:
    api = aws.client("ec2")
    before = len(api.describe_vpcs()["Vpcs"]), len(api.describe_route_tables()["RouteTables"])
    roll_out(cloudformation, "create", template_of(endpoints=True))
    cloudformation.delete_stack(StackName="Network")
    assert cloudformation.list_exports()["Exports"] == []
    assert (
        len(api.describe_vpcs()["Vpcs"]),
        len(api.describe_route_tables()["RouteTables"]),
    ) == before
    assert api.describe_addresses()["Addresses"] == []
    assert _endpoints(api) == []
    assert len(aws.client("s3").list_buckets()["Buckets"]) == 1  # retained by its policy


def test_what_somebody_deleted_before_does_not_keep_the_stack(
    aws: Any, cloudformation: Any
) -> None:
    api = aws.client("ec2")
    vpc = api.describe_vpcs()["Vpcs"][0]["VpcId"]
    table = {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": vpc}}
    template = {"Resources": {"Table": table}, "Outputs": {"Id": {"Value": {"Ref": "Table"}}}}
    assert roll_out(cloudformation, "create", template) == "CREATE_COMPLETE"
    (made,) = cloudformation.describe_stacks(StackName="Network")["Stacks"][0]["Outputs"]
    api.delete_route_table(RouteTableId=made["OutputValue"])
    cloudformation.delete_stack(StackName="Network")
    assert cloudformation.describe_stacks()["Stacks"] == []
