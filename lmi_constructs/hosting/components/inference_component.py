"""A model that takes some of a fleet's accelerators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import aws_sagemaker as sagemaker

from lmi_constructs.checks.plugin import attach_to
from lmi_constructs.hosting._keywords import check_keywords, keywords_of
from lmi_constructs.hosting._permissions import Permission, component_permissions, own_policy
from lmi_constructs.hosting._planning import engine_concurrency
from lmi_constructs.hosting._report_findings import report
from lmi_constructs.hosting._resolved_model import ResolvedModel
from lmi_constructs.hosting._resource_names import check_name, literal_name
from lmi_constructs.hosting._rollout_checks import check_watched, watched_alarms
from lmi_constructs.hosting._stack_environment import StackEnvironment
from lmi_constructs.hosting._units import mebibytes
from lmi_constructs.hosting.components._checks import (
    accelerators_of,
    check_accelerators,
    check_cpus,
    check_environment,
    check_exclusive_keywords,
)
from lmi_constructs.hosting.components._rolling_update import check_update, update_config
from lmi_constructs.hosting.components.model_component import ImportedComponent, ModelComponent
from lmi_constructs.hosting.endpoint_operations import EndpointOperations
from lmi_constructs.hosting.model import LmiModel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import aws_cdk as cdk
    from aws_cdk import aws_cloudwatch as cloudwatch
    from aws_cdk import aws_iam as iam
    from constructs import Construct, IDependable

    from lmi_constructs.container import LmiContainer, LmiSettings
    from lmi_constructs.hosting.container_image import ContainerImage
    from lmi_constructs.hosting.endpoint_base import EndpointBase
    from lmi_constructs.hosting.model_data import ModelData
    from lmi_constructs.hosting.rollout import Rollout
    from lmi_constructs.hosting.s3_location import S3Location
    from lmi_constructs.hosting.scaling import ScalableCopyCount
    from lmi_constructs.monitoring.alarms import EndpointAlarms
    from lmi_constructs.monitoring.component_alarms import ComponentAlarms
    from lmi_constructs.monitoring.component_graphs import ShownComponent
    from lmi_constructs.planner import Plan

_Component = sagemaker.CfnInferenceComponent
_ANY_ALARM = "the alarms get their names when they are deployed, and the role only looks at them"


class LmiInferenceComponent(ModelComponent):
    """A model on a fleet: copies of it take accelerators and memory of the fleet's instances.

    Give either a `model`, or the keywords of one. Requests name the component:
    `LmiClient(endpoint_name).using(inference_component=component_name)`.

    What has no keyword is set on `resource`, the L1 construct.

    Attributes:
        resource: The L1 construct.
        fleet: The endpoint.
        model: The model.
        component_name: Name of the component, known at synth.
        accelerator_count: Accelerators of each copy.
        plan: The memory plan on these accelerators, `None` if model or instance are not known.
        resolved: What follows from the model: verdict, plan, time-outs.
    """

    model: LmiModel
    resolved: ResolvedModel
    resource: sagemaker.CfnInferenceComponent
    _rolls_back: bool = False

    @property
    def served(self) -> str:
        """Name of the model, which a changed model has another of."""
        return self.model.model_name

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        fleet: EndpointBase,
        min_memory: cdk.Size,
        model_data: ModelData | None = None,
        container: LmiContainer | ContainerImage | None = None,
        settings: LmiSettings | None = None,
        environment: Mapping[str, str] | None = None,
        role: iam.IRole | None = None,
        model: LmiModel | None = None,
        accelerator_count: int | None = None,
        max_memory: cdk.Size | None = None,
        cpu_count: float | None = None,
        initial_copy_count: int = 1,
        component_name: str | None = None,
        variant_name: str | None = None,
        startup_timeout: cdk.Duration | None = None,
        download_timeout: cdk.Duration | None = None,
        cache_on_instances: bool | None = None,
        adapter_location: S3Location | None = None,
    ) -> None:
        """Serve a model on a fleet.

        Args:
            scope: Parent.
            id: Id within the parent.
            fleet: The fleet, or an endpoint of components that was made elsewhere.
            min_memory: Host memory that each copy needs, at least 128 MiB. SageMaker places copies
                by it and asks for it; no default is known that would be right for every model.
            model_data: Where the model's files come from.
            container: Release, or image. Default: see `LmiModel`.
            settings: Settings of server and engine.
            environment: Further environment variables.
            role: Execution role of the model. Default: a new one.
            model: A model of your own, instead of the five above.
            accelerator_count: Accelerators of each copy. Default: as many as the settings split the
                model over (`tensor_parallel_degree`).
            max_memory: Host memory at which a copy is stopped. Default: none.
            cpu_count: vCPUs of each copy. Default: not reserved.
            initial_copy_count: Copies at the start, at least 1 even if they go to zero later. A
                deployment that changes it undoes what scaling chose.
            component_name: Name of the component. Default: from the construct's path.
            variant_name: Variant of the endpoint. Default: the only one.
            startup_timeout: How long a copy may take until it answers. Default: from the model's
                size if it is known, else 3600 seconds.
            download_timeout: How long SageMaker may take to fetch the model data. Default: likewise.
            cache_on_instances: Whether instances keep image and model data for the next copy.
                Default: SageMaker's.
            adapter_location: Prefix below which adapters lie that are added later: the roles may
                read all of it, so that a new tenant changes no role.

        Raises:
            LmiError: If the component would fail at deploy time: all faults at once.
        """
        super().__init__(scope, id)
        keywords = keywords_of(locals())
        if variant_name is None:
            del keywords["variant_name"]  # elsewhere it must be given
        report(self, check_keywords(keywords))
        attach_to(self, scope)
        report(self, check_environment(self, fleet))
        report(
            self,
            [
                *check_exclusive_keywords(keywords),
                *check_name(component_name, "component_name"),
                *check_name(variant_name, "variant_name"),
                *check_cpus(cpu_count),
            ],
        )
        if model is None and model_data is not None:
            model = LmiModel(
                self,
                "Model",
                model_data=model_data,
                container=container,
                settings=settings,
                environment=environment,
                role=role,
            )
        assert model is not None  # noqa: S101 - check_exclusive_keywords has made sure of it
        self.fleet, self.model = fleet, model
        self.component_name = component_name or literal_name(self)
        self.adapter_location = adapter_location
        self._copy_count = initial_copy_count
        hosting = (
            fleet.endpoint_config.variant(variant_name)
            if isinstance(fleet, EndpointOperations)
            else None
        )
        instance_type = None if hosting is None else hosting.variant.instance_type
        self.accelerator_count = accelerators_of(model, accelerator_count)
        report(self, check_accelerators(self.accelerator_count))
        self.resolved = ResolvedModel.of(
            model,
            instance_type,
            accelerator_count=self.accelerator_count,
            startup_timeout=startup_timeout,
            download_timeout=download_timeout,
        )
        self.plan: Plan | None = self.resolved.plan
        report(self, self.resolved.findings)
        self.resource = _Component(
            self,
            "Resource",
            endpoint_name=fleet.endpoint_name,
            variant_name=hosting.variant.variant_name if hosting else variant_name or "AllTraffic",
            inference_component_name=self.component_name,
            runtime_config=_Component.InferenceComponentRuntimeConfigProperty(
                copy_count=initial_copy_count
            ),
            specification=self._specification(
                min_memory, max_memory, cpu_count, cache_on_instances
            ),
        )
        self.resource.node.add_dependency(*self._let_the_fleet_read())

    def _specification(
        self,
        min_memory: cdk.Size,
        max_memory: cdk.Size | None,
        cpu_count: float | None,
        cache_on_instances: bool | None,
    ) -> _Component.InferenceComponentSpecificationProperty:
        return _Component.InferenceComponentSpecificationProperty(
            model_name=self.model.model_name,
            compute_resource_requirements=_Component.InferenceComponentComputeResourceRequirementsProperty(
                number_of_accelerator_devices_required=self.accelerator_count,
                number_of_cpu_cores_required=cpu_count,
                min_memory_required_in_mb=mebibytes(min_memory, "min_memory"),
                max_memory_required_in_mb=mebibytes(max_memory, "max_memory"),
            ),
            startup_parameters=_Component.InferenceComponentStartupParametersProperty(
                container_startup_health_check_timeout_in_seconds=self.resolved.startup_seconds,
                model_data_download_timeout_in_seconds=self.resolved.download_seconds,
            ),
            data_cache_config=None
            if cache_on_instances is None
            else _Component.InferenceComponentDataCacheConfigProperty(
                enable_caching=cache_on_instances
            ),
        )

    @staticmethod
    def from_component_name(
        scope: Construct, id: str, component_name: str, *, fleet: EndpointBase
    ) -> ImportedComponent:
        """Refer to a component that was made elsewhere, to grant it or to add adapters to it.

        Args:
            scope: Parent.
            id: Id within the parent.
            component_name: Name of the component.
            fleet: Its endpoint: a fleet, or `LmiEndpoint.from_endpoint_name(...)`.

        Raises:
            LmiError: If the name (LMI010, LMI065) or the fleet (LMI010) is none.
        """
        return ImportedComponent(scope, id, component_name, fleet=fleet)

    def auto_scale_copy_count(
        self, *, min_capacity: int = 1, max_capacity: int
    ) -> ScalableCopyCount:
        """Let the number of copies follow the load, by the policies added to what is returned.

        Args:
            min_capacity: Fewest copies. 0 takes `scale_to_zero()` of what is returned.
            max_capacity: Most copies. The fleet must be able to hold them.

        Raises:
            LmiError: If the limits cannot be (LMI083).
        """
        from lmi_constructs.hosting.scaling import ScalableCopyCount

        report(self, check_keywords({"min_capacity": min_capacity, "max_capacity": max_capacity}))
        return ScalableCopyCount(
            self,
            "Scaling",
            component_name=self.component_name,
            depends_on=self.resource,
            min_capacity=min_capacity,
            max_capacity=max_capacity,
            concurrency=self._concurrency,
            startup_seconds=self.resolved.longest_start_seconds,
        )

    def roll_back_on(
        self,
        alarms: ComponentAlarms | EndpointAlarms | Sequence[cloudwatch.IAlarm],
        *,
        rollout: Rollout,
    ) -> None:
        """Replace the copies in batches when the component changes, and let alarms take it back.

        Of `add_alarms`, those on errors of the container and on latency are taken; refused requests
        and open ones say little about a new version. There is no circle: the alarms carry the
        component's name, which is known at synth.

        Args:
            alarms: What `add_alarms` returned, or alarms of your own, 1 to 10.
            rollout: `Rollout.rolling(percent=..., bake_time=...)`; the share is of the copies.

        Raises:
            LmiError: If it is no rolling one (LMI070), its share or time is out of range (LMI071),
                there are too few or too many alarms, one stands in another region or account, or it
                was called before (LMI073).
        """
        chosen, reaction = watched_alarms(alarms)
        report(self, check_keywords({"rollout": rollout, "alarms": chosen}))
        report(self, check_update(rollout, self._copy_count))
        again = self._rolls_back
        report(self, check_watched(self, rollout, chosen, reaction, again=again))
        self._rolls_back = True
        names = [alarm.alarm_name for alarm in chosen]
        self.resource.deployment_config = update_config(rollout, names)
        self.resource.node.add_dependency(*chosen)
        watched = StackEnvironment.of(self).arn("cloudwatch", "alarm:*")
        permissions = [
            Permission(("cloudwatch:DescribeAlarms",), (watched,), why_wildcard=_ANY_ALARM)
        ]
        if self.fleet.role is not None:
            made = own_policy(self, "AlarmAccess", self.fleet.role, permissions)
            self.resource.node.add_dependency(*made)

    @property
    def shown(self) -> ShownComponent:
        """How a dashboard shows it, with its copies."""
        from lmi_constructs.hosting.scaling import ScalableCopyCount
        from lmi_constructs.monitoring.component_graphs import ShownComponent

        scaling = self.node.try_find_child("Scaling")
        return ShownComponent(
            name=self.component_name,
            title=self.node.id,
            has_copies=True,
            concurrency=self._concurrency,
            limits=(scaling.min_capacity, scaling.max_capacity)
            if isinstance(scaling, ScalableCopyCount)
            else None,
        )

    @property
    def _concurrency(self) -> int | None:
        return engine_concurrency(self.resolved.verdict)

    def _let_the_fleet_read(self) -> list[IDependable]:
        """Let the fleet's role do what the model's may, before the component is made.

        Both may write the component's log. Which of the two roles does so, and fetches image and
        files of a component, is not published. AWS's own samples give both the same one.
        """
        adapters = (
            ()
            if self.adapter_location is None
            else self.adapter_location.read_permissions(StackEnvironment.of(self))
        )
        own = component_permissions(StackEnvironment.of(self), self.component_name)
        made = own_policy(self, "LogAccess", self.model.role, own)
        if self.fleet.role is not None:
            permissions = [*self.model.permissions, *own, *adapters]
            made += own_policy(self, "FleetAccess", self.fleet.role, permissions)
        if adapters:
            made += own_policy(self, "AdapterAccess", self.model.role, adapters)
        return made
