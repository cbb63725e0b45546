"""Where images are, and whether they can be pulled from there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lmi_constructs.checks.examples import Example
from lmi_constructs.checks.queries.container_images import image
from lmi_constructs.checks.queries.containers import containers
from lmi_constructs.checks.queries.resource_arns import is_of_aws
from lmi_constructs.checks.rules.base import Rule
from lmi_constructs.checks.values import literal, shown
from lmi_constructs.facts import registries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.queries.container_images import Image
    from lmi_constructs.checks.resources import Container, Resource
    from lmi_constructs.facts import Registry
    from lmi_constructs.findings import Finding

_IMAGE: Final = "Model/Properties/PrimaryContainer/Image"
_V22: Final = "763104351884.dkr.ecr.us-east-1.amazonaws.com/djl-inference:0.36.0-lmi22.0.0-cu129"


class ImageOfAnotherRegion(Rule):
    """LMI030."""

    id = "LMI030"
    title = "the image is in another region"
    why = "CreateModel refuses an image outside the region of the endpoint"
    fix = "use the registry of the endpoint's region"
    source = "botocore 1.44.8 sagemaker 2017-07-24 ContainerDefinition.Image"
    failing = Example({_IMAGE: _V22.replace("us-east-1", "us-west-2")})
    passing = Example({_IMAGE: {"Fn::Sub": _V22.replace("us-east-1", "${AWS::Region}")}})

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield images whose region is not that of the stack."""
        for resource, container in containers(deployment):
            parts = image(container)
            region = literal(parts.region) if parts else None
            if region and resource.region and region != resource.region:
                fix = _in_region(container, resource.region)
                message = f"the image is in {region}, but the endpoint is in {resource.region}"
                yield self.found(resource, f"{container.path}/Image", message, fix=fix)


def _in_region(container: Container, region: str) -> str:
    """Say where an image is to be pulled from in another region than it is in."""
    registry = registries().get(region)
    if registry is not None and is_of_aws(container):
        return f"pull it from {registry.host}"
    return f"replicate the repository to {region}, and pull it from there"


def is_elsewhere(resource: Resource, container: Container) -> bool:
    """Tell whether an image surely is where it cannot be pulled from, whatever the role may do."""
    parts = image(container)
    region = literal(parts.region) if parts else None
    if region and resource.region and region != resource.region:
        return True
    return parts is not None and _right_registry(resource, parts) is not None


def _right_registry(resource: Resource, parts: Image) -> Registry | None:
    """Return AWS's registry of a region, where an image is said to be in another one of AWS's."""
    accounts = {registry.account for registry in registries().values()}
    registry = registries().get(literal(parts.region) or resource.region or "")
    if registry is None or literal(parts.account) not in accounts:
        return None
    domain = (literal(parts.domain) or f".{registry.domain}").lstrip(".")
    return None if (parts.account, domain) == (registry.account, registry.domain) else registry


class WrongRegistryAccount(Rule):
    """LMI031."""

    id = "LMI031"
    title = "AWS's registry has another account in this region"
    why = "there is no such repository in that account and region, so the image cannot be pulled"
    fix = "use the account of the region"
    source = "aws/deep-learning-containers@2026-08-21:docs/reference/region_availability.md"
    failing = Example({_IMAGE: _V22.replace("us-east-1", "ca-west-1")}, region=None)
    passing = Example(
        {
            _IMAGE: _V22.replace("us-east-1", "ca-west-1").replace("763104351884", "204538143572"),
            "Role/Properties/Policies/0/PolicyDocument/Statement/1/Resource": "*",
        },
        region=None,
    )

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield AWS accounts that publish in other regions only, and wrong DNS suffixes.

        An image that is in another region than the endpoint has to move there first (LMI030).
        """
        for resource, container in containers(deployment):
            parts = image(container)
            registry = _right_registry(resource, parts) if parts else None
            if parts is None or registry is None:
                continue
            if resource.region and resource.region != registry.region:
                continue
            domain = (literal(parts.domain) or f".{registry.domain}").lstrip(".")
            message = (
                f"the image is in {shown(parts.account)} under {domain}, but AWS's registry"
                f" in {registry.region} is {registry.host}"
            )
            fix = f"pull it from {registry.host}"
            yield self.found(resource, f"{container.path}/Image", message, fix=fix)
