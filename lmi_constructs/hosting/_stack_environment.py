"""The environment of a construct's stack, as the CDK calls it: region, account, partition; read once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import aws_cdk as cdk

from lmi_constructs.facts import registries
from lmi_constructs.hosting._cdk_tokens import is_token

if TYPE_CHECKING:
    from constructs import Construct

_CACHED = "_lmi_stack_environment"
"""Attribute of a construct that caches its environment: each question is a call over the bridge."""


@dataclass(frozen=True, slots=True)
class StackEnvironment:
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
    def of(cls, scope: Construct) -> StackEnvironment:
        """Return the environment of the stack that a construct is in, and cache it at both."""
        cached = getattr(scope, _CACHED, None)
        if isinstance(cached, cls):
            return cached
        if not isinstance(scope, cdk.Stack):
            return cls.of(cdk.Stack.of(scope)).cached_at(scope)
        region = scope.region
        registry = registries().get(region)
        partition = scope.partition if registry is None else registry.partition
        found = cls(stack=scope, region=region, account=scope.account, partition=partition)
        return found.cached_at(scope)

    def cached_at(self, construct: Construct) -> StackEnvironment:
        """Cache it at a construct of the same stack, and return it."""
        setattr(construct, _CACHED, self)
        return self

    @property
    def region_is_known(self) -> bool:
        """Whether the region is known at synth."""
        return not is_token(self.region)

    def arn(self, service: str, resource: str, *, account: str | None = None) -> str:
        """Return the ARN of a resource in this region, by default of this account."""
        owner = self.account if account is None else account
        return f"arn:{self.partition}:{service}:{self.region}:{owner}:{resource}"

    def component_arn(self, component_name: str) -> str:
        """Return the ARN of an inference component."""
        return self.arn("sagemaker", f"inference-component/{component_name}")

    def bucket_arn(self, bucket_name: str) -> str:
        """Return the ARN of a bucket in this partition."""
        return f"arn:{self.partition}:s3:::{bucket_name}"
