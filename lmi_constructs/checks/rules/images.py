"""Images: what they need of the instance and of its host image."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lmi_constructs.checks.examples import REMOVED, Example
from lmi_constructs.checks.queries.container_images import image, release
from lmi_constructs.checks.queries.containers import running
from lmi_constructs.checks.queries.instance_types import has_no_accelerator, instance
from lmi_constructs.checks.queries.variants import variants
from lmi_constructs.checks.rules.base import Rule
from lmi_constructs.checks.values import literal
from lmi_constructs.facts import InstanceType, host_images
from lmi_constructs.facts.host_image_choices import choose_host_image

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.queries.containers import Running
    from lmi_constructs.checks.resources import Container
    from lmi_constructs.container import LmiContainer
    from lmi_constructs.findings import Finding, Severity

_IMAGE: Final = "Model/Properties/PrimaryContainer/Image"
_VARIANT: Final = "Config/Properties/ProductionVariants/0"
_V22: Final = "763104351884.dkr.ecr.us-east-1.amazonaws.com/djl-inference:0.36.0-lmi22.0.0-cu129"
_V27: Final = "763104351884.dkr.ecr.us-east-1.amazonaws.com/djl-inference:0.36.0-lmi27.0.0-cu130"
_DRIVERS: Final = "https://docs.aws.amazon.com/sagemaker/latest/dg/inference-gpu-drivers.html"
_NEURON: Final = "al2-ami-sagemaker-inference-neuron-2"

Cuda = tuple[int, int]


class DriverTooOld(Rule):
    """LMI032."""

    id = "LMI032"
    title = "the host's driver is too old for the image's CUDA"
    why = (
        "the container stops before its first log line, and the endpoint stays in Creating for"
        " hours"
    )
    fix = "set InferenceAmiVersion"
    source = "https://github.com/aws/deep-learning-containers/issues/4990"
    failing = Example({f"{_VARIANT}/InferenceAmiVersion": REMOVED})
    passing = Example(
        {f"{_VARIANT}/InferenceAmiVersion": "al2023-ami-sagemaker-inference-gpu-4-1", _IMAGE: _V27}
    )

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield variants without a host image whose default driver is too old."""
        for one, kind, cuda in _on_default_host(deployment):
            if kind.default_host_driver is None or kind.default_host_driver >= 500:
                continue
            severity = self._severity(deployment, one.container, cuda)
            if severity is not None:
                message = (
                    f"{kind.name} starts with driver {kind.default_host_driver} (CUDA 11.4), the"
                    f" image has CUDA {cuda[0]}.{cuda[1]}"
                )
                fix = "choose another image or instance type: no host image is known that runs both"
                if not _lacks_host_image(release(deployment, one.container), kind):
                    fix = f"set InferenceAmiVersion to {_host_image_for(cuda)}"
                yield self.found(one.config, _place(one), message, fix=fix, severity=severity)

    def _severity(
        self, deployment: Deployment, container: Container, cuda: Cuda
    ) -> Severity | None:
        """Reported for CUDA 12.8 and later; older ones bring libraries that may bridge it."""
        if cuda >= (13, 0):
            return "error"
        of_lmi = release(deployment, container) is not None
        if cuda >= (12, 8):
            return "error" if of_lmi else "warning"
        return "warning" if of_lmi and cuda >= (12, 0) else None


class DriverTooNew(Rule):
    """LMI033."""

    id = "LMI033"
    title = "a CUDA 12 image on the CUDA 13 host image"
    severity = "warning"
    why = "such an endpoint was seen to stay in Creating without any log"
    fix = "set InferenceAmiVersion to al2-ami-sagemaker-inference-gpu-3-1"
    source = "https://github.com/aws/deep-learning-containers/pull/6187"
    failing = Example({f"{_VARIANT}/InferenceAmiVersion": "al2023-ami-sagemaker-inference-gpu-4-1"})
    passing = DriverTooOld.passing

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield variants with a host image of a later CUDA generation than the image's."""
        for one, cuda, host in _on_chosen_host(deployment):
            if cuda[0] < host[0]:
                yield self.found(one.config, _place(one), _difference(one, cuda, host))


