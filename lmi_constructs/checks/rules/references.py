"""References inside a template: what they give, and whether they lead anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lmi_constructs._near_names import did_you_mean
from lmi_constructs.checks.examples import Example
from lmi_constructs.checks.queries.variants import variants
from lmi_constructs.checks.resources import (
    Alarm,
    Component,
    Endpoint,
    EndpointConfig,
    Model,
    Role,
    UpdatePolicy,
)
from lmi_constructs.checks.rules.base import Rule
from lmi_constructs.checks.values import UNKNOWN, Reference, Text, head, shown, split
from lmi_constructs.facts.template_references import template_references

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.resources import Resource
    from lmi_constructs.checks.values import String
    from lmi_constructs.findings import Finding

_TYPES: Final[Mapping[type[Resource], str]] = {
    Model: "AWS::SageMaker::Model",
    EndpointConfig: "AWS::SageMaker::EndpointConfig",
    Endpoint: "AWS::SageMaker::Endpoint",
    Component: "AWS::SageMaker::InferenceComponent",
    Role: "AWS::IAM::Role",
    Alarm: "AWS::CloudWatch::Alarm",
}
_REF: Final = (
    "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/"
    "intrinsic-function-reference-ref.html"
)
_WORDS: Final = {"arn": "ARN", "name": "name", "id": "id"}
_NAMES_OF_SAGEMAKER: Final = ", which has at most 63 letters, digits and hyphens"
_NO_ATTRIBUTE: Final = (
    "CloudFormation refuses Fn::GetAtt of an attribute that the resource type does not have"
)
_HUB: Final = "Model/Properties/PrimaryContainer/Environment/HF_TOKEN"


class NameForArn(Rule):
    """LMI104."""

    id = "LMI104"
    title = "a name is given where an ARN is needed, or the reverse"
    why = "the service refuses the value, or looks for something that is not called so"
    fix = "take the other one with Fn::GetAtt"
    source = (
        "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/"
        "aws-resource-sagemaker-endpoint.html"
    )
    failing = Example(
        {"Target/Properties/ResourceId": {"Fn::Sub": "endpoint/${Endpoint}/variant/AllTraffic"}},
        base="scaled",
    )
    passing = Example(base="scaled")

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield ARNs among names and names among ARNs; a warning where SageMaker's API decides."""
        rows = [(row, "name") for row in _names(deployment)]
        rows += [(row, "arn") for row in _arns(deployment)]
        for (resource, path, value, other), needed in rows:
            said = _said(resource, value, other, needed)
            if said is None:
                continue
            by_sagemaker = isinstance(resource, (EndpointConfig, Endpoint, Component))
            is_open = by_sagemaker and needed == "name"
            yield self.found(
                resource,
                path,
                said.message + (_NAMES_OF_SAGEMAKER if is_open and said.is_known else ""),
                why=None if said.is_known else _NO_ATTRIBUTE,
                fix=said.fix,
                severity="warning" if is_open or not said.is_known else "error",
            )


class ReferenceToNothing(Rule):
    """LMI105."""

    id = "LMI105"
    title = "a reference to nothing"
    why = "CloudFormation refuses the template: unresolved resource dependencies"
    fix = "name a resource or parameter of the template"
    source = _REF
    failing = Example(
        {"Endpoint/Properties/EndpointConfigName": {"Fn::GetAtt": ["Confg", "EndpointConfigName"]}}
    )
    passing = Example()

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield names that the template does not declare."""
        for one in deployment.unresolved:
            if one.kind == "missing":
                yield self.found(
                    one.resource,
                    one.path,
                    f"the template declares no {one.name!r}",
                    fix=did_you_mean(one.name, one.known, self.fix),
                )


class SecureStringNotTaken(Rule):
    """LMI106."""

    id = "LMI106"
    title = "a secure string where CloudFormation takes none"
    why = (
        "CloudFormation resolves ssm-secure in certain properties of certain resources only, none of"
        " them SageMaker's, and refuses the template"
    )
    fix = "keep it in Secrets Manager and write '{{resolve:secretsmanager:<name>}}'"
    source = (
        "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/"
        "dynamic-references-ssm-secure-strings.html"
    )
    failing = Example({_HUB: "{{resolve:ssm-secure:/hub/token}}"})
    passing = Example({_HUB: "{{resolve:secretsmanager:hub-token}}"})

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield dynamic references to secure strings in SageMaker's resources."""
        for one in deployment.unresolved:
            if one.kind == "secure-string":
                message = "ssm-secure references are not resolved in SageMaker's properties"
                yield self.found(one.resource, one.path, message)


