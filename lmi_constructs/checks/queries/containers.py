"""The containers of a deployment, each with the variant that runs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lmi_constructs.checks.queries.caching import cached_per_deployment
from lmi_constructs.checks.queries.variants import variants
from lmi_constructs.checks.resources import Model
from lmi_constructs.checks.values import UNKNOWN, String, number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.resources import (
        Component,
        ComponentSpecification,
        Container,
        EndpointConfig,
        Resource,
        Variant,
    )


def containers(deployment: Deployment) -> Iterator[tuple[Resource, Container]]:
    """Yield all containers of models and of inference components."""
    for model in deployment.models:
        for container in model.containers:
            yield model, container
    for component in deployment.components:
        for specification in component.specifications:
            if specification.container is not None:
                yield component, specification.container


@dataclass(frozen=True)
class Running:
    """A container on the variant that runs it."""

    resource: Resource
    model: Model | None
    container: Container
    config: EndpointConfig
    variant: Variant
    component: Component | None = None
    specification: ComponentSpecification | None = None

    @property
    def accelerator_count(self) -> int | None:
        """How many accelerators a component asks for; `None` if it is none, or asks for none."""
        requested = number(self.specification.accelerators) if self.specification else None
        return None if requested is None else int(requested)


@cached_per_deployment
def running(deployment: Deployment) -> Iterator[Running]:
    """Return each container together with each variant that runs it."""
    for config, declared in variants(deployment):
        for variant in declared.by_model:
            model = deployment.model(variant.model)
            for container in model.containers if model else ():
                yield Running(model, model, container, config, variant)  # type: ignore[arg-type]
    for component in deployment.components:
        for config, variant in deployment.hosts(component):
            for one in component.specifications:
                model = deployment.model(one.model)
                for container in model.containers if model else ():
                    yield Running(model, model, container, config, variant, component, one)  # type: ignore[arg-type]
                if one.container is not None:
                    yield Running(component, None, one.container, config, variant, component, one)


def environment(container: Container) -> Mapping[str, String]:
    """Return the environment of a container as far as it is known."""
    known = container.environment
    return {} if known is None or known is UNKNOWN else known


def serving_properties(
    deployment: Deployment, resource: Resource
) -> str | Mapping[str, object] | None:
    """Return the `serving.properties` beside a model, as the user or our constructs tell it."""
    written = resource.serving_properties if isinstance(resource, Model) else None
    return deployment.facts.properties_of(resource) or written
