"""The endpoint configuration: variants and what holds for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import aws_sagemaker as sagemaker

from lmi_constructs.checks.plugin import attach_to
from lmi_constructs.findings import Finding, LmiError
from lmi_constructs.hosting._cdk_tokens import is_token
from lmi_constructs.hosting._keywords import check_keywords, keywords_of
from lmi_constructs.hosting._permissions import Permission, grant
from lmi_constructs.hosting._report_findings import report
from lmi_constructs.hosting._resolved_variant import ResolvedVariant
from lmi_constructs.hosting._resource_names import check_name
from lmi_constructs.hosting._scope_and_id import CheckedConstruct
from lmi_constructs.hosting._stack_environment import StackEnvironment
from lmi_constructs.hosting._vpc_config import VpcConfig, check_vpc_config
from lmi_constructs.readable import readable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aws_cdk import aws_ec2 as ec2
    from aws_cdk import aws_iam as iam
    from aws_cdk import aws_kms as kms
    from constructs import Construct

    from lmi_constructs.hosting.endpoint_features import (
        AsyncInference,
        DataCapture,
        EndpointMetrics,
    )
    from lmi_constructs.hosting.variant import LmiVariant

_MOST_VARIANTS = 10
"""botocore 1.44.8 sagemaker 2017-07-24 ProductionVariantList."""


class LmiEndpointConfig(CheckedConstruct):
    """An endpoint configuration.

    Its name is always generated: CloudFormation replaces a configuration on every change, and the
    endpoint moves to the new one. What has no keyword here (serverless variants, tags by `cdk.Tags`) is
    set on `resource`, the L1 construct:
    `config.resource.add_property_override("ProductionVariants.0.AcceleratorType", ...)`.

    Attributes:
        resource: The L1 construct.
        variants: The variants with everything that was worked out for them.
        shadow_variants: The shadow variants.
        endpoint_config_name: The generated name.
        is_async: Whether answers are written to S3.
        execution_role: Role of a fleet that serves inference components, `None` without one.
        connections: Security groups of a fleet's containers, with a VPC.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        variants: Sequence[LmiVariant],
        shadow_variants: Sequence[LmiVariant] = (),
        encryption_key: kms.IKey | None = None,
        data_capture: DataCapture | None = None,
        async_inference: AsyncInference | None = None,
        metrics: EndpointMetrics | None = None,
        explainer: sagemaker.CfnEndpointConfig.ExplainerConfigProperty | None = None,
        execution_role: iam.IRole | None = None,
        network_isolation: bool | None = None,
        vpc: ec2.IVpc | None = None,
        vpc_subnets: ec2.SubnetSelection | None = None,
        security_groups: Sequence[ec2.ISecurityGroup] | None = None,
    ) -> None:
        """Create an endpoint configuration.

        Args:
            scope: Parent.
            id: Id within the parent.
            variants: Models on instances, 1 to 10.
            shadow_variants: A variant that gets a copy of the traffic, its answers unused.
            encryption_key: Key of the instances' EBS volumes. Local NVMe storage is encrypted by the
                hardware, not with this key.
            data_capture: Recording of requests and responses. The models' roles get the permission.
            async_inference: Asynchronous answers. The models' roles get the permission.
            metrics: How finely metrics are published. Default: SageMaker's.
            explainer: SageMaker Clarify, as the L1 property.
            execution_role: Role of a fleet that serves inference components.
            network_isolation: Isolation of a fleet that serves inference components.
            vpc: VPC of a fleet that serves inference components; see `LmiFleet`.
            vpc_subnets: Subnets within the VPC. Default: its private ones.
            security_groups: Security groups. Default: a new one.

        Raises:
            LmiError: If a variant or the network would fail at deploy time.
        """
        super().__init__(scope, id)
        report(self, check_keywords(keywords_of(locals())))
        attach_to(self, scope)
        self.variants = tuple(ResolvedVariant.of(variant) for variant in variants)
        self.shadow_variants = tuple(ResolvedVariant.of(variant) for variant in shadow_variants)
        self.is_async = async_inference is not None
        self.execution_role = execution_role
        self._everyone = (*self.variants, *self.shadow_variants)
        findings = [finding for variant in self._everyone for finding in variant.findings]
        findings += _check_names([resolved.variant.variant_name for resolved in self._everyone])
        findings += _check_numbers(len(self.variants), len(self.shadow_variants))
        findings += _check_weights([resolved.variant.weight for resolved in self._everyone])
        findings += _check_traffic([resolved.variant.weight for resolved in self.variants])
        findings += _check_shadow(self.is_async and bool(self.shadow_variants))
        findings += _check_key(encryption_key, self._everyone)
        findings += check_vpc_config(vpc, vpc_subnets, security_groups)
        report(self, dict.fromkeys(findings))

        vpc_config = VpcConfig.within(self, vpc, vpc_subnets, security_groups)
        self.connections: ec2.Connections | None = (
            None if vpc_config is None else vpc_config.connections
        )
        self.resource = sagemaker.CfnEndpointConfig(
            self,
            "Resource",
            production_variants=[item.render(is_async=self.is_async) for item in self.variants],
            shadow_production_variants=[
                item.render(is_async=self.is_async) for item in self.shadow_variants
            ]
            or None,
            kms_key_id=None if encryption_key is None else encryption_key.key_arn,
            data_capture_config=None if data_capture is None else data_capture.render(),
            async_inference_config=None if async_inference is None else async_inference.render(),
            metrics_config=None if metrics is None else metrics.render(),
            explainer_config=explainer,
            execution_role_arn=None if execution_role is None else execution_role.role_arn,
            enable_network_isolation=network_isolation,
            vpc_config=None
            if vpc_config is None
            else sagemaker.CfnEndpointConfig.VpcConfigProperty(
                security_group_ids=vpc_config.security_group_ids, subnets=vpc_config.subnet_ids
            ),
        )
        self._grant_writing(data_capture, async_inference)
        self.endpoint_config_name: str = self.resource.attr_endpoint_config_name

    def variant(self, name: str | None = None, *, or_shadow: bool = False) -> ResolvedVariant:
        """Return a variant by name, or the only one.

        Args:
            name: Name of the variant. Default: the only one that answers.
            or_shadow: Whether it may be a shadow variant, which has metrics and does not answer.

        Raises:
            LmiError: If there is no such variant, or no name and several variants (LMI069).
        """
        among = self._everyone if or_shadow and name is not None else self.variants
        found = [item for item in among if name is None or item.variant.variant_name == name]
        if len(found) == 1:
            return found[0]
        names = ", ".join(repr(item.variant.variant_name) for item in among)
        finding = Finding(
            rule="LMI069",
            message=f"variant {name!r} is not one of {names}" if name else f"which of {names}?",
            why="metrics, alarms and scaling belong to one variant",
            fix="give variant_name=",
            where="variant_name",
        )
        raise LmiError(finding.at(self.node.path))

    def grant_watching_alarms(self) -> None:
        """Let the models' roles look at the alarms that roll an update back."""
        alarms = StackEnvironment.of(self).arn("cloudwatch", "alarm:*")
        self._grant([Permission(("cloudwatch:DescribeAlarms",), (alarms,))])

    def _grant_writing(
        self, data_capture: DataCapture | None, async_inference: AsyncInference | None
    ) -> None:
        """Let the models' roles write what the endpoint stores."""
        core_dumps = [item.variant.core_dump for item in self._everyone if item.variant.core_dump]
        if data_capture is None and async_inference is None and not core_dumps:
            return
        env = StackEnvironment.of(self)
        permissions: list[Permission] = []
        for feature in (data_capture, async_inference):
            permissions += feature.permissions(env) if feature else ()
        for core_dump in core_dumps:
            permissions += core_dump.permissions(env)
        self._grant(permissions)

    def _grant(self, permissions: list[Permission]) -> None:
        """Give permissions to the roles that serve, before the configuration is made."""
        roles = [model.role for item in self._everyone for model in item.variant.models]
        if self.execution_role is not None:
            roles.append(self.execution_role)
        for role in dict.fromkeys(roles):
            self.resource.node.add_dependency(*grant(role, permissions))


