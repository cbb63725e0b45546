"""The endpoint: from a model and an instance type to something that answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs.checks.plugin import attach_to
from lmi_constructs.hosting._exclusive_keywords import check_exclusive_keywords
from lmi_constructs.hosting._keywords import check_keywords, keywords_of
from lmi_constructs.hosting._report_findings import report
from lmi_constructs.hosting._resource_names import check_name
from lmi_constructs.hosting._stack_environment import StackEnvironment
from lmi_constructs.hosting.endpoint_base import ImportedEndpoint
from lmi_constructs.hosting.endpoint_config import LmiEndpointConfig
from lmi_constructs.hosting.endpoint_operations import EndpointOperations
from lmi_constructs.hosting.model import LmiModel
from lmi_constructs.hosting.variant import LmiVariant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import aws_cdk as cdk
    from aws_cdk import aws_ec2 as ec2
    from aws_cdk import aws_iam as iam
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_sagemaker as sagemaker
    from constructs import Construct

    from lmi_constructs.container import LmiContainer, LmiSettings
    from lmi_constructs.hosting.container_image import ContainerImage
    from lmi_constructs.hosting.endpoint_features import (
        AsyncInference,
        DataCapture,
        EndpointMetrics,
    )
    from lmi_constructs.hosting.model_data import ModelData
    from lmi_constructs.hosting.rollout import Rollout
    from lmi_constructs.hosting.variant import (
        CapacityReservation,
        CoreDump,
        InstancePool,
        Routing,
    )
    from lmi_constructs.planner import Plan


class LmiEndpoint(EndpointOperations):
    """A SageMaker endpoint that serves a model in an LMI container.

    Give either the keywords of one model on one instance type, or an `endpoint_config` of your own.
    What has no keyword is set on `resource`, `endpoint_config.resource` or `model.resource`, the L1
    constructs.

    Attributes:
        resource: The L1 construct.
        endpoint_config: Its configuration.
        model: The model of the first variant.
        role: The model's execution role.
        container: Release of the image, `None` if nothing is known of it.
        settings: Settings of server and engine.
        environment: The whole environment of the container.
        rollout: How updates move, if it was given as a `Rollout`.
        plan: The memory plan, `None` if model or instance type are not known.

    Example:
        ```python
        endpoint = LmiEndpoint(
            stack, "Chat",
            model_data=ModelData.s3_prefix("my-models", "qwen3-8b/"),
            instance_type="ml.g6.12xlarge",
        )
        endpoint.grant_invoke(function)
        ```
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        model_data: ModelData | None = None,
        instance_type: str | None = None,
        container: LmiContainer | ContainerImage | None = None,
        settings: LmiSettings | None = None,
        environment: Mapping[str, str] | None = None,
        initial_instance_count: int = 1,
        variant_name: str = "AllTraffic",
        startup_timeout: cdk.Duration | None = None,
        download_timeout: cdk.Duration | None = None,
        host_image: str | None = None,
        volume_size: cdk.Size | None = None,
        routing: Routing | None = None,
        capacity_reservation: CapacityReservation | None = None,
        instance_pools: Sequence[InstancePool] = (),
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
        async_inference: AsyncInference | None = None,
        metrics: EndpointMetrics | None = None,
        endpoint_config: LmiEndpointConfig | None = None,
        endpoint_name: str | None = None,
        deployment: Rollout | sagemaker.CfnEndpoint.DeploymentConfigProperty | None = None,
        retain_deployment: bool | None = None,
    ) -> None:
        """Create an endpoint.

        Args:
            scope: Parent.
            id: Id within the parent.
            model_data: Where the model's files come from.
            instance_type: SageMaker's name of the instance type, such as `ml.g6.48xlarge`.
            container: Release, or image. Default: see `LmiModel`.
            settings: Settings of server and engine.
            environment: Further environment variables, taken as they are.
            initial_instance_count: Instances at the start, each a complete copy of the model.
            variant_name: Name of the variant. Do not change it on a scaled endpoint.
            startup_timeout: How long the container may take until it answers.
            download_timeout: How long SageMaker may take to fetch the model data.
            host_image: `InferenceAmiVersion`. Default: what the container needs on this family.
            volume_size: EBS volume, for instance types without local storage only.
            routing: How requests are spread. Default: least outstanding requests.
            capacity_reservation: Reservation that the instances come from.
            instance_pools: Several instance types, instead of `instance_type`.
            instance_provision_timeout: How long SageMaker looks for capacity.
            core_dump: Where core dumps go.
            enable_ssm_access: Whether you may open a shell in the container.
            role: Execution role. Default: a new one with exactly what is needed.
            network_isolation: Default: yes if SageMaker mounts the data, no for a hub model.
            vpc: VPC of the container's network interfaces. Model data in S3 comes through it too.
            vpc_subnets: Subnets within the VPC. Default: its private ones. They need a way to S3, and
                to the hub for a model that is downloaded (LMI099, LMI090).
            security_groups: Security groups within the VPC.
            encryption_key: Key of the instances' EBS volumes. It does not reach local NVMe storage
                (LMI043, a warning), which all accelerated types but `ml.p3` and `ml.inf2` have.
            data_capture: Recording of requests and responses.
            async_inference: Asynchronous answers.
            metrics: How finely metrics are published.
            endpoint_config: A configuration of your own, instead of all of the above.
            endpoint_name: Name of the endpoint. Default: generated, so that the stack can be
                deployed twice.
            deployment: How updates move to a new configuration: a `Rollout`, or the L1 property. With
                a `Rollout` the endpoint's name is known at synth, so that alarms can take an update
                back (`roll_back_on`); adding one to an endpoint that has a generated name replaces
                the endpoint. Default: SageMaker's, blue/green all at once.
            retain_deployment: Whether an update keeps the `deployment` of the last one.

        Raises:
            LmiError: If the endpoint would fail at deploy time: all faults at once.
        """
        super().__init__(scope, id)
        keywords = keywords_of(locals())
        attach_to(self, scope)
        StackEnvironment.of(scope).cached_at(self)
        report(self, check_keywords(keywords))
        report(
            self, [*check_exclusive_keywords(keywords), *check_name(endpoint_name, "endpoint_name")]
        )
        if endpoint_config is None and model_data is not None:
            model = LmiModel(
                self,
                "Model",
                model_data=model_data,
                container=container,
                settings=settings,
                environment=environment,
                role=role,
                network_isolation=network_isolation,
                vpc=vpc,
                vpc_subnets=vpc_subnets,
                security_groups=security_groups,
            )
            variant = LmiVariant(
                model=model,
                instance_type=instance_type,
                variant_name=variant_name,
                initial_instance_count=initial_instance_count,
                startup_timeout=startup_timeout,
                download_timeout=download_timeout,
                host_image=host_image,
                volume_size=volume_size,
                routing=routing,
                capacity_reservation=capacity_reservation,
                instance_pools=instance_pools,
                instance_provision_timeout=instance_provision_timeout,
                core_dump=core_dump,
                enable_ssm_access=enable_ssm_access,
            )
            endpoint_config = LmiEndpointConfig(
                self,
                "Config",
                variants=[variant],
                encryption_key=encryption_key,
                data_capture=data_capture,
                async_inference=async_inference,
                metrics=metrics,
            )
        assert endpoint_config is not None  # noqa: S101 - check_exclusive_keywords has made sure of it
        self._deploy(
            endpoint_config,
            endpoint_name=endpoint_name,
            deployment=deployment,
            retain_deployment=retain_deployment,
        )

    @staticmethod
    def from_endpoint_name(scope: Construct, id: str, endpoint_name: str) -> ImportedEndpoint:
        """Refer to an endpoint that was made elsewhere, in this account and region."""
        return ImportedEndpoint(scope, id, endpoint_name)

    @property
    def model(self) -> LmiModel | None:
        """The model of the first variant; `None` for a fleet of inference components."""
        return self.endpoint_config.variants[0].variant.model

    @property
    def role(self) -> iam.IRole | None:
        """Execution role of the model, or that of the configuration for a fleet of components."""
        return self.endpoint_config.execution_role if self.model is None else self.model.role

    @property
    def container(self) -> LmiContainer | None:
        """Release of the image, `None` if nothing is known of it."""
        return None if self.model is None else self.model.container

    @property
    def settings(self) -> LmiSettings | None:
        """Settings of server and engine."""
        return None if self.model is None else self.model.settings

    @property
    def environment(self) -> Mapping[str, str]:
        """The whole environment of the container."""
        return {} if self.model is None else self.model.environment

    @property
    def plan(self) -> Plan | None:
        """The memory plan, `None` if model or instance type are not known."""
        return self.endpoint_config.variants[0].plan
