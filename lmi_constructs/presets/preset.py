"""What all presets do: a reviewed table, and one construct call."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypedDict

import aws_cdk as cdk

from lmi_constructs.container import LmiContainer
from lmi_constructs.findings import raise_errors
from lmi_constructs.hosting import LmiEndpoint, ModelData
from lmi_constructs.hosting._keywords import check_keywords

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aws_cdk import aws_ec2 as ec2
    from aws_cdk import aws_iam as iam
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_sagemaker as sagemaker
    from constructs import Construct
    from typing_extensions import Unpack

    from lmi_constructs.container import LmiSettings
    from lmi_constructs.hosting import (
        AsyncInference,
        CapacityReservation,
        ContainerImage,
        CoreDump,
        DataCapture,
        EndpointMetrics,
        InstancePool,
        Rollout,
        Routing,
    )
    from lmi_constructs.presets.table import Departure, PresetTable


class EndpointOverrides(TypedDict, total=False):
    """Keywords of `LmiEndpoint` that a preset takes too."""

    environment: Mapping[str, str] | None
    initial_instance_count: int
    variant_name: str
    startup_timeout: cdk.Duration | None
    download_timeout: cdk.Duration | None
    host_image: str | None
    volume_size: cdk.Size | None
    routing: Routing | None
    capacity_reservation: CapacityReservation | None
    instance_pools: Sequence[InstancePool]
    instance_provision_timeout: cdk.Duration | None
    core_dump: CoreDump | None
    enable_ssm_access: bool | None
    role: iam.IRole | None
    network_isolation: bool | None
    vpc: ec2.IVpc | None
    vpc_subnets: ec2.SubnetSelection | None
    security_groups: Sequence[ec2.ISecurityGroup] | None
    encryption_key: kms.IKey | None
    data_capture: DataCapture | None
    async_inference: AsyncInference | None
    metrics: EndpointMetrics | None
    endpoint_name: str | None
    deployment: Rollout | sagemaker.CfnEndpoint.DeploymentConfigProperty | None
    retain_deployment: bool | None


class LmiPreset(LmiEndpoint):
    """A baseline of the guide as an endpoint.

    Attributes:
        table: Every value with its source.
        departures: Settings of the guide that are deployed differently, and why.
    """

    table: ClassVar[PresetTable]
    departures: ClassVar[tuple[Departure, ...]]

    def __init_subclass__(cls) -> None:
        """Show the table's departures on the class."""
        super().__init_subclass__()
        cls.departures = cls.table.departures

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        model_data: ModelData | None = None,
        settings: LmiSettings | None = None,
        container: LmiContainer | ContainerImage | None = None,
        instance_type: str | None = None,
        **overrides: Unpack[EndpointOverrides],
    ) -> None:
        """Create the endpoint of a preset.

        Args:
            scope: Parent.
            id: Id within the parent.
            model_data: Where the model's files come from, an S3 prefix at best. Default: the hub at
                a pinned commit, from which each new instance downloads everything again; not for
                gated models.
            settings: Settings that replace those of the table, one by one.
            container: Default: the table's release.
            instance_type: Default: the table's, without `instance_pools`.
            **overrides: Every other keyword of `LmiEndpoint`.

        Raises:
            LmiError: If the endpoint would fail at deploy time; LMI014 for a gated model that the
                container has no token for.
        """
        given = {
            "model_data": model_data,
            "settings": settings,
            "container": container,
            "instance_type": instance_type,
        }
        raise_errors(check_keywords(given))
        table = self.table
        chosen = table.lmi_settings()
        data = model_data or ModelData.hub(table.hub_id, revision=table.revision)
        if instance_type is None and not overrides.get("instance_pools"):
            instance_type = str(table.instance_type.value)
        super().__init__(
            scope,
            id,
            model_data=data.of_model(table.hub_id),
            settings=chosen if settings is None else chosen.merged(settings),
            container=container or LmiContainer.of(table.container),
            instance_type=instance_type,
            **overrides,
        )
        if container is None:
            self._acknowledge(table.acknowledged)

    @classmethod
    def serving_properties(cls, model_id: str | None = None) -> str:
        """Return the settings as the text of a `serving.properties` to lie beside the model.

        Args:
            model_id: Hub id or `s3://` prefix of the model, if it does not lie beside the file.
        """
        container = LmiContainer.of(cls.table.container)
        return cls.table.lmi_settings().to_serving_properties(container, model_id)

    def _acknowledge(self, reasons: Mapping[str, str]) -> None:
        """Say why the warnings that the preset's own settings give are fine."""
        for rule, reason in reasons.items():
            for source in ("annotation", "lmi"):
                acknowledgment = cdk.Acknowledgment(id=f"{source}::{rule}", reason=reason)
                cdk.Validations.of(self).acknowledge(acknowledgment)
