"""What an inference component and an adapter on one have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from lmi_constructs.hosting._keywords import check_keywords
from lmi_constructs.hosting._report import report
from lmi_constructs.hosting._surroundings import Surroundings
from lmi_constructs.monitoring.metrics import component_metric

if TYPE_CHECKING:
    from aws_cdk import aws_cloudwatch as cloudwatch
    from aws_cdk import aws_sagemaker as sagemaker
    from aws_cdk import aws_sns as sns

    from lmi_constructs.hosting.endpoint_base import EndpointBase

_INVOKING = ("sagemaker:InvokeEndpoint", "sagemaker:InvokeEndpointWithResponseStream")


class ComponentBase(Construct):
    """Something on a fleet that requests name: grants, metrics and the alarm of each.

    Attributes:
        fleet: The endpoint.
        component_name: Name that requests give as `InferenceComponentName`; known at synth.
        resource: The L1 construct.
    """

    fleet: EndpointBase
    component_name: str
    resource: sagemaker.CfnInferenceComponent

    @property
    def component_arn(self) -> str:
        """ARN of the component."""
        return self.resource.ref

    def grant_invoke(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let someone send requests to this component, and to no other of the fleet.

        Requests need both the endpoint and the component: who is granted the endpoint alone can
        call none, who is granted two components can call two. `fleet.grant_invoke` alone is
        therefore not enough to call anything.

        Source: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemaker.html
        """
        name = f"inference-component/{self.component_name}"
        return iam.Grant.add_to_principal(
            grantee=grantee,
            actions=list(_INVOKING),
            resource_arns=[
                self.fleet.endpoint_arn,
                Surroundings.of(self).arn("sagemaker", name),
            ],
        )

    def metric(self, name: str, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Return a metric of the component by its CloudWatch name.

        Args:
            name: Name of the metric.
            period: Default: one minute.

        Raises:
            LmiError: If components are not known to publish it (LMI085). What is published for each
                component is hardly documented; metrics that nobody has confirmed are left out.
        """
        seconds = 60 if period is None else int(period.to_seconds())
        return component_metric(name, component_name=self.component_name, period_seconds=seconds)

    def metric_no_capacity_invocation_failures(
        self, *, period: cdk.Duration | None = None
    ) -> cloudwatch.Metric:
        """Requests that found no copy of the model."""
        return self.metric("NoCapacityInvocationFailures", period=period)

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

        report(self, check_keywords({"topic": topic}))
        alarm = cloudwatch.Alarm(
            self,
            "NoCapacity",
            metric=self.metric_no_capacity_invocation_failures(
                period=period or cdk.Duration.minutes(5)
            ),
            threshold=1,
            evaluation_periods=evaluation_periods,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
            alarm_description="Requests have found no copy of the model for a while. Look whether the"
            " component is in service and whether the fleet may have, and gets, another instance.",
        )
        if topic is not None:
            from aws_cdk import aws_cloudwatch_actions as actions

            alarm.add_alarm_action(actions.SnsAction(topic))
        return alarm
