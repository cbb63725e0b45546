"""Whether a container that downloads its model from the hub has a way there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs.container.hub_variables import OFFLINE, OTHER_HUBS
from lmi_constructs.findings import Finding
from lmi_constructs.hosting._vpc_config import selected_subnets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aws_cdk import aws_ec2 as ec2

    from lmi_constructs.hosting.model_data import BoundModelData


def check_isolation(isolated: bool, data: BoundModelData) -> list[Finding]:
    """Check that an isolated container has nothing to download."""
    if not (isolated and data.needs_network):
        return []
    return [
        Finding(
            rule="LMI090",
            message="network_isolation=True, but the container must download the model itself",
            why="an isolated container reaches neither the hub nor S3 and would stop at start",
            fix="copy the model to S3 and use ModelData.s3_prefix(...), or leave network_isolation"
            " out",
            where="network_isolation",
            source="botocore 1.44.8 sagemaker 2017-07-24 CreateModelInput.EnableNetworkIsolation",
        )
    ]


def check_route_to_hub(
    vpc: ec2.IVpc | None,
    selection: ec2.SubnetSelection | None,
    environment: Mapping[str, str],
    data: BoundModelData,
) -> list[Finding]:
    """Check that a container which downloads its model is not in isolated subnets.

    Only of a VPC made elsewhere, whose subnets CDK calls isolated by what was looked up or said: of
    one in the app the templates show every route, and the rule over them (LMI090) knows better.
    """
    hub_id = _hub_id(environment, data)
    if vpc is None or hub_id is None or not (OFFLINE | OTHER_HUBS).isdisjoint(environment):
        return []
    from aws_cdk import aws_ec2 as ec2

    if isinstance(vpc, ec2.Vpc):
        return []
    isolated = {subnet.subnet_id for subnet in vpc.isolated_subnets}
    chosen = selected_subnets(vpc, selection).subnet_ids
    if not chosen or not isolated.issuperset(chosen):
        return []
    return [
        Finding(
            rule="LMI090",
            message=f"{hub_id} is on the hub, and the model is in isolated subnets:"
            f" {', '.join(chosen)}",
            why="without a route out of the VPC the container cannot fetch it and stops at start",
            fix="copy the model to S3 (lmi stage) and use ModelData.s3_prefix(...), or choose"
            " subnets with a route to a NAT gateway:"
            " vpc_subnets=ec2.SubnetSelection(subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS)",
            severity="warning",
            where="vpc_subnets",
            source="https://docs.aws.amazon.com/sagemaker/latest/dg/host-vpc.html",
        )
    ]


def _hub_id(environment: Mapping[str, str], data: BoundModelData) -> str | None:
    """Return the hub id that the container must download, if it must."""
    hub_id = environment.get("HF_MODEL_ID")
    return None if not data.needs_network or (hub_id or "").startswith("s3://") else hub_id
