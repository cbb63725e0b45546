"""Autoscaling of variants and components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lmi_constructs.checks.examples import Example
from lmi_constructs.checks.queries.fleet_capacity import copies_that_fit
from lmi_constructs.checks.queries.scaled_resources import Scaled, scaled
from lmi_constructs.checks.queries.variants import config_of, lacks_variant, variant_of
from lmi_constructs.checks.resources import ManagedScaling, Metric
from lmi_constructs.checks.rules.base import Rule
from lmi_constructs.checks.rules.scaling_names import (
    COMPONENT,
    DIMENSIONS,
    METRIC_PATH,
    METRICS,
    VARIANT,
)
from lmi_constructs.checks.values import UNKNOWN, Text, is_same, literal, number, shown
from lmi_constructs.readable import readable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.resources import (
        Component,
        Resource,
        ScalableTarget,
        ScalingPolicy,
    )
    from lmi_constructs.checks.values import String
    from lmi_constructs.findings import Finding

_DEFINE: Final = (
    "https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling-add-code-define.html"
)
_ZERO: Final = (
    "https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling-zero-instances.html"
)
_ASYNC: Final = "https://docs.aws.amazon.com/sagemaker/latest/dg/async-inference-monitor.html"
_METRIC: Final = f"Policy/Properties/{METRIC_PATH}"
_PLAIN: Final = {"variant": VARIANT, "inference-component": COMPONENT}
_GOOD: Final = Example(base="scaled")


class MetricOfAnotherDimension(Rule):
    """LMI080."""

    id = "LMI080"
    title = "the scaling metric does not belong to what is scaled"
    why = "the metric has no data for it, so nothing ever scales"
    fix = "use a SageMakerVariant... metric for instances and a SageMakerInferenceComponent... for copies"
    source = _DEFINE
    failing = Example(
        {_METRIC: "SageMakerInferenceComponentConcurrentRequestsPerCopyHighResolution"},
        base="scaled",
    )
    passing = Example({_METRIC: "SageMakerVariantInvocationsPerInstance"}, base="scaled")

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield metrics, dimensions and resource ids that do not belong together."""
        misplaced = set()
        for one in deployment.scalable_targets:
            thing = scaled(deployment, one.resource_id)
            kind = DIMENSIONS.get(literal(one.dimension) or "")
            if thing and kind and thing.kind != kind:
                misplaced.add(one.key)
                message = f"{shown(one.resource_id)!r} does not belong to {shown(one.dimension)}"
                fix = f"set ScalableDimension to {_PLAIN[thing.kind]}, or scale something else"
                yield self.found(one, "ScalableDimension", message, fix=fix)
        for policy in deployment.scaling_policies:
            target = target_of(deployment, policy)
            if target is not None and target.key in misplaced:
                continue  # whose dimension has to be mended first
            dimension = literal(policy.dimension or (target.dimension if target else None))
            metric = literal(policy.predefined_metric) or ""
            meant = METRICS.get(metric, dimension)
            if dimension in DIMENSIONS and meant != dimension:
                message = f"{metric} is for {meant}, but the policy scales {dimension}"
                yield self.found(policy, METRIC_PATH, message)


class ScaledVariantMissing(Rule):
    """LMI081."""

    id = "LMI081"
    title = "the scaled variant does not exist"
    why = "the scalable target cannot be registered: the endpoint has no such variant"
    fix = "write the VariantName of the endpoint configuration into ResourceId"
    source = "https://docs.aws.amazon.com/autoscaling/application/APIReference/API_RegisterScalableTarget.html"
    failing = Example(
        {
            "Target/Properties/ResourceId": {
                "Fn::Sub": "endpoint/${Endpoint.EndpointName}/variant/Primary"
            }
        },
        base="scaled",
    )
    passing = _GOOD

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield targets that name no variant of their endpoint."""
        for target in deployment.scalable_targets:
            thing = scaled(deployment, target.resource_id)
            config = config_of(deployment, thing.endpoint) if thing else None
            if thing and lacks_variant(config, thing.variant) and config:
                names = ", ".join(shown(one.name) for one in config.variants)
                message = f"the endpoint has no variant {shown(thing.variant)!r}, only {names}"
                yield self.found(target, "ResourceId", message)


class CreatedTooEarly(Rule):
    """LMI082."""

    id = "LMI082"
    title = "created before what it names"
    why = (
        "CloudFormation creates both at once, since a literal name is no reference, and what is"
        " named does not exist yet"
    )
    fix = "refer to it with Fn::GetAtt, or add DependsOn"
    source = _ZERO
    failing = Example(
        {
            "Endpoint/Properties/EndpointName": "llama",
            "Target/Properties/ResourceId": "endpoint/llama/variant/AllTraffic",
        },
        base="scaled",
    )
    passing = Example(
        {
            "Endpoint/Properties/EndpointName": "llama",
            "Target/Properties/ResourceId": "endpoint/llama/variant/AllTraffic",
            "Target/DependsOn": "Endpoint",
        },
        base="scaled",
    )

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield resources that name another of the same template without waiting for it."""
        for resource, path, named in _names(deployment):
            if named is None or named.template != resource.template:
                continue
            if not deployment.depends(resource, named.key):
                message = (
                    f"{resource.logical_id} names {named.logical_id}, but does not wait for it"
                )
                yield self.found(
                    resource,
                    path,
                    message,
                    fix=f"add DependsOn: {named.logical_id}, or use Fn::GetAtt",
                )


