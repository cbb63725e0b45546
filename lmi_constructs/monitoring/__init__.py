"""Metrics and alarms of endpoints: they know names, not constructs."""

from lmi_constructs.monitoring.alarms import EndpointAlarms
from lmi_constructs.monitoring.metrics import endpoint_metric

__all__ = ["EndpointAlarms", "endpoint_metric"]
