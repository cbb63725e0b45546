"""A component that holds a model, whoever made it: its metrics, and adapters on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs.hosting._keywords import check_keywords
from lmi_constructs.hosting._report_findings import report
from lmi_constructs.hosting._resource_names import check_name
from lmi_constructs.hosting.components.component_base import ComponentBase

if TYPE_CHECKING:
    import aws_cdk as cdk
    from aws_cdk import aws_cloudwatch as cloudwatch
    from constructs import Construct

    from lmi_constructs.hosting._resolved_model import ResolvedModel
    from lmi_constructs.hosting.components.adapter import AdapterData, LmiAdapter
    from lmi_constructs.hosting.endpoint_base import EndpointBase
    from lmi_constructs.hosting.model import LmiModel
    from lmi_constructs.hosting.s3_location import S3Location


class ModelComponent(ComponentBase):
    """A component that adapters can be added to, whoever made it.

    Attributes:
        model: The model, `None` if the component was made elsewhere.
        resolved: What follows from the model, `None` if the component was made elsewhere.
        adapter_location: Prefix below which the fleet may read adapters.
    """

    model: LmiModel | None = None
    resolved: ResolvedModel | None = None
    adapter_location: S3Location | None = None

    def metric_invocations_per_copy(
        self, *, period: cdk.Duration | None = None
    ) -> cloudwatch.Metric:
        """Requests divided by the number of copies."""
        return self.metric("InvocationsPerCopy", period=period)

    def metric_concurrent_requests_per_copy(
        self, *, period: cdk.Duration | None = None
    ) -> cloudwatch.Metric:
        """Requests at once on a copy."""
        return self.metric("ConcurrentRequestsPerCopy", period=period)

    def metric_gpu_utilization(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Busy time of a copy's GPUs, 0 to 100 percent however many it has."""
        return self.metric("GPUUtilizationNormalized", period=period)

    def metric_gpu_memory_utilization(
        self, *, period: cdk.Duration | None = None
    ) -> cloudwatch.Metric:
        """Memory in use of a copy's GPUs, 0 to 100 percent however many it has."""
        return self.metric("GPUMemoryUtilizationNormalized", period=period)

    def metric_cpu_utilization(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """CPU of a copy, 0 to 100 percent of what is reserved for it."""
        return self.metric("CPUUtilizationNormalized", period=period)

    def metric_memory_utilization(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Host memory of a copy, 0 to 100 percent of what is reserved for it."""
        return self.metric("MemoryUtilizationNormalized", period=period)

    def add_adapter(
        self, id: str, data: AdapterData, *, component_name: str | None = None
    ) -> LmiAdapter:
        """Serve a LoRA adapter on this model, as a component of its own name.

        It takes no accelerators, and belongs to a tenant: who is granted it can call it and nothing
        else. Adding or removing one changes no resource of the others.

        Args:
            id: Id within this component.
            data: Where the adapter is.
            component_name: Name that requests give. Default: from the construct's path.

        Raises:
            LmiError: If the container of this component takes no such adapter (LMI059).
        """
        from lmi_constructs.hosting.components.adapter import LmiAdapter

        return LmiAdapter(self, id, base=self, data=data, component_name=component_name)


class ImportedComponent(ModelComponent):
    """A component that was made elsewhere, in this account and region."""

    def __init__(
        self, scope: Construct, id: str, component_name: str, *, fleet: EndpointBase
    ) -> None:
        """Refer to a component by its name."""
        super().__init__(scope, id)
        keywords = {"component_name": component_name, "fleet": fleet}
        report(self, check_keywords(keywords, required="component_name"))
        report(self, check_name(component_name, "component_name"))
        self.component_name = component_name
        self.fleet = fleet
