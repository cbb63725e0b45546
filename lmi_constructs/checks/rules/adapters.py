"""Adapters and the components that they are served on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lmi_constructs.checks.examples import Example
from lmi_constructs.checks.queries.containers import environment
from lmi_constructs.checks.rules.base import Rule
from lmi_constructs.checks.rules.engine import judged_runs
from lmi_constructs.checks.values import UNKNOWN, literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.queries.containers import Running
    from lmi_constructs.checks.resources import (
        Component,
        ComponentSpecification,
    )
    from lmi_constructs.container import Verdict
    from lmi_constructs.findings import Finding

_ADAPTERS: Final = "botocore 1.44.8 sagemaker 2017-07-24 InferenceComponentSpecification"
_ADAPTER: Final = {
    "Type": "AWS::SageMaker::InferenceComponent",
    "Properties": {
        "EndpointName": {"Fn::GetAtt": ["Endpoint", "EndpointName"]},
        "InferenceComponentName": "tenant-a",
        "Specification": {
            "BaseInferenceComponentName": "chat",
            "Container": {"ArtifactUrl": "s3://example-models/adapters/tenant-a.tar.gz"},
        },
    },
    "DependsOn": "Component",
}
_IN_ADAPTER: Final = "Adapter/Properties/Specification"
_SERVED: Final = {
    "Component/Properties/InferenceComponentName": "chat",
    "Model/Properties/PrimaryContainer/Environment/OPTION_ENABLE_LORA": "true",
    "Adapter": _ADAPTER,
}


class ImpossibleAdapter(Rule):
    """LMI059."""

    id = "LMI059"
    title = "the adapter cannot be served on its base component"
    why = "the adapter's component fails, as the base's container does not load it"
    fix = "serve adapters on a base whose container has OPTION_ENABLE_LORA=true"
    source = _ADAPTERS
    failing = Example(
        {**_SERVED, f"{_IN_ADAPTER}/ComputeResourceRequirements": {"MinMemoryRequiredInMb": 1024}},
        base="components",
    )
    passing = Example(_SERVED, base="components")

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield adapters on bases that take none, or with compute of their own."""
        for component in deployment.components:
            for one in component.specifications:
                if one.base_component is None or one.base_component is UNKNOWN:
                    continue
                yield from self._shape(component, one)
                base = deployment.component(one.base_component)
                if base is not None:
                    yield from self._place(deployment, component, one, base)
                    yield from self._base(deployment, component, one, base)

    def _place(
        self,
        deployment: Deployment,
        component: Component,
        one: ComponentSpecification,
        base: Component,
    ) -> Iterator[Finding]:
        """Yield a base that is an adapter itself, or is on another endpoint."""
        path = f"{one.path}/BaseInferenceComponentName"
        if any(own.base_component not in (None, UNKNOWN) for own in base.specifications):
            message = f"the base {base.logical_id} is an adapter itself"
            yield self.found(
                component, path, message, fix="name the component that holds the model"
            )
        mine, others = deployment.endpoint(component.endpoint), deployment.endpoint(base.endpoint)
        if mine is not None and others is not None and mine.key != others.key:
            message = f"the base {base.logical_id} is on {others.logical_id}, not {mine.logical_id}"
            yield self.found(component, path, message, fix="name a base on the same endpoint")

    def _base(
        self,
        deployment: Deployment,
        component: Component,
        one: ComponentSpecification,
        base: Component,
    ) -> Iterator[Finding]:
        """Yield a base that takes none; a file beside a mounted model may still say otherwise."""
        runs = [(run, judged) for run, judged in judged_runs(deployment) if run.component is base]
        if not runs or any(_may_take_adapters(run, judged) for run, judged in runs):
            return
        mounted = any(
            run.container.s3_data_source or run.container.model_data_url for run, _ in runs
        )
        message = f"nothing sets up {base.logical_id} for adapters"
        yield self.found(
            component,
            f"{one.path}/BaseInferenceComponentName",
            message + (", unless a serving.properties beside its model does" if mounted else ""),
            severity="warning" if mounted else "error",
        )

    def _shape(self, component: Component, one: ComponentSpecification) -> Iterator[Finding]:
        if any(value is not None for value in (one.accelerators, one.cpus, one.memory_mib)):
            message = "an adapter asks for compute resources of its own"
            fix = "leave ComputeResourceRequirements out: it runs on its base's"
            path = f"{one.path}/ComputeResourceRequirements"
            yield self.found(component, path, message, fix=fix)


def _may_take_adapters(run: Running, judged: Verdict) -> bool:
    """Tell whether a container takes adapters, or it is not known."""
    flag = environment(run.container).get("OPTION_ENABLE_LORA")
    is_unknown = flag is not None and literal(flag) is None
    return is_unknown or judged.starts is None or bool(judged.effective.get("enable_lora"))
