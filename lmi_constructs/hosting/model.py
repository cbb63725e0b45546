"""The model: image, data, settings and execution role."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aws_cdk as cdk
from aws_cdk import aws_sagemaker as sagemaker

from lmi_constructs.checks.plugin import attach_to
from lmi_constructs.container import LmiContainer, LmiSettings
from lmi_constructs.container.environment_limits import limit_findings
from lmi_constructs.facts.models import models
from lmi_constructs.findings import Finding
from lmi_constructs.hosting._cdk_tokens import is_resolvable
from lmi_constructs.hosting._hub_access import check_isolation, check_route_to_hub
from lmi_constructs.hosting._keywords import check_keywords, keywords_of
from lmi_constructs.hosting._model_metadata import model_metadata
from lmi_constructs.hosting._number_tokens import with_text_tokens
from lmi_constructs.hosting._permissions import (
    endpoint_permissions,
    execution_role,
    grant,
    network_permissions,
)
from lmi_constructs.hosting._planning import check_architecture, judge, not_planned
from lmi_constructs.hosting._report_findings import report
from lmi_constructs.hosting._scope_and_id import CheckedConstruct
from lmi_constructs.hosting._stack_environment import StackEnvironment
from lmi_constructs.hosting._vpc_config import VpcConfig, check_vpc_config
from lmi_constructs.hosting.container_image import ContainerImage, as_image

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aws_cdk import aws_ec2 as ec2
    from aws_cdk import aws_iam as iam
    from constructs import Construct, IDependable

    from lmi_constructs.hosting.model_data import BoundModelData, ModelData


_OPENS_GATES = frozenset(
    {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_ENDPOINT", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"}
)
"""Variables with which a gated model may come: a token, another hub, or an image that has it."""

_NOT_ISOLATED = (
    "network isolation is off, as the container downloads the model at each start; mount it from S3"
    " with ModelData.s3_prefix(...) to isolate it"
)


class LmiModel(CheckedConstruct):
    """A model of SageMaker that runs in an LMI container.

    Its name is always generated: CloudFormation replaces a model on every change, and a fixed name
    would collide with the one being replaced. What has no keyword here (several containers,
    `InferenceExecutionConfig`, tags by `cdk.Tags`) is set on `resource`, the L1 construct:
    `model.resource.add_property_override("PrimaryContainer.ContainerHostname", "llm")`.

    Attributes:
        resource: The L1 construct.
        role: The execution role.
        model_data: Where the files come from.
        data: What the model renders for them.
        container: Release of the image, `None` for an image nothing is known of.
        image_uri: The image.
        settings: The settings, `None` for an image nothing is known of.
        environment: The whole environment of the container.
        network_isolation: Whether the container is cut off from the network.
        findings: Warnings about the settings.
        connections: Security groups of the container, with a VPC.
        permissions: What the execution role was given.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        model_data: ModelData,
        container: LmiContainer | ContainerImage | None = None,
        settings: LmiSettings | None = None,
        environment: Mapping[str, str] | None = None,
        role: iam.IRole | None = None,
        network_isolation: bool | None = None,
        vpc: ec2.IVpc | None = None,
        vpc_subnets: ec2.SubnetSelection | None = None,
        security_groups: Sequence[ec2.ISecurityGroup] | None = None,
        image_config: sagemaker.CfnModel.ImageConfigProperty | None = None,
    ) -> None:
        """Create a model.

        Args:
            scope: Parent.
            id: Id within the parent.
            model_data: Where the model's files come from.
            container: Release, or image. Default: the newest release whose behavior has been
                verified by running its code.
            settings: Settings of server and engine. Default: none but what the release needs.
            environment: Further environment variables, taken as they are. Anyone with
                `sagemaker:DescribeModel` can read them.
            role: Execution role. Default: a new one that may read exactly this model data, pull
                exactly this image, and write logs and metrics. A role given here gets the same
                permissions, and they are in place before the model is created.
            network_isolation: Whether the container is cut off from the network. Default: yes if
                SageMaker mounts the data, no if the container must download something itself.
            vpc: VPC of the container's network interfaces. Model data in S3 comes through it too,
                also for an isolated container. Default: none of yours.
            vpc_subnets: Subnets within the VPC. Default: its private ones. They need a way to S3, and
                to the hub for a model that is downloaded (LMI099, LMI090).
            security_groups: Security groups. Default: a new one.
            image_config: Where an image comes from that is in no ECR registry of AWS.

        Raises:
            LmiError: If the settings, data, image or network would fail at deploy time.
        """
        super().__init__(scope, id)
        report(self, check_keywords(keywords_of(locals()), required="model_data"))
        attach_to(self, scope)
        env = StackEnvironment.of(scope).cached_at(self)
        image = as_image(container).bind(env)
        data = model_data.bind(self, env)

        self.model_data = model_data
        self.container = image.container
        self.image_uri = image.uri
        self.settings = settings
        if settings is None and image.container is not None:
            self.settings = LmiSettings()
        rendered = with_text_tokens(self.settings, self) if self.settings else None
        self.environment, clashes = _environment(rendered, image.container, data, environment)
        self.network_isolation = (
            not data.needs_network if network_isolation is None else network_isolation
        )
        self.data = data
        judged = judge(self.environment, image.container, data)
        hub_id = data.environment.get("HF_MODEL_ID")
        findings = (
            *image.findings,
            *clashes,
            *_check_gate(self.environment),
            *check_architecture(model_data.architecture, hub_id),
            *check_isolation(self.network_isolation, data),
            *check_vpc_config(vpc, vpc_subnets, security_groups),
            *check_route_to_hub(vpc, vpc_subnets, self.environment, data),
            *(rendered.check(image.container) if rendered and image.container else ()),
            *(judged.findings if judged else limit_findings(self.environment)),
        )
        self.findings: tuple[Finding, ...] = _without_repeated(findings)
        report(self, self.findings)
        if data.needs_network and network_isolation is None:
            cdk.Annotations.of(self).add_info(_NOT_ISOLATED)
        unplanned = not_planned(model_data.architecture, hub_id, judged)
        if unplanned:
            cdk.Annotations.of(self).add_info(unplanned)

        self.permissions = (
            *endpoint_permissions(env),
            *image.permissions,
            *data.permissions,
            *(network_permissions() if vpc else ()),
        )
        self.role, dependables = _role_with(self, role)
        vpc_config = VpcConfig.within(self, vpc, vpc_subnets, security_groups)
        self.connections: ec2.Connections | None = (
            None if vpc_config is None else vpc_config.connections
        )
        self.resource = _cfn_model(self, image_config, vpc_config)
        if dependables:
            self.resource.node.add_dependency(*dependables)
        of_image = LmiContainer.from_image_uri(image.uri)
        is_own = isinstance(container, ContainerImage) and of_image != image.container
        for key, value in model_metadata(
            model_data.architecture, data, self.environment, image.container if is_own else None
        ):
            self.resource.add_metadata(key, value)
        self.model_name: str = self.resource.attr_model_name


