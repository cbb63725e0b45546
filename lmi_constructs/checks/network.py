"""The network that a set of templates declares, as far as it decides what a model can reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lmi_constructs.checks.resources import Key


@dataclass(frozen=True, kw_only=True)
class Network:
    """What the templates show of the subnets that they declare.

    A subnet is in one of the sets only if its route table is declared too. Whoever adds routes from
    outside of the templates is not seen.

    Attributes:
        without_route: Subnets from which no route leads out of the VPC, to wherever.
        without_s3: Those of them that no VPC endpoint for S3 serves either.
    """

    without_route: frozenset[Key] = frozenset()
    without_s3: frozenset[Key] = frozenset()
