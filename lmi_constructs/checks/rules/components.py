"""Inference components and the variants that host them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lmi_constructs.checks.examples import REMOVED, Example
from lmi_constructs.checks.queries.fleet_capacity import (
    COMPUTE_KINDS,
    compute_requirements,
    instance_compute,
    most_instances,
)
from lmi_constructs.checks.queries.instance_types import has_no_accelerator, instance
from lmi_constructs.checks.queries.variants import variants
from lmi_constructs.checks.resources import ManagedScaling
from lmi_constructs.checks.rules.base import Rule
from lmi_constructs.checks.values import UNKNOWN, count_of, number
from lmi_constructs.facts.limits import limits
from lmi_constructs.readable import readable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.resources import (
        Component,
        ComponentSpecification,
        EndpointConfig,
        Key,
        Variant,
    )
    from lmi_constructs.checks.values import String
    from lmi_constructs.findings import Finding

_REPORT: Final = "https://github.com/stdapi-ai/stdapi.ai/issues/43"
_VARIANT: Final = "Config/Properties/ProductionVariants/0"
_NEEDS: Final = "Component/Properties/Specification/ComputeResourceRequirements"
_REQUIREMENTS: Final = "ComputeResourceRequirements"
_MODEL: Final = {"Fn::GetAtt": ["Model", "ModelName"]}
_GOOD: Final = Example(base="components")


class ModelAndComponents(Rule):
    """LMI075."""

    id = "LMI075"
    title = "a variant has either a model or components"
    why = "the service refuses components and managed instance scaling on a variant with a model"
    fix = "remove ModelName from the variant, and host the model as an inference component"
    source = "https://github.com/pulumi/pulumi-aws/issues/4940"
    failing = Example({f"{_VARIANT}/ModelName": _MODEL}, base="components")
    passing = _GOOD

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield variants with a model that are scaled or used as a host of components."""
        hosts = {
            (config.key, variant.path): component
            for component in deployment.components
            for config, variant in deployment.hosts(component)
        }
        for config, variant in variants(deployment):
            if variant.model is None or variant.model is UNKNOWN:
                continue
            component = hosts.get((config.key, variant.path))
            if component is not None:
                message = f"the variant has a model, and hosts {component.logical_id}"
            elif _is_scaled(variant):
                message = "the variant has a model and ManagedInstanceScaling"
            else:
                continue
            yield self.found(config, f"{variant.path}/ModelName", message)