class ImpossibleCapacity(Rule):
    """LMI083."""

    id = "LMI083"
    title = "the capacity cannot be scaled this way"
    why = "the endpoint is refused, or sleeps and never wakes"
    fix = "use MinCapacity 1 for a variant; scale to zero with inference components"
    source = _ZERO
    failing = Example({"Target/Properties/MinCapacity": 0}, base="scaled")
    passing = Example(base="components")

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield zero without a way back, reversed bounds, and types that do not scale."""
        for target in deployment.scalable_targets:
            thing = scaled(deployment, target.resource_id)
            if thing is None:
                continue
            least, most = number(target.minimum), number(target.maximum)
            if least is not None and most is not None and least > most:
                message = f"MinCapacity {least} is above MaxCapacity {most}"
                way_out = f"set MaxCapacity to {readable(least)} or more"
                fix = "swap the two" if most >= 1 else way_out
                why = "Application Auto Scaling refuses the target"
                yield self.found(target, "MinCapacity", message, why=why, fix=fix)
            for path, message in _zeros(target):
                yield from self._zero(deployment, target, thing, path, message)
            yield from self._too_many(deployment, target, thing)
            variant = variant_of(config_of(deployment, thing.endpoint), thing.variant)
            name = literal(variant.instance_type) if variant else None
            if name and name.startswith("ml.t"):
                message = f"burstable instances such as {name} cannot be scaled"
                why, fix = "SageMaker refuses to scale them", "use another instance type"
                yield self.found(target, "ResourceId", message, why=why, fix=fix)

    def _too_many(
        self, deployment: Deployment, target: ScalableTarget, thing: Scaled
    ) -> Iterator[Finding]:
        """Yield more copies than the fleet could hold if there were nothing else on it."""
        most = number(target.maximum)
        fitting = copies_that_fit(deployment, thing.component) if thing.component else None
        if most is None or not fitting or most <= fitting:
            return
        yield self.found(
            target,
            "MaxCapacity",
            f"MaxCapacity is {readable(most)}, the fleet holds {fitting} copies at most",
            why="copies above that are never placed, and the load stays on the others",
            fix=f"use {fitting}, or let the fleet have more instances",
            severity="warning",
        )

    def _zero(
        self,
        deployment: Deployment,
        target: ScalableTarget,
        thing: Scaled,
        path: str,
        message: str,
    ) -> Iterator[Finding]:
        """Yield zero where nothing serves from it, wakes it up, or stops costing."""
        if thing.kind == "variant":
            config = config_of(deployment, thing.endpoint)
            if config is None:
                return
            if config.asynchronous is False and all(one.model for one in config.variants):
                message = f"{message} for a variant of a real-time endpoint"
                yield self.found(target, path, message)
            elif config.asynchronous is True and not _wakes(deployment, target, _BACKLOG):
                message = f"{message}, and {_UNWATCHED} HasBacklogWithoutCapacity"
                fix = "add a step policy with an alarm on HasBacklogWithoutCapacity >= 1"
                yield self.found(target, path, message, fix=fix, severity="warning", source=_ASYNC)
        elif thing.component and not _wakes(deployment, target, _NO_CAPACITY):
            message = f"{message}, and {_UNWATCHED} NoCapacityInvocationFailures"
            fix = (
                "add a step policy (+1) with an alarm on NoCapacityInvocationFailures >= 1 of the"
                " component"
            )
            yield self.found(target, path, message, fix=fix, severity="warning")
        if thing.component:
            yield from self._still_paid(deployment, thing.component)

    def _still_paid(self, deployment: Deployment, component: Component) -> Iterator[Finding]:
        """Yield fleets that keep instances though their component may go to zero copies."""
        for config, variant in deployment.hosts(component):
            scaling = variant.managed_scaling
            if scaling is UNKNOWN:
                continue
            message = "copies go to zero, but nothing in these templates takes the instances away"
            if isinstance(scaling, ManagedScaling) and scaling.status != "DISABLED":
                least = number(scaling.minimum)
                if least is None or least < 1:
                    continue
                stay = "1 instance stays" if least == 1 else f"{readable(least)} instances stay"
                message = f"copies go to zero, but {stay}"
            yield self.found(
                config,
                f"{variant.path}/ManagedInstanceScaling",
                message,
                why="instances without copies cost as much as busy ones",
                fix="set ManagedInstanceScaling with MinInstanceCount 0, or acknowledge that idle"
                " instances are paid",
                severity="warning",
            )


class MetricWithoutMeaning(Rule):
    """LMI084."""

    id = "LMI084"
    title = "the scaling metric does not tell how much capacity is needed"
    why = "the endpoint does not publish it, or it does not follow the load"
    fix = "scale on concurrent requests; on ApproximateBacklogSizePerInstance for async endpoints"
    source = _ASYNC
    failing = Example(
        {
            _METRIC: "SageMakerVariantInvocationsPerInstance",
            "Config/Properties/AsyncInferenceConfig": {
                "OutputConfig": {"S3OutputPath": "s3://example-models/llama/out/"}
            },
        },
        base="scaled",
    )
    passing = Example(base="asynchronous")

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield metrics that this kind of endpoint does not publish, and GPU utilization."""
        for policy in deployment.scaling_policies:
            target = target_of(deployment, policy)
            resource_id = policy.resource_id or (target.resource_id if target else None)
            thing = scaled(deployment, resource_id)
            config = config_of(deployment, thing.endpoint) if thing else None
            metric = policy.predefined_metric
            if config and config.asynchronous is True and metric == _INVOCATIONS:
                message = "async endpoints do not publish InvocationsPerInstance"
                yield self.found(policy, "TargetTrackingScalingPolicyConfiguration", message)
            if policy.metric:
                yield from self._busy(policy, policy.metric)
            for alarm in deployment.alarms:
                if any(_refers(action, policy) for action in alarm.actions):
                    for watched in alarm.metrics:
                        yield from self._busy(alarm, watched)

    def _busy(self, resource: Resource, metric: Metric) -> Iterator[Finding]:
        """Yield metrics of GPUs, which are busy whatever the load."""
        name = literal(metric.metric_name)
        if name in ("GPUUtilization", "GPUMemoryUtilization"):
            yield self.found(
                resource,
                f"{metric.path}/MetricName".lstrip("/"),
                f"{name} is near its maximum with a single request",
                severity="warning",
                source="https://github.com/bentoml/Yatai/issues/500",
            )


