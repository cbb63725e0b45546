"""What the page shows of each endpoint, gathered from the checks' own description."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lmi_constructs.checks import check
from lmi_constructs.checks.rules.base import PlacedFinding
from lmi_constructs.checks.rules.common import config_of, environment, release, scaled
from lmi_constructs.checks.rules.memory import plans
from lmi_constructs.checks.values import literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lmi_constructs.checks import Deployment
    from lmi_constructs.checks.resources import Alarm, Endpoint, EndpointConfig, Variant
    from lmi_constructs.findings import Finding
    from lmi_constructs.planner import Plan

_SECRET = ("TOKEN", "SECRET", "PASSWORD", "KEY")
UNKNOWN = "known at deployment"


@dataclass(frozen=True)
class VariantView:
    """A variant: what it runs, on what, and what fits.

    Attributes:
        name: Name of the variant.
        instance_type: Instance type, or several.
        instances: Instances at the start.
        image: Container release, or the image's URI.
        environment: Settings of the container; values of secrets are hidden.
        plan: What fits, `None` if the model is not known.
    """

    name: str
    instance_type: str
    instances: str
    image: str
    environment: tuple[tuple[str, str], ...]
    plan: Plan | None


@dataclass(frozen=True)
class EndpointView:
    """An endpoint.

    Attributes:
        title: Construct path, or logical id.
        region: Region, if known.
        variants: Its variants.
        findings: Findings about it and what belongs to it.
        scaling: A sentence for each scalable target and policy.
        alarms: A sentence for each alarm that watches it.
    """

    title: str
    region: str | None
    variants: tuple[VariantView, ...]
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
        models = (deployment.model(variant.model) for variant in config.variants)
        belonging.update(model.key for model in models if model is not None)
    targets = [
        target
        for target in deployment.scalable_targets
        if (found := scaled(deployment, target.resource_id)) is not None
        and found.endpoint is not None
        and found.endpoint.key == endpoint.key
    ]
    belonging.update(target.key for target in targets)
    alarms = [alarm for alarm in deployment.alarms if _watches(deployment, alarm, endpoint)]
    belonging.update(alarm.key for alarm in alarms)
    policies = [policy for policy in deployment.scaling_policies if policy.target in belonging]
    belonging.update(policy.key for policy in policies)
    return EndpointView(
        title=endpoint.construct_path or endpoint.logical_id,
        region=endpoint.region,
        variants=_variants(deployment, config) if config else (),
        findings=tuple(
            finding
            for finding in findings
            if isinstance(finding, PlacedFinding)
            and (finding.template, finding.resource) in belonging
        ),
        scaling=(
            *(f"{_shown(t.minimum)} to {_shown(t.maximum)} instances" for t in targets),
            *(
                f"{_shown(p.predefined_metric or p.kind)} at {_shown(p.target_value)}"
                for p in policies
            ),
        ),
        alarms=tuple(_alarm(alarm) for alarm in alarms),
    )


def _variants(deployment: Deployment, config: EndpointConfig) -> tuple[VariantView, ...]:
    planned = {(run.run.config.key, run.run.variant.path): run.plan for run in plans(deployment)}
    return tuple(
        _variant(deployment, variant, planned.get((config.key, variant.path)))
        for variant in config.variants
    )


def _variant(deployment: Deployment, variant: Variant, plan: Plan | None) -> VariantView:
    model = deployment.model(variant.model)
    container = model.containers[0] if model is not None and model.containers else None
    released = release(deployment, container) if container is not None else None
    image = literal(container.image) if container is not None else None
    settings = environment(container) if container is not None else {}
    return VariantView(
        name=_shown(variant.name),
        instance_type=", ".join(_shown(kind) for _, kind in variant.instance_types) or UNKNOWN,
        instances=_shown(variant.initial_instance_count),
        image=f"LMI {released.name} ({released.tag})" if released else image or UNKNOWN,
        environment=tuple((name, _value(name, value)) for name, value in sorted(settings.items())),
        plan=plan,
    )


def _watches(deployment: Deployment, alarm: Alarm, endpoint: Endpoint) -> bool:
    for metric in alarm.metrics:
        dimensions = metric.dimensions if isinstance(metric.dimensions, dict) else {}
        named = deployment.endpoint(dimensions.get("EndpointName"))
        if named is not None and named.key == endpoint.key:
            return True
    return False


def _alarm(alarm: Alarm) -> str:
    metrics = ", ".join(_shown(metric.metric_name) for metric in alarm.metrics)
    return f"{metrics} {_shown(alarm.comparison)} {_shown(alarm.threshold)}"


def _value(name: str, value: object) -> str:
    hidden = any(word in name.upper().split("_") for word in _SECRET)
    return "(hidden)" if hidden else _shown(value)


def _shown(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, (int, float)):
        return str(value)
    return literal(value) or UNKNOWN