class HostImageOfAnotherKind(Rule):
    """LMI034."""

    id = "LMI034"
    title = "the host image is for other accelerators"
    why = "the host has no driver for the accelerators of the instance"
    fix = "use a gpu host image on GPU instances and the neuron one on Inferentia and Trainium"
    source = "botocore 1.44.8 sagemaker 2017-07-24 ProductionVariant.InferenceAmiVersion"
    failing = Example({f"{_VARIANT}/InferenceAmiVersion": _NEURON})
    passing = Example()

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield GPU instances with the neuron host image, and the reverse."""
        for config, variant in variants(deployment):
            host = host_images().get(literal(variant.host_image) or "")
            for _, name in variant.instance_types if host else ():
                kind = instance(name)
                if kind and host and kind.accelerator_kind != host.accelerator_kind:
                    message = f"{kind.name} has {kind.accelerator}, but {host.name} is for {host.accelerator_kind}"
                    yield self.found(config, f"{variant.path}/InferenceAmiVersion", message)


class UnknownHostImage(Rule):
    """LMI035."""

    id = "LMI035"
    title = "no such host image"
    why = "CreateEndpointConfig refuses the value"
    fix = "use one of " + ", ".join(host_images())
    source = "botocore 1.44.8 sagemaker 2017-07-24 ProductionVariant.InferenceAmiVersion"
    failing = Example({f"{_VARIANT}/InferenceAmiVersion": "al2023-ami-sagemaker-inference-gpu-9-1"})
    passing = Example()

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield host images that the API does not take."""
        known = deployment.facts.host_images | set(host_images())
        for config, variant in variants(deployment):
            name = literal(variant.host_image)
            if name is not None and name not in known:
                message = f"the host image {name!r} does not exist"
                yield self.found(config, f"{variant.path}/InferenceAmiVersion", message)


class ImageForOtherAccelerators(Rule):
    """LMI036."""

    id = "LMI036"
    title = "the image cannot use the instance's accelerators"
    why = "the engine finds no device that it was built for and stops at start"
    fix = "choose an instance type with the accelerators that the image is for"
    source = "https://docs.djl.ai/master/docs/serving/serving/docs/lmi/index.html"
    failing = Example(
        {f"{_VARIANT}/InstanceType": "ml.m5.4xlarge", f"{_VARIANT}/InferenceAmiVersion": REMOVED}
    )
    passing = Example({f"{_VARIANT}/InstanceType": "ml.g6.12xlarge"})

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield LMI images on instances without fitting accelerators."""
        for run in running(deployment):
            container = release(deployment, run.container)
            if container is None:
                continue
            wanted = _accelerator_kind(container)
            for path, name in run.variant.instance_types:
                kind = instance(name)
                if kind and kind.accelerator_kind != wanted:
                    has = kind.accelerator
                elif has_no_accelerator(deployment, name):
                    has = "no accelerator"
                else:
                    continue
                message = (
                    f"{literal(name)} has {has}, but the image {container.tag} is for {wanted}"
                )
                yield self.found(run.config, path, message)


class HostImageNotChosen(Rule):
    """LMI037."""

    id = "LMI037"
    title = "the host image should be chosen for a CUDA 13 image"
    severity = "warning"
    why = "a CUDA 13 engine on an older host was seen to stop before its first log line"
    fix = "set InferenceAmiVersion to al2023-ami-sagemaker-inference-gpu-4-1"
    source = "https://github.com/aws/sagemaker-python-sdk/pull/6281"
    failing = Example(
        {
            f"{_VARIANT}/InferenceAmiVersion": REMOVED,
            f"{_VARIANT}/InstanceType": "ml.g6.12xlarge",
            _IMAGE: _V27,
        }
    )
    passing = DriverTooOld.passing

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield CUDA 13 images on a host that is older or left to the default."""
        for one, kind, cuda in _on_default_host(deployment):
            driver = kind.default_host_driver
            if _lacks_host_image(release(deployment, one.container), kind):
                continue
            if cuda >= (13, 0) and (driver is None or 500 <= driver < 580):
                has = "an unknown driver" if driver is None else f"driver {driver}"
                message = (
                    f"{kind.name} starts with {has} and the image has CUDA {cuda[0]}.{cuda[1]}"
                )
                yield self.found(one.config, _place(one), message)
        for one, cuda, host in _on_chosen_host(deployment):
            if cuda[0] > host[0]:
                yield self.found(one.config, _place(one), _difference(one, cuda, host))


