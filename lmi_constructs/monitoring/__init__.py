"""Metrics and alarms of endpoints: they know names, not constructs."""

from typing import TYPE_CHECKING

from lmi_constructs._exports import lazy

if TYPE_CHECKING:
    from lmi_constructs.monitoring.alarms import EndpointAlarms
    from lmi_constructs.monitoring.component_alarms import ComponentAlarms
    from lmi_constructs.monitoring.dashboard import EndpointDashboard
    from lmi_constructs.monitoring.metrics import endpoint_metric

__all__ = ["ComponentAlarms", "EndpointAlarms", "EndpointDashboard", "endpoint_metric"]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "ComponentAlarms": "lmi_constructs.monitoring.component_alarms",
        "EndpointAlarms": "lmi_constructs.monitoring.alarms",
        "EndpointDashboard": "lmi_constructs.monitoring.dashboard",
        "endpoint_metric": "lmi_constructs.monitoring.metrics",
    },
)
