"""What is known of the instance type that a deployment names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lmi_constructs.checks.values import literal
from lmi_constructs.facts import InstanceType, instance_types

if TYPE_CHECKING:
    from lmi_constructs.checks.deployment import Deployment


def instance(name: object) -> InstanceType | None:
    """Return the accelerated instance type of a name, if it is known."""
    return instance_types().get(literal(name) or "")


def has_no_accelerator(deployment: Deployment, name: object) -> bool:
    """Tell whether an instance type surely has no accelerator."""
    spoken = literal(name) or ""
    if spoken in instance_types() or spoken in deployment.facts.instance_types:
        return False
    return bool(re.match(r"ml\.[cmrt]\d", spoken))
