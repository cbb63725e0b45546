"""What an inference component and an adapter on one have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from lmi_constructs.hosting._grants import INVOKING, allow
from lmi_constructs.hosting._keywords import check_keywords
from lmi_constructs.hosting._report_findings import report
from lmi_constructs.hosting._scope_and_id import CheckedConstruct, checked_scope_and_id
from lmi_constructs.hosting._stack_environment import StackEnvironment
from lmi_constructs.hosting._topics import check_topics
from lmi_constructs.hosting._units import exact_seconds
from lmi_constructs.monitoring.metrics import (
    check_evaluation_periods,
    component_metric,
    seconds_of_period,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aws_cdk import aws_cloudwatch as cloudwatch
    from aws_cdk import aws_sagemaker as sagemaker
    from aws_cdk import aws_sns as sns

    from lmi_constructs.hosting.endpoint_base import EndpointBase
    from lmi_constructs.hosting.smoke_test import LmiSmokeTest, SmokeCheck
    from lmi_constructs.monitoring.component_alarms import ComponentAlarms
    from lmi_constructs.monitoring.component_graphs import ShownComponent

_SECONDS_WITHOUT_CAPACITY = 300


class ComponentBase(CheckedConstruct):
    """Something on a fleet that requests name: grants, metrics and the alarm of each.

    Attributes:
        fleet: The endpoint.
        component_name: Name that requests give as `InferenceComponentName`; known at synth.
        resource: The L1 construct, `None` if the component was made elsewhere.
    """

    fleet: EndpointBase
    component_name: str
    resource: sagemaker.CfnInferenceComponent | None = None

    @property
    def component_arn(self) -> str:
        """ARN of the component."""
        if self.resource is not None:
            return self.resource.ref
        return StackEnvironment.of(self).component_arn(self.component_name)

    @property
    def served(self) -> str | None:
        """What changes when something else is served: the model's name or the adapter's archive."""
        return None

    @property
    def _concurrency(self) -> int | None:
        """Requests that the engine of a copy works on at once, if it is the component's own."""
        return None

    @property
    def shown(self) -> ShownComponent:
        """How a dashboard shows it; a component that was made elsewhere may be an adapter."""
        from lmi_constructs.monitoring.component_graphs import ShownComponent

        return ShownComponent(name=self.component_name, title=self.node.id, has_copies=False)

    def grant_invoke(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let someone send requests to this component, and to no other of the fleet.

        Requests need both the endpoint and the component: who is granted the endpoint alone can
        call none, who is granted two components can call two. `fleet.grant_invoke` alone is
        therefore not enough to call anything.

        Source: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemaker.html
        """
        component = StackEnvironment.of(self).component_arn(self.component_name)
        return allow(self, grantee, INVOKING, [self.fleet.endpoint_arn, component])

    def metric(
        self, name: str, *, statistic: str | None = None, period: cdk.Duration | None = None
    ) -> cloudwatch.Metric:
        """Return a metric of the component by its CloudWatch name.

        Args:
            name: Name of the metric.
            statistic: Default: the one that makes sense of this metric.
            period: Default: one minute.

        Raises:
            LmiError: If components are not known to publish it (LMI085). Known are those that AWS
                names for components; whether an adapter publishes all of them is not said.
        """
        report(self, check_keywords({"name": name, "statistic": statistic, "period": period}))
        return component_metric(
            name,
            component_name=self.component_name,
            period_seconds=seconds_of_period(period, 60),
            statistic=statistic,
        )

    def metric_invocations(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Requests to the component."""
        return self.metric("Invocations", period=period)

    def metric_4xx_errors(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Share of requests that the container refused."""
        return self.metric("Invocation4XXErrors", period=period)

    def metric_5xx_errors(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Share of requests that failed in the container."""
        return self.metric("Invocation5XXErrors", period=period)

    def metric_model_latency(
        self, *, statistic: str = "p99", period: cdk.Duration | None = None
    ) -> cloudwatch.Metric:
        """Time the container takes for a whole answer, in microseconds."""
        return self.metric("ModelLatency", statistic=statistic, period=period)

    def metric_no_capacity_invocation_failures(
        self, *, period: cdk.Duration | None = None
    ) -> cloudwatch.Metric:
        """Requests that found no copy of the model."""
        return self.metric("NoCapacityInvocationFailures", period=period)

    def add_smoke_test(
        self,
        *,
        adapters: Sequence[str] = (),
        skip: Sequence[SmokeCheck] = (),
        max_tokens: int = 32,
        timeout: cdk.Duration | None = None,
    ) -> LmiSmokeTest:
        """Let a deployment fail, and be taken back, if this model or adapter does not answer.

        It runs again whenever the model, the adapter's archive or the fleet's configuration changes.

        Args:
            adapters: Names of LoRA adapters beside the model that must answer.
            skip: Checks to leave out; a base model without a chat template has no chat.
            max_tokens: Most tokens of an answer.
            timeout: How long all checks together may take. Default: 15 minutes.

        Raises:
            LmiError: If the test could not pass (LMI012), or there is one already (LMI067).
        """
        from lmi_constructs.hosting.smoke_test import LmiSmokeTest

        return LmiSmokeTest(
            self,
            "SmokeTest",
            endpoint=self.fleet,
            component=self,
            adapters=adapters,
            skip=skip,
            max_tokens=max_tokens,
            timeout=timeout,
        )

    def add_alarms(
        self,
        *,
        topic: sns.ITopic | None = None,
        paging_topic: sns.ITopic | None = None,
        error_rate: float | None = 0.01,
        client_error_rate: float | None = None,
        p99_latency: cdk.Duration | None = None,
        concurrent_requests: float | Literal["engine"] | None = "engine",
    ) -> ComponentAlarms:
        """Add alarms on the requests to this component alone; `None` leaves one out.

        Requests that find no copy are no errors of the container: `add_no_capacity_alarm`.

        Args:
            topic: Topic that hears of each alarm.
            paging_topic: Topic that hears once of an incident, of a composite alarm over all.
            error_rate: Share of requests that may fail in the container, 0 to 1.
            client_error_rate: Share of requests that the container may refuse, 0 to 1.
            p99_latency: Longest whole answer for 99 of 100 requests. Default: no alarm, as it
                depends on how much is generated.
            concurrent_requests: Requests that one copy works on or lets wait. Default: what its
                engine works on at once, above which requests queue; no alarm where that is not
                known, or for an adapter, which shares the copies of its base.

        Raises:
            LmiError: If an alarm could never say anything (LMI088).
        """
        from lmi_constructs.monitoring.component_alarms import ComponentAlarms

        if concurrent_requests == "engine":
            concurrent_requests = self._concurrency
        shares = {
            "error_rate": error_rate,
            "client_error_rate": client_error_rate,
            "concurrent_requests": concurrent_requests,
        }
        keywords = {"topic": topic, "paging_topic": paging_topic, "p99_latency": p99_latency}
        report(self, check_keywords({**keywords, **shares}))
        report(self, check_topics(self, {"topic": topic, "paging_topic": paging_topic}))
        with checked_scope_and_id(self, "Alarms", fix="call add_alarms once, with all thresholds"):
            return ComponentAlarms(
                self,
                "Alarms",
                component_name=self.component_name,
                topic=topic,
                paging_topic=paging_topic,
                thresholds={**shares, "p99_latency": exact_seconds(p99_latency, "p99_latency")},
            )

    def add_no_capacity_alarm(
        self,
        *,
        topic: sns.ITopic | None = None,
        period: cdk.Duration | None = None,
        evaluation_periods: int = 3,
    ) -> cloudwatch.Alarm:
        """Add an alarm on requests that go on finding no copy.

        A component that scales to zero fails its first requests while it wakes up: its own
        `wake_up_alarm` hears of them and is no fault. This one is for people, and speaks only if it
        lasts.

        Args:
            topic: Topic that hears of it.
            period: How long requests are counted together. Default: 5 minutes.
            evaluation_periods: Periods in a row with such requests. With the default period, 3
                say that nothing serves for a quarter of an hour; give more for a model that takes
                longer to start.
        """
        from aws_cdk import aws_cloudwatch as cloudwatch

        keywords = {"topic": topic, "period": period, "evaluation_periods": evaluation_periods}
        report(self, check_keywords(keywords))
        seconds = seconds_of_period(period, _SECONDS_WITHOUT_CAPACITY)
        report(
            self,
            [
                *check_evaluation_periods(evaluation_periods, seconds),
                *check_topics(self, {"topic": topic}),
            ],
        )
        with checked_scope_and_id(
            self, "NoCapacity", fix="add one alarm; others are cloudwatch.Alarm(...)"
        ):
            alarm = cloudwatch.Alarm(
                self,
                "NoCapacity",
                metric=self.metric_no_capacity_invocation_failures(
                    period=cdk.Duration.seconds(seconds)
                ),
                threshold=1,
                evaluation_periods=evaluation_periods,
                comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
                treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
                alarm_description="Requests have found no copy of the model for a while. Look whether"
                " the component is in service and whether the fleet may have, and gets, another"
                " instance.",
            )
        if topic is not None:
            from aws_cdk import aws_cloudwatch_actions as actions

            alarm.add_alarm_action(actions.SnsAction(topic))
        return alarm