def _check_numbers(variants: int, shadows: int) -> list[Finding]:
    """Check how many variants there are: up to ten, or one beside a shadow."""
    most = 1 if shadows else _MOST_VARIANTS
    if 1 <= variants <= most and shadows <= 1:
        return []
    return [
        Finding(
            rule="LMI069",
            message=f"there are {variants} variants and {shadows} shadow variants",
            why="CreateEndpointConfig takes one variant beside one shadow variant, or up to"
            f" {_MOST_VARIANTS} without, and refuses the configuration",
            fix="give variants=[one], shadow_variants=[another]; or leave the shadow variants out",
            where="variants",
            source="botocore 1.44.8 sagemaker 2017-07-24 CreateEndpointConfigInput",
        )
    ]


def _check_weights(weights: list[float]) -> list[Finding]:
    """Check that no weight is below zero; a token is not known."""
    return [
        Finding(
            rule="LMI010",
            message=f"weight is {readable(weight)}",
            why="traffic is shared by weights of 0 or more, and CreateEndpointConfig refuses others",
            fix="give 0 for a variant without traffic, or a number above it",
            where="weight",
            source="botocore 1.44.8 sagemaker 2017-07-24 VariantWeight",
        )
        for weight in weights
        if not is_token(weight) and weight < 0
    ]