def _without_repeated(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return each finding once, in the form in which it was found first."""
    distinct = {(finding.rule, finding.message): finding for finding in reversed(findings)}
    return tuple(reversed(distinct.values()))


def _role_with(model: LmiModel, role: iam.IRole | None) -> tuple[iam.IRole, list[IDependable]]:
    """Return a model's role with its permissions, and what must be in place before the model."""
    if role is None:
        return execution_role(model, model.permissions), []
    return role, grant(role, model.permissions)


def _cfn_model(
    model: LmiModel,
    image_config: sagemaker.CfnModel.ImageConfigProperty | None,
    vpc_config: VpcConfig | None,
) -> sagemaker.CfnModel:
    """Add the L1 construct of a model."""
    return sagemaker.CfnModel(
        model,
        "Resource",
        execution_role_arn=model.role.role_arn,
        enable_network_isolation=model.network_isolation,
        primary_container=sagemaker.CfnModel.ContainerDefinitionProperty(
            image=model.image_uri,
            image_config=image_config,
            environment=model.environment or None,
            model_data_source=model.data.model_data_source,
        ),
        vpc_config=None
        if vpc_config is None
        else sagemaker.CfnModel.VpcConfigProperty(
            security_group_ids=vpc_config.security_group_ids, subnets=vpc_config.subnet_ids
        ),
    )


def _environment(
    settings: LmiSettings | None,
    container: LmiContainer | None,
    data: BoundModelData,
    extra: Mapping[str, str] | None,
) -> tuple[dict[str, str], list[Finding]]:
    """Return the container's environment, and what is said twice in it."""
    findings: list[Finding] = []
    rendered: dict[str, str] = dict(data.environment)
    if settings is not None and container is None:
        findings.append(
            Finding(
                rule="LMI019",
                message="settings are given for an image that no release is known for",
                why="names and defaults of settings differ between releases",
                fix="say which release it behaves like: ContainerImage.from_uri(uri,"
                " behaves_like=LmiContainer.V27), or give environment= instead",
                where="settings",
            )
        )
    parts = {
        "settings": settings.to_environment(container) if settings and container else {},
        "environment": {
            name: cdk.Token.as_string(value) if is_resolvable(value) else value
            for name, value in (extra or {}).items()
        },
    }
    for where, part in parts.items():
        findings += [
            Finding(
                rule="LMI013",
                message=f"{name} is set to {part[name]!r} and, by another keyword, to"
                f" {rendered[name]!r}",
                why="only one of them can be deployed",
                fix="give it once; in settings it also replaces the value of a preset",
                where=where,
            )
            for name in part
            if name in rendered and part[name] != rendered[name]
        ]
        rendered.update(part)
    return rendered, findings


def _check_gate(environment: Mapping[str, str]) -> list[Finding]:
    """Check that the container may download a gated model, if it is to."""
    hub_id = environment.get("HF_MODEL_ID")
    known = None if hub_id is None else models().get(hub_id.lower())
    if known is None or not known.gated or not _OPENS_GATES.isdisjoint(environment):
        return []
    return [
        Finding(
            rule="LMI014",
            message=f"{known.hub_id} is gated, and the container has no token for the hub",
            why="the hub refuses the download without a token, and the container never starts",
            fix="accept the license on the hub, then give model_data=ModelData.s3_prefix(bucket,"
            f" prefix) with your copy, or ModelData.hub({known.hub_id!r}, token=secret)",
            where="model_data",
            source=f"https://huggingface.co/{known.hub_id}",
        )
    ]
