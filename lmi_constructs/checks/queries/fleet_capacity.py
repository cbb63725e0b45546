"""How many instances a fleet may have, and how many copies they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lmi_constructs.checks.queries.instance_types import instance
from lmi_constructs.checks.queries.scaled_resources import scaled
from lmi_constructs.checks.queries.variants import variant_of
from lmi_constructs.checks.resources import ManagedScaling
from lmi_constructs.checks.values import UNKNOWN, literal, number

if TYPE_CHECKING:
    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.resources import (
        Component,
        ComponentSpecification,
        EndpointConfig,
        Variant,
    )

_MIB: Final = 1024
COMPUTE_KINDS: Final = ("accelerators", "MB", "vCPUs")
"""What copies take of an instance, in the order of `compute_requirements` and `instance_compute`."""


def compute_requirements(specification: ComponentSpecification) -> tuple[float, ...]:
    """Return what a copy takes of each of `COMPUTE_KINDS`; 0 where it is not known."""
    return tuple(
        number(value) or 0
        for value in (specification.accelerators, specification.memory_mib, specification.cpus)
    )


def instance_compute(variant: Variant) -> tuple[float | None, ...] | None:
    """Return what one instance of a variant has of each of `COMPUTE_KINDS`; `None` is not known."""
    kind = instance(variant.instance_type)
    if kind is None:
        return None
    memory = None if kind.host_memory_gib is None else kind.host_memory_gib * _MIB
    return kind.accelerator_count, memory, kind.vcpu


def most_instances(
    deployment: Deployment, config: EndpointConfig, variant: Variant
) -> float | None:
    """Return the most instances that a variant may have, `None` if it is not known."""
    scaling = variant.managed_scaling
    if scaling is UNKNOWN:
        return None
    if isinstance(scaling, ManagedScaling) and scaling.maximum is not None:
        return number(scaling.maximum)
    for target in deployment.scalable_targets:
        thing = scaled(deployment, target.resource_id)
        if thing is None:
            return None  # it may be this one
        found = thing.endpoint and deployment.endpoint_config(thing.endpoint.config)
        if found is not None and found.key == config.key:
            return number(target.maximum) if _is(config, variant, thing.variant) else None
    return number(variant.initial_instance_count)


def copies_that_fit(deployment: Deployment, component: Component) -> int | None:
    """Return how many copies of a component a fleet of its own would hold, `None` if not known."""
    if len(component.specifications) != 1:
        return None
    hosts = deployment.hosts(component)
    if len(hosts) != 1:
        return None
    ((config, variant),) = hosts
    has, most = instance_compute(variant), most_instances(deployment, config, variant)
    if has is None or most is None:
        return None
    each = [
        int(there // taken)
        for there, taken in zip(has, compute_requirements(component.specifications[0]), strict=True)
        if there is not None and taken > 0
    ]
    return int(most) * min(each) if each else None


def _is(config: EndpointConfig, variant: Variant, name: object) -> bool:
    return literal(name) is not None and variant_of(config, name) is variant
