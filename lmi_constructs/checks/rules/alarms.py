"""Alarms and custom scaling metrics: right place, right unit, and able to fire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lmi_constructs._near_names import SURE, nearest
from lmi_constructs.checks.examples import Example
from lmi_constructs.checks.queries.container_images import release
from lmi_constructs.checks.queries.instance_types import instance
from lmi_constructs.checks.queries.variants import config_of, lacks_variant, variant_of
from lmi_constructs.checks.rules.base import Rule
from lmi_constructs.checks.values import UNKNOWN, literal, number, shown
from lmi_constructs.facts.metrics import component_metrics, endpoint_metrics
from lmi_constructs.readable import readable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.resources import Alarm, Endpoint, EndpointConfig, Metric, Resource
    from lmi_constructs.facts.metrics import EndpointMetric
    from lmi_constructs.findings import Finding

_REQUESTS: Final = "AWS/SageMaker"
_MACHINES: Final = "/aws/sagemaker/Endpoints"
_COMPONENTS: Final = "/aws/sagemaker/InferenceComponents"
_NAMESPACES: Final = (_REQUESTS, _MACHINES, _COMPONENTS)
_GUIDE: Final = "https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html"
_ASYNC: Final = "https://docs.aws.amazon.com/sagemaker/latest/dg/async-inference-monitor.html"
_GOOD: Final = Example(base="scaled")


_LIKE_A_DIMENSION: Final = 0.75
"""How alike a dimension must be to one of an endpoint: `Variant` is, `DomainName` of a Studio is not."""

_DIMENSION_NAMES: Final = frozenset(
    {
        "EndpointName",
        "VariantName",
        "InferenceComponentName",
        "ContainerName",
        "ModelName",
        "InstanceId",
        "ContainerId",
        "AcceleratorId",
        "InstanceType",
        "AvailabilityZone",
    }
)
_OF_ANOTHER_SCALE: Final = ("sum", "samplecount", "ts", "tc", "pr")
"""Beginnings of statistics that add values up, count them, or say which share of them lies in a range.

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Statistics-definitions.html
"""

_ENHANCED: Final = frozenset({"InstanceId", "ContainerId", "AcceleratorId"})
_ENHANCED_GUIDE: Final = (
    "https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch-enhanced-metrics.html"
)


class MetricInAnotherPlace(Rule):
    """LMI085."""

    id = "LMI085"
    title = "no such metric under this namespace and these dimensions"
    why = "the alarm or policy never gets any data"
    fix = "use the namespace and dimensions under which SageMaker publishes the metric"
    source = _GUIDE
    failing = Example(
        {
            "Backlog/Properties/Dimensions/0/Name": "Endpoint",
        },
        base="asynchronous",
    )
    passing = Example(base="asynchronous")

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield metrics with another namespace, misspelled names, unknown or missing dimensions."""
        for resource, metric in _watched(deployment):
            slip = _slip(metric)
            if slip is not None:
                place, written, meant = slip
                message = f"SageMaker publishes nothing as {written!r}"
                yield self.found(
                    resource, _at(metric, place), message, fix=f"did you mean {meant}?"
                )
                continue
            known = endpoint_metrics().get(literal(metric.metric_name) or "")
            namespace = literal(metric.namespace)
            if known is None or namespace not in (_REQUESTS, _MACHINES) or _of_no_endpoint(metric):
                continue
            name = literal(metric.metric_name)
            if namespace != known.namespace and not (
                metric.dimensions is not UNKNOWN and "InferenceComponentName" in metric.dimensions
            ):
                message = f"{name} is published in {known.namespace}, not in {namespace}"
                path = _at(metric, "Namespace")
                yield self.found(
                    resource, path, message, fix=f"use {known.namespace}", source=known.source
                )
            if metric.dimensions is not UNKNOWN:
                config = _config(deployment, metric)
                yield from self._dimensions(resource, metric, known, config)

    def _dimensions(
        self,
        resource: Resource,
        metric: Metric,
        known: EndpointMetric,
        config: EndpointConfig | None,
    ) -> Iterator[Finding]:
        given = frozenset(metric.dimensions)  # type: ignore[arg-type]
        own = frozenset(known.dimensions)
        wanted = " and ".join(known.dimensions)
        strange = given - _DIMENSION_NAMES
        if given == own or "InferenceComponentName" in given - own:
            return
        if own < given and given - own <= _ENHANCED:
            if config is not None and config.enhanced_metrics is False:
                extra = " and ".join(sorted(given - own))
                yield self.found(
                    resource,
                    _at(metric, "Dimensions"),
                    f"{extra} is a dimension of enhanced metrics, which the endpoint does not have",
                    fix="set MetricsConfig.EnableEnhancedMetrics on the endpoint configuration, or"
                    f" use the dimensions {wanted}",
                    severity="warning",
                    source=_ENHANCED_GUIDE,
                )
            return
        message = (
            f"{literal(metric.metric_name)} is published with the dimensions {wanted}, not with"
            f" {', '.join(sorted(given)) or 'none'}"
        )
        yield self.found(
            resource,
            _at(metric, "Dimensions"),
            message,
            fix=f"use the dimensions {wanted}",
            severity="error" if strange else "warning",
            source=known.source,
        )


