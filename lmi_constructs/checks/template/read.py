"""Reading a deployment out of CloudFormation templates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.checks.deployment import Deployment, Facts
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
)
from lmi_constructs.checks.template import (
    autoscaling,
    iam_roles,
    references,
    sagemaker_resources,
    subnet_routes,
)
from lmi_constructs.checks.template.evaluate import Evaluator
from lmi_constructs.checks.template.parameters import choices, chosen
from lmi_constructs.checks.values import UNKNOWN, as_mapping, legible, literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from lmi_constructs.checks.acknowledged import Acknowledgment
    from lmi_constructs.checks.choices import Choice

_NAMES: Final = ("ModelName", "EndpointConfigName", "EndpointName")
_MOST_NESTED: Final = 20
_MOST_RESOURCES: Final = 2000
"""Resources that are read again in all, so that a large assembly is not read many times over."""


@dataclass(frozen=True)
class TemplateSource:
    """One template to read, and where it goes.

    Attributes:
        name: Name of the template, unique among those read together.
        body: The parsed template.
        region: Region it is deployed to, if known.
        account: Account it is deployed to, if known.
        nested: Templates of its nested stacks by logical id.
        construct_paths: Construct paths by logical id, where the template does not have them.
        parameters: Values given to its parameters.
        file: File that it was read from.
        stack_name: Name of its stack, if known; a nested stack has none of its own.
        acknowledgments: What its app acknowledges, in the nested stacks too.
    """

    name: str
    body: Mapping[str, Any]
    region: str | None = None
    account: str | None = None
    nested: Mapping[str, TemplateSource] = field(default_factory=dict)
    construct_paths: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, object] = field(default_factory=dict)
    file: str | None = None
    stack_name: str | None = None
    acknowledgments: tuple[Acknowledgment, ...] = ()


def with_nested(sources: Iterable[TemplateSource]) -> list[TemplateSource]:
    """Return templates together with those of their nested stacks."""
    found: list[TemplateSource] = []
    for source in sources:
        found += [source, *with_nested(source.nested.values())]
    return found


def read_deployment(sources: Iterable[TemplateSource], facts: Facts | None = None) -> Deployment:
    """Return what a set of templates creates together.

    Total: whatever is malformed is left out or unknown, nothing raises.

    Args:
        sources: Templates whose exports and nested stacks may refer to one another.
        facts: What the user knows better than the library.
    """
    given = list(sources)
    together = _Together()
    for source in given:
        together.add(source, {}, 0)
    collected = _Collected()
    for source, evaluator in together.evaluators:
        collected.add_template(source, evaluator)
    return Deployment(
        **{  # type: ignore[arg-type]
            name: tuple(collected.resources.get(kind, ())) for name, kind in _COLLECTIONS.items()
        },
        roles=collected.attachments.complete(collected.resources.get(Role, ())),
        shared_buckets=collected.attachments.shared_buckets,
        dependencies=collected.dependencies,
        network=collected.route_tables.subnet_routes(),
        unresolved=tuple(collected.unresolved),
        alternatives=lambda: _alternatives(given, facts),
        facts=facts or Facts(),
        acknowledgments=tuple(collected.acknowledgments),
    )


class _Collected:
    """What is read out of templates, one after the other."""

    def __init__(self) -> None:
        self.resources: dict[type[Resource], list[Resource]] = {}
        self.dependencies: dict[Key, frozenset[Key]] = {}
        self.attachments = iam_roles.Attachments()
        self.route_tables = subnet_routes.RouteTables()
        self.acknowledgments: dict[Acknowledgment, None] = {}
        self.unresolved: list[Unresolved] = []

    def add_template(self, source: TemplateSource, evaluator: Evaluator) -> None:
        """Add the resources of a template that exist with the values of its parameters."""
        self.acknowledgments.update(dict.fromkeys(source.acknowledgments))
        self.unresolved += _unread_loops(evaluator)
        closed = references.is_closed(source.body, evaluator)
        for logical_id, declared in evaluator.resources.items():
            resource = as_mapping(declared)
            kind = resource.get("Type")
            if not isinstance(kind, str) or not evaluator.exists(resource):
                continue
            key = (evaluator.name, str(logical_id))
            refers = references.read_references(resource)
            self.dependencies[key] = frozenset(
                (evaluator.name, name) for name, _ in refers.names if name in evaluator.resources
            )
            if kind in _READERS:
                context = _context(source, evaluator, key[1], resource, self.dependencies[key])
                properties = as_mapping(evaluator.value(resource.get("Properties")))
                read = _READERS[kind](properties, context)
                self.resources.setdefault(type(read), []).append(read)
                self.unresolved += references.unresolved(
                    read, resource, refers, evaluator, closed=closed
                )
            else:
                self._add_connection(kind, key, resource, evaluator)

    def _add_connection(
        self, kind: str, key: Key, resource: Mapping[str, Any], evaluator: Evaluator
    ) -> None:
        """Add what says something of other resources: an attached policy, a route."""
        if kind in iam_roles.ATTACHED:
            properties = as_mapping(evaluator.value(resource.get("Properties")))
            self.attachments.add(kind, properties, key)
        elif kind in subnet_routes.KINDS:
            properties = as_mapping(evaluator.value(resource.get("Properties")))
            self.route_tables.add(kind, properties, key, conditional="Condition" in resource)


def _alternatives(
    sources: list[TemplateSource], facts: Facts | None
) -> Iterator[tuple[Choice, Deployment]]:
    """Yield what templates create with other values of their parameters, one at a time."""
    resources = sum(len(as_mapping(one.body.get("Resources"))) for one in with_nested(sources))
    for choice in choices(sources)[: _MOST_RESOURCES // max(1, resources)]:
        yield choice, read_deployment(chosen(sources, choice), facts)


class _Together:
    """Templates that may refer to one another."""

    def __init__(self) -> None:
        self.evaluators: list[tuple[TemplateSource, Evaluator]] = []
        self._exports: dict[str, tuple[Evaluator, str]] | None = None
        self._active: set[tuple[str, str]] = set()

    def add(
        self, source: TemplateSource, parameters: Mapping[str, object], depth: int
    ) -> Evaluator:
        """Add a template and those of its nested stacks."""
        children: dict[str, Evaluator] = {}
        evaluator = Evaluator(
            source.body,
            name=source.name,
            region=source.region,
            account=source.account,
            parameters={**parameters, **source.parameters},
            imports=self._imported,
            nested_output=lambda logical_id, output: self._output(children.get(logical_id), output),
        )
        self.evaluators.append((source, evaluator))
        for logical_id, child in source.nested.items() if depth < _MOST_NESTED else ():
            given = as_mapping(evaluator.property_of(logical_id, "Parameters"))
            children[logical_id] = self.add(child, given, depth + 1)
        return evaluator

    def _output(self, evaluator: Evaluator | None, name: str) -> object:
        if evaluator is None or (evaluator.name, name) in self._active:
            return UNKNOWN
        self._active.add((evaluator.name, name))
        value = evaluator.value(as_mapping(evaluator.outputs.get(name)).get("Value"))
        self._active.discard((evaluator.name, name))
        return value

    def _imported(self, export: str) -> object:
        if self._exports is None:
            self._exports = {}
            for _, evaluator in self.evaluators:
                for name, output in evaluator.outputs.items():
                    exported = as_mapping(as_mapping(output).get("Export")).get("Name")
                    spoken = literal(evaluator.value(exported))
                    if spoken is not None:
                        self._exports[spoken] = (evaluator, str(name))
        found = self._exports.get(export)
        return UNKNOWN if found is None else self._output(*found)


def _unread_loops(evaluator: Evaluator) -> Iterator[Unresolved]:
    for name in evaluator.unread_loops:
        place = Resource(template=evaluator.name, logical_id=legible(name), region=evaluator.region)
        yield Unresolved("loop", place, "", legible(name))


def _context(
    source: TemplateSource,
    evaluator: Evaluator,
    logical_id: str,
    resource: Mapping[str, Any],
    refers_to: frozenset[Key],
) -> sagemaker_resources.Context:
    metadata = as_mapping(resource.get("Metadata"))
    path = literal(metadata.get("aws:cdk:path")) or source.construct_paths.get(logical_id)
    return sagemaker_resources.Context(
        evaluator.name,
        legible(logical_id),
        path,
        evaluator.region,
        refers_to,
        "Condition" in resource,
        metadata,
        _name_parameters(resource, evaluator),
    )


def _name_parameters(resource: Mapping[str, Any], evaluator: Evaluator) -> frozenset[str]:
    """Return the parameters that the name of a resource is made of."""
    properties = as_mapping(resource.get("Properties"))
    written = [properties.get(name) for name in _NAMES if name in properties]
    names = references.read_references({"Properties": written}).names if written else ()
    return frozenset(name for name, _ in names if name in evaluator.parameters)


_COLLECTIONS: Final[Mapping[str, type[Resource]]] = {
    "models": Model,
    "endpoint_configs": EndpointConfig,
    "endpoints": Endpoint,
    "components": Component,
    "scalable_targets": ScalableTarget,
    "scaling_policies": ScalingPolicy,
    "alarms": Alarm,
}
_READERS: Final[
    Mapping[str, Callable[[Mapping[str, Any], sagemaker_resources.Context], Resource]]
] = {
    "AWS::SageMaker::Model": sagemaker_resources.read_model,
    "AWS::SageMaker::EndpointConfig": sagemaker_resources.read_endpoint_config,
    "AWS::SageMaker::Endpoint": sagemaker_resources.read_endpoint,
    "AWS::SageMaker::InferenceComponent": sagemaker_resources.read_component,
    "AWS::ApplicationAutoScaling::ScalableTarget": autoscaling.read_target,
    "AWS::ApplicationAutoScaling::ScalingPolicy": autoscaling.read_policy,
    "AWS::CloudWatch::Alarm": autoscaling.read_alarm,
    "AWS::IAM::Role": iam_roles.read_role,
}
