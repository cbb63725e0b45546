"""A fleet: an endpoint without a model of its own, which serves inference components."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs.checks.plugin import attach_to
from lmi_constructs.container import LmiContainer
from lmi_constructs.hosting._keywords import KINDS_OF_FLEETS, check_keywords, keywords_of
from lmi_constructs.hosting._permissions import (
    endpoint_permissions,
    execution_role,
    grant,
    network_permissions,
)
from lmi_constructs.hosting._report_findings import report
from lmi_constructs.hosting._resource_names import check_name
from lmi_constructs.hosting._stack_environment import StackEnvironment
from lmi_constructs.hosting.endpoint_config import LmiEndpointConfig
from lmi_constructs.hosting.endpoint_operations import EndpointOperations
from lmi_constructs.hosting.variant import LmiVariant

if TYPE_CHECKING:
    from collections.abc import Sequence

    import aws_cdk as cdk
    from aws_cdk import aws_ec2 as ec2
    from aws_cdk import aws_iam as iam
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_sagemaker as sagemaker
    from constructs import Construct

    from lmi_constructs.hosting.endpoint_features import DataCapture, EndpointMetrics
    from lmi_constructs.hosting.rollout import Rollout
    from lmi_constructs.hosting.variant import (
        CapacityReservation,
        CoreDump,
        ManagedInstanceScaling,
        Routing,
    )


class LmiFleet(EndpointOperations):
    """An endpoint that serves inference components: several models share its instances.

    Each model is a `LmiInferenceComponent` that takes some accelerators of an instance. With
    `managed_instance_scaling` SageMaker adds and takes away instances as copies need them, down to
    zero.

    Attributes:
        resource: The L1 construct.
        endpoint_config: Its configuration.
        role: Execution role of the fleet. Components and adapters give it what they read.
        rollout: How updates move, if it was given as a `Rollout`.
        connections: Security groups of the fleet, with a VPC.

    Example:
        ```python
        fleet = LmiFleet(
            stack, "Fleet",
            instance_type="ml.g6.12xlarge",
            managed_instance_scaling=ManagedInstanceScaling(0, 2),
        )
        chat = LmiInferenceComponent(
            stack, "Chat",
            fleet=fleet,
            model_data=ModelData.s3_prefix("my-models", "qwen3-8b/"),
            settings=LmiSettings(tensor_parallel_degree=1),
            min_memory=cdk.Size.gibibytes(16),
        )
        ```
    """

    _role: iam.IRole

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        instance_type: str,
        container: LmiContainer | None = None,
        initial_instance_count: int = 1,
        managed_instance_scaling: ManagedInstanceScaling | None = None,
        variant_name: str = "AllTraffic",
        host_image: str | None = None,
        volume_size: cdk.Size | None = None,
        routing: Routing | None = None,
        capacity_reservation: CapacityReservation | None = None,
        instance_provision_timeout: cdk.Duration | None = None,
        core_dump: CoreDump | None = None,
        enable_ssm_access: bool | None = None,
        role: iam.IRole | None = None,
        network_isolation: bool | None = None,
        vpc: ec2.IVpc | None = None,
        vpc_subnets: ec2.SubnetSelection | None = None,
        security_groups: Sequence[ec2.ISecurityGroup] | None = None,
        encryption_key: kms.IKey | None = None,
        data_capture: DataCapture | None = None,
        metrics: EndpointMetrics | None = None,
        endpoint_name: str | None = None,
        deployment: Rollout | sagemaker.CfnEndpoint.DeploymentConfigProperty | None = None,
        retain_deployment: bool | None = None,
    ) -> None:
        """Create a fleet.

        Args:
            scope: Parent.
            id: Id within the parent.
            instance_type: SageMaker's name of the instance type, such as `ml.g6.12xlarge`.
            container: Release of the components, which decides the host image. Default: the one
                that a `LmiModel` takes. Components of releases with another CUDA version need a
                fleet of their own.
            initial_instance_count: Instances at the start, at least 1 even if they go to zero later.
            managed_instance_scaling: SageMaker's own scaling of the instances. Default: their number
                stays.
            variant_name: Name of the only variant.
            host_image: `InferenceAmiVersion`. Default: what the container needs on this family.
            volume_size: EBS volume, for instance types without local storage only.
            routing: How requests are spread. Default: least outstanding requests.
            capacity_reservation: Reservation that the instances come from.
            instance_provision_timeout: How long SageMaker looks for capacity.
            core_dump: Where core dumps go.
            enable_ssm_access: Whether you may open a shell in the containers.
            role: Execution role of the fleet. Default: a new one that may write logs and metrics.
            network_isolation: Whether the containers are cut off from the network. Default: each
                model decides.
            vpc: VPC of the network interfaces of all components (`VpcConfig` of the endpoint
                configuration). Default: none of yours. What SageMaker does if a component's model
                names a VPC too is not published: give it in one place.
            vpc_subnets: Subnets within the VPC. Default: its private ones. They need a way to S3, and
                to the hub for a model that is downloaded (LMI099, LMI090).
            security_groups: Security groups. Default: a new one.
            encryption_key: Key of the instances' EBS volumes.
            data_capture: Recording of requests and responses.
            metrics: How finely metrics are published.
            endpoint_name: Name of the endpoint. Default: generated.
            deployment: How updates move to a new configuration. Default: SageMaker's.
            retain_deployment: Whether an update keeps the `deployment` of the last one.

        Raises:
            LmiError: If the fleet would fail at deploy time: all faults at once.
        """
        super().__init__(scope, id)
        report(self, check_keywords(keywords_of(locals()), kinds=KINDS_OF_FLEETS))
        report(self, check_name(endpoint_name, "endpoint_name"))
        attach_to(self, scope)
        env = StackEnvironment.of(scope).cached_at(self)
        permissions = (
            *endpoint_permissions(env),
            *(network_permissions() if vpc else ()),
        )
        self._role = role if role is not None else execution_role(self, permissions)
        variant = LmiVariant(
            model=None,
            instance_type=instance_type,
            container=container or LmiContainer.default(),
            variant_name=variant_name,
            initial_instance_count=initial_instance_count,
            managed_instance_scaling=managed_instance_scaling,
            host_image=host_image,
            volume_size=volume_size,
            routing=routing,
            capacity_reservation=capacity_reservation,
            instance_provision_timeout=instance_provision_timeout,
            core_dump=core_dump,
            enable_ssm_access=enable_ssm_access,
        )
        config = LmiEndpointConfig(
            self,
            "Config",
            variants=[variant],
            encryption_key=encryption_key,
            data_capture=data_capture,
            metrics=metrics,
            execution_role=self._role,
            network_isolation=network_isolation,
            vpc=vpc,
            vpc_subnets=vpc_subnets,
            security_groups=security_groups,
        )
        self.connections: ec2.Connections | None = config.connections
        if role is not None:
            config.resource.node.add_dependency(*grant(role, permissions))
        self._deploy(
            config,
            endpoint_name=endpoint_name,
            deployment=deployment,
            retain_deployment=retain_deployment,
        )

    @property
    def role(self) -> iam.IRole:
        """Execution role of the fleet."""
        return self._role
