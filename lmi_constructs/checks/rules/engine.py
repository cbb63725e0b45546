"""What the container does with its environment: the verdict of its release, as rules.

The one joint with [`lmi_constructs.container`][]: each rule here takes its findings from there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from lmi_constructs.checks.examples import Example
from lmi_constructs.checks.queries.caching import cached_per_deployment
from lmi_constructs.checks.queries.container_images import image, release
from lmi_constructs.checks.queries.containers import (
    containers,
    environment,
    running,
    serving_properties,
)
from lmi_constructs.checks.queries.instance_types import instance
from lmi_constructs.checks.rules.base import Rule, placed, with_severity
from lmi_constructs.checks.rules.published_images import nearest_tag, newer_than_known, newest
from lmi_constructs.checks.values import UNKNOWN, literal
from lmi_constructs.container import Verdict, verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.queries.containers import Running
    from lmi_constructs.checks.resources import Container, Resource
    from lmi_constructs.container import LmiContainer
    from lmi_constructs.findings import Finding

_CONTAINER: Final = "Model/Properties/PrimaryContainer"
_ENVIRONMENT: Final = f"{_CONTAINER}/Environment"
_DJL: Final = (
    "https://docs.djl.ai/master/docs/serving/serving/docs/lmi/user_guides/vllm_user_guide.html"
)
_ASYNC: Final = "https://github.com/deepjavalibrary/djl-serving/issues/2567"
_TOO_LATE: Final = "the model never becomes healthy, and the deployment fails after its time-out"
_NO_EFFECT: Final = "the container starts without the setting and says nothing"


class _OfVerdict(Rule):
    """A rule whose findings the package `container` makes."""

    source = _DJL

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield what the release does with the environment."""
        for resource, container, judged in verdicts(deployment):
            for finding in judged.findings:
                if finding.rule == self.id:
                    known = finding.where in environment(container)
                    path = f"{container.path}/Environment"
                    place = f"{path}/{finding.where}" if known else path
                    yield placed(finding, resource, place, self.source)


class RefusedByRelease(_OfVerdict):
    """LMI001."""

    id = "LMI001"
    title = "the release refuses a setting"
    why = _TOO_LATE
    fix = "write what the release takes instead"
    failing = Example({f"{_ENVIRONMENT}/OPTION_ROLLING_BATCH": "lmi-dist-2"})
    passing = Example({f"{_ENVIRONMENT}/OPTION_ROLLING_BATCH": "auto"})


class NotRead(_OfVerdict):
    """LMI002."""

    id = "LMI002"
    title = "the release does not read a setting"
    severity = "warning"
    why = _NO_EFFECT
    fix = "use its replacement, or remove it"
    failing = Example({f"{_ENVIRONMENT}/OPTION_GUIDED_DECODING_BACKEND": "outlines"})
    passing = Example({f"{_ENVIRONMENT}/OPTION_GPU_MEMORY_UTILIZATION": "0.9"})


class WithoutVllm(_OfVerdict):
    """LMI003."""

    id = "LMI003"
    title = "the model is served without vLLM"
    severity = "warning"
    why = "a plain Transformers handler serves it, with a small part of the throughput"
    fix = "remove OPTION_ROLLING_BATCH=disable"
    failing = Example({f"{_ENVIRONMENT}/OPTION_ROLLING_BATCH": "disable"})
    passing = Example()


class StopsAtStart(_OfVerdict):
    """LMI004."""

    id = "LMI004"
    title = "the container stops at start"
    why = _TOO_LATE
    fix = "give the engine what its own checks allow"
    failing = Example({f"{_ENVIRONMENT}/OPTION_GPU_MEMORY_UTILIZATION": "1.5"})
    passing = Example({f"{_ENVIRONMENT}/OPTION_GPU_MEMORY_UTILIZATION": "0.95"})


class MisplacedSetting(_OfVerdict):
    """LMI007."""

    id = "LMI007"
    title = "an environment variable that nothing reads"
    severity = "warning"
    why = "the container does not know it, so it changes nothing"
    fix = "set the property of the endpoint configuration's variant instead"
    source = "https://github.com/aws/amazon-sagemaker-examples/issues/3432"
    failing = Example({f"{_ENVIRONMENT}/GPU_MEMORY_UTILIZATION": "0.9"})
    passing = Example({f"{_ENVIRONMENT}/NCCL_DEBUG": "INFO"})

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield what the release does not know, and SageMaker's properties in any container."""
        yield from super().check(deployment)
        for resource, container in containers(deployment):
            if release(deployment, container) is not None:
                continue
            for key in environment(container):
                name = _PROPERTIES.get(key.replace("_", "").lower())
                if name is not None:
                    path = f"{container.path}/Environment/{key}"
                    message = f"{key} stands in the environment, where it does nothing"
                    yield self.found(resource, path, message, fix=f"set {name} on the variant")