def _check_traffic(weights: list[float]) -> list[Finding]:
    """Warn of weights of which no share follows; a token is not known."""
    if not weights or any(is_token(weight) or weight != 0 for weight in weights):
        return []
    return [
        Finding(
            rule="LMI010",
            message="the weight of every variant is 0",
            why="a variant's share is its weight divided by the sum of all, which is no number then",
            fix="give at least one variant a weight above 0",
            severity="warning",
            where="weight",
            source="botocore 1.44.8 sagemaker 2017-07-24 ProductionVariant.InitialVariantWeight",
        )
    ]


def _check_shadow(behind_async: bool) -> list[Finding]:
    """Warn of a shadow variant of an asynchronous endpoint."""
    if not behind_async:
        return []
    return [
        Finding(
            rule="LMI068",
            message="shadow_variants are given for an asynchronous endpoint",
            why="SageMaker shadows real-time endpoints only, and says that it refuses others",
            fix="leave shadow_variants or async_inference out",
            severity="warning",
            where="shadow_variants",
            source="https://docs.amazonaws.cn/en_us/sagemaker/latest/dg/shadow-tests-exclusions.html",
        )
    ]


def _check_names(names: list[str]) -> list[Finding]:
    findings = [item for name in names for item in check_name(name, "variant_name")]
    known = [name for name in names if not is_token(name)]
    findings += [
        Finding(
            rule="LMI067",
            message=f"variant name {name!r} is used twice",
            why="SageMaker refuses the endpoint configuration",
            fix="give each variant a name of its own",
            where="variant_name",
        )
        for name in dict.fromkeys(known)
        if known.count(name) > 1
    ]
    return findings


def _check_key(key: kms.IKey | None, variants: tuple[ResolvedVariant, ...]) -> list[Finding]:
    if key is None:
        return []
    local = [
        item.instance.name
        for item in variants
        if item.instance is not None and item.instance.local_storage_gb
    ]
    return [
        Finding(
            rule="LMI043",
            message=f"encryption_key does not encrypt the local storage of {name}",
            why="model and container live on the instance's own NVMe storage, which the hardware"
            " encrypts with keys of its own",
            fix="nothing, if a policy asks for the key; acknowledge this warning",
            severity="warning",
            where="encryption_key",
            source="botocore 1.44.8 sagemaker 2017-07-24 CreateEndpointConfigInput.KmsKeyId",
        )
        for name in dict.fromkeys(local)
    ]
