"""A deployment: what a set of templates will create, described neutrally and typed.

Rules look at a [`Deployment`][] only, never at a template, so that they mean the same whether it
comes from our constructs, from somebody else's template or from a running endpoint. For the values
see [`lmi_constructs.checks.values`][]: known, `Text`, `UNKNOWN`, or `None` if absent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from lmi_constructs.checks.values import UNKNOWN, Flag, Number, String, Text, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Key = tuple[str, str]
"""Template name and logical id: what identifies a resource among those read together."""


@dataclass(frozen=True, kw_only=True)
class Resource:
    """What all resources have.

    Attributes:
        template: Name of the template that declares it.
        logical_id: Its logical id.
        construct_path: Its path in the construct tree, where CDK wrote it down.
        region: Region it is created in, if known.
        name: Its own name property, `None` if CloudFormation makes one up.
        refers_to: Resources that CloudFormation creates before it, directly.
        conditional: Whether it exists under a condition only.
    """

    template: str
    logical_id: str
    construct_path: str | None = None
    region: str | None = None
    name: String | None = None
    refers_to: frozenset[Key] = frozenset()
    conditional: bool = False

    @property
    def key(self) -> Key:
        """What identifies the resource."""
        return (self.template, self.logical_id)


@dataclass(frozen=True, kw_only=True)
class S3DataSource:
    """Where SageMaker takes uncompressed or single-object model data from."""

    path: str
    uri: String | None = None
    data_type: String | None = None
    compression: String | None = None


@dataclass(frozen=True, kw_only=True)
class Container:
    """One container of a model or of an inference component.

    Attributes:
        path: Path of the container inside the resource's properties.
        environment: Environment by name; `UNKNOWN` as a whole, or `None` if absent.
    """

    path: str
    image: String | None = None
    environment: Mapping[str, String] | Unknown | None = None
    model_data_url: String | None = None
    s3_data_source: S3DataSource | Unknown | None = None
    mode: String | None = None
    model_package: String | None = None


@dataclass(frozen=True, kw_only=True)
class Model(Resource):
    """A SageMaker model."""

    role: String | None = None
    containers: tuple[Container, ...] = ()
    network_isolation: Flag | None = None
    vpc: Vpc | Unknown | None = None


@dataclass(frozen=True, kw_only=True)
class Vpc:
    """Network of a model; counts are `None` where the list itself is unknown."""

    security_groups: int | None
    subnets: int | None


@dataclass(frozen=True, kw_only=True)
class ManagedScaling:
    """Managed instance scaling of a variant."""

    status: String | None = None
    minimum: Number | None = None
    maximum: Number | None = None


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A production or shadow variant of an endpoint configuration."""

    path: str
    name: String | None = None
    model: String | None = None
    instance_type: String | None = None
    instance_pools: tuple[tuple[str, String | None], ...] = ()
    initial_instance_count: Number | None = None
    volume_size: Number | None = None
    download_timeout: Number | None = None
    health_check_timeout: Number | None = None
    provision_timeout: Number | None = None
    host_image: String | None = None
    managed_scaling: ManagedScaling | Unknown | None = None
    serverless: bool = False
    reserved: bool = False

    @property
    def instance_types(self) -> tuple[tuple[str, String], ...]:
        """All instance types it may run on, each with its path."""
        rows = ((f"{self.path}/InstanceType", self.instance_type), *self.instance_pools)
        return tuple((path, kind) for path, kind in rows if kind is not None)


