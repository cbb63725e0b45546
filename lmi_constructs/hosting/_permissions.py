"""Permissions as plain values, and giving them to a role before anything needs them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from aws_cdk import aws_iam as iam

from lmi_constructs.hosting._acknowledgments import acknowledge_policy, acknowledge_role

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aws_cdk import aws_kms as kms
    from constructs import Construct, IDependable

    from lmi_constructs.hosting._stack_environment import StackEnvironment

_NO_RESOURCES = (
    "PutMetricData is limited to two namespaces by a condition, ecr:GetAuthorizationToken has no"
    " resources, and SageMaker makes network interfaces whose ARNs are not known before"
)
_LOGGING = (
    "logs:CreateLogGroup",
    "logs:CreateLogStream",
    "logs:DescribeLogStreams",
    "logs:PutLogEvents",
)
_OF_COMPONENTS = "/aws/sagemaker/InferenceComponents"
"""Begins the names of components' log groups, and is the namespace of their metrics of use."""

_METRIC_NAMESPACES = ("AWS/SageMaker", "/aws/sagemaker/Endpoints")


@dataclass(frozen=True, slots=True)
class Permission:
    """One allowing statement of a policy.

    Attributes:
        actions: Allowed actions.
        resources: ARNs they are allowed on.
        conditions: Conditions, as in the policy's JSON.
        why_wildcard: Why a resource ends in, or is, a star.
    """

    actions: tuple[str, ...]
    resources: tuple[str, ...] = ("*",)
    conditions: Mapping[str, Mapping[str, object]] = field(default_factory=dict, hash=False)
    why_wildcard: str | None = None

    def to_json(self) -> dict[str, object]:
        """Return the statement as it stands in a policy document."""
        statement: dict[str, object] = {
            "Effect": "Allow",
            "Action": _one_or_all(self.actions),
            "Resource": _one_or_all(self.resources),
        }
        if self.conditions:
            statement["Condition"] = dict(self.conditions)
        return statement


def _one_or_all(values: tuple[str, ...]) -> str | list[str]:
    """Return values as the CDK writes them into a policy: a single one is no list."""
    return values[0] if len(values) == 1 else list(values)


def key_permission(actions: tuple[str, ...], key: kms.IKey) -> Permission:
    """Return what using a key takes, also of one that is given by an alias.

    IAM names a key by its ARN only: a statement about an alias gives nothing. Of an alias that was
    made elsewhere the key is not known, so that a condition asks for the alias.

    Source: https://docs.aws.amazon.com/kms/latest/developerguide/cmks-in-iam-policies.html (as of
    2026-12-03).
    """
    from aws_cdk import aws_kms as kms

    arn = key.alias_target_key.key_arn if isinstance(key, kms.Alias) else key.key_arn
    place, is_alias, alias = arn.partition(":alias/")
    if not is_alias:
        return Permission(actions, (arn,))
    return Permission(
        actions,
        (f"{place}:key/*",),
        {"ForAnyValue:StringEquals": {"kms:ResourceAliases": f"alias/{alias}"}},
        why_wildcard="the key is given by an alias, which a condition asks for: IAM cannot name it so",
    )


def endpoint_permissions(env: StackEnvironment) -> tuple[Permission, ...]:
    """Return what every container of an endpoint needs: its log group and its metrics."""
    log_group = env.arn("logs", "log-group:/aws/sagemaker/Endpoints/*")
    return (
        Permission(
            actions=_LOGGING,
            resources=(log_group,),
            why_wildcard="the log group carries the endpoint's name, which is made after the role",
        ),
        _publishing(*_METRIC_NAMESPACES),
    )


def component_permissions(env: StackEnvironment, name: str) -> tuple[Permission, ...]:
    """Return what a component's container needs besides: a log group and a namespace of its own.

    Source: awslabs/ml-container-creator@21ae2a46:templates/do/logs for the log group,
    https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html for the namespace (both
    as of 2026-12-03).
    """
    log_group = env.arn("logs", f"log-group:{_OF_COMPONENTS}/{name}")
    return (
        Permission(
            actions=_LOGGING,
            resources=(log_group, f"{log_group}:*"),
            why_wildcard="SageMaker chooses the names of the streams of this log group",
        ),
        _publishing(_OF_COMPONENTS),
    )


def _publishing(*namespaces: str) -> Permission:
    return Permission(
        actions=("cloudwatch:PutMetricData",),
        conditions={"StringEquals": {"cloudwatch:namespace": _one_or_all(namespaces)}},
        why_wildcard=_NO_RESOURCES,
    )


def network_permissions() -> tuple[Permission, ...]:
    """Return what SageMaker needs to place the container's network interfaces into a VPC.

    As listed in https://docs.aws.amazon.com/sagemaker/latest/dg/host-vpc.html (as of 2026-12-02).
    """
    return (
        Permission(
            actions=(
                "ec2:CreateNetworkInterface",
                "ec2:CreateNetworkInterfacePermission",
                "ec2:DeleteNetworkInterface",
                "ec2:DeleteNetworkInterfacePermission",
                "ec2:DescribeDhcpOptions",
                "ec2:DescribeNetworkInterfaces",
                "ec2:DescribeSecurityGroups",
                "ec2:DescribeSubnets",
                "ec2:DescribeVpcEndpoints",
                "ec2:DescribeVpcs",
            ),
            why_wildcard=_NO_RESOURCES,
        ),
    )


def execution_role(scope: Construct, permissions: Sequence[Permission]) -> iam.Role:
    """Return a new execution role with exactly these permissions.

    They are an inline policy of the role itself, not a policy resource of its own: a separate
    policy is created beside the model, and the model is then refused because it may not pull its
    image yet.
    """
    role = iam.Role(
        scope,
        "Role",
        assumed_by=_sagemaker(),
        description="What an LMI model may do: pull its image, read its model, write logs and metrics",
        inline_policies={"Execution": iam.PolicyDocument.from_json(_document(permissions))},
    )
    acknowledge_role(scope, role, permissions)
    return role


def _document(permissions: Sequence[Permission]) -> dict[str, object]:
    return {
        "Version": "2012-10-17",
        "Statement": [permission.to_json() for permission in permissions],
    }


@cache
def _sagemaker() -> iam.ServicePrincipal:
    """Return the principal that runs models: made once, as it is a call over the bridge."""
    return iam.ServicePrincipal("sagemaker.amazonaws.com")


def grant(role: iam.IRole, permissions: Iterable[Permission]) -> list[IDependable]:
    """Give permissions to a role that exists already, and return what must be created first.

    A role that was looked up as immutable keeps what it has: nothing is returned for it.
    """
    dependables = []
    for permission in permissions:
        statement = iam.PolicyStatement.from_json(permission.to_json())
        result = role.add_to_principal_policy(statement)
        if result.policy_dependable is not None:
            dependables.append(result.policy_dependable)
    return dependables


def own_policy(
    scope: Construct, id: str, role: iam.IRole, permissions: Sequence[Permission]
) -> list[IDependable]:
    """Give permissions to a role by a policy that comes and goes with the scope.

    For what several constructs share a role for: a policy of the role itself would change for all of
    them. Of a role that was looked up as immutable nothing changes: the CDK leaves the policy out.
    """
    document = iam.PolicyDocument.from_json(_document(permissions))
    policy = iam.Policy(scope, id, document=document)
    role.attach_inline_policy(policy)
    acknowledge_policy(scope, policy, permissions)
    return [policy]