class ComponentsWithoutRole(Rule):
    """LMI076."""

    id = "LMI076"
    title = "an endpoint of components needs an execution role"
    why = "CreateEndpointConfig fails: variants without a model need the configuration's role"
    fix = "set ExecutionRoleArn on the endpoint configuration"
    source = _REPORT
    failing = Example({"Config/Properties/ExecutionRoleArn": REMOVED}, base="components")
    passing = _GOOD

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield configurations whose variants have no model, and which have no role."""
        for config in deployment.endpoint_configs:
            if not config.variants or config.role is not None or not config.variants_complete:
                continue
            if all(one.model is None and not one.instance_pools for one in config.variants):
                message = "no variant has a model and ExecutionRoleArn is not set"
                yield self.found(config, "ExecutionRoleArn", message)


class ComponentDoesNotFit(Rule):
    """LMI077."""

    id = "LMI077"
    title = "the component does not fit on the instance"
    why = "the component is never placed and stays in Creating"
    fix = "ask for no more accelerators, vCPUs and memory than one instance has"
    source = "https://github.com/aws/sagemaker-python-sdk/pull/5558"
    failing = Example({f"{_NEEDS}/NumberOfAcceleratorDevicesRequired": 8}, base="components")
    passing = Example(
        {
            f"{_NEEDS}/NumberOfAcceleratorDevicesRequired": 2,
            "Model/Properties/PrimaryContainer/Environment/OPTION_TENSOR_PARALLEL_DEGREE": "2",
        },
        base="components",
    )

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield components that ask for more than an instance, or all instances, have."""
        for component in deployment.components:
            for one in component.specifications:
                yield from self._alone(deployment, component, one)
        for endpoint in deployment.endpoints:
            yield from self._together(deployment, deployment.components_on(endpoint))

    def _alone(
        self, deployment: Deployment, component: Component, specification: ComponentSpecification
    ) -> Iterator[Finding]:
        """Yield what one copy asks for that no instance has, or that the service refuses."""
        for name in _instance_types(deployment, component, specification):
            yield from self._accelerators(deployment, component, specification, name)
            yield from self._memory_and_cpus(component, specification, name)
        yield from self._memory_limits(component, specification)

    def _accelerators(
        self,
        deployment: Deployment,
        component: Component,
        specification: ComponentSpecification,
        name: object,
    ) -> Iterator[Finding]:
        """Yield more accelerators than an instance type has."""
        path = f"{specification.path}/{_REQUIREMENTS}/NumberOfAcceleratorDevicesRequired"
        wanted, kind = number(specification.accelerators), instance(name)
        if wanted and has_no_accelerator(deployment, name):
            message = f"the component asks for {_accelerators(wanted)}, but {name} has none"
            yield self.found(component, path, message)
        if kind and wanted and wanted > kind.accelerator_count:
            message = (
                f"the component asks for {_accelerators(wanted)}, but {kind.name} has"
                f" {kind.accelerator_count}"
            )
            yield self.found(component, path, message)

    def _memory_and_cpus(
        self, component: Component, specification: ComponentSpecification, name: object
    ) -> Iterator[Finding]:
        """Yield more host memory, and more vCPUs, than an instance type has."""
        kind = instance(name)
        if kind is None:
            return
        base = f"{specification.path}/{_REQUIREMENTS}"
        memory, cpus = number(specification.memory_mib), number(specification.cpus)
        if memory and kind.host_memory_gib and memory > kind.host_memory_gib * 1024:
            message = (
                f"the component asks for {readable(memory)} MB of memory, but {kind.name} has"
                f" {readable(kind.host_memory_gib)} GiB"
            )
            yield self.found(component, f"{base}/MinMemoryRequiredInMb", message)
        if cpus and kind.vcpu and cpus > kind.vcpu:
            message = (
                f"the component asks for {readable(cpus)} vCPUs, but {kind.name} has {kind.vcpu}"
            )
            yield self.found(component, f"{base}/NumberOfCpuCoresRequired", message)

    def _memory_limits(
        self, component: Component, specification: ComponentSpecification
    ) -> Iterator[Finding]:
        """Yield host memory that is missing, or is not within the service's limits."""
        path = f"{specification.path}/{_REQUIREMENTS}/MinMemoryRequiredInMb"
        memory, limit = number(specification.memory_mib), limits()["component_memory"]
        if specification.memory_mib is None and (specification.accelerators or specification.cpus):
            message = "MinMemoryRequiredInMb is missing, which CreateInferenceComponent requires"
            yield self.found(component, path, message)
        if memory is not None and not limit.allows(memory):
            message = f"MinMemoryRequiredInMb is {readable(memory)}, but must be {limit}"
            yield self.found(component, path, message)

    def _together(
        self, deployment: Deployment, components: tuple[Component, ...]
    ) -> Iterator[Finding]:
        wanted: dict[tuple[Key, str], list[float]] = {}
        rows: dict[tuple[Key, str], tuple[Component, EndpointConfig, Variant]] = {}
        for component in components:
            for config, variant in deployment.hosts(component):
                key = (config.key, variant.path)
                taken = wanted.setdefault(key, [0.0] * len(COMPUTE_KINDS))
                for one in component.specifications[:1]:
                    for index, each in enumerate(compute_requirements(one)):
                        taken[index] += each * count_of(component.copies, 1)
                rows[key] = (component, config, variant)
        for key, (component, config, variant) in rows.items():
            has, most = instance_compute(variant), most_instances(deployment, config, variant)
            if has is None or most is None:
                continue
            for kind, there, asked in zip(COMPUTE_KINDS, has, wanted[key], strict=True):
                if there is None or asked <= most * there or _is_too_large(component, has):
                    continue
                message = (
                    f"all copies ask for {readable(asked)} {kind}, at most {readable(most)}"
                    f" instances have {readable(most * there)}"
                )
                yield self.found(component, "RuntimeConfig/CopyCount", message, severity="warning")


