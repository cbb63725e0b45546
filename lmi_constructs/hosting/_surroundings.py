"""Where a construct stands: region, account and partition of its stack, read once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import aws_cdk as cdk

from lmi_constructs.facts import registries
from lmi_constructs.hosting._tokens import is_token

if TYPE_CHECKING:
    from constructs import Construct

_KEPT = "_lmi_surroundings"
"""Attribute of a construct that holds its surroundings."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Region, account and partition of a stack, as literals where they are known at synth.

    Attributes:
        stack: The stack.
        region: Region, a token if the stack is not bound to one.
        account: Account, a token if the stack is not bound to one.
        partition: Partition, a token if it does not follow from the region.
    """

    stack: cdk.Stack
    region: str
    account: str
    partition: str

    @classmethod
    def of(cls, scope: Construct) -> Surroundings:
        """Return the surroundings of a construct.

        They are kept at the stack and at the construct, as each question is a call over the bridge.
        """
        kept = getattr(scope, _KEPT, None)
        if isinstance(kept, cls):
            return kept
        if not isinstance(scope, cdk.Stack):
            return cls.of(cdk.Stack.of(scope)).kept_at(scope)
        stack = scope
        region = stack.region
        registry = registries().get(region)
        partition = stack.partition if registry is None else registry.partition
        found = cls(stack=stack, region=region, account=stack.account, partition=partition)
        return found.kept_at(stack)

    def kept_at(self, construct: Construct) -> Surroundings:
        """Keep them at a construct of the same stack, and return them."""
        setattr(construct, _KEPT, self)
        return self

    @property
    def region_is_known(self) -> bool:
        """Whether the region is known at synth."""
        return not is_token(self.region)

    def arn(self, service: str, resource: str, *, account: str | None = None) -> str:
        """Return the ARN of a resource in this region."""
        owner = self.account if account is None else account
        return f"arn:{self.partition}:{service}:{self.region}:{owner}:{resource}"

    def bucket_arn(self, bucket_name: str) -> str:
        """Return the ARN of a bucket in this partition."""
        return f"arn:{self.partition}:s3:::{bucket_name}"
