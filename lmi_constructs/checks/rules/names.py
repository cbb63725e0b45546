"""Names of resources."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from lmi_constructs.checks.examples import Example
from lmi_constructs.checks.queries.variants import variants
from lmi_constructs.checks.rules.base import Rule
from lmi_constructs.checks.values import Reference, Text, literal, shown
from lmi_constructs.facts.limits import limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.resources import Resource
    from lmi_constructs.findings import Finding

_LEGAL = re.compile(r"[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?\Z")
_GENERATED_PART = re.compile(r"[-.]?(?=[0-9a-fA-F]*[0-9])(?=[0-9]*[a-fA-F])[0-9a-fA-F]{6,}\Z")
_FIXED_PSEUDO: Final = frozenset({"AWS::StackName", "AWS::Region", "AWS::AccountId"})


class IllegalName(Rule):
    """LMI065."""

    id = "LMI065"
    title = "the name is not allowed"
    why = "the service refuses it"
    fix = "use letters, digits and inner hyphens, at most 63; or none, so that one is generated"
    source = "botocore 1.44.8 sagemaker 2017-07-24 ModelName, EndpointName, VariantName"
    failing = Example({"Model/Properties/ModelName": "my_model"})
    passing = Example({"Endpoint/Properties/EndpointName": "my-endpoint"})

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield names with other signs, or too long."""
        for resource, path, name in _names(deployment):
            known = [part for part in _parts(name) if isinstance(part, str)]
            strange = set("".join(known)) - set(_ALPHABET)
            whole = literal(name)
            if strange:
                message = f"{shown(name)!r} has {' '.join(map(repr, sorted(strange)))} in it"
            elif whole and not limits()["name_length"].allows(len(whole)):
                message = f"{whole!r} has {len(whole)} characters, but at most 63 are allowed"
            elif whole and not _LEGAL.match(whole):
                message = f"{whole!r} begins or ends with a hyphen"
            else:
                continue
            yield self.found(resource, path, message)


class FixedName(Rule):
    """LMI066."""

    id = "LMI066"
    title = "a fixed name for what is replaced on every change"
    severity = "warning"
    why = (
        "a model or endpoint configuration cannot change: CloudFormation creates the new one"
        " before it deletes the old, and the name is taken, so the next update fails"
    )
    fix = "leave the name out, so that CloudFormation generates one"
    source = "https://github.com/philschmid/terraform-aws-sagemaker-huggingface/issues/6"
    failing = Example({"Config/Properties/EndpointConfigName": "llama"})
    passing = Example({"Config/Properties/EndpointConfigName": "llama-3f9c2a71be"})

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield models and endpoint configurations whose name stays the same.

        A parameter may change with every update, such as a version; not one that an endpoint is named by.
        """
        staying = {
            (one.template, name) for one in deployment.endpoints for name in one.name_parameters
        }
        rows: tuple[tuple[tuple[Resource, ...], str], ...] = (
            (deployment.models, "ModelName"),
            (deployment.endpoint_configs, "EndpointConfigName"),
        )
        for resources, path in rows:
            for resource in resources:
                if not resource.name or _GENERATED_PART.search(literal(resource.name) or ""):
                    continue
                made_of = {(resource.template, name) for name in resource.name_parameters}
                if made_of <= staying and all(map(_stays, _parts(resource.name))):
                    message = f"{path} is fixed as {shown(resource.name)!r}"
                    yield self.found(resource, path, message)


class NameTwice(Rule):
    """LMI067."""

    id = "LMI067"
    title = "two resources of the same name"
    why = "the name is unique in account and region, so the second cannot be created"
    fix = "give each its own name, or none"
    source = "botocore 1.44.8 sagemaker 2017-07-24 CreateEndpoint"
    failing = Example(
        {
            "Endpoint/Properties/EndpointName": "llama",
            "Second": {
                "Type": "AWS::SageMaker::Endpoint",
                "Properties": {
                    "EndpointName": "llama",
                    "EndpointConfigName": {"Fn::GetAtt": ["Config", "EndpointConfigName"]},
                },
            },
        }
    )
    passing = IllegalName.passing

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield later resources of one template with a name that an earlier one has."""
        rows: tuple[tuple[tuple[Resource, ...], str], ...] = (
            (deployment.models, "ModelName"),
            (deployment.endpoint_configs, "EndpointConfigName"),
            (deployment.endpoints, "EndpointName"),
            (deployment.components, "InferenceComponentName"),
        )
        for resources, path in rows:
            seen: Counter[tuple[str, str]] = Counter()
            for resource in resources:
                name = literal(resource.name)
                # Resources under a condition may exclude one another, so a default name is no proof.
                if name:
                    key = (resource.template, name.lower())
                    seen[key] += 1
                    if seen[key] == 2 and not resource.conditional:
                        yield self.found(resource, path, f"the name {name!r} is used twice")


_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"


def _names(deployment: Deployment) -> Iterator[tuple[Resource, str, object]]:
    rows: tuple[tuple[tuple[Resource, ...], str], ...] = (
        (deployment.models, "ModelName"),
        (deployment.endpoint_configs, "EndpointConfigName"),
        (deployment.endpoints, "EndpointName"),
        (deployment.components, "InferenceComponentName"),
    )
    for resources, path in rows:
        for resource in resources:
            yield resource, path, resource.name
    for config, variant in variants(deployment):
        yield config, f"{variant.path}/VariantName", variant.name


def _parts(name: object) -> tuple[object, ...]:
    return name.parts if isinstance(name, Text) else (name,)


def _stays(part: object) -> bool:
    if isinstance(part, Reference):
        return part.name in _FIXED_PSEUDO
    return isinstance(part, str)
