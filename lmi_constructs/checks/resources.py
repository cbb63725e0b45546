"""The parts of a deployment: resources of SageMaker, IAM, Application Auto Scaling and CloudWatch.

For the values see [`lmi_constructs.checks.values`][]: known, `Text`, `UNKNOWN`, or `None` if absent.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from lmi_constructs.checks.values import UNKNOWN, Flag, Number, String, Unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        name_parameters: Parameters of the template that the name is made of.
        refers_to: Resources that CloudFormation creates before it, directly.
        conditional: Whether it exists under a condition only.
    """

    template: str
    logical_id: str
    construct_path: str | None = None
    region: str | None = None
    name: String | None = None
    name_parameters: frozenset[str] = frozenset()
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
        behaves_like: Release that an image of the user's own behaves like, where our constructs wrote
            it into the resource's metadata.
    """

    path: str
    image: String | None = None
    environment: Mapping[str, String] | Unknown | None = None
    model_data_url: String | None = None
    s3_data_source: S3DataSource | Unknown | None = None
    mode: String | None = None
    model_package: String | None = None
    behaves_like: str | None = None


@dataclass(frozen=True, kw_only=True)
class Model(Resource):
    """A SageMaker model.

    Attributes:
        mounted_model: Hub id of the model whose files are mounted, where our constructs wrote it
            into the resource's metadata.
        architecture: Record of the model's shape, where they wrote that.
        serving_properties: What the `serving.properties` among the files sets, where they wrote that.
    """

    mounted_model: str | None = None
    architecture: Mapping[str, object] | None = None
    serving_properties: Mapping[str, object] | None = None
    role: String | None = None
    containers: tuple[Container, ...] = ()
    network_isolation: Flag | None = None
    vpc: Vpc | Unknown | None = None


@dataclass(frozen=True, kw_only=True)
class Vpc:
    """Network of a model, or of what an endpoint configuration serves.

    Attributes:
        security_groups: How many groups, `None` where the list itself is unknown.
        subnets: How many subnets, `None` where the list itself is unknown.
        subnet_ids: The subnets, none where the list itself is unknown.
    """

    security_groups: int | None
    subnets: int | None
    subnet_ids: tuple[String | None, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ManagedScaling:
    """Managed instance scaling of a variant."""

    status: String | None = None
    minimum: Number | None = None
    maximum: Number | None = None


@dataclass(frozen=True, kw_only=True)
class InstancePool:
    """One of several instance types of a variant, in order of preference.

    Attributes:
        path: Path of the instance type inside the resource's properties.
        model: Model on this type; `None` if it is the variant's.
    """

    path: str
    instance_type: String | None = None
    model: String | None = None


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A production or shadow variant of an endpoint configuration."""

    path: str
    name: String | None = None
    model: String | None = None
    instance_type: String | None = None
    instance_pools: tuple[InstancePool, ...] = ()
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
        pools = ((pool.path, pool.instance_type) for pool in self.instance_pools)
        rows = ((f"{self.path}/InstanceType", self.instance_type), *pools)
        return tuple((path, kind) for path, kind in rows if kind is not None)

    @property
    def by_model(self) -> tuple[Variant, ...]:
        """The variant once for each model that it runs, with the instance types of that model."""
        own = tuple(pool for pool in self.instance_pools if pool.model is None)
        others = tuple(pool for pool in self.instance_pools if pool.model is not None)
        if not others:
            return (self,)
        first = (replace(self, instance_pools=own),) if own or self.instance_type else ()
        rest = (
            replace(self, model=pool.model, instance_type=None, instance_pools=(pool,))
            for pool in others
        )
        return (*first, *rest)


@dataclass(frozen=True, kw_only=True)
class EndpointConfig(Resource):
    """A SageMaker endpoint configuration.

    Attributes:
        output_paths: S3 addresses that the endpoint writes to, by property path.
        enhanced_metrics: Whether it publishes metrics by instance, container and accelerator.
    """

    variants: tuple[Variant, ...] = ()
    variants_complete: bool = True
    shadow_variants: tuple[Variant, ...] = ()
    role: String | None = None
    kms_key: String | None = None
    asynchronous: Flag = False
    network_isolation: Flag | None = None
    vpc: Vpc | Unknown | None = None
    output_paths: tuple[tuple[str, String], ...] = ()
    enhanced_metrics: Flag = False


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
    """A SageMaker inference component.

    Attributes:
        endpoint_by_arn: Whether its endpoint is told by `EndpointArn` instead of `EndpointName`.
    """

    endpoint: String | None = None
    endpoint_by_arn: bool = False
    variant: String | None = None
    specifications: tuple[ComponentSpecification, ...] = ()
    copies: Number | None = None


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What one statement allows or denies; conditions of those that allow are taken as fulfilled.

    Attributes:
        given_by: The resource that gives it: the role itself or a policy attached to it.
        denies: Whether it denies.
        is_conditional: Whether it has a condition.
    """

    actions: tuple[str, ...]
    resources: tuple[String, ...]
    given_by: Key
    denies: bool = False
    is_conditional: bool = False


@dataclass(frozen=True, kw_only=True)
class Role(Resource):
    """An IAM role of the template.

    Attributes:
        services: Services that may assume it; `UNKNOWN` if that cannot be told.
        statements: All that it is allowed by the templates.
        denials: All that it is denied by the templates.
        managed_policies: Names of AWS managed policies.
        complete: Whether all its rights are known.
    """

    services: tuple[str, ...] | Unknown = UNKNOWN
    statements: tuple[Statement, ...] = ()
    denials: tuple[Statement, ...] = ()
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
    scheduled_minima: tuple[Number | None, ...] | Unknown = ()


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
    scale_out_cooldown: Number | None = None


@dataclass(frozen=True, kw_only=True)
class Alarm(Resource):
    """A CloudWatch alarm.

    Attributes:
        simple: Whether it compares one plain metric, without metric mathematics.
        periods: Periods that are looked at.
        needed_periods: How many of them must breach the threshold, `None` for all.
        period_seconds: Length of a period in seconds, of a plain metric.
        description: What it says to whom it calls.
    """

    metrics: tuple[Metric, ...] = ()
    simple: bool = True
    threshold: Number | None = None
    comparison: String | None = None
    periods: Number | None = None
    needed_periods: Number | None = None
    period_seconds: Number | None = None
    description: String | None = None
    actions: tuple[String, ...] = ()


@dataclass(frozen=True)
class Unresolved:
    """Something in a template that CloudFormation, or this library, cannot resolve.

    Attributes:
        kind: `missing` is a name of nothing, `secure-string` a reference to a secure string where
            CloudFormation takes none, `loop` a loop over something that is not known.
        resource: Where it stands.
        path: Path of the value inside the resource's properties.
        name: What cannot be resolved.
        known: Names that there are instead.
    """

    kind: Literal["missing", "secure-string", "loop"]
    resource: Resource
    path: str
    name: str
    known: tuple[str, ...] = ()
