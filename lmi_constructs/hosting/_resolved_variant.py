"""A variant with everything that follows from its model and instance type."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from aws_cdk import aws_sagemaker as sagemaker

from lmi_constructs._near_names import did_you_mean
from lmi_constructs.facts import instance_types
from lmi_constructs.facts.host_image_choices import choose_host_image
from lmi_constructs.facts.host_images import host_images
from lmi_constructs.facts.limits import hosting_instance_type_names
from lmi_constructs.findings import Finding, raise_errors
from lmi_constructs.hosting._cdk_tokens import is_token
from lmi_constructs.hosting._keywords import KINDS_OF_FLEETS, check_keywords
from lmi_constructs.hosting._kinds import refused
from lmi_constructs.hosting._resolved_model import ResolvedModel
from lmi_constructs.hosting._timeouts import check_range
from lmi_constructs.hosting._units import gibibytes, seconds
from lmi_constructs.hosting.variant import Routing

if TYPE_CHECKING:
    from lmi_constructs.container import LmiContainer, Verdict
    from lmi_constructs.facts import InstanceType
    from lmi_constructs.hosting.variant import LmiVariant
    from lmi_constructs.planner import Plan

_INSTANCE_TYPE = re.compile(r"ml\.[a-z0-9-]+\.[a-z0-9-]+")
_SHORTEST_PROVISIONING_SECONDS = 300
_MOST_POOLS = 5
"""botocore 1.44.8 sagemaker 2017-07-24 InstancePoolList."""


@dataclass(frozen=True, slots=True)
class ResolvedVariant:
    """A variant as it will be deployed.

    Attributes:
        variant: The variant as it was written.
        instance: Facts of its instance type, `None` if they are not known.
        resolved_model: What follows from its model on this instance, `None` without a model.
        host_image: `InferenceAmiVersion`, `None` to leave it to SageMaker.
        findings: All that should be said about it.
    """

    variant: LmiVariant
    instance: InstanceType | None
    resolved_model: ResolvedModel | None
    host_image: str | None
    findings: tuple[Finding, ...]

    @classmethod
    def of(cls, variant: LmiVariant) -> ResolvedVariant:
        """Work out what a variant leaves open, and check it.

        Raises:
            LmiError: If a value is of the wrong kind (LMI010).
        """
        keywords = {item.name: getattr(variant, item.name) for item in fields(variant)}
        raise_errors(check_keywords(keywords, kinds=KINDS_OF_FLEETS))
        model = variant.model
        placements = _placements(variant)
        resolved = None
        if model is not None:
            resolved = ResolvedModel.of(
                model,
                variant.instance_type,
                startup_timeout=variant.startup_timeout,
                download_timeout=variant.download_timeout,
            )
        findings = [
            *(item for placement in placements for item in _check_instance(variant, *placement)),
            *_check_shape(variant),
            *(resolved.findings if resolved else ()),
        ]
        host_image, remarks = _host_image(variant, placements)
        return cls(
            variant=variant,
            instance=instance_types().get(variant.instance_type or ""),
            resolved_model=resolved,
            host_image=host_image,
            findings=(*findings, *remarks),
        )

    @property
    def verdict(self) -> Verdict | None:
        """What the container does with the environment on this instance."""
        return None if self.resolved_model is None else self.resolved_model.verdict

    @property
    def plan(self) -> Plan | None:
        """The memory plan, `None` if model or instance are not known."""
        return None if self.resolved_model is None else self.resolved_model.plan

    @property
    def longest_start_seconds(self) -> int | None:
        """The longest that an instance may take to start, `None` without a model."""
        return None if self.resolved_model is None else self.resolved_model.longest_start_seconds

    def render(self, *, is_async: bool) -> sagemaker.CfnEndpointConfig.ProductionVariantProperty:
        """Return the L1 property."""
        variant, resolved = self.variant, self.resolved_model
        routing = variant.routing
        if routing is None and not is_async:
            routing = Routing.least_outstanding_requests()
        scaling, reservation = variant.managed_instance_scaling, variant.capacity_reservation
        volume = variant.volume_size
        return sagemaker.CfnEndpointConfig.ProductionVariantProperty(
            variant_name=variant.variant_name,
            model_name=None if variant.model is None else variant.model.model_name,
            instance_type=variant.instance_type,
            instance_pools=[pool.render() for pool in variant.instance_pools] or None,
            initial_instance_count=variant.initial_instance_count,
            initial_variant_weight=variant.weight,
            inference_ami_version=self.host_image,
            container_startup_health_check_timeout_in_seconds=None
            if resolved is None
            else resolved.startup_seconds,
            model_data_download_timeout_in_seconds=None
            if resolved is None
            else resolved.download_seconds,
            variant_instance_provision_timeout_in_seconds=seconds(
                variant.instance_provision_timeout, "instance_provision_timeout"
            ),
            volume_size_in_gb=gibibytes(volume, "volume_size"),
            routing_config=None if routing is None else routing.render(),
            managed_instance_scaling=None if scaling is None else scaling.render(),
            capacity_reservation_config=None if reservation is None else reservation.render(),
            core_dump_config=None if variant.core_dump is None else variant.core_dump.render(),
            enable_ssm_access=variant.enable_ssm_access,
        )


def _placements(variant: LmiVariant) -> list[tuple[str, LmiContainer | None]]:
    """Return the known instance types of a variant, each with the release that runs on it."""
    own = variant.container if variant.model is None else variant.model.container
    placements = [(variant.instance_type, own)]
    placements += [
        (pool.instance_type, own if pool.model is None else pool.model.container)
        for pool in variant.instance_pools
    ]
    return [
        (name, release) for name, release in placements if name is not None and not is_token(name)
    ]


def _host_image(
    variant: LmiVariant, placements: list[tuple[str, LmiContainer | None]]
) -> tuple[str | None, list[Finding]]:
    """Return the host image of a variant, and what is doubtful about it."""
    known = [
        (instance_types()[name], release)
        for name, release in placements
        if name in instance_types()
    ]
    if variant.host_image is not None:
        image = variant.host_image
        return image, [item for instance, _ in known for item in _check_host_image(image, instance)]
    images = {_chosen_host_image(instance, release) for instance, release in known}
    # Where none is known, LMI032 or LMI039 of the rules says so at synth.
    return images.pop() if len(images) == 1 else None, []


def _chosen_host_image(instance: InstanceType, container: LmiContainer | None) -> str | None:
    if container is None:
        return None
    choice = choose_host_image(container.release, instance.family)
    return None if choice is None else choice.host_image


def _check_host_image(name: str, instance: InstanceType) -> list[Finding]:
    image = host_images().get(name)
    if image is None or image.accelerator_kind == instance.accelerator_kind:
        return []
    return [
        Finding(
            rule="LMI034",
            message=f"host image {name} is for {image.accelerator_kind} instances, {instance.name}"
            f" has {instance.accelerator} accelerators",
            why="the host has no driver for the accelerators",
            fix="leave host_image out",
            where="host_image",
            source=image.source,
        )
    ]


def _check_instance(
    variant: LmiVariant, name: str, container: LmiContainer | None
) -> list[Finding]:
    instance = instance_types().get(name)
    if instance is None:
        return _check_unknown_instance(name)
    findings = []
    wanted = "neuron" if container and container.release.engine == "neuronx" else "gpu"
    if container is not None and instance.accelerator_kind != wanted:
        findings.append(
            Finding(
                rule="LMI036",
                message=f"container {container.name} needs a {wanted} instance, {name} has"
                f" {instance.accelerator} accelerators",
                why="the engine finds no device it can use and stops",
                fix="use a release for these accelerators (LmiContainer.NEURONX for Inferentia"
                " and Trainium) or another instance type",
                where="instance_type",
                source=instance.source,
            )
        )
    if variant.volume_size is not None and not instance.volume_size_allowed:
        findings.append(
            Finding(
                rule="LMI042",
                message=f"volume_size is given for {name}, which has local storage of"
                f" {instance.local_storage_gb} GB",
                why="SageMaker takes VolumeSizeInGB only for instance types without local storage",
                fix="leave volume_size out: model and container use the local storage",
                where="volume_size",
                source="https://github.com/aws/sagemaker-python-sdk/pull/4828",
            )
        )
    return findings


def _check_unknown_instance(name: str) -> list[Finding]:
    known = list(instance_types())
    if not _INSTANCE_TYPE.fullmatch(name):
        return [
            Finding(
                rule="LMI040",
                message=f"{name!r} is not the name of an instance type",
                why="SageMaker refuses the endpoint configuration",
                fix=did_you_mean(
                    f"ml.{name.removeprefix('ml.')}", known, "write it like 'ml.g6.48xlarge'"
                ),
                where="instance_type",
                source="botocore 1.44.8 sagemaker 2017-07-24 ProductionVariantInstanceType",
            )
        ]
    if name not in hosting_instance_type_names():
        return []  # LMI040 of the rules refuses it at synth
    return [
        Finding(
            rule="LMI049",
            message=f"instance type {name} is not among the accelerated types known here",
            why="nothing can be planned for it, and no host image is chosen",
            fix=did_you_mean(name, known, "give host_image= and startup_timeout= yourself"),
            severity="warning",
            where="instance_type",
        )
    ]


def _check_shape(variant: LmiVariant) -> list[Finding]:
    findings = check_range(
        seconds(variant.instance_provision_timeout, "instance_provision_timeout"),
        "instance_provision_timeout",
        "LMI064",
        _SHORTEST_PROVISIONING_SECONDS,
    )
    if (variant.instance_type is None) == (not variant.instance_pools):
        findings.append(
            Finding(
                rule="LMI048",
                message="a variant needs either instance_type or instance_pools",
                why="SageMaker would not know where to run it",
                fix="give one of the two",
                where="instance_type",
            )
        )
    if len(variant.instance_pools) > _MOST_POOLS:
        message = f"there are {len(variant.instance_pools)} instance_pools"
        findings += refused("instance_pools", message, f"up to {_MOST_POOLS} pools")
    count = variant.initial_instance_count
    if not is_token(count) and count < 1:
        findings.append(
            Finding(
                rule="LMI045",
                message=f"initial_instance_count is {count}",
                why="SageMaker takes 1 or more, also for endpoints that scale to zero later",
                fix="give 1",
                where="initial_instance_count",
                source="botocore 1.44.8 sagemaker 2017-07-24 InitialTaskCount",
            )
        )
    if variant.managed_instance_scaling is not None and variant.model is not None:
        findings.append(
            Finding(
                rule="LMI075",
                message="managed_instance_scaling is given for a variant with a model",
                why="SageMaker takes it only for a fleet that serves inference components",
                fix="use endpoint.auto_scale_instance_count(...) instead",
                where="managed_instance_scaling",
                source="https://github.com/hashicorp/terraform-provider-aws/pull/45926",
            )
        )
    return findings
