"""What can be done with any endpoint, made here or elsewhere: grants and metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import aws_iam as iam

from lmi_constructs.hosting._grants import INVOKING, allow
from lmi_constructs.hosting._keywords import check_keywords
from lmi_constructs.hosting._report_findings import report
from lmi_constructs.hosting._resource_names import check_name
from lmi_constructs.hosting._scope_and_id import CheckedConstruct
from lmi_constructs.hosting._stack_environment import StackEnvironment
from lmi_constructs.monitoring.metrics import endpoint_metric, seconds_of_period

if TYPE_CHECKING:
    import aws_cdk as cdk
    from aws_cdk import aws_cloudwatch as cloudwatch
    from constructs import Construct


class EndpointBase(CheckedConstruct):
    """An endpoint, defined in this app or imported."""

    _name_of_metrics: str | None = None
    """The name as a literal, where metrics must not make alarms depend on the endpoint."""

    @property
    def endpoint_name(self) -> str:
        """Name of the endpoint."""
        raise NotImplementedError

    @property
    def endpoint_arn(self) -> str:
        """ARN of the endpoint."""
        raise NotImplementedError

    @property
    def role(self) -> iam.IRole | None:
        """Execution role of its containers, `None` if it is not known here."""
        return None

    def grant_invoke(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let someone send requests, whole or streamed.

        `InvokeEndpoint` and `InvokeEndpointWithResponseStream` are different actions; LLM clients
        need both.
        """
        return allow(self, grantee, INVOKING, [self.endpoint_arn])

    def grant_invoke_async(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let someone queue requests of an asynchronous endpoint.

        Writing the request to S3 and reading the answer there are not part of it.
        """
        return allow(self, grantee, ["sagemaker:InvokeEndpointAsync"], [self.endpoint_arn])

    def grant_invoke_openai(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let someone use the OpenAI-compatible path with a bearer token.

        The token is made from the caller's own credentials and needs `CallWithBearerToken`, which
        is granted on all resources (whether it can be narrowed is not published), and the right to
        invoke exactly this endpoint. This container streams JSON lines there, not server-sent
        events: a plain OpenAI client cannot read its streams.

        Source: https://docs.aws.amazon.com/sagemaker/latest/dg/realtime-endpoints-openai-compatible.html
        """
        report(self, check_keywords({"grantee": grantee}))
        iam.Grant.add_to_principal(
            grantee=grantee, actions=["sagemaker:CallWithBearerToken"], resource_arns=["*"]
        )
        return self.grant_invoke(grantee)

    @property
    def openai_base_url(self) -> str:
        """Base URL of the OpenAI-compatible path, for `OpenAI(base_url=...)`."""
        env = StackEnvironment.of(self)
        host = f"runtime.sagemaker.{env.region}.{env.stack.url_suffix}"
        return f"https://{host}/endpoints/{self.endpoint_name}/openai/v1"

    def metric(
        self,
        name: str,
        *,
        variant_name: str | None = None,
        statistic: str | None = None,
        period: cdk.Duration | None = None,
    ) -> cloudwatch.Metric:
        """Return a metric of a variant by its CloudWatch name.

        Args:
            name: Name of the metric, such as `ModelLatency`.
            variant_name: The variant, or a shadow variant. Default: the only one that answers.
            statistic: Default: the one that makes sense of this metric.
            period: Default: one minute.

        Raises:
            LmiError: If endpoints publish no metric of this name (LMI085).
        """
        keywords = {"name": name, "statistic": statistic, "period": period}
        if variant_name is not None:
            keywords["variant_name"] = variant_name
        report(self, check_keywords(keywords))
        seconds_of_period(period, 60)
        return endpoint_metric(
            name,
            endpoint_name=self._name_of_metrics or self.endpoint_name,
            variant_name=self._variant_name(variant_name),
            statistic=statistic,
            period=period,
        )

    def metric_invocations(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Requests that reached the model."""
        return self.metric("Invocations", period=period)

    def metric_invocations_per_instance(
        self, *, period: cdk.Duration | None = None
    ) -> cloudwatch.Metric:
        """Requests divided by the number of instances."""
        return self.metric("InvocationsPerInstance", period=period)

    def metric_concurrent_requests(
        self, *, period: cdk.Duration | None = None
    ) -> cloudwatch.Metric:
        """Requests being worked on or waiting."""
        return self.metric("ConcurrentRequestsPerModel", period=period)

    def metric_model_latency(
        self, *, statistic: str = "p99", period: cdk.Duration | None = None
    ) -> cloudwatch.Metric:
        """Time the container takes for a whole answer, in microseconds."""
        return self.metric("ModelLatency", statistic=statistic, period=period)

    def metric_overhead_latency(
        self, *, statistic: str = "p99", period: cdk.Duration | None = None
    ) -> cloudwatch.Metric:
        """Time SageMaker adds to a request, in microseconds."""
        return self.metric("OverheadLatency", statistic=statistic, period=period)

    def metric_first_chunk_latency(
        self, *, statistic: str = "p99", period: cdk.Duration | None = None
    ) -> cloudwatch.Metric:
        """Time to the first part of a streamed answer, in microseconds."""
        return self.metric("FirstChunkLatency", statistic=statistic, period=period)

    def metric_4xx_errors(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Share of requests that the container refused."""
        return self.metric("Invocation4XXErrors", period=period)

    def metric_5xx_errors(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Share of requests that failed in the container."""
        return self.metric("Invocation5XXErrors", period=period)

    def metric_gpu_utilization(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Busy time of all GPUs together: 100 percent for each GPU."""
        return self.metric("GPUUtilization", period=period)

    def metric_gpu_memory_utilization(
        self, *, period: cdk.Duration | None = None
    ) -> cloudwatch.Metric:
        """Memory of all GPUs together: 100 percent for each; near its limit at all loads."""
        return self.metric("GPUMemoryUtilization", period=period)

    def metric_memory_utilization(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Host memory in percent."""
        return self.metric("MemoryUtilization", period=period)

    def metric_disk_utilization(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Disk space in percent."""
        return self.metric("DiskUtilization", period=period)

    def _variant_name(self, variant_name: str | None) -> str:
        return variant_name or "AllTraffic"


class ImportedEndpoint(EndpointBase):
    """An endpoint that was made elsewhere, in this account and region."""

    def __init__(self, scope: Construct, id: str, endpoint_name: str) -> None:
        """Refer to an endpoint by its name.

        Args:
            scope: Parent.
            id: Id within the parent.
            endpoint_name: Name of the endpoint.

        Raises:
            LmiError: If the name is none (LMI010, LMI065).
        """
        super().__init__(scope, id)
        report(self, check_keywords({"endpoint_name": endpoint_name}, required="endpoint_name"))
        report(self, check_name(endpoint_name, "endpoint_name"))
        self._endpoint_name = endpoint_name
        self._endpoint_arn = StackEnvironment.of(self).arn("sagemaker", f"endpoint/{endpoint_name}")

    @property
    def endpoint_name(self) -> str:
        """Name of the endpoint."""
        return self._endpoint_name

    @property
    def endpoint_arn(self) -> str:
        """ARN of the endpoint."""
        return self._endpoint_arn
