"""What the page shows of each endpoint, gathered from the checks' own description."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lmi_constructs.checks import check
from lmi_constructs.checks.metadata import is_secret
from lmi_constructs.checks.queries.container_images import release
from lmi_constructs.checks.queries.containers import environment
from lmi_constructs.checks.queries.scaled_resources import scaled
from lmi_constructs.checks.queries.variants import config_of
from lmi_constructs.checks.rules.base import PlacedFinding
from lmi_constructs.report.planned import Places, PlannedContainer
from lmi_constructs.report.words import (
    UNKNOWN,
    Sentence,
    alarm_sentence,
    limits_sentence,
    name_of,
    policy_sentence,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lmi_constructs.checks import Deployment
    from lmi_constructs.checks.resources import (
        Alarm,
        Component,
        ComponentSpecification,
        Endpoint,
        EndpointConfig,
        Variant,
    )
    from lmi_constructs.findings import Finding
    from lmi_constructs.planner import Plan


@dataclass(frozen=True)
class ServedView:
    """A variant or an inference component: what it runs, on what, and what fits.

    Attributes:
        name: What it is, and its name.
        place: What it runs on.
        has_model: Whether it runs a model of its own: neither a fleet nor an adapter does.
        model: Hub id of the model, if the template says it.
        image: Container release, or the image's URI.
        environment: Settings of the container, and of the `serving.properties` that our constructs
            wrote down; values of secrets are hidden.
        plans: What fits, for each instance type that it may run on.
        unplanned: Why there is no plan, and what to give for one; `None` if there is one.
    """

    name: str
    place: str
    has_model: bool
    model: str | None = None
    image: str = UNKNOWN
    environment: tuple[tuple[str, str], ...] = ()
    plans: tuple[Plan, ...] = ()
    unplanned: str | None = None


@dataclass(frozen=True)
class EndpointView:
    """An endpoint.

    Attributes:
        title: Construct path, or logical id and template.
        region: Region, if known.
        served: Its variants, and the inference components on them.
        findings: Findings about it and what belongs to it.
        scaling: What each scalable target does, followed by its policies.
        alarms: When each alarm that watches it rings.
    """

    title: str
    region: str | None
    served: tuple[ServedView, ...]
    findings: tuple[Finding, ...]
    scaling: tuple[Sentence, ...]
    alarms: tuple[Sentence, ...]

    @property
    def errors(self) -> int:
        """How many of its findings are errors."""
        return sum(finding.severity == "error" for finding in self.findings)

    @property
    def warnings(self) -> int:
        """How many of its findings are warnings."""
        return len(self.findings) - self.errors


def view(deployment: Deployment) -> tuple[EndpointView, ...]:
    """Return what the page shows of each endpoint."""
    findings = check(deployment)
    places = Places(deployment)
    return tuple(
        _endpoint(deployment, endpoint, findings, places) for endpoint in deployment.endpoints
    )


def _endpoint(
    deployment: Deployment, endpoint: Endpoint, findings: Iterable[Finding], places: Places
) -> EndpointView:
    config = config_of(deployment, endpoint)
    belonging = {endpoint.key}
    if config is not None:
        belonging.add(config.key)
    components = deployment.components_on(endpoint)
    belonging.update(component.key for component in components)
    names = [one.model for variant in config.variants for one in variant.by_model] if config else []
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
        title=_title(endpoint),
        region=endpoint.region,
        served=tuple(_served(deployment, endpoint, config, places)) if config else (),
        findings=tuple(
            finding
            for finding in findings
            if isinstance(finding, PlacedFinding)
            and (finding.template, finding.resource) in belonging
        ),
        scaling=tuple(
            sentence
            for target in targets
            for sentence in (
                limits_sentence(deployment, target),
                *(policy_sentence(policy) for policy in policies if policy.target == target.key),
            )
        ),
        alarms=tuple(map(alarm_sentence, alarms)),
    )


def _title(endpoint: Endpoint) -> str:
    if endpoint.construct_path is not None:
        return endpoint.construct_path.removesuffix("/Resource")
    return f"{endpoint.logical_id} in {endpoint.template}"  # others may have the same logical id


def _served(
    deployment: Deployment, endpoint: Endpoint, config: EndpointConfig, places: Places
) -> Iterator[ServedView]:
    for whole in config.variants:
        for variant in whole.by_model:
            name = f"Variant {shown(variant.name)}"
            place = f"{shown(variant.initial_instance_count)} \u00d7 {_instances(variant)}"
            found = places.containers(config, variant)
            yield from _views(deployment, name, place, found, has_model=variant.model is not None)
    for component in deployment.components_on(endpoint):
        for _, variant in deployment.hosts(component):
            for one in component.specifications:
                # An adapter's container names the adapter's files.
                is_adapter = one.base_component is not None
                yield from _views(
                    deployment,
                    f"Component {name_of(component)}",
                    _taken(component, one, variant),
                    () if is_adapter else places.containers(config, variant, component, one),
                    has_model=not is_adapter and (one.model or one.container) is not None,
                )


def _taken(component: Component, one: ComponentSpecification, variant: Variant) -> str:
    """Return what the copies of a component take."""
    if one.base_component is not None:
        return f"an adapter on {shown(one.base_component)}"
    count = shown(one.accelerators) if one.accelerators is not None else "no"
    memory = f", {shown(one.memory_mib)} MiB of host memory" if one.memory_mib is not None else ""
    copies = shown(1 if component.copies is None else component.copies)
    return f"{copies} \u00d7 {count} accelerators{memory}, on {_instances(variant)}"


def _instances(variant: Variant) -> str:
    return ", ".join(shown(kind) for _, kind in variant.instance_types) or UNKNOWN


def _views(
    deployment: Deployment,
    name: str,
    place: str,
    containers: tuple[PlannedContainer, ...],
    *,
    has_model: bool,
) -> Iterator[ServedView]:
    """Yield one view of each container; one that says so where they are not in the templates."""
    if not containers:
        unplanned = "its model is not among the templates" if has_model else None
        yield ServedView(name, place, has_model, unplanned=unplanned)
    for one in containers:
        container = one.running.container
        released = release(deployment, container)
        image = f"LMI {released.name} ({released.tag})" if released else shown(container.image)
        written = one.running.model.serving_properties if one.running.model else None
        settings = sorted({**environment(container), **(written or {})}.items())
        yield ServedView(
            name=name,
            place=place,
            has_model=True,
            model=one.model,
            image=image,
            environment=tuple((key, _value(key, value)) for key, value in settings),
            plans=one.plans,
            unplanned=one.unplanned,
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


def _value(name: str, value: object) -> str:
    return "(hidden)" if is_secret(name) else shown(value)
