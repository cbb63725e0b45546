"""The network that a set of templates declares, as far as it decides what a model can reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lmi_constructs.checks.resources import Key


OFFLINE: Final = frozenset({"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"})
"""Variables with which the container asks no hub at all."""

OTHER_HUBS: Final = frozenset(
    {"HF_ENDPOINT", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"}
)
"""Variables that lead the container to a mirror or proxy, which may be within the VPC."""


@dataclass(frozen=True, kw_only=True)
class Network:
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
