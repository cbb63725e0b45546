"""What a model reaches from the network that it is placed into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.checks.examples import REMOVED, Example
from lmi_constructs.checks.queries.container_images import release
from lmi_constructs.checks.queries.containers import environment, running
from lmi_constructs.checks.queries.resource_arns import is_of_aws
from lmi_constructs.checks.queries.role_permissions import allows
from lmi_constructs.checks.resources import S3DataSource, Vpc
from lmi_constructs.checks.rules.base import Rule
from lmi_constructs.checks.values import UNKNOWN, String, head, literal, resource_of, shown
from lmi_constructs.container.hub_variables import OFFLINE, OTHER_HUBS
from lmi_constructs.facts.limits import limits

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.resources import Container, EndpointConfig, Key, Model
    from lmi_constructs.findings import Finding, Severity

_STATEMENTS: Final = "Role/Properties/Policies/0/PolicyDocument/Statement"
_GUIDE: Final = "https://docs.aws.amazon.com/sagemaker/latest/dg/host-vpc.html"
_MADE_ELSEWHERE: Final = (
    "if the way is made elsewhere (another stack, a transit gateway, a centrally managed VPC),"
    " acknowledge the rule"
)
_MODEL_IDS: Final = ("HF_MODEL_ID", "OPTION_MODEL_ID", "OPTION_SPECULATIVE_DRAFT_MODEL")
_CLOSED_SUBNET: Final[dict[str, Any]] = {
    f"{_STATEMENTS}/0/Action": ["ecr:*", "ec2:*"],
    "Model/Properties/VpcConfig": {"SecurityGroupIds": ["sg-1"], "Subnets": [{"Ref": "Subnet"}]},
    "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
    "Subnet": {
        "Type": "AWS::EC2::Subnet",
        "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.0.0/24"},
    },
    "Routes": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": {"Ref": "Vpc"}}},
    "SubnetRoutes": {
        "Type": "AWS::EC2::SubnetRouteTableAssociation",
        "Properties": {"SubnetId": {"Ref": "Subnet"}, "RouteTableId": {"Ref": "Routes"}},
    },
}
_S3_ENDPOINT: Final[dict[str, Any]] = {
    "Type": "AWS::EC2::VPCEndpoint",
    "Properties": {
        "VpcId": {"Ref": "Vpc"},
        "ServiceName": {"Fn::Sub": "com.amazonaws.${AWS::Region}.s3"},
        "RouteTableIds": [{"Ref": "Routes"}],
    },
}


class NothingToDownloadFrom(Rule):
    """LMI090."""

    id = "LMI090"
    title = "a model to download, and no network"
    why = "the container has no way to the model, so it cannot fetch it and stops at start"
    fix = (
        "copy the model to S3 (lmi stage) and give it as ModelDataSource with S3Prefix, or switch"
        " EnableNetworkIsolation off"
    )
    source = "https://github.com/huggingface/optimum-neuron/issues/535"
    failing = Example(
        {
            "Model/Properties/PrimaryContainer/Environment/HF_MODEL_ID": "Qwen/Qwen3-8B",
            "Model/Properties/PrimaryContainer/ModelDataSource": REMOVED,
        }
    )
    passing = Example(
        {"Model/Properties/PrimaryContainer/Environment/HF_MODEL_ID": "/opt/ml/model"}
    )

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield ids that an isolated container, or one in closed subnets, would have to fetch."""
        isolated = {
            model.key: model for model in deployment.models if model.network_isolation is True
        }
        for run in running(deployment):
            if run.model and run.config.network_isolation is True:
                isolated[run.model.key] = run.model
        for model in isolated.values():
            yield from self._isolated(deployment, model)
        for place in _placements(deployment):
            if place.model is None or place.model.key not in isolated:
                yield from self._enclosed(deployment, place)

    def _isolated(self, deployment: Deployment, model: Model) -> Iterator[Finding]:
        for container in model.containers:
            sure = is_of_aws(container)
            severity: Severity = "error" if sure else "warning"
            for name, value in _to_download(deployment, container):
                message = f"{name} {shown(value)!r} would have to be downloaded"
                message += "" if sure else ", unless the image holds it"
                path = f"{container.path}/Environment/{name}"
                yield self.found(model, path, message, severity=severity)

    def _enclosed(self, deployment: Deployment, place: _Placement) -> Iterator[Finding]:
        """Yield hub ids behind subnets without a route here: a warning, as others may add one."""
        subnets = _closed(place.vpc, deployment.network.without_route)
        for container in place.containers if subnets else ():
            known = environment(container)
            for name, value in _to_download(deployment, container):
                if head(value).startswith("s3://") or known.keys() & OTHER_HUBS:
                    continue
                message = (
                    f"nothing in these templates leads from {subnets} to the hub, where {name}"
                    f" {shown(value)!r} is"
                )
                fix = (
                    "copy the model to S3 (lmi stage) and mount it with ModelData.s3_prefix(...),"
                    f" or choose subnets with a route to a NAT gateway; {_MADE_ELSEWHERE}"
                )
                yield self.found(
                    place.resource,
                    "VpcConfig/Subnets",
                    message,
                    fix=fix,
                    severity="warning",
                    source=_GUIDE,
                )


