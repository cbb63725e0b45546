"""The CloudFormation types of a VPC that moto makes but cannot delete.

Moto's own types for VPCs, subnets and security groups are good enough. Ref and attributes are those
of CloudFormation's provider schemas as bundled with cfn-lint 1.58.0 (as of 2026-12-01).
"""

from __future__ import annotations

from typing import Any, ClassVar

from lmi_constructs.local.resources import ApiResource, Properties, text_of


class NetworkResource(ApiResource):
    """A resource of EC2 that is replaced by every change but of its tags.

    Attributes:
        answer_member: Member of the create operation's answer that describes the resource.
        id_member: Member that identifies it; also the delete operation's parameter.
        tagged_as: EC2's name of the kind of resource, empty if it carries no tags.
    """

    service = "ec2"
    answer_member: ClassVar[str] = ""
    id_member: ClassVar[str] = ""
    tagged_as: ClassVar[str] = ""

    @classmethod
    def create_request(cls, properties: Properties) -> Properties:
        """Return the create operation's request, with tags as EC2 takes them."""
        tags = properties.get("Tags")
        request = {name: item for name, item in properties.items() if name != "Tags"}
        if tags and cls.tagged_as:
            request["TagSpecifications"] = [{"ResourceType": cls.tagged_as, "Tags": tags}]
        return super().create_request(request)

    @classmethod
    def call(cls, operation: str, request: Properties, region_name: str) -> Properties:
        """Call EC2, and take the description of the resource out of its answer."""
        answer = super().call(operation, request, region_name)
        described: Properties = answer.get(cls.answer_member, answer)
        return described

    def identity(self) -> Properties:
        """Return what identifies the resource: of several destinations, a route has one."""
        names = self.identifiers or (self.id_member,)
        return {name: self._value(name) for name in names if self._has(name)}

    def _has(self, name: str) -> bool:
        return name in self.answer or name in self.request


class NamedByEc2(NetworkResource):
    """A resource whose operations, answer and id all carry one name, as `RouteTable` does.

    Attributes:
        called: That name.
    """

    called: ClassVar[str]
    identifiers = ()

    def __init_subclass__(cls) -> None:
        """Spell what the class does not say itself: its type, operations and members."""
        super().__init_subclass__()
        name, said = cls.called, vars(cls)
        cls.cfn_type = said.get("cfn_type", f"AWS::EC2::{name}")
        cls.create_operation = f"Create{name}"
        cls.delete_operation = said.get("delete_operation", f"Delete{name}")
        cls.answer_member = name
        cls.id_member = cls.ref = f"{name}Id"


class RouteTable(NamedByEc2):
    """`AWS::EC2::RouteTable`."""

    called = "RouteTable"
    attributes = {"RouteTableId": "RouteTableId"}  # noqa: RUF012
    tagged_as = "route-table"


class SubnetRouteTableAssociation(NetworkResource):
    """`AWS::EC2::SubnetRouteTableAssociation`."""

    cfn_type = "AWS::EC2::SubnetRouteTableAssociation"
    create_operation = "AssociateRouteTable"
    delete_operation = "DisassociateRouteTable"
    id_member = ref = "AssociationId"
    identifiers = ()
    attributes = {"Id": "AssociationId"}  # noqa: RUF012


class Route(NetworkResource):
    """`AWS::EC2::Route`."""

    cfn_type = "AWS::EC2::Route"
    create_operation = "CreateRoute"
    delete_operation = "DeleteRoute"
    identifiers = (
        "RouteTableId",
        "DestinationCidrBlock",
        "DestinationIpv6CidrBlock",
        "DestinationPrefixListId",
    )
    ref = "RouteTableId"

    @property
    def physical_resource_id(self) -> str:
        """`RouteTableId|Destination`."""
        return "|".join(str(value) for value in self.identity().values())


class InternetGateway(NamedByEc2):
    """`AWS::EC2::InternetGateway`."""

    called = "InternetGateway"
    attributes = {"InternetGatewayId": "InternetGatewayId"}  # noqa: RUF012
    tagged_as = "internet-gateway"


class InternetGatewayAttachment(NetworkResource):
    """`AWS::EC2::VPCGatewayAttachment` of an internet gateway."""

    cfn_type = "AWS::EC2::VPCGatewayAttachment"
    create_operation = "AttachInternetGateway"
    delete_operation = "DetachInternetGateway"
    identifiers = ("InternetGatewayId", "VpcId")
    ref = "VpcId"

    @property
    def physical_resource_id(self) -> str:
        """`IGW|VpcId`."""
        return f"IGW|{self.request['VpcId']}"


class ElasticAddress(NetworkResource):
    """`AWS::EC2::EIP`."""

    cfn_type = "AWS::EC2::EIP"
    create_operation = "AllocateAddress"
    delete_operation = "ReleaseAddress"
    id_member = "AllocationId"
    ref = "PublicIp"
    identifiers = ()
    attributes = {"AllocationId": "AllocationId", "PublicIp": "PublicIp"}  # noqa: RUF012
    tagged_as = "elastic-ip"


class NatGateway(NamedByEc2):
    """`AWS::EC2::NatGateway`."""

    called = "NatGateway"
    attributes = {"NatGatewayId": "NatGatewayId"}  # noqa: RUF012
    tagged_as = "natgateway"


class VpcEndpoint(NamedByEc2):
    """`AWS::EC2::VPCEndpoint`, for a gateway or an interface."""

    called = "VpcEndpoint"
    cfn_type = "AWS::EC2::VPCEndpoint"
    delete_operation = "DeleteVpcEndpoints"
    attributes = {"Id": "VpcEndpointId"}  # noqa: RUF012
    tagged_as = "vpc-endpoint"

    @classmethod
    def create_request(cls, properties: Properties) -> Properties:
        """Return CreateVpcEndpoint's request, the policy as text."""
        request = super().create_request(properties)
        policy: Any = request.get("PolicyDocument")
        return request if policy is None else {**request, "PolicyDocument": text_of(policy)}

    @classmethod
    def delete_request(cls, identity: Properties) -> Properties:
        """Return DeleteVpcEndpoints' request."""
        return {"VpcEndpointIds": [identity["VpcEndpointId"]]}


NETWORK_TYPES: tuple[type[ApiResource], ...] = (
    RouteTable,
    SubnetRouteTableAssociation,
    Route,
    InternetGateway,
    InternetGatewayAttachment,
    ElasticAddress,
    NatGateway,
    VpcEndpoint,
)