def _of_no_endpoint(metric: Metric) -> bool:
    """Tell whether a metric is of something else, such as a notebook or a training job."""
    if metric.dimensions is UNKNOWN or not metric.dimensions:
        return False
    return not any(
        nearest(name, _DIMENSION_NAMES, likeness=_LIKE_A_DIMENSION) for name in metric.dimensions
    )


def _slip(metric: Metric) -> tuple[str, str, str] | None:
    """Return the property of a metric that is misspelled, its value, and what was meant.

    Only what resembles SageMaker's own is judged, so that other metrics are left alone.
    """
    name, namespace = literal(metric.metric_name), literal(metric.namespace)
    known = {**component_metrics(), **endpoint_metrics()}
    if name is None or namespace is None:
        return None
    meant = _namespace_meant(namespace, is_metric=nearest(name, known, likeness=SURE) is not None)
    if meant is None:
        return None
    if meant != namespace:
        published = known[name].namespace if name in known else meant
        return "Namespace", namespace, published
    near = nearest(name, known, likeness=SURE)
    return ("MetricName", name, near) if near and name not in known else None


def _namespace_meant(namespace: str, *, is_metric: bool) -> str | None:
    """Return SageMaker's namespace that one is, or was meant to be."""
    folded = {name.casefold().strip("/"): name for name in _NAMESPACES}
    written = namespace.casefold().strip("/")
    if namespace in _NAMESPACES or written in folded:
        return namespace if namespace in _NAMESPACES else folded[written]
    return nearest(namespace, _NAMESPACES, likeness=SURE) if is_metric else None


class ThresholdInAnotherUnit(Rule):
    """LMI086."""

    id = "LMI086"
    title = "latencies are in microseconds"
    severity = "warning"
    why = "the threshold is far below any latency of a model, so the alarm always fires"
    fix = "multiply seconds by 1,000,000"
    source = _GUIDE
    failing = Example({"Latency/Properties/Threshold": 30}, base="scaled")
    passing = _GOOD

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield latency thresholds that look like seconds or milliseconds."""
        for alarm, metric in _simple(deployment):
            threshold = number(alarm.threshold)
            name = literal(metric.metric_name)
            if name != "ModelLatency" or metric.namespace != _REQUESTS or not threshold:
                continue
            endpoint = _endpoint(deployment, metric)
            slowest = 100_000 if _serves_llm(deployment, endpoint) else 1000
            if 0 < threshold < slowest and _above(alarm):
                milliseconds = readable(threshold / 1000)
                message = f"the threshold {readable(threshold)} of {name} is {milliseconds} ms"
                yield self.found(alarm, "Threshold", message)


class PercentOfOneGpu(Rule):
    """LMI087."""

    id = "LMI087"
    title = "GPU percentages are summed over the GPUs"
    severity = "warning"
    why = "with several GPUs the metric goes to 100 times their number, so it fires far too early"
    fix = "multiply the threshold by the number of GPUs"
    source = _GUIDE
    failing = Example({"Gpu/Properties/Threshold": 90}, base="scaled")
    passing = _GOOD

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield thresholds up to 100 for instances with several GPUs."""
        for alarm, metric in _simple(deployment):
            count = _gpus(deployment, metric)
            threshold = number(alarm.threshold)
            if count and count > 1 and threshold and threshold <= 100 and _above(alarm):
                message = (
                    f"the threshold is {readable(threshold)}, but the metric goes up to"
                    f" {count * 100} on {count} GPUs"
                )
                fix = f"use {readable(threshold * count)}"
                yield self.found(alarm, "Threshold", message, fix=fix)


