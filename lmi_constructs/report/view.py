"""What the page shows of each endpoint, gathered from the checks' own description."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lmi_constructs.checks import check
from lmi_constructs.checks.metadata import is_secret
from lmi_constructs.checks.rules.base import PlacedFinding
from lmi_constructs.checks.rules.common import config_of, environment, release, scaled
from lmi_constructs.checks.rules.memory import plans
from lmi_constructs.checks.values import literal, number
from lmi_constructs.facts.metrics import endpoint_metrics
from lmi_constructs.readable import readable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lmi_constructs.checks import Deployment
    from lmi_constructs.checks.resources import (
        Alarm,
        Component,
        ComponentSpecification,
        Endpoint,
        EndpointConfig,
        Metric,
        ScalableTarget,
        ScalingPolicy,
        Variant,
    )
    from lmi_constructs.checks.values import String
    from lmi_constructs.findings import Finding
    from lmi_constructs.planner import Plan

_TIME = "Microseconds"
UNKNOWN = "known at deployment"


@dataclass(frozen=True)
class ServedView:
    """A variant or an inference component: what it runs, on what, and what fits.

    Attributes:
        name: What it is, and its name.
        place: What it runs on.
        has_model: Whether it runs a model of its own: neither a fleet nor an adapter does.
        image: Container release, or the image's URI.
        environment: Settings of the container; values of secrets are hidden.
        plan: What fits, `None` if the model is not known.
    """

    name: str
    place: str
    has_model: bool
    image: str
    environment: tuple[tuple[str, str], ...]
    plan: Plan | None


@dataclass(frozen=True)
class EndpointView:
    """An endpoint.

    Attributes:
        title: Construct path, or logical id.
        region: Region, if known.
        served: Its variants, and the inference components on them.
        findings: Findings about it and what belongs to it.
        scaling: A sentence for each scalable target and policy.
        alarms: A sentence for each alarm that watches it.
    """

    title: str
    region: str | None
    served: tuple[ServedView, ...]
    findings: tuple[Finding, ...]
    scaling: tuple[str, ...]
    alarms: tuple[str, ...]


def view(deployment: Deployment) -> tuple[EndpointView, ...]:
    """Return what the page shows of each endpoint."""
    findings = check(deployment)
    return tuple(_endpoint(deployment, endpoint, findings) for endpoint in deployment.endpoints)


def _endpoint(
    deployment: Deployment, endpoint: Endpoint, findings: Iterable[Finding]
) -> EndpointView:
    config = config_of(deployment, endpoint)
    belonging = {endpoint.key}
    if config is not None:
        belonging.add(config.key)
    components = deployment.components_on(endpoint)
    belonging.update(component.key for component in components)
    names = [variant.model for variant in config.variants] if config else []
    names += [one.model for component in components for one in component.specifications]
    models = (deployment.model(name) for name in names)
    belonging.update(model.key for model in models if model is not None)
    targets = [
        target
        for target in deployment.scalable_targets
        if (found := scaled(deployment, target.resource_id)) is not None
        and (thing := found.endpoint or found.component) is not None
        and thing.key in belonging
    ]
    belonging.update(target.key for target in targets)
    alarms = [alarm for alarm in deployment.alarms if _watches(deployment, alarm, endpoint)]
    belonging.update(alarm.key for alarm in alarms)
    policies = [policy for policy in deployment.scaling_policies if policy.target in belonging]
    belonging.update(policy.key for policy in policies)
    return EndpointView(
        title=endpoint.construct_path or endpoint.logical_id,
        region=endpoint.region,
        served=_served(deployment, endpoint, config) if config else (),
        findings=tuple(
            finding
            for finding in findings
            if isinstance(finding, PlacedFinding)
            and (finding.template, finding.resource) in belonging
        ),
        scaling=(
            *(_limits(deployment, target) for target in targets),
            *map(_policy, policies),
        ),
        alarms=tuple(_alarm(alarm) for alarm in alarms),
    )


def _limits(deployment: Deployment, target: ScalableTarget) -> str:
    found = scaled(deployment, target.resource_id)
    what = f"copies of {_name(found.component)}" if found and found.component else "instances"
    return f"{_shown(target.minimum)} to {_shown(target.maximum)} {what}"


def _policy(policy: ScalingPolicy) -> str:
    if literal(policy.kind) == "StepScaling":
        return "by steps, when an alarm says so"
    metric = policy.predefined_metric or (policy.metric.metric_name if policy.metric else None)
    return f"{_shown(metric)} at {_shown(policy.target_value)}"


def _served(
    deployment: Deployment, endpoint: Endpoint, config: EndpointConfig
) -> tuple[ServedView, ...]:
    plans_by_place = {
        (run.run.variant.path, run.run.component and run.run.component.key): run.plan
        for run in plans(deployment)
        if run.run.config.key == config.key
    }
    variants = [
        _view(
            deployment,
            f"Variant {_shown(variant.name)}",
            f"{_shown(variant.initial_instance_count)} \u00d7 {_instances(variant)}",
            variant.model,
            plans_by_place.get((variant.path, None)),
        )
        for variant in config.variants
    ]
    components = [
        _view(
            deployment,
            f"Component {_name(component)}",
            _taken(component, one),
            one.model,
            plans_by_place.get((variant.path, component.key)),
        )
        for component in deployment.components_on(endpoint)
        for _, variant in deployment.hosts(component)
        for one in component.specifications
    ]
    return (*variants, *components)


def _taken(component: Component, one: ComponentSpecification) -> str:
    """Return what the copies of a component take."""
    if one.base_component is not None:
        return f"an adapter on {_shown(one.base_component)}"
    count = _shown(one.accelerators) if one.accelerators is not None else "no"
    memory = f", {_shown(one.memory_mib)} MiB of host memory" if one.memory_mib is not None else ""
    copies = _shown(1 if component.copies is None else component.copies)
    return f"{copies} \u00d7 {count} accelerators{memory}"


def _name(component: Component) -> str:
    return _shown(component.name) if component.name is not None else component.logical_id


def _instances(variant: Variant) -> str:
    return ", ".join(_shown(kind) for _, kind in variant.instance_types) or UNKNOWN


def _view(
    deployment: Deployment, name: str, place: str, model_name: String | None, plan: Plan | None
) -> ServedView:
    model = deployment.model(model_name)
    container = model.containers[0] if model is not None and model.containers else None
    released = release(deployment, container) if container is not None else None
    image = literal(container.image) if container is not None else None
    settings = environment(container) if container is not None else {}
    return ServedView(
        name=name,
        place=place,
        has_model=model_name is not None,
        image=f"LMI {released.name} ({released.tag})" if released else image or UNKNOWN,
        environment=tuple((key, _value(key, value)) for key, value in sorted(settings.items())),
        plan=plan,
    )


def _watches(deployment: Deployment, alarm: Alarm, endpoint: Endpoint) -> bool:
    for metric in alarm.metrics:
        dimensions = metric.dimensions if isinstance(metric.dimensions, dict) else {}
        named = deployment.endpoint(dimensions.get("EndpointName"))
        component = deployment.component(dimensions.get("InferenceComponentName"))
        if component is not None:
            named = deployment.endpoint(component.endpoint)
        if named is not None and named.key == endpoint.key:
            return True
    return False


def _alarm(alarm: Alarm) -> str:
    metrics = ", ".join(map(_metric, alarm.metrics))
    return f"{metrics} {_shown(alarm.comparison)} {_threshold(alarm)}"


def _threshold(alarm: Alarm) -> str:
    """Return a threshold as a person reads it: times in seconds, not in CloudWatch's microseconds."""
    known = number(alarm.threshold)
    facts = [endpoint_metrics().get(literal(metric.metric_name) or "") for metric in alarm.metrics]
    if known is not None and facts and all(fact and fact.unit == _TIME for fact in facts):
        return f"{readable(known / 1_000_000)} s"
    return _shown(alarm.threshold)


def _metric(metric: Metric) -> str:
    dimensions = metric.dimensions if isinstance(metric.dimensions, dict) else {}
    component = dimensions.get("InferenceComponentName")
    name = _shown(metric.metric_name)
    return name if component is None else f"{name} of {_shown(component)}"


def _value(name: str, value: object) -> str:
    return "(hidden)" if is_secret(name) else _shown(value)


def _shown(value: object) -> str:
    if isinstance(value, (int, float)):
        return readable(value)
    return literal(value) or UNKNOWN