class NetworkOutOfRange(Rule):
    """LMI096."""

    id = "LMI096"
    title = "the model cannot join this network"
    why = "CreateModel refuses the VpcConfig, or the role cannot create its network interfaces"
    fix = "give 1 to 5 security groups and 1 to 16 subnets"
    source = "botocore 1.44.8 sagemaker 2017-07-24 VpcConfig"
    failing = Example(
        {"Model/Properties/VpcConfig": {"SecurityGroupIds": [], "Subnets": ["subnet-1"]}}
    )
    passing = Example(
        {
            "Model/Properties/VpcConfig": {"SecurityGroupIds": ["sg-1"], "Subnets": ["subnet-1"]},
            f"{_STATEMENTS}/0": {"Effect": "Allow", "Action": ["ec2:*", "ecr:*"], "Resource": "*"},
        }
    )

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield too few or too many groups and subnets, and roles that cannot join a network."""
        placed: list[Model | EndpointConfig] = [*deployment.models, *deployment.endpoint_configs]
        for one in placed:
            if not isinstance(one.vpc, Vpc):
                continue
            rows = (
                ("SecurityGroupIds", one.vpc.security_groups, limits()["security_groups"]),
                ("Subnets", one.vpc.subnets, limits()["subnets"]),
            )
            for name, count, limit in rows:
                if count is not None and not limit.allows(count):
                    message = f"{name} has {count} entries, but must have {limit}"
                    yield self.found(one, f"VpcConfig/{name}", message)
            role = deployment.role(one.role)
            action = "ec2:CreateNetworkInterface"
            if role and allows(role, action, "*") is False:
                message = (
                    f"nothing in these templates lets {role.logical_id} do {action}, which a"
                    " network needs"
                )
                fix = f"allow {action} and the other network-interface actions on *"
                yield self.found(
                    one, "VpcConfig", message, fix=fix, severity="warning", source=_GUIDE
                )


class S3OutOfReach(Rule):
    """LMI099."""

    id = "LMI099"
    title = "nothing leads from the model's subnets to S3"
    severity = "warning"
    why = (
        "with a VPC, model data comes through the model's subnets, isolated container or not;"
        " without a way to S3 the endpoint fails with 'Failed to download model data from URL'"
    )
    fix = (
        "add a gateway endpoint for S3 to the route tables of these subnets:"
        " vpc.add_gateway_endpoint('S3', service=ec2.GatewayVpcEndpointAwsService.S3);"
        f" {_MADE_ELSEWHERE}"
    )
    source = (
        "https://github.com/aws-solutions-library-samples/guidance-for-text-generation-using-"
        "embeddings-from-enterprise-data-on-aws/issues/3"
    )
    failing = Example(_CLOSED_SUBNET)
    passing = Example({**_CLOSED_SUBNET, "S3": _S3_ENDPOINT})

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield models with data in S3 in subnets that have neither a route nor an endpoint here."""
        for place in _placements(deployment):
            subnets = _closed(place.vpc, deployment.network.without_s3)
            if subnets and any(_reads_s3(deployment, one) for one in place.containers):
                message = (
                    "nothing in these templates, neither a route nor a VPC endpoint, leads from"
                    f" {subnets} to S3"
                )
                yield self.found(place.resource, "VpcConfig/Subnets", message)


@dataclass(frozen=True)
class _Placement:
    """Containers in a network: of a model, or of all that runs on an endpoint of components."""

    resource: Model | EndpointConfig
    vpc: Vpc
    containers: tuple[Container, ...]
    model: Model | None


def _placements(deployment: Deployment) -> Iterator[_Placement]:
    for model in deployment.models:
        if isinstance(model.vpc, Vpc):
            yield _Placement(model, model.vpc, model.containers, model)
    for run in running(deployment):
        if isinstance(run.config.vpc, Vpc):
            yield _Placement(run.config, run.config.vpc, (run.container,), run.model)


def _to_download(deployment: Deployment, container: Container) -> Iterator[tuple[str, String]]:
    """Yield the variables that name a model which the container fetches itself."""
    known = environment(container)
    mounted = container.s3_data_source is not None or container.model_data_url is not None
    foreign = release(deployment, container) is None
    if known.keys() & OFFLINE or (foreign and mounted):
        return
    for name in _MODEL_IDS:
        value = known.get(name)
        spoken = literal(value) or head(value)
        if value is not None and spoken and not spoken.startswith(("/", ".")):
            yield name, value


def _reads_s3(deployment: Deployment, container: Container) -> bool:
    """Tell whether a container's model surely comes from S3."""
    if isinstance(container.s3_data_source, S3DataSource):
        return True
    if container.model_data_url not in (None, UNKNOWN):
        return True
    needed = _to_download(deployment, container)
    return any(head(value).startswith("s3://") for _, value in needed)


def _closed(vpc: Vpc, without: Collection[Key]) -> str:
    """Return the subnets of a network that lack a way in the templates, in words.

    An instance may be placed into any of the subnets, so that one without a way is worth saying.
    """
    keys = [resource_of(subnet) for subnet in vpc.subnet_ids]
    return ", ".join(key[1] for key in keys if key in without and key is not None)