class NoCopy(Rule):
    """LMI078."""

    id = "LMI078"
    title = "a component starts with at least one copy"
    why = "the service refuses to create a component with CopyCount 0"
    fix = "set CopyCount to 1, and let a scalable target with MinCapacity 0 take it to zero"
    source = _REPORT
    failing = Example({"Component/Properties/RuntimeConfig/CopyCount": 0}, base="components")
    passing = _GOOD

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield components without copies."""
        for component in deployment.components:
            copies = number(component.copies)
            if copies is not None and copies < 1:
                message = f"CopyCount is {copies}"
                yield self.found(component, "RuntimeConfig/CopyCount", message)


class ManagedScalingOutOfRange(Rule):
    """LMI079."""

    id = "LMI079"
    title = "the managed instance scaling contradicts itself"
    why = "CreateEndpointConfig refuses the values"
    fix = "use MinInstanceCount <= InitialInstanceCount <= MaxInstanceCount"
    source = "botocore 1.44.8 sagemaker 2017-07-24 ProductionVariantManagedInstanceScaling"
    failing = Example({f"{_VARIANT}/ManagedInstanceScaling/MinInstanceCount": 3}, base="components")
    passing = _GOOD

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield impossible counts, and zero where a region was seen to refuse it."""
        for config, variant in variants(deployment):
            scaling = variant.managed_scaling
            if not isinstance(scaling, ManagedScaling) or scaling.status == "DISABLED":
                continue
            yield from self._counts(config, variant, scaling)

    def _counts(
        self, config: EndpointConfig, variant: Variant, scaling: ManagedScaling
    ) -> Iterator[Finding]:
        least, most = number(scaling.minimum), number(scaling.maximum)
        path = f"{variant.path}/ManagedInstanceScaling"
        initial = number(variant.initial_instance_count)
        if least is not None and most is not None and least > most:
            message = f"MinInstanceCount {least} is above MaxInstanceCount {most}"
            yield self.found(config, path, message)
        elif most is not None and most < 1:
            yield self.found(config, f"{path}/MaxInstanceCount", f"MaxInstanceCount is {most}")
        elif initial is not None and most is not None and initial > most:
            message = f"InitialInstanceCount {initial} is above MaxInstanceCount {most}"
            yield self.found(config, path, message, severity="warning")
        if least == 0 and config.region == "eu-west-3":
            message = "MinInstanceCount 0 was refused in eu-west-3"
            yield self.found(
                config,
                f"{path}/MinInstanceCount",
                message,
                fix="use 1 in this region, or try it first",
                severity="warning",
                source=_REPORT,
            )


def _instance_types(
    deployment: Deployment, component: Component, one: ComponentSpecification
) -> tuple[String, ...]:
    """Return the instance types that a component may be placed on, each once."""
    if one.instance_type:
        return (one.instance_type,)
    hosts = (variant for _, variant in deployment.hosts(component))
    return tuple(dict.fromkeys(name for variant in hosts for _, name in variant.instance_types))


def _accelerators(count: float) -> str:
    return "1 accelerator" if count == 1 else f"{readable(count)} accelerators"


def _is_scaled(variant: Variant) -> bool:
    scaling = variant.managed_scaling
    return isinstance(scaling, ManagedScaling) and scaling.status in (None, "ENABLED")


def _is_too_large(component: Component, has: tuple[float | None, ...]) -> bool:
    """Tell whether a single copy does not fit, which is said of it alone."""
    return any(
        there is not None and each > there
        for one in component.specifications
        for there, each in zip(has, compute_requirements(one), strict=True)
    )
