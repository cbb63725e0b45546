"""Routes out of the subnets that a set of templates declares: to the internet, and to S3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lmi_constructs.checks.resources import Key


@dataclass(frozen=True, kw_only=True)
class SubnetRoutes:
    """What the templates show of the subnets that they declare.

    A subnet is in one of the sets only if its route table is declared too. Whoever adds a way from
    outside of the templates (another stack, a transit gateway, a centrally managed VPC) is not seen:
    a subnet in these sets lacks a way here, and never for certain.

    Attributes:
        without_route: Subnets from which no route leads out of the VPC, to wherever.
        without_s3: Those of them that no VPC endpoint for S3 serves either.
    """

    without_route: frozenset[Key] = frozenset()
    without_s3: frozenset[Key] = frozenset()