class QuotedValue(_OfVerdict):
    """LMI008."""

    id = "LMI008"
    title = "quotes are part of the value"
    severity = "warning"
    why = "the container takes the quotes as part of the value"
    fix = "remove the quotes"
    source = "https://github.com/huggingface/text-generation-inference/issues/479"
    failing = Example({f"{_ENVIRONMENT}/OPTION_SERVED_MODEL_NAME": '"llama"'})
    passing = Example({f"{_ENVIRONMENT}/OPTION_SERVED_MODEL_NAME": "llama"})


class TwoModels(_OfVerdict):
    """LMI009."""

    id = "LMI009"
    title = "two models are named"
    why = "with a second model registered, each request without a model name is answered with 400"
    fix = "keep the model data and remove HF_MODEL_ID, or the reverse"
    source = (
        "deepjavalibrary/djl-serving@d21927c4:"
        "serving/src/main/java/ai/djl/serving/util/ModelStore.java"
    )
    failing = Example(
        {
            f"{_ENVIRONMENT}/HF_MODEL_ID": "Qwen/Qwen3-8B",
            "Model/Properties/EnableNetworkIsolation": False,
        }
    )
    passing = Example({f"{_ENVIRONMENT}/HF_MODEL_ID": "/opt/ml/model"})


class RemovedBackend(Rule):
    """LMI015."""

    id = "LMI015"
    title = "a back end that the release no longer has"
    severity = "warning"
    why = "the container takes vLLM instead, which does not know all of the old back end's options"
    fix = "remove OPTION_ROLLING_BATCH, or set it to auto"
    source = (
        "deepjavalibrary/djl-serving@d21927c4:serving/docs/lmi/announcements/breaking_changes.md"
    )
    failing = Example({f"{_ENVIRONMENT}/OPTION_ROLLING_BATCH": "lmi-dist"})
    passing = Example({f"{_ENVIRONMENT}/OPTION_ROLLING_BATCH": "auto"})

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield lmi-dist on releases without it; others are refused by the release itself."""
        for resource, container in containers(deployment):
            known = release(deployment, container)
            chosen = environment(container).get("OPTION_ROLLING_BATCH")
            if known and chosen == "lmi-dist" and chosen not in known.release.backends:
                path = f"{container.path}/Environment/OPTION_ROLLING_BATCH"
                yield self.found(resource, path, f"{known.name} does not have {chosen}")


class NotExamined(_OfVerdict):
    """LMI016."""

    id = "LMI016"
    title = "the settings of this release are not known one by one"
    severity = "warning"
    why = "its property classes and engine were not examined"
    fix = "check them against its own documentation, or use v15 or later"
    failing = Example(
        {
            f"{_CONTAINER}/Image": (
                "763104351884.dkr.ecr.us-east-1.amazonaws.com/djl-inference:0.31.0-lmi13.0.0-cu124"
            )
        }
    )
    passing = Example()

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield releases whose settings were not examined, and those that are newer than all known."""
        yield from super().check(deployment)
        for resource, container in containers(deployment):
            name = newer_than_known(deployment, container)
            if name is not None:
                known = newest()
                parts = image(container)
                near = nearest_tag(literal(parts.tag) or "") if parts else None
                message = (
                    f"{name} is newer than {known.name}, the newest release that is known; its"
                    f" settings are judged as those of {known.name}"
                )
                fix = f"check them against its own documentation, or use {near or known.tag}"
                yield self.found(resource, f"{container.path}/Image", message, fix=fix)


