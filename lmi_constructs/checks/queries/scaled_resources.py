"""What a scalable target of Application Auto Scaling scales."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lmi_constructs.checks.values import String, split

if TYPE_CHECKING:
    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.resources import Component, Endpoint


@dataclass(frozen=True)
class Scaled:
    """What a scalable target scales, as far as it is known."""

    kind: str
    endpoint: Endpoint | None = None
    variant: String | None = None
    component: Component | None = None


def scaled(deployment: Deployment, resource_id: object) -> Scaled | None:
    """Return what a resource id of Application Auto Scaling means."""
    fields = split(resource_id, "/")
    if fields is None:
        return None
    if len(fields) == 4 and fields[0] == "endpoint" and fields[2] == "variant":
        return Scaled("variant", deployment.endpoint(fields[1]), fields[3])
    if len(fields) == 2 and fields[0] == "inference-component":
        return Scaled("inference-component", component=deployment.component(fields[1]))
    return None