@dataclass(frozen=True, kw_only=True)
class EndpointConfig(Resource):
    """A SageMaker endpoint configuration.

    Attributes:
        output_paths: S3 addresses that the endpoint writes to, by property path.
    """

    variants: tuple[Variant, ...] = ()
    variants_complete: bool = True
    shadow_variants: tuple[Variant, ...] = ()
    role: String | None = None
    kms_key: String | None = None
    asynchronous: Flag = False
    network_isolation: Flag | None = None
    output_paths: tuple[tuple[str, String], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """How much capacity a step of an update moves."""

    path: str
    kind: String | None = None
    value: Number | None = None


@dataclass(frozen=True, kw_only=True)
class UpdatePolicy:
    """How an endpoint moves to a new configuration (`DeploymentConfig`)."""

    blue_green: bool = False
    rolling: bool = False
    routing: String | None = None
    canary: Capacity | None = None
    linear: Capacity | None = None
    batch: Capacity | None = None
    wait_seconds: Number | None = None
    termination_wait_seconds: Number | None = None
    longest_seconds: Number | None = None
    alarms: tuple[String, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Endpoint(Resource):
    """A SageMaker endpoint."""

    config: String | None = None
    update_policy: UpdatePolicy | Unknown | None = None
    retains_variant_properties: Flag | None = None


@dataclass(frozen=True, kw_only=True)
class ComponentSpecification:
    """What one inference component runs and needs."""

    path: str
    model: String | None = None
    container: Container | None = None
    instance_type: String | None = None
    base_component: String | None = None
    accelerators: Number | None = None
    cpus: Number | None = None
    memory_mib: Number | None = None
    download_timeout: Number | None = None
    health_check_timeout: Number | None = None


@dataclass(frozen=True, kw_only=True)
class Component(Resource):
    """A SageMaker inference component."""

    endpoint: String | None = None
    variant: String | None = None
    specifications: tuple[ComponentSpecification, ...] = ()
    copies: Number | None = None


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What one statement allows; conditions are taken as fulfilled.

    Attributes:
        given_by: The resource that gives it: the role itself or a policy attached to it.
    """

    actions: tuple[str, ...]
    resources: tuple[String, ...]
    given_by: Key


@dataclass(frozen=True, kw_only=True)
class Role(Resource):
    """An IAM role of the template.

    Attributes:
        services: Services that may assume it; `UNKNOWN` if that cannot be told.
        statements: All that it is allowed by the templates.
        managed_policies: Names of AWS managed policies.
        complete: Whether all its rights are known.
    """

    services: tuple[str, ...] | Unknown = UNKNOWN
    statements: tuple[Statement, ...] = ()
    managed_policies: tuple[str, ...] = ()
    complete: bool = True


@dataclass(frozen=True, kw_only=True)
class ScalableTarget(Resource):
    """A scalable target of Application Auto Scaling."""

    namespace: String | None = None
    dimension: String | None = None
    resource_id: String | None = None
    minimum: Number | None = None
    maximum: Number | None = None


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One metric that an alarm or a policy watches."""

    path: str
    namespace: String | None = None
    metric_name: String | None = None
    dimensions: Mapping[str, String] | Unknown = field(default_factory=dict)
    statistic: String | None = None


@dataclass(frozen=True, kw_only=True)
class ScalingPolicy(Resource):
    """A scaling policy of Application Auto Scaling."""

    kind: String | None = None
    target: Key | None = None
    dimension: String | None = None
    resource_id: String | None = None
    predefined_metric: String | None = None
    metric: Metric | None = None
    target_value: Number | None = None


@dataclass(frozen=True, kw_only=True)
class Alarm(Resource):
    """A CloudWatch alarm.

    Attributes:
        simple: Whether it compares one plain metric, without metric mathematics.
    """

    metrics: tuple[Metric, ...] = ()
    simple: bool = True
    threshold: Number | None = None
    comparison: String | None = None
    actions: tuple[String, ...] = ()


@dataclass(frozen=True)
class Facts:
    """What a user knows better than the library.

    Attributes:
        images: Images of the user's own by their beginning, with the release they behave like.
        instance_types: Instance types that exist though the library does not know them.
        host_images: Host images that exist though the library does not know them.
        model_configs: `config.json` of a model by logical id or construct path of the model.
    """

    images: Mapping[str, str] = field(default_factory=dict)
    instance_types: frozenset[str] = frozenset()
    host_images: frozenset[str] = frozenset()
    model_configs: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


Named = TypeVar("Named", bound=Resource)


@dataclass(frozen=True, kw_only=True, eq=False)
class Deployment:
    """All that a set of templates creates."""

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
    facts: Facts = field(default_factory=Facts)

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

    def endpoints_of(self, config: EndpointConfig) -> tuple[Endpoint, ...]:
        """Return the endpoints that use a configuration."""
        return self._endpoints_by_config.get(config.key, ())

    def uses(self, model: Model) -> tuple[tuple[EndpointConfig, Variant], ...]:
        """Return the variants that run a model, directly or through a component."""
        return self._uses.get(model.key, ())

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
        if not candidates or name is None or name is UNKNOWN:
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

    @cached_property
    def _endpoints_by_config(self) -> dict[Key, tuple[Endpoint, ...]]:
        found: dict[Key, tuple[Endpoint, ...]] = {}
        for endpoint in self.endpoints:
            config = self.endpoint_config(endpoint.config)
            if config is not None:
                found[config.key] = (*found.get(config.key, ()), endpoint)
        return found

    @cached_property
    def _uses(self) -> dict[Key, tuple[tuple[EndpointConfig, Variant], ...]]:
        found: dict[Key, tuple[tuple[EndpointConfig, Variant], ...]] = {}
        for config, variant, name in self._running():
            model = self.model(name)
            if model is not None:
                found[model.key] = (*found.get(model.key, ()), (config, variant))
        return found

    def _running(self) -> Iterable[tuple[EndpointConfig, Variant, String | None]]:
        for config in self.endpoint_configs:
            for variant in (*config.variants, *config.shadow_variants):
                yield config, variant, variant.model
        for component in self.components:
            for config, variant in self.hosts(component):
                for specification in component.specifications:
                    yield config, variant, specification.model

    def hosts(self, component: Component) -> tuple[tuple[EndpointConfig, Variant], ...]:
        """Return the variant that an inference component runs on, if it is known."""
        endpoint = self.endpoint(component.endpoint)
        config = self.endpoint_config(endpoint.config) if endpoint else None
        if config is None:
            return ()
        return tuple(
            (config, variant)
            for variant in config.variants
            if variant.name == component.variant or len(config.variants) == 1
        )


def _index(candidates: tuple[Named, ...]) -> dict[object, Resource]:
    """Index resources by key, and by name where no other has the same."""
    index: dict[object, Resource] = {}
    for candidate in reversed(candidates):
        index[candidate.key] = candidate
        if candidate.name is not None and candidate.name is not UNKNOWN:
            index[candidate.name] = candidate
    return index