class AsyncOnOldServer(Rule):
    """LMI018."""

    id = "LMI018"
    title = "this server's answers do not suit async endpoints"
    why = "it answers without a Content-Length, and every async invocation fails"
    fix = "use LMI v13 (DJL Serving 0.31) or later"
    source = _ASYNC
    failing = Example(
        {
            f"{_CONTAINER}/Image": (
                "763104351884.dkr.ecr.us-east-1.amazonaws.com/djl-inference:0.30.0-lmi12.0.0-cu124"
            )
        },
        base="asynchronous",
    )
    passing = Example(base="asynchronous")

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield async endpoints that run DJL Serving before 0.31."""
        for run in running(deployment):
            container = release(deployment, run.container)
            if container is None or run.config.asynchronous is not True:
                continue
            version = tuple(int(part) for part in container.release.djl.split(".")[:2])
            if version < (0, 31):
                message = (
                    f"{container.name}, which has DJL Serving {container.release.djl}, runs on an"
                    " async endpoint"
                )
                yield self.found(run.resource, f"{run.container.path}/Image", message)


class DegreeAboveGpus(_OfVerdict):
    """LMI055."""

    id = "LMI055"
    title = "more tensor-parallel ranks than GPUs"
    why = _TOO_LATE
    fix = "set OPTION_TENSOR_PARALLEL_DEGREE to max or to the number of GPUs"
    failing = Example({f"{_ENVIRONMENT}/OPTION_TENSOR_PARALLEL_DEGREE": "8"})
    passing = Example({f"{_ENVIRONMENT}/OPTION_TENSOR_PARALLEL_DEGREE": "max"})


_PROPERTIES: Final = {
    name.lower(): name
    for name in (
        "ContainerStartupHealthCheckTimeoutInSeconds",
        "ModelDataDownloadTimeoutInSeconds",
        "InferenceAmiVersion",
        "VolumeSizeInGB",
        "InitialInstanceCount",
    )
}


@cached_per_deployment
def verdicts(deployment: Deployment) -> Iterator[tuple[Resource, Container, Verdict]]:
    """Return each LMI container with the verdict of its release, once a variant that runs it."""
    seen = set()
    for run, judged in judged_runs(deployment):
        seen.add((run.resource.key, run.container.path))
        yield run.resource, run.container, judged
    for run, judged in presumed_runs(deployment):
        seen.add((run.resource.key, run.container.path))
        yield run.resource, run.container, judged
    for resource, container in containers(deployment):
        if container.environment is UNKNOWN or (resource.key, container.path) in seen:
            continue
        if release(deployment, container):
            yield resource, container, _verdict(deployment, resource, container, None)
        elif newer_than_known(deployment, container):
            yield resource, container, _presumed(deployment, resource, container, None)


@cached_per_deployment
def judged_runs(deployment: Deployment) -> Iterator[tuple[Running, Verdict]]:
    """Return the verdict on each LMI container for each variant that runs it."""
    for run in running(deployment):
        if run.container.environment is not UNKNOWN and release(deployment, run.container):
            yield run, _verdict(deployment, run.resource, run.container, _gpus(run))


@cached_per_deployment
def presumed_runs(deployment: Deployment) -> Iterator[tuple[Running, Verdict]]:
    """Return what the newest known release would say of containers that are newer, as warnings."""
    for run in running(deployment):
        if run.container.environment is not UNKNOWN and newer_than_known(deployment, run.container):
            yield run, _presumed(deployment, run.resource, run.container, _gpus(run))


_OF_ANY_RELEASE: Final = frozenset({"LMI006", "LMI008", "LMI009"})


def _presumed(
    deployment: Deployment, resource: Resource, container: Container, gpus: int | None
) -> Verdict:
    """Judge as the newest known release; what only it does not read is left out."""
    judged = _verdict(deployment, resource, container, gpus, newest())
    held = [
        one for one in judged.findings if one.severity == "error" or one.rule in _OF_ANY_RELEASE
    ]
    findings = tuple(with_severity(one, "warning") for one in held)
    return replace(judged, findings=findings, starts=None)


def _verdict(
    deployment: Deployment,
    resource: Resource,
    container: Container,
    gpus: int | None,
    presumed: LmiContainer | None = None,
) -> Verdict:
    data = (container.model_data_url, container.s3_data_source, container.model_package)
    known = presumed or release(deployment, container)
    return verdict(
        environment(container),
        known,
        gpus,
        serving_properties=serving_properties(deployment, resource),
        model_mounted=any(one is not None for one in data),
    )


def _gpus(run: Running) -> int | None:
    """Return how many GPUs the container sees, the fewest of all its instance types."""
    if run.accelerator_count is not None:
        return run.accelerator_count
    kinds = [instance(name) for _, name in run.variant.instance_types]
    counts = [kind.accelerator_count for kind in kinds if kind]
    return min(counts) if counts and len(counts) == len(kinds) else None
