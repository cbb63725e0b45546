"""Names that Application Auto Scaling knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lmi_constructs._near_names import SUSPECT, did_you_mean, nearest
from lmi_constructs.checks.examples import Example
from lmi_constructs.checks.rules.base import Rule
from lmi_constructs.checks.values import head, literal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.resources import Resource, ScalingPolicy
    from lmi_constructs.findings import Finding, Severity

NAMESPACE: Final = "sagemaker"
VARIANT: Final = "sagemaker:variant:DesiredInstanceCount"
COMPONENT: Final = "sagemaker:inference-component:DesiredCopyCount"
SERVERLESS: Final = "sagemaker:variant:DesiredProvisionedConcurrency"
DIMENSIONS: Final = {VARIANT: "variant", SERVERLESS: "variant", COMPONENT: "inference-component"}
"""Dimensions of SageMaker, with what each scales."""

METRICS: Final = {
    "SageMakerVariantInvocationsPerInstance": VARIANT,
    "SageMakerVariantConcurrentRequestsPerModelHighResolution": VARIANT,
    "SageMakerInferenceComponentInvocationsPerCopy": COMPONENT,
    "SageMakerInferenceComponentConcurrentRequestsPerCopyHighResolution": COMPONENT,
    "SageMakerVariantProvisionedConcurrencyUtilization": SERVERLESS,
}
"""Predefined metrics of SageMaker, with the dimension of each."""

METRIC_PATH: Final = (
    "TargetTrackingScalingPolicyConfiguration/PredefinedMetricSpecification/PredefinedMetricType"
)


class UnknownScalingName(Rule):
    """LMI108."""

    id = "LMI108"
    title = "Application Auto Scaling knows no such name"
    why = "the scalable target or policy is refused"
    fix = "write one of " + ", ".join([NAMESPACE, *DIMENSIONS, *METRICS])
    source = "botocore 1.44.8 application-autoscaling 2016-02-06 ScalableDimension, MetricType"
    failing = Example(
        {"Target/Properties/ScalableDimension": "sagemaker:variant:DesiredCapacity"}, base="scaled"
    )
    passing = Example(base="scaled")

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield dimensions, namespaces and metrics of SageMaker that are misspelled."""
        for target in deployment.scalable_targets:
            yield from self._dimension(target, target.dimension)
            namespace = literal(target.namespace)
            of_sagemaker = head(target.dimension).startswith(f"{NAMESPACE}:")
            if namespace is not None and namespace != NAMESPACE and of_sagemaker:
                message = f"ServiceNamespace is {namespace!r}, the dimension is SageMaker's"
                yield self.found(target, "ServiceNamespace", message, fix=f"write {NAMESPACE}")
        for policy in deployment.scaling_policies:
            yield from self._dimension(policy, policy.dimension)
            yield from self._metric(policy)

    def _metric(self, policy: ScalingPolicy) -> Iterator[Finding]:
        """Yield a misspelled metric, and one of SageMaker that may only be newer than this list."""
        metric = literal(policy.predefined_metric)
        if metric is None or metric in METRICS:
            return
        near = nearest(metric, METRICS, likeness=SUSPECT)
        if near is not None or metric.casefold().startswith(NAMESPACE):
            message = f"there is no predefined metric {metric!r}"
            fix = _one_of(metric, METRICS)
            severity: Severity = "error" if near else "warning"
            yield self.found(policy, METRIC_PATH, message, fix=fix, severity=severity)

    def _dimension(self, resource: Resource, given: object) -> Iterator[Finding]:
        dimension = literal(given)
        if dimension is None or dimension in DIMENSIONS:
            return
        if dimension.casefold().startswith(f"{NAMESPACE}:"):
            message = f"SageMaker has no scalable dimension {dimension!r}"
            yield self.found(
                resource, "ScalableDimension", message, fix=_one_of(dimension, DIMENSIONS)
            )


def _one_of(written: str, names: Collection[str]) -> str:
    return did_you_mean(written, names, f"write one of {', '.join(names)}")