class LoopNotRead(Rule):
    """LMI109."""

    id = "LMI109"
    title = "what a loop makes is not checked"
    severity = "warning"
    why = "its collection is not known, so that the rules do not see what it makes"
    fix = "give the parameter that it goes over: lmi check --parameter NAME=a,b"
    source = (
        "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/"
        "intrinsic-function-reference-foreach.html"
    )
    failing = Example(
        {"Fn::ForEach::More": ["Name", {"Ref": "Names"}, {"${Name}": {"Type": "AWS::S3::Bucket"}}]},
        transform="AWS::LanguageExtensions",
    )
    passing = Example(
        {"Fn::ForEach::More": ["Name", ["A", "B"], {"${Name}": {"Type": "AWS::S3::Bucket"}}]},
        transform="AWS::LanguageExtensions",
    )

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield loops over something that is not known."""
        for one in deployment.unresolved:
            if one.kind == "loop":
                message = f"{one.name} goes over something that is not known"
                yield self.found(one.resource, one.path, message)


_Row = tuple["Resource", str, "String | None", "Resource | None"]


def _names(deployment: Deployment) -> Iterator[_Row]:
    """Yield all places that name a resource, with the value and what it refers to."""
    for config, variant in variants(deployment):
        yield config, f"{variant.path}/ModelName", variant.model, deployment.model(variant.model)
        for pool in variant.instance_pools:
            path = pool.path.replace("InstanceType", "ModelNameOverride")
            yield config, path, pool.model, deployment.model(pool.model)
    for endpoint in deployment.endpoints:
        config_name = endpoint.config
        yield endpoint, "EndpointConfigName", config_name, deployment.endpoint_config(config_name)
        policy = endpoint.update_policy
        for index, name in enumerate(policy.alarms if isinstance(policy, UpdatePolicy) else ()):
            path = f"DeploymentConfig/AutoRollbackConfiguration/Alarms/{index}/AlarmName"
            yield endpoint, path, name, deployment.alarm(name)
    yield from _names_in_components(deployment)
    targets = [(one, one.resource_id) for one in deployment.scalable_targets]
    policies = [(one, one.resource_id) for one in deployment.scaling_policies]
    for scaled, resource_id in (*targets, *policies):
        fields = split(resource_id, "/") or ()
        if len(fields) > 1 and fields[0] == "endpoint":
            yield scaled, "ResourceId", fields[1], deployment.endpoint(fields[1])
        elif len(fields) > 1 and fields[0] == "inference-component":
            yield scaled, "ResourceId", fields[1], deployment.component(fields[1])
    yield from _names_in_metrics(deployment)


def _names_in_components(deployment: Deployment) -> Iterator[_Row]:
    for component in deployment.components:
        if not component.endpoint_by_arn:
            endpoint = deployment.endpoint(component.endpoint)
            yield component, "EndpointName", component.endpoint, endpoint
        for one in component.specifications:
            yield component, f"{one.path}/ModelName", one.model, deployment.model(one.model)
            base = deployment.component(one.base_component)
            yield component, f"{one.path}/BaseInferenceComponentName", one.base_component, base


def _names_in_metrics(deployment: Deployment) -> Iterator[_Row]:
    rows = [(alarm, metric) for alarm in deployment.alarms for metric in alarm.metrics]
    rows += [(policy, policy.metric) for policy in deployment.scaling_policies if policy.metric]  # type: ignore[misc]
    for resource, metric in rows:
        dimensions = {} if metric.dimensions is UNKNOWN else metric.dimensions
        path = f"{metric.path}/Dimensions".lstrip("/")
        endpoint, component = (
            dimensions.get(name) for name in ("EndpointName", "InferenceComponentName")
        )
        yield resource, path, endpoint, deployment.endpoint(endpoint)
        yield resource, path, component, deployment.component(component)


def _arns(deployment: Deployment) -> Iterator[_Row]:
    """Yield all places that take the ARN of a resource, with the value and what it refers to."""
    for model in deployment.models:
        yield model, "ExecutionRoleArn", model.role, deployment.role(model.role)
    for config in deployment.endpoint_configs:
        yield config, "ExecutionRoleArn", config.role, deployment.role(config.role)
    for component in deployment.components:
        if component.endpoint_by_arn:
            endpoint = deployment.endpoint(component.endpoint)
            yield component, "EndpointArn", component.endpoint, endpoint


@dataclass(frozen=True, slots=True)
class _Said:
    """What is wrong with a value, and what to write where that is known."""

    message: str
    fix: str | None = None
    is_known: bool = True


def _said(
    resource: Resource, value: String | None, other: Resource | None, needed: str
) -> _Said | None:
    """Say that a value is not of the kind that is needed; `None` if it may be."""
    reference = value.reference if isinstance(value, Text) else None
    if other is None or reference is None or not reference.resource:
        if _given(value) in ("name", "arn") and _given(value) != needed:
            article = "an" if needed == "arn" else "a"
            return _Said(f"{shown(value)!r} is not {article} {_WORDS[needed]}")
        return None
    facts = template_references().get(_TYPES.get(type(other), ""))
    given = facts.gives.get(reference.attribute) if facts else None
    if facts is None or given == needed:
        return None
    fix = _written(reference.name, facts.attribute_for(needed))
    if reference.template != resource.template:
        fix = f"export the {_WORDS[needed]} from {reference.template} instead"
    name, attribute = other.logical_id, reference.attribute
    if given is None:
        message = f"{facts.type} has no attribute {attribute!r} that is known"
        return _Said(message, fix, is_known=False)
    spoken = "Ref" if attribute == "Ref" else f"Fn::GetAtt {attribute}"
    gives = f"gives its {_WORDS[given]}" if given in _WORDS else "gives something else"
    return _Said(f"{spoken} of {name} {gives}, but the {_WORDS[needed]} is needed", fix)


def _given(value: String | None) -> str | None:
    """Tell what a value that is no single reference is, as far as its beginning tells."""
    if head(value).startswith("arn:"):
        return "arn"
    if isinstance(value, Text) and isinstance(value.parts[0], Reference):
        return None
    return "name" if isinstance(value, str) and value and ":" not in value else None


def _written(name: str, attribute: str | None) -> str:
    """Say how a template writes what is needed, or what to do if no reference gives it."""
    if attribute is None:
        return f"give {name} a name of its own, write that, and add DependsOn: {name}"
    if attribute == "Ref":
        return f"write !Ref {name}"
    return f"write !GetAtt {name}.{attribute} (in Fn::Sub: ${{{name}.{attribute}}})"