_BACKLOG: Final = "HasBacklogWithoutCapacity"
_UNWATCHED: Final = "nothing in these templates watches"
_NO_CAPACITY: Final = "NoCapacityInvocationFailures"
_INVOCATIONS: Final = "SageMakerVariantInvocationsPerInstance"


def _zeros(target: ScalableTarget) -> Iterator[tuple[str, str]]:
    """Yield where a target goes to zero, and how to say so: by itself, else by its first action."""
    if number(target.minimum) == 0:
        yield "MinCapacity", "MinCapacity is 0"
        return
    scheduled = () if target.scheduled_minima is UNKNOWN else target.scheduled_minima
    for index, least in enumerate(scheduled):
        if least is not None and number(least) == 0:
            path = f"ScheduledActions/{index}/ScalableTargetAction/MinCapacity"
            yield path, "a scheduled action sets MinCapacity 0"
            return


def target_of(deployment: Deployment, policy: ScalingPolicy) -> ScalableTarget | None:
    """Return the scalable target of a policy, if it is one of the deployment."""
    for target in deployment.scalable_targets:
        if target.key == policy.target:
            return target
        if is_same(policy.resource_id, target.resource_id) and policy.dimension in (
            None,
            target.dimension,
        ):
            return target
    return None


def _refers(action: String, policy: ScalingPolicy) -> bool:
    """Tell whether an alarm's action is a policy."""
    reference = action.reference if isinstance(action, Text) else None
    return reference is not None and (reference.template, reference.name) == policy.key


def _names(deployment: Deployment) -> Iterator[tuple[Resource, str, Resource | None]]:
    """Yield what names another resource that must exist first."""
    for config in deployment.endpoint_configs:
        for variant in (*config.variants, *config.shadow_variants):
            yield config, f"{variant.path}/ModelName", deployment.model(variant.model)
    for endpoint in deployment.endpoints:
        yield endpoint, "EndpointConfigName", deployment.endpoint_config(endpoint.config)
    for component in deployment.components:
        yield component, "EndpointName", deployment.endpoint(component.endpoint)
        for one in component.specifications:
            yield component, f"{one.path}/ModelName", deployment.model(one.model)
            base = deployment.component(one.base_component)
            yield component, f"{one.path}/BaseInferenceComponentName", base
    for target in deployment.scalable_targets:
        thing = scaled(deployment, target.resource_id)
        yield target, "ResourceId", (thing.endpoint or thing.component) if thing else None
    for policy in deployment.scaling_policies:
        yield policy, "ResourceId", None if policy.target else target_of(deployment, policy)


def _wakes(deployment: Deployment, target: ScalableTarget, metric: str) -> bool:
    """Tell whether an alarm or the schedule brings the first one back, or may do so."""
    scheduled = target.scheduled_minima
    if scheduled is UNKNOWN or any(one is UNKNOWN or (number(one) or 0) > 0 for one in scheduled):
        return True
    return _watches(deployment, metric)


def _watches(deployment: Deployment, name: str) -> bool:
    """Tell whether an alarm watches a metric, or may do so."""
    watched = {
        literal(metric.metric_name)
        for alarm in deployment.alarms
        for metric in alarm.metrics or (Metric(path=""),)
    }
    return name in watched or None in watched
