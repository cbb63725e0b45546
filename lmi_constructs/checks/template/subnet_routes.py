"""Reading subnets, and the ways out of them: routes and VPC endpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.checks.subnet_routes import SubnetRoutes
from lmi_constructs.checks.values import (
    UNKNOWN,
    as_sequence,
    as_string,
    literal,
    resource_of,
    tail,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lmi_constructs.checks.resources import Key

_TABLE: Final = "AWS::EC2::RouteTable"
_ASSOCIATION: Final = "AWS::EC2::SubnetRouteTableAssociation"
_ROUTE: Final = "AWS::EC2::Route"
_PROPAGATION: Final = "AWS::EC2::VPNGatewayRoutePropagation"
_ENDPOINT: Final = "AWS::EC2::VPCEndpoint"

KINDS: Final = frozenset({_TABLE, _ASSOCIATION, _ROUTE, _PROPAGATION, _ENDPOINT})
"""Resource types that say what a subnet reaches."""


class RouteTables:
    """Route tables, and what leads out of them."""

    def __init__(self) -> None:
        """Start without any."""
        self._declared: set[Key] = set()
        self._routed: set[Key] = set()
        self._served: set[Key] = set()
        self._tables: dict[Key, set[Key | None]] = {}
        self._any_table_routed = False
        self._any_table_served = False

    def add(self, kind: str, properties: Mapping[str, Any], key: Key, *, conditional: bool) -> None:
        """Add one resource.

        Args:
            kind: One of `KINDS`.
            properties: Its evaluated properties.
            key: What identifies it.
            conditional: Whether it exists under a condition only.
        """
        if kind == _TABLE:
            self._declared.add(key)
        elif kind == _ASSOCIATION:
            subnet = resource_of(properties.get("SubnetId"))
            table = resource_of(properties.get("RouteTableId"))
            if subnet is not None:
                self._tables.setdefault(subnet, set()).add(None if conditional else table)
        elif kind == _ENDPOINT:
            self._add_endpoint(properties)
        else:
            tables = properties.get("RouteTableId", properties.get("RouteTableIds"))
            self._any_table_routed |= not _collect(tables, self._routed)

    def subnet_routes(self) -> SubnetRoutes:
        """Return what is sure about the subnets."""
        if self._any_table_routed:
            return SubnetRoutes()
        closed = {
            subnet: table
            for subnet, tables in self._tables.items()
            for table in tables
            if len(tables) == 1 and table in self._declared - self._routed
        }
        return SubnetRoutes(
            without_route=frozenset(closed),
            without_s3=frozenset(
                subnet
                for subnet, table in closed.items()
                if table not in self._served and not self._any_table_served
            ),
        )

    def _add_endpoint(self, properties: Mapping[str, Any]) -> None:
        """Add a VPC endpoint if it may be one for S3; an interface may serve any subnet."""
        service = tail(as_string(properties.get("ServiceName")))
        if service and not service.endswith(".s3"):
            return
        if literal(properties.get("VpcEndpointType", "Gateway")) != "Gateway":
            self._any_table_served = True
            return
        self._any_table_served |= not _collect(properties.get("RouteTableIds"), self._served)


def _collect(tables: object, known: set[Key]) -> bool:
    """Add the declared ones of some route tables, and return whether all of them can be told."""
    if tables is UNKNOWN:
        return False
    told = True
    for table in as_sequence(tables):
        declared = resource_of(table)
        if declared is not None:
            known.add(declared)
        told = told and (declared is not None or literal(table) is not None)
    return told