class NoHostImageKnown(Rule):
    """LMI039."""

    id = "LMI039"
    title = "no host image is known that runs the image on this instance type"
    severity = "warning"
    why = (
        "SageMaker starts its default host image; if its driver is too old for the image, the"
        " endpoint stays in Creating without a single log line"
    )
    fix = "choose another image or instance type, or set InferenceAmiVersion to one that you tried"
    source = "https://github.com/aws/deep-learning-containers/pull/6187"
    failing = Example(
        {
            f"{_VARIANT}/InferenceAmiVersion": REMOVED,
            f"{_VARIANT}/InstanceType": "ml.g7e.24xlarge",
        }
    )
    passing = DriverTooOld.passing

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield releases on instance types for which nobody has published a host image."""
        for one, kind in _without_host_image(deployment):
            container = release(deployment, one.container)
            if container is None or kind.accelerator_kind != _accelerator_kind(container):
                continue
            old = kind.default_host_driver is not None and kind.default_host_driver < 500
            if _lacks_host_image(container, kind) and not old:  # old ones are LMI032
                message = f"no host image is known that runs {container.name} on {kind.name}"
                yield self.found(one.config, _place(one), message)


def _accelerator_kind(container: LmiContainer) -> str:
    """Return the accelerators that a release is built for: `neuron` or `gpu`."""
    return "neuron" if container.release.engine == "neuronx" else "gpu"


def _lacks_host_image(container: LmiContainer | None, kind: InstanceType) -> bool:
    """Tell whether no host image is known to run a release on an instance type."""
    return container is not None and choose_host_image(container.release, kind.family) is None


def _without_host_image(deployment: Deployment) -> Iterator[tuple[Running, InstanceType]]:
    """Yield containers on instances whose host image is left to SageMaker."""
    for run in running(deployment):
        if run.variant.host_image is None:
            for _, name in run.variant.instance_types:
                kind = instance(name)
                if kind is not None:
                    yield run, kind


def _on_default_host(deployment: Deployment) -> Iterator[tuple[Running, InstanceType, Cuda]]:
    """Yield containers with CUDA on GPU instances whose host image is left to SageMaker."""
    for one, kind in _without_host_image(deployment):
        cuda = _cuda(deployment, one.container)
        if cuda is not None and kind.accelerator_kind == "gpu":
            yield one, kind, cuda


def _on_chosen_host(deployment: Deployment) -> Iterator[tuple[Running, Cuda, Cuda]]:
    """Yield containers with their CUDA and that of the host image that was chosen."""
    for run in running(deployment):
        cuda, host = _cuda(deployment, run.container), _host_cuda(run)
        if cuda and host:
            yield run, cuda, host


def _place(run: Running) -> str:
    """Return where the host image is chosen: it is the whole variant's, also of instance pools."""
    return f"{run.variant.path}/InferenceAmiVersion"


def _difference(run: Running, cuda: Cuda, host: Cuda) -> str:
    return (
        f"the image has CUDA {cuda[0]}.{cuda[1]}, the host image"
        f" {literal(run.variant.host_image)} has {host[0]}.{host[1]}"
    )


def _cuda(deployment: Deployment, container: Container) -> Cuda | None:
    known = release(deployment, container)
    if known is not None and known.release.cuda:
        major, minor = re.findall(r"\d+", known.release.cuda)[:2]
        return (int(major), int(minor))
    parts = image(container)
    return parts.cuda if parts and known is None else None


def _host_cuda(run: Running) -> Cuda | None:
    host = host_images().get(literal(run.variant.host_image) or "")
    if host is None or host.cuda is None:
        return None
    major, minor = host.cuda.split(".")
    return (int(major), int(minor))


def _host_image_for(cuda: Cuda) -> str:
    generation = "4-1" if cuda >= (13, 0) else "3-1"
    return next(name for name in host_images() if name.endswith(f"gpu-{generation}"))