class NeverFires(Rule):
    """LMI088."""

    id = "LMI088"
    title = "the alarm or policy can never act"
    why = "the endpoint does not publish the metric, or it cannot pass the threshold"
    fix = "watch a metric that this kind of endpoint publishes, with a threshold it can reach"
    source = _ASYNC
    failing = Example({"Latency/Properties/MetricName": "ApproximateBacklogSize"}, base="scaled")
    passing = Example(base="asynchronous")

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield metrics of another kind of endpoint, and thresholds out of reach."""
        for resource, metric in _watched(deployment):
            config = _config(deployment, metric)
            name = literal(metric.metric_name)
            if config is None or metric.namespace != _REQUESTS:
                continue
            known = endpoint_metrics().get(name or "")
            if known is None:
                continue
            if known.dimensions == ("EndpointName",) and config.asynchronous is False:
                message = f"{name} is published by async endpoints only"
                yield self.found(resource, _at(metric, "MetricName"), message)
            if known.on_async_endpoints is False and config.asynchronous is True:
                message = f"{name} is not published by async endpoints"
                yield self.found(resource, _at(metric, "MetricName"), message)
        for alarm, metric in _simple(deployment):
            count, threshold = _gpus(deployment, metric), number(alarm.threshold)
            if count and threshold and threshold > 100 * count and _above(alarm):
                message = (
                    f"the threshold is {readable(threshold)}, but {count} GPUs reach"
                    f" {count * 100} at most"
                )
                yield self.found(alarm, "Threshold", message, severity="warning", source=_GUIDE)


class AlarmOfMissingVariant(Rule):
    """LMI089."""

    id = "LMI089"
    title = "the watched variant does not exist"
    severity = "warning"
    why = "the alarm never gets any data"
    fix = "use the VariantName of the endpoint configuration"
    source = _GUIDE
    failing = Example({"Latency/Properties/Dimensions/1/Value": "Primary"}, base="scaled")
    passing = _GOOD

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield metrics of a variant that the endpoint does not have."""
        for resource, metric in _watched(deployment):
            config = _config(deployment, metric)
            if metric.dimensions is UNKNOWN or not lacks_variant(
                config, metric.dimensions.get("VariantName")
            ):
                continue
            message = f"the endpoint has no variant {shown(metric.dimensions['VariantName'])!r}"
            yield self.found(resource, _at(metric, "Dimensions"), message)


def _watched(deployment: Deployment) -> Iterator[tuple[Resource, Metric]]:
    for alarm in deployment.alarms:
        for metric in alarm.metrics:
            yield alarm, metric
    for policy in deployment.scaling_policies:
        if policy.metric is not None:
            yield policy, policy.metric


def _simple(deployment: Deployment) -> Iterator[tuple[Alarm, Metric]]:
    """Yield alarms whose threshold is a value of one metric, in the metric's own unit."""
    for alarm in deployment.alarms:
        if alarm.simple and len(alarm.metrics) == 1:
            (metric,) = alarm.metrics
            if not (literal(metric.statistic) or "").lower().startswith(_OF_ANOTHER_SCALE):
                yield alarm, metric


def _endpoint(deployment: Deployment, metric: Metric) -> Endpoint | None:
    if metric.dimensions is UNKNOWN:
        return None
    return deployment.endpoint(metric.dimensions.get("EndpointName"))


def _config(deployment: Deployment, metric: Metric) -> EndpointConfig | None:
    return config_of(deployment, _endpoint(deployment, metric))


def _gpus(deployment: Deployment, metric: Metric) -> int | None:
    """Return the number of GPUs that a per-GPU percentage sums over."""
    known = endpoint_metrics().get(literal(metric.metric_name) or "")
    if known is None or known.adds_up_over != "accelerators" or metric.namespace != _MACHINES:
        return None
    if metric.dimensions is UNKNOWN or "AcceleratorId" in metric.dimensions:
        return None
    variant = variant_of(_config(deployment, metric), metric.dimensions.get("VariantName"))
    kind = instance(variant.instance_type) if variant else None
    return kind.accelerator_count if kind else None


def _serves_llm(deployment: Deployment, endpoint: Endpoint | None) -> bool:
    config = config_of(deployment, endpoint)
    models = [deployment.model(variant.model) for variant in config.variants] if config else []
    return any(
        release(deployment, container) is not None
        for model in models
        if model
        for container in model.containers
    )


def _above(alarm: Alarm) -> bool:
    return (literal(alarm.comparison) or "").startswith("GreaterThan")


def _at(metric: Metric, name: str) -> str:
    return f"{metric.path}/{name}" if metric.path else name
