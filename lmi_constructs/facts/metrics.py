"""CloudWatch metrics of SageMaker endpoints and components: names, units, dimensions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from lmi_constructs.facts._data import table


@dataclass(frozen=True, slots=True)
class EndpointMetric:
    """One metric.

    Attributes:
        name: Name of the metric.
        namespace: Namespace.
        unit: CloudWatch's unit.
        dimensions: Names of its dimensions.
        statistic: Statistic that makes sense of it.
        adds_up_over: `accelerators` or `cores` if the value is a sum over them.
        on_async_endpoints: Whether asynchronous endpoints publish it, if that is known.
        description: What it says.
        source: Public source of the row.
        as_of: ISO date of the research.
    """

    name: str
    namespace: str
    unit: str
    dimensions: tuple[str, ...]
    statistic: str
    adds_up_over: str | None
    on_async_endpoints: bool | None
    description: str
    source: str
    as_of: str


@cache
def endpoint_metrics() -> dict[str, EndpointMetric]:
    """Return the known metrics by name."""
    return table(EndpointMetric, "metrics", "name")


@cache
def component_metrics() -> dict[str, EndpointMetric]:
    """Return the metrics of inference components that are confirmed, by name."""
    alone = {
        name: row
        for name, row in endpoint_metrics().items()
        if row.dimensions == ("InferenceComponentName",)
    }
    return {**alone, **table(EndpointMetric, "component_metrics", "name")}
