"""The time-outs of starting against the size of the weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lmi_constructs.checks.examples import Example, llama_config
from lmi_constructs.checks.queries.scaled_resources import scaled
from lmi_constructs.checks.queries.variants import config_of
from lmi_constructs.checks.rules.base import Rule
from lmi_constructs.checks.rules.memory import plans
from lmi_constructs.checks.rules.scaling import target_of
from lmi_constructs.checks.values import is_same, number
from lmi_constructs.facts.loading_times import loading_times
from lmi_constructs.readable import readable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.queries.containers import Running
    from lmi_constructs.checks.resources import (
        ComponentSpecification,
        Resource,
        ScalingPolicy,
        Variant,
    )
    from lmi_constructs.findings import Finding
    from lmi_constructs.planner import Span

_DOWNLOAD: Final = "ModelDataDownloadTimeoutInSeconds"
_HEALTH: Final = "ContainerStartupHealthCheckTimeoutInSeconds"
_VARIANT: Final = "Config/Properties/ProductionVariants/0"
_ENVIRONMENT: Final = "Model/Properties/PrimaryContainer/Environment"
_LARGE: Final = llama_config(
    hidden_size=16384,
    intermediate_size=53248,
    num_attention_heads=128,
    num_hidden_layers=126,
    quantization_config={"quant_method": "fp8"},
)


def _on_eight(seconds: int) -> Example:
    """Return a model of 378 GiB on eight GPUs, with a time-out."""
    return Example(
        {
            f"{_VARIANT}/{_HEALTH}": seconds,
            f"{_VARIANT}/InstanceType": "ml.p5.48xlarge",
            f"{_ENVIRONMENT}/OPTION_TENSOR_PARALLEL_DEGREE": "8",
            f"{_ENVIRONMENT}/OPTION_MODEL_LOADING_TIMEOUT": str(seconds),
        },
        model_config=_LARGE,
    )


def _scaled_after(seconds: int) -> Example:
    """Return the same model, of which an instance more is added after a pause."""
    tracking = "Policy/Properties/TargetTrackingScalingPolicyConfiguration"
    change = {**_on_eight(900).change, f"{tracking}/ScaleOutCooldown": seconds}
    return Example(change, base="scaled", model_config=_LARGE)


class ShorterThanAnyLoading(Rule):
    """LMI063."""

    id = "LMI063"
    title = "a time-out is shorter than the fastest published loading of such weights"
    severity = "warning"
    why = "SageMaker gives up while the weights are still on their way"
    fix = "raise the time-out; it costs nothing where the model loads faster"
    source = f"{loading_times('download')[0].source}; {loading_times('load')[0].source}"
    failing = _on_eight(60)
    passing = _on_eight(900)

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield time-outs that no published measurement would have kept."""
        for planned in plans(deployment):
            start_up = planned.plan.start_up
            if start_up is None or planned.run.variant.serverless:
                continue
            if _is_mounted(planned.run):
                yield from self._judged(planned.run, _DOWNLOAD, start_up.download, "download")
                yield from self._judged(planned.run, _HEALTH, start_up.load, "load")
            else:
                both = start_up.download + start_up.load
                yield from self._judged(planned.run, _HEALTH, both, "download and load")

    def _judged(self, run: Running, name: str, time: Span, what: str) -> Iterator[Finding]:
        owner = _owner(run)
        resource: Resource = run.config
        path = run.variant.path
        if run.component and run.specification:
            resource, path = run.component, f"{run.specification.path}/StartupParameters"
        given = owner.download_timeout if name == _DOWNLOAD else owner.health_check_timeout
        seconds = number(given)
        if seconds is not None and seconds < time.shortest:
            message = (
                f"{name} is {readable(seconds)}, but to {what} weights of this size took"
                f" {time} by published measurements"
            )
            yield self.found(resource, f"{path}/{name}", message)


class ScaledBeforeLoaded(Rule):
    """LMI100."""

    id = "LMI100"
    title = "scaling adds again before the last one can have loaded its model"
    severity = "warning"
    why = (
        "what was added does not take load yet, so the metric stays high and more and more are"
        " added, up to MaxCapacity"
    )
    fix = (
        "set ScaleOutCooldown to the seconds that the model may take to start, which the constructs"
        " of this library do where scale_out_cooldown is left out"
    )
    source = ShorterThanAnyLoading.source
    failing = _scaled_after(60)
    passing = _scaled_after(900)

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield pauses that are shorter than the fastest published loading of such weights."""
        for policy in deployment.scaling_policies:
            pause = number(policy.scale_out_cooldown)
            times = _loading_of_one_more(deployment, policy) if pause is not None else []
            if pause is not None and times and pause < min(time.shortest for time in times):
                fastest = min(times, key=lambda time: time.shortest)
                message = (
                    f"ScaleOutCooldown is {pause:g}, but weights of this size took {fastest} to"
                    " arrive by published measurements"
                )
                path = "TargetTrackingScalingPolicyConfiguration/ScaleOutCooldown"
                yield self.found(policy, path, message)


def _loading_of_one_more(deployment: Deployment, policy: ScalingPolicy) -> list[Span]:
    """Return how long what a policy adds takes to load, for each way it is known to run.

    A new instance fetches the weights; a new copy may find them on its instance.
    """
    target = target_of(deployment, policy)
    thing = scaled(deployment, policy.resource_id or (target.resource_id if target else None))
    if thing is None:
        return []
    config = config_of(deployment, thing.endpoint)
    found = []
    for planned in plans(deployment):
        run, start_up = planned.run, planned.plan.start_up
        if start_up is None:
            continue
        if thing.component is not None and run.component is thing.component:
            found.append(start_up.load)
        elif (
            run.component is None
            and run.config is config
            and is_same(run.variant.name, thing.variant)
        ):
            found.append(start_up.download + start_up.load)
    return found


def _owner(run: Running) -> Variant | ComponentSpecification:
    """Return what the time-outs stand in: the inference component, if there is one."""
    return run.variant if run.specification is None else run.specification


def _is_mounted(run: Running) -> bool:
    """Tell whether SageMaker brings the weights, or something that is not known yet."""
    return run.container.s3_data_source is not None or run.container.model_data_url is not None
