"""A deployment: what a set of templates will create, described neutrally and typed.

Rules look at a [`Deployment`][] only, never at a template, so that they mean the same whether it
comes from our constructs, from somebody else's template or from a running endpoint.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from lmi_constructs.checks.resources import (
    Alarm,
    Component,
    Endpoint,
    EndpointConfig,
    Key,
    Model,
    Resource,
    Role,
    ScalableTarget,
    ScalingPolicy,
    Unresolved,
    Variant,
)
from lmi_constructs.checks.subnet_routes import SubnetRoutes
from lmi_constructs.checks.values import String, Text, is_identifying, is_same
from lmi_constructs.container import LmiContainer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from lmi_constructs.checks.acknowledged import Acknowledgment
    from lmi_constructs.checks.choices import Choice


@dataclass(frozen=True)
class Facts:
    """What a user knows better than the library.

    Attributes:
        images: Images of the user's own by their beginning, with the release they behave like.
        instance_types: Instance types that exist though the library does not know them.
        host_images: Host images that exist though the library does not know them.
        model_configs: `config.json` of a model. The key is the model's logical id, the construct
            path of the model or of a construct that it stands in (such as the endpoint's, to tell
            stages apart), or `TEMPLATE/LOGICAL_ID`. The most precise key wins.
        serving_properties: Text of the `serving.properties` beside a model, by the same keys.

    Raises:
        LmiError: If an image behaves like a release that is not known (LMI016).
    """

    images: Mapping[str, str] = field(default_factory=dict)
    instance_types: frozenset[str] = frozenset()
    host_images: frozenset[str] = frozenset()
    model_configs: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    serving_properties: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse releases that nothing is known of."""
        for release in self.images.values():
            LmiContainer.of(release)

    def config_of(self, model: Resource) -> Mapping[str, object] | None:
        """Return the `config.json` that is known of a model."""
        return _about(self.model_configs, model)

    def properties_of(self, model: Resource) -> str | None:
        """Return the `serving.properties` that is known of a model."""
        return _about(self.serving_properties, model)


Known = TypeVar("Known")


def _about(given: Mapping[str, Known], resource: Resource) -> Known | None:
    """Return what is given about a resource, under the most precise of its keys."""
    if not given:
        return None
    return next((given[name] for name in names_of(resource) if name in given), None)


def names_of(resource: Resource) -> tuple[str, ...]:
    """Return the names under which a user may say something about a resource, the precise first."""
    path = (resource.construct_path or "").removesuffix("/Resource").split("/")
    above = ("/".join(path[:length]) for length in range(len(path), 0, -1))
    names = (key_of(resource), resource.construct_path or "", *above, resource.logical_id)
    return tuple(name for name in names if name)


def key_of(resource: Resource) -> str:
    """Return the key of a resource that no other has: `TEMPLATE/LOGICAL_ID`."""
    return "/".join(resource.key)


Named = TypeVar("Named", bound=Resource)


@dataclass(frozen=True, kw_only=True, eq=False)
class Deployment:
    """All that a set of templates creates, with the defaults of their parameters.

    Attributes:
        unresolved: What CloudFormation, or this library, cannot resolve in them.
        alternatives: Reads what they create with other values of their parameters.
    """

    models: tuple[Model, ...] = ()
    endpoint_configs: tuple[EndpointConfig, ...] = ()
    endpoints: tuple[Endpoint, ...] = ()
    components: tuple[Component, ...] = ()
    roles: tuple[Role, ...] = ()
    scalable_targets: tuple[ScalableTarget, ...] = ()
    scaling_policies: tuple[ScalingPolicy, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    shared_buckets: frozenset[Key] = frozenset()
    dependencies: Mapping[Key, frozenset[Key]] = field(default_factory=dict)
    network: SubnetRoutes = field(default_factory=SubnetRoutes)
    unresolved: tuple[Unresolved, ...] = ()
    alternatives: Callable[[], Iterable[tuple[Choice, Deployment]]] = tuple
    facts: Facts = field(default_factory=Facts)
    acknowledgments: tuple[Acknowledgment, ...] = ()

    def resources(self) -> Iterator[Resource]:
        """Yield all resources that the rules know."""
        yield from self.models
        yield from self.endpoint_configs
        yield from self.endpoints
        yield from self.components
        yield from self.roles
        yield from self.scalable_targets
        yield from self.scaling_policies
        yield from self.alarms

    def model(self, name: String | None) -> Model | None:
        """Return the model that a property names, if it is one of this deployment."""
        return self._named(self.models, name)

    def endpoint_config(self, name: String | None) -> EndpointConfig | None:
        """Return the endpoint configuration that a property names."""
        return self._named(self.endpoint_configs, name)

    def endpoint(self, name: String | None) -> Endpoint | None:
        """Return the endpoint that a property names."""
        return self._named(self.endpoints, name)

    def component(self, name: String | None) -> Component | None:
        """Return the inference component that a property names."""
        return self._named(self.components, name)

    def alarm(self, name: String | None) -> Alarm | None:
        """Return the alarm that a property names."""
        return self._named(self.alarms, name)

    def role(self, name: String | None) -> Role | None:
        """Return the role that a property refers to."""
        return self._named(self.roles, name)

    def components_on(self, endpoint: Endpoint) -> tuple[Component, ...]:
        """Return the inference components of an endpoint."""
        return self._components_by_endpoint.get(endpoint.key, ())

    def depends(self, resource: Resource, other: Key) -> bool:
        """Tell whether CloudFormation creates the other resource first for sure."""
        seen: set[Key] = set()
        ahead = list(resource.refers_to)
        while ahead:
            key = ahead.pop()
            if key == other:
                return True
            if key not in seen:
                seen.add(key)
                ahead.extend(self.dependencies.get(key, ()))
        return False

    def _named(self, candidates: tuple[Named, ...], name: String | None) -> Named | None:
        if not candidates or not is_identifying(name):
            return None
        index = self._indices.setdefault(type(candidates[0]), {})
        if not index:
            index.update(_index(candidates))
        reference = name.reference if isinstance(name, Text) else None
        if reference is not None and reference.resource:
            return index.get((reference.template, reference.name))  # type: ignore[return-value]
        return index.get(name)  # type: ignore[return-value]

    @cached_property
    def _indices(self) -> dict[type[Resource], dict[object, Resource]]:
        return {}

    @cached_property
    def _components_by_endpoint(self) -> dict[Key, tuple[Component, ...]]:
        found: dict[Key, tuple[Component, ...]] = {}
        for component in self.components:
            endpoint = self.endpoint(component.endpoint)
            if endpoint is not None:
                found[endpoint.key] = (*found.get(endpoint.key, ()), component)
        return found

    def hosts(self, component: Component) -> tuple[tuple[EndpointConfig, Variant], ...]:
        """Return the variant that an inference component runs on, if it is known."""
        endpoint = self.endpoint(component.endpoint)
        config = self.endpoint_config(endpoint.config) if endpoint else None
        if config is None:
            return ()
        return tuple(
            (config, variant)
            for variant in config.variants
            if is_same(variant.name, component.variant) or len(config.variants) == 1
        )


def _index(candidates: tuple[Named, ...]) -> dict[object, Resource]:
    """Index resources by key, and by name where no other has the same."""
    index: dict[object, Resource] = {}
    for candidate in reversed(candidates):
        index[candidate.key] = candidate
        if is_identifying(candidate.name):
            index[candidate.name] = candidate
    return index
