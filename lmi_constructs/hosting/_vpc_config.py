"""The subnets and security groups of a model, and what is wrong about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lmi_constructs.findings import Finding, LmiError
from lmi_constructs.readable import said_by

if TYPE_CHECKING:
    from aws_cdk import aws_ec2 as ec2
    from constructs import Construct


def selected_subnets(vpc: ec2.IVpc, selection: ec2.SubnetSelection | None) -> ec2.SelectedSubnets:
    """Return the subnets of a selection, by default the VPC's private ones.

    Raises:
        LmiError: If the VPC has no such subnets (LMI096).
    """
    try:
        if selection is None:
            return vpc.select_subnets()
        return vpc.select_subnets(
            availability_zones=selection.availability_zones,
            one_per_az=selection.one_per_az,
            subnet_filters=selection.subnet_filters,
            subnet_group_name=selection.subnet_group_name,
            subnets=selection.subnets,
            subnet_type=selection.subnet_type,
        )
    except RuntimeError as error:
        finding = Finding(
            rule="LMI096",
            message=f"no subnets can be chosen: {said_by(error)}",
            why="a VPC without subnets for it takes no container",
            fix="choose subnets that the VPC has: vpc_subnets=ec2.SubnetSelection(...)",
            where="vpc" if selection is None else "vpc_subnets",
        )
        raise LmiError(finding) from error


@dataclass(frozen=True)
class VpcConfig:
    """Subnets and security groups within a VPC.

    Attributes:
        connections: The groups, to open ports to others.
        security_group_ids: Ids of the groups.
        subnet_ids: Ids of the subnets.
    """

    connections: ec2.Connections
    security_group_ids: list[str]
    subnet_ids: list[str]

    @classmethod
    def within(
        cls,
        scope: Construct,
        vpc: ec2.IVpc | None,
        selection: ec2.SubnetSelection | None,
        security_groups: Sequence[ec2.ISecurityGroup] | None,
    ) -> VpcConfig | None:
        """Return what is chosen of a VPC, with a new security group by default."""
        if vpc is None:
            return None
        from aws_cdk import aws_ec2 as ec2

        groups = list(security_groups or [ec2.SecurityGroup(scope, "SecurityGroup", vpc=vpc)])
        return cls(
            connections=ec2.Connections(security_groups=groups),
            security_group_ids=[group.security_group_id for group in groups],
            subnet_ids=selected_subnets(vpc, selection).subnet_ids,
        )


def check_vpc_config(vpc: object, subnets: object, groups: object) -> list[Finding]:
    """Check that subnets and security groups come with their VPC."""
    if vpc is not None and isinstance(groups, Sequence) and not groups:
        return [
            Finding(
                rule="LMI096",
                message="security_groups is empty",
                why="SageMaker takes 1 to 5 groups",
                fix="leave security_groups out for a new group, or give one",
                where="security_groups",
                source="botocore 1.44.8 sagemaker 2017-07-24 VpcConfig",
            )
        ]
    if vpc is not None or (subnets is None and groups is None):
        return []
    return [
        Finding(
            rule="LMI096",
            message="vpc_subnets or security_groups are given without a vpc",
            why="they would have no effect",
            fix="give vpc= too",
            where="vpc",
        )
    ]
