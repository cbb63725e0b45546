"""Time-outs of starting."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from lmi_constructs.checks.examples import REMOVED, Example
from lmi_constructs.checks.queries.container_images import release
from lmi_constructs.checks.queries.containers import environment, running
from lmi_constructs.checks.queries.variants import variants
from lmi_constructs.checks.rules.base import Rule
from lmi_constructs.checks.values import UNKNOWN, Number, as_number, number
from lmi_constructs.facts.limits import limits
from lmi_constructs.facts.options import option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.resources import ComponentSpecification, Container, Resource, Variant
    from lmi_constructs.findings import Finding

_VARIANT: Final = "Config/Properties/ProductionVariants/0"
_HEALTH: Final = "ContainerStartupHealthCheckTimeoutInSeconds"
_DOWNLOAD: Final = "ModelDataDownloadTimeoutInSeconds"
_LOADING_NAMES: Final = (
    "SAGEMAKER_STARTUP_TIMEOUT",
    "OPTION_MODEL_LOADING_TIMEOUT",
    "MODEL_LOADING_TIMEOUT",
)


class _OutOfRange(Rule):
    """A time-out outside its bounds."""

    limit: ClassVar[str]
    property_name: ClassVar[str]
    why = "CreateEndpointConfig refuses the value"

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield values that the API does not take."""
        bounds = limits()[self.limit]
        for resource, path, owner in _owners(deployment):
            seconds = number(getattr(owner, self.limit, None))
            if seconds is not None and not bounds.allows(seconds):
                message = f"{self.property_name} is {seconds}, but must be {bounds}"
                yield self.found(resource, f"{path}/{self.property_name}", message)


class HealthCheckTimeoutOutOfRange(_OutOfRange):
    """LMI060."""

    id = "LMI060"
    title = "the start-up health-check time-out is out of range"
    fix = "use 60 to 3600 seconds; what takes longer must load from S3 or be smaller"
    limit = "health_check_timeout"
    property_name = _HEALTH
    source = "botocore 1.44.8 sagemaker 2017-07-24 " + _HEALTH
    failing = Example({f"{_VARIANT}/{_HEALTH}": 5400})
    passing = Example({f"{_VARIANT}/{_HEALTH}": 3600})


class DownloadTimeoutOutOfRange(_OutOfRange):
    """LMI061."""

    id = "LMI061"
    title = "the model download time-out is out of range"
    fix = "use 60 to 3600 seconds"
    limit = "download_timeout"
    property_name = _DOWNLOAD
    source = "botocore 1.44.8 sagemaker 2017-07-24 " + _DOWNLOAD
    failing = Example({f"{_VARIANT}/{_DOWNLOAD}": 30})
    passing = Example({f"{_VARIANT}/{_DOWNLOAD}": "3600"})


class ProvisionTimeoutOutOfRange(_OutOfRange):
    """LMI064."""

    id = "LMI064"
    title = "the provision time-out is out of range"
    fix = "use 300 to 3600 seconds"
    limit = "provision_timeout"
    property_name = "VariantInstanceProvisionTimeoutInSeconds"
    source = "botocore 1.44.8 sagemaker 2017-07-24 VariantInstanceProvisionTimeoutInSeconds"
    failing = Example({f"{_VARIANT}/VariantInstanceProvisionTimeoutInSeconds": 60})
    passing = Example({f"{_VARIANT}/VariantInstanceProvisionTimeoutInSeconds": 600})


class KilledBeforeLoaded(Rule):
    """LMI062."""

    id = "LMI062"
    title = "SageMaker gives up before the container does"
    severity = "warning"
    why = (
        "SageMaker stops a container that does not answer its health check in time, though it may"
        " still be loading the model"
    )
    fix = f"set {_HEALTH} to at least the container's own model-loading time-out"
    source = "https://github.com/aws/amazon-sagemaker-examples/issues/3432"
    failing = Example({f"{_VARIANT}/{_HEALTH}": REMOVED})
    passing = Example(
        {
            f"{_VARIANT}/{_HEALTH}": 900,
            "Model/Properties/PrimaryContainer/Environment/OPTION_MODEL_LOADING_TIMEOUT": "900",
        }
    )

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield health-check time-outs that are missing or shorter than the loading time-out."""
        for run in running(deployment):
            if release(deployment, run.container) is None or run.variant.serverless:
                continue
            resource: Resource = run.config
            path, health = run.variant.path, run.variant.health_check_timeout
            if run.component and run.specification and health is None:
                resource, path = run.component, f"{run.specification.path}/StartupParameters"
                health = run.specification.health_check_timeout
            loading = number(_loading_timeout(run.container))
            if health is None:
                message = "no start-up health-check time-out is set; the default is short for LLMs"
            elif loading is not None and (number(health) or loading) < loading:
                message = (
                    f"the health check gives up after {health} s, but the container may load for"
                    f" {loading} s"
                )
            else:
                continue
            yield self.found(resource, f"{path}/{_HEALTH}", message)


def _owners(
    deployment: Deployment,
) -> Iterator[tuple[Resource, str, Variant | ComponentSpecification]]:
    for config, variant in variants(deployment):
        yield config, variant.path, variant
    for component in deployment.components:
        for one in component.specifications:
            yield component, f"{one.path}/StartupParameters", one


def _loading_timeout(container: Container) -> Number | None:
    if container.environment is UNKNOWN:
        return UNKNOWN
    known = environment(container)
    for name in _LOADING_NAMES:
        if name in known:
            return as_number(known[name])
    fact = option("model_loading_timeout")
    return UNKNOWN if fact is None else as_number(fact.default)
