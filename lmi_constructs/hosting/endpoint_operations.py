"""What an endpoint is given after it was written down: scaling, alarms, a dashboard, a smoke test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from aws_cdk import aws_sagemaker as sagemaker

from lmi_constructs.findings import LmiError
from lmi_constructs.hosting._keywords import check_keywords
from lmi_constructs.hosting._planning import engine_concurrency
from lmi_constructs.hosting._report_findings import report
from lmi_constructs.hosting._resource_names import literal_name
from lmi_constructs.hosting._rollout_checks import check_watched, missing_rollout, watched_alarms
from lmi_constructs.hosting._scope_and_id import checked_scope_and_id
from lmi_constructs.hosting._topics import check_topics
from lmi_constructs.hosting._units import exact_seconds
from lmi_constructs.hosting.endpoint_base import EndpointBase
from lmi_constructs.hosting.rollout import Rollout

if TYPE_CHECKING:
    from collections.abc import Sequence

    import aws_cdk as cdk
    from aws_cdk import aws_cloudwatch as cloudwatch
    from aws_cdk import aws_sns as sns

    from lmi_constructs.findings import Finding
    from lmi_constructs.hosting._resolved_variant import ResolvedVariant
    from lmi_constructs.hosting.components.component_base import ComponentBase
    from lmi_constructs.hosting.endpoint_config import LmiEndpointConfig
    from lmi_constructs.hosting.scaling import ScalableInstanceCount
    from lmi_constructs.hosting.smoke_test import LmiSmokeTest, SmokeCheck
    from lmi_constructs.monitoring.alarms import EndpointAlarms
    from lmi_constructs.monitoring.component_alarms import ComponentAlarms
    from lmi_constructs.monitoring.dashboard import EndpointDashboard


class EndpointOperations(EndpointBase):
    """An endpoint of ours, as those see it who operate it.

    Attributes:
        resource: The L1 construct.
        endpoint_config: Its configuration.
        rollout: How updates move, if it was given as a `Rollout`.
    """

    resource: sagemaker.CfnEndpoint
    endpoint_config: LmiEndpointConfig
    rollout: Rollout | None
    _endpoint_name: str
    _rolls_back: bool = False

    @property
    def endpoint_name(self) -> str:
        """Name of the endpoint."""
        return self._endpoint_name

    @property
    def endpoint_arn(self) -> str:
        """ARN of the endpoint."""
        return self.resource.ref

    def auto_scale_instance_count(
        self, *, min_capacity: int = 1, max_capacity: int, variant_name: str | None = None
    ) -> ScalableInstanceCount:
        """Let the number of instances follow the load, by the policies added to what is returned.

        From then on an update of the endpoint keeps the number of instances that scaling chose:
        without that, each deployment would throw it back to `initial_instance_count`.

        Args:
            min_capacity: Fewest instances, at least 1: a variant with a model cannot serve from
                zero. An asynchronous endpoint may go to 0, with `scale_on_backlog`.
            max_capacity: Most instances.
            variant_name: The variant. Default: the only one.

        Raises:
            LmiError: If the limits cannot be (LMI083).
        """
        from lmi_constructs.hosting.scaling import ScalableInstanceCount

        report(self, check_keywords({"min_capacity": min_capacity, "max_capacity": max_capacity}))
        variant = self.endpoint_config.variant(variant_name)
        return ScalableInstanceCount(
            self,
            self._id_of("Scaling", variant),
            endpoint=self,
            variant=variant,
            min_capacity=min_capacity,
            max_capacity=max_capacity,
        )

    def add_alarms(
        self,
        *,
        topic: sns.ITopic | None = None,
        paging_topic: sns.ITopic | None = None,
        p99_latency: cdk.Duration | None = None,
        p99_first_chunk_latency: cdk.Duration | None = None,
        p99_overhead_latency: cdk.Duration | None = None,
        error_rate: float | None = 0.01,
        client_error_rate: float | None = None,
        concurrent_requests: float | Literal["engine"] | None = "engine",
        disk_utilization: float | None = 85,
        memory_utilization: float | None = 90,
        gpu_memory_utilization: float | None = None,
        variant_name: str | None = None,
    ) -> EndpointAlarms:
        """Add the alarms that an LLM endpoint needs; `None` leaves one out.

        Args:
            topic: Topic that hears of each alarm.
            paging_topic: Topic that hears once of an incident, however many alarms it sets off: of
                a composite alarm over all of them.
            p99_latency: Longest whole answer for 99 of 100 requests. Default: no alarm, as it
                depends on how much is generated.
            p99_first_chunk_latency: Longest time to the first part of a streamed answer.
            p99_overhead_latency: Longest time that SageMaker itself adds to 99 of 100 requests,
                outside the container. Default: no alarm, as no figure for it is published.
            error_rate: Share of requests that may fail in the container, 0 to 1.
            client_error_rate: Share of requests that the container may refuse, 0 to 1.
            concurrent_requests: Requests that one container works on or lets wait. Default: what its
                engine works on at once (`max_rolling_batch_size`), above which requests queue; no
                alarm where that is not known, or on an asynchronous endpoint, which publishes no such
                metric.
            disk_utilization: Percent of the disk.
            memory_utilization: Percent of the host's memory.
            gpu_memory_utilization: Percent of the memory of one GPU; multiplied by the number of
                GPUs, as CloudWatch adds them up. The engine reserves its share at start, so this
                says little about load.
            variant_name: The variant, or a shadow variant. Default: the only one that answers.

        Raises:
            LmiError: If an alarm could never say anything (LMI088), or needs the number of GPUs and
                it is not known (LMI087).
        """
        from lmi_constructs.monitoring.alarms import EndpointAlarms

        resolved = self.endpoint_config.variant(variant_name, or_shadow=True)
        is_async, instance = self.endpoint_config.is_async, resolved.instance
        if concurrent_requests == "engine":
            concurrent_requests = None if is_async else engine_concurrency(resolved.verdict)
        shares = {
            "error_rate": error_rate,
            "client_error_rate": client_error_rate,
            "concurrent_requests": concurrent_requests,
            "disk_utilization": disk_utilization,
            "memory_utilization": memory_utilization,
            "gpu_memory_utilization": gpu_memory_utilization,
        }
        latencies = {
            "p99_latency": p99_latency,
            "p99_first_chunk_latency": p99_first_chunk_latency,
            "p99_overhead_latency": p99_overhead_latency,
        }
        report(
            self,
            check_keywords({"topic": topic, "paging_topic": paging_topic, **shares, **latencies}),
        )
        report(self, check_topics(self, {"topic": topic, "paging_topic": paging_topic}))
        id = self._id_of("Alarms", resolved)
        with checked_scope_and_id(
            self, id, fix="call add_alarms once for each variant, with all thresholds"
        ):
            return EndpointAlarms(
                self,
                id,
                endpoint_name=self._name_of_metrics or self.endpoint_name,
                variant_name=resolved.variant.variant_name,
                accelerator_count=instance.accelerator_count if instance else None,
                is_async=is_async,
                topic=topic,
                paging_topic=paging_topic,
                thresholds={
                    **shares,
                    **{name: exact_seconds(value, name) for name, value in latencies.items()},
                },
            )

    def roll_back_on(
        self, alarms: EndpointAlarms | ComponentAlarms | Sequence[cloudwatch.IAlarm]
    ) -> None:
        """Let alarms take an update back while it is rolled out.

        The endpoint is created after the alarms, which therefore must not be made from its name as
        a reference: those of `add_alarms` and `metric` are not, when the endpoint has a `Rollout`.
        Of `add_alarms`, those on errors of the container and on latencies are taken; refused
        requests, disk and memory say little about a new version.

        Args:
            alarms: What `add_alarms` returned, or alarms of your own: 1 to 10.

        Raises:
            LmiError: If the endpoint has no `Rollout`, there are no alarms or too many, one stands in
                another region or account, or it was called before (LMI073).
        """
        chosen, reaction = watched_alarms(alarms)
        report(self, check_keywords({"alarms": chosen}))
        if self.rollout is None:
            raise LmiError(missing_rollout().at(self.node.path))
        again = self._rolls_back
        report(self, check_watched(self, self.rollout, chosen, reaction, again=again))
        names = [alarm.alarm_name for alarm in chosen]
        self._rolls_back = True
        self.resource.deployment_config = self.rollout.render(names)
        self.resource.node.add_dependency(*chosen)
        self.endpoint_config.grant_watching_alarms()

    def add_dashboard(
        self, *, variant_name: str | None = None, components: Sequence[ComponentBase] = ()
    ) -> EndpointDashboard:
        """Add a CloudWatch dashboard: traffic, latencies, errors, open requests, GPUs, host, instances.

        Limits of scaling are shown of what scales when it is called, so call it last.

        Args:
            variant_name: The variant, or a shadow variant. Default: the only one that answers.
            components: Components and adapters of a fleet that get graphs of their own.

        Raises:
            LmiError: If there is no such variant (LMI069), or it has a dashboard (LMI067).
        """
        from lmi_constructs.hosting.scaling import ScalableInstanceCount
        from lmi_constructs.monitoring.dashboard import EndpointDashboard

        report(self, check_keywords({"components": components}))
        resolved = self.endpoint_config.variant(variant_name, or_shadow=True)
        id = self._id_of("Dashboard", resolved)
        scaling = self.node.try_find_child(self._id_of("Scaling", resolved))
        with checked_scope_and_id(self, id, fix="call add_dashboard once for each variant"):
            return EndpointDashboard(
                self,
                id,
                endpoint_name=self._name_of_metrics or self.endpoint_name,
                variant_name=resolved.variant.variant_name,
                accelerator_count=resolved.instance.accelerator_count
                if resolved.instance
                else None,
                concurrency=engine_concurrency(resolved.verdict),
                is_async=self.endpoint_config.is_async,
                limits=(scaling.min_capacity, scaling.max_capacity)
                if isinstance(scaling, ScalableInstanceCount)
                else None,
                components=[component.shown for component in components],
            )

    def add_smoke_test(
        self,
        *,
        component: ComponentBase | None = None,
        adapters: Sequence[str] = (),
        skip: Sequence[SmokeCheck] = (),
        max_tokens: int = 32,
        timeout: cdk.Duration | None = None,
    ) -> LmiSmokeTest:
        """Let a deployment fail, and be taken back, if the model does not answer at its end.

        Args:
            component: The component or adapter to call. A fleet has no model of its own and needs
                one; `component.add_smoke_test()` says the same. Default: the endpoint's own model.
            adapters: Names of LoRA adapters that must answer; an unknown one must be refused.
            skip: Checks to leave out; a base model without a chat template has no chat.
            max_tokens: Most tokens of an answer.
            timeout: How long all checks together may take. Default: 15 minutes.

        Raises:
            LmiError: If the test could not pass (LMI012).
        """
        from lmi_constructs.hosting.smoke_test import LmiSmokeTest

        report(self, check_keywords({"component": component}))
        return LmiSmokeTest(
            self if component is None else component,
            "SmokeTest",
            endpoint=self,
            component=component,
            adapters=adapters,
            skip=skip,
            max_tokens=max_tokens,
            timeout=timeout,
        )

    def _deploy(
        self,
        endpoint_config: LmiEndpointConfig,
        *,
        endpoint_name: str | None,
        deployment: Rollout | sagemaker.CfnEndpoint.DeploymentConfigProperty | None,
        retain_deployment: bool | None,
    ) -> None:
        """Make the endpoint of a configuration."""
        self.endpoint_config = endpoint_config
        self.rollout = deployment if isinstance(deployment, Rollout) else None
        if self.rollout is not None:
            endpoint_name = endpoint_name or literal_name(self)
            report(self, self._check_rollout(self.rollout))
        elif (
            isinstance(deployment, sagemaker.CfnEndpoint.DeploymentConfigProperty)
            and deployment.auto_rollback_configuration is not None
        ):
            endpoint_config.grant_watching_alarms()
        self.resource = sagemaker.CfnEndpoint(
            self,
            "Resource",
            endpoint_config_name=endpoint_config.endpoint_config_name,
            endpoint_name=endpoint_name,
            deployment_config=deployment.render()
            if isinstance(deployment, Rollout)
            else deployment,
            retain_deployment_config=retain_deployment,
        )
        self._endpoint_name = self.resource.attr_endpoint_name
        if self.rollout is not None and endpoint_name is not None:
            self._name_of_metrics = endpoint_name

    def _check_rollout(self, rollout: Rollout) -> list[Finding]:
        variants = self.endpoint_config.variants
        counts = [variant.variant.initial_instance_count for variant in variants]
        return rollout.check(min(counts), len(variants))

    def _variant_name(self, variant_name: str | None) -> str:
        return self.endpoint_config.variant(variant_name, or_shadow=True).variant.variant_name

    def _id_of(self, name: str, variant: ResolvedVariant) -> str:
        """Return the id of a variant's construct: by place, as a name is the user's."""
        config = self.endpoint_config
        place = [*config.variants, *config.shadow_variants].index(variant)
        return name if place == 0 else f"{name}{place + 1}"
