"""The CloudFormation types that the local AWS adds to moto's, each a few names.

Ref, attributes and create-only properties are those of CloudFormation's provider schemas as bundled
with cfn-lint 1.58.0 and rendered in aws-cdk-lib 2.275.0 (as of 2026-12-01).
"""

from __future__ import annotations

from typing import Any

from lmi_constructs.local.hosting_state import hosting
from lmi_constructs.local.network_types import NETWORK_TYPES
from lmi_constructs.local.records import ENDPOINT
from lmi_constructs.local.resources import ApiResource, Properties, ResourceFailure, text_of
from lmi_constructs.local.secret_types import SECRET_TYPES

_TARGET_PARTS = ("ResourceId", "ScalableDimension", "ServiceNamespace")
"""What the id of a scalable target is put together from."""


class HostingResource(ApiResource):
    """A resource of SageMaker, whose tags change in place whatever else does."""

    service = "sagemaker"

    @classmethod
    def after_update(
        cls, original: ApiResource, updated: ApiResource, account_id: str, region_name: str
    ) -> None:
        """Change the tags, which no update operation knows."""
        old, new = _tags(original.properties), _tags(updated.properties)
        arn = {"ResourceArn": updated.physical_resource_id}
        outdated = [key for key, value in old.items() if new.get(key) != value]
        added = [{"Key": key, "Value": new[key]} for key in new if new[key] != old.get(key)]
        if outdated:
            cls.call("DeleteTags", {**arn, "TagKeys": outdated}, region_name)
        if added:
            cls.call("AddTags", {**arn, "Tags": added}, region_name)


class Model(HostingResource):
    """`AWS::SageMaker::Model`."""

    cfn_type = "AWS::SageMaker::Model"
    create_operation = "CreateModel"
    delete_operation = "DeleteModel"
    identifiers = ("ModelName",)
    name_property = "ModelName"
    ref = "ModelArn"
    attributes = {"ModelName": "ModelName", "ModelArn": "ModelArn"}  # noqa: RUF012


class EndpointConfig(HostingResource):
    """`AWS::SageMaker::EndpointConfig`."""

    cfn_type = "AWS::SageMaker::EndpointConfig"
    create_operation = "CreateEndpointConfig"
    delete_operation = "DeleteEndpointConfig"
    identifiers = ("EndpointConfigName",)
    name_property = "EndpointConfigName"
    ref = "EndpointConfigArn"
    attributes = {  # noqa: RUF012
        "EndpointConfigName": "EndpointConfigName",
        "EndpointConfigArn": "EndpointConfigArn",
    }


class Endpoint(HostingResource):
    """`AWS::SageMaker::Endpoint`, updated in place."""

    cfn_type = "AWS::SageMaker::Endpoint"
    create_operation = "CreateEndpoint"
    update_operation = "UpdateEndpoint"
    delete_operation = "DeleteEndpoint"
    identifiers = ("EndpointName",)
    name_property = "EndpointName"
    ref = "EndpointArn"
    attributes = {"EndpointName": "EndpointName", "EndpointArn": "EndpointArn"}  # noqa: RUF012
    create_only = frozenset({"EndpointName"})
    template_only = frozenset({"RetainAllVariantProperties", "ExcludeRetainedVariantProperties"})

    @classmethod
    def after_update(
        cls, original: ApiResource, updated: ApiResource, account_id: str, region_name: str
    ) -> None:
        """Change the tags, and see whether the update stayed.

        Raises:
            ResourceFailure: If an alarm has taken it back.
        """
        super().after_update(original, updated, account_id, region_name)
        backend = hosting(account_id, region_name)
        endpoint = backend.get(ENDPOINT, updated.request["EndpointName"])
        reason = endpoint.state.get("LastRollback")
        if reason:
            raise ResourceFailure(f"The update of endpoint {endpoint.name} was {reason}")

    @classmethod
    def update_request(cls, properties: Properties) -> Properties:
        """Return UpdateEndpoint's request, which knows what CreateEndpoint does not."""
        return {name: item for name, item in properties.items() if name != "Tags"}


class InferenceComponent(HostingResource):
    """`AWS::SageMaker::InferenceComponent`, updated in place.

    The schema declares no create-only property, but UpdateInferenceComponent knows neither an
    endpoint nor a variant: a change of those is refused here.
    """

    cfn_type = "AWS::SageMaker::InferenceComponent"
    create_operation = "CreateInferenceComponent"
    update_operation = "UpdateInferenceComponent"
    delete_operation = "DeleteInferenceComponent"
    identifiers = ("InferenceComponentName",)
    name_property = "InferenceComponentName"
    ref = "InferenceComponentArn"
    attributes = {"InferenceComponentArn": "InferenceComponentArn"}  # noqa: RUF012
    create_only = frozenset()
    template_only = frozenset({"EndpointArn", "DeploymentConfig"})

    @classmethod
    def update_request(cls, properties: Properties) -> Properties:
        """Return UpdateInferenceComponent's request."""
        unknown = {"EndpointName", "VariantName", "EndpointArn", "Tags"}
        return {name: item for name, item in properties.items() if name not in unknown}

    @classmethod
    def check_change(cls, original: ApiResource, properties: Properties) -> None:
        """Refuse another endpoint or variant.

        Raises:
            ResourceFailure: If one of them would change.
        """
        for name in ("EndpointName", "VariantName"):
            if properties.get(name) != original.properties.get(name):
                raise ResourceFailure(f"{name} of an inference component cannot be changed.")


class Alarm(ApiResource):
    """`AWS::CloudWatch::Alarm`."""

    cfn_type = "AWS::CloudWatch::Alarm"
    service = "cloudwatch"
    create_operation = "PutMetricAlarm"
    update_operation = "PutMetricAlarm"
    delete_operation = "DeleteAlarms"
    identifiers = ("AlarmName",)
    name_property = "AlarmName"
    ref = "AlarmName"
    attributes = {"Arn": "AlarmArn"}  # noqa: RUF012
    create_only = frozenset({"AlarmName"})

    @classmethod
    def delete_request(cls, identity: Properties) -> Properties:
        """Return DeleteAlarms' request."""
        return {"AlarmNames": [identity["AlarmName"]]}

    @classmethod
    def call(cls, operation: str, request: Properties, region_name: str) -> Properties:
        """Call CloudWatch; PutMetricAlarm answers nothing, so the ARN is looked up."""
        answer = super().call(operation, request, region_name)
        if operation == cls.create_operation:
            wanted = {
                "AlarmNames": [request["AlarmName"]],
                "AlarmTypes": ["MetricAlarm", "CompositeAlarm"],
            }
            found = super().call("DescribeAlarms", wanted, region_name)
            alarms = [*found.get("MetricAlarms", []), *found.get("CompositeAlarms", [])]
            return {"AlarmArn": alarms[0]["AlarmArn"]}
        return answer


class CompositeAlarm(Alarm):
    """`AWS::CloudWatch::CompositeAlarm`."""

    cfn_type = "AWS::CloudWatch::CompositeAlarm"
    create_operation = "PutCompositeAlarm"
    update_operation = "PutCompositeAlarm"


class ScalableTarget(ApiResource):
    """`AWS::ApplicationAutoScaling::ScalableTarget`; scheduled actions are not carried out."""

    cfn_type = "AWS::ApplicationAutoScaling::ScalableTarget"
    service = "application-autoscaling"
    create_operation = "RegisterScalableTarget"
    update_operation = "RegisterScalableTarget"
    delete_operation = "DeregisterScalableTarget"
    identifiers = ("ServiceNamespace", "ResourceId", "ScalableDimension")
    ref = "Id"
    attributes = {"Id": "Id"}  # noqa: RUF012
    create_only = frozenset({"ServiceNamespace", "ResourceId", "ScalableDimension"})
    template_only = frozenset({"ScheduledActions"})

    @property
    def physical_resource_id(self) -> str:
        """`ResourceId|ScalableDimension|ServiceNamespace`, which a policy may refer to."""
        return "|".join(self.request[part] for part in _TARGET_PARTS)

    def get_cfn_attribute(self, attribute_name: str) -> str:
        """Return the identifier: the type has no other attribute."""
        del attribute_name
        return self.physical_resource_id


class ScalingPolicy(ApiResource):
    """`AWS::ApplicationAutoScaling::ScalingPolicy`."""

    cfn_type = "AWS::ApplicationAutoScaling::ScalingPolicy"
    service = "application-autoscaling"
    create_operation = "PutScalingPolicy"
    update_operation = "PutScalingPolicy"
    delete_operation = "DeleteScalingPolicy"
    identifiers = ("PolicyName", "ServiceNamespace", "ResourceId", "ScalableDimension")
    ref = "PolicyARN"
    attributes = {"Arn": "PolicyARN"}  # noqa: RUF012
    create_only = frozenset({*identifiers, "ScalingTargetId"})
    template_only = frozenset({"ScalingTargetId"})

    @classmethod
    def create_request(cls, properties: Properties) -> Properties:
        """Return PutScalingPolicy's request, with the target's parts spelled out."""
        target = properties.get("ScalingTargetId")
        parts: dict[str, Any] = {}
        if target is not None:
            parts = dict(zip(_TARGET_PARTS, target.split("|"), strict=True))
        return super().create_request({**parts, **properties})


class BucketPolicy(ApiResource):
    """`AWS::S3::BucketPolicy`, part of every CDK bootstrap stack."""

    cfn_type = "AWS::S3::BucketPolicy"
    service = "s3"
    create_operation = "PutBucketPolicy"
    update_operation = "PutBucketPolicy"
    delete_operation = "DeleteBucketPolicy"
    identifiers = ("Bucket",)
    ref = "Bucket"
    create_only = frozenset({"Bucket"})
    template_only = frozenset({"PolicyDocument"})

    @classmethod
    def create_request(cls, properties: Properties) -> Properties:
        """Return PutBucketPolicy's request, the policy as text."""
        policy = text_of(_without_conditional_denials(properties["PolicyDocument"]))
        return {**super().create_request(properties), "Policy": policy}


class TopicPolicy(ApiResource):
    """`AWS::SNS::TopicPolicy`."""

    cfn_type = "AWS::SNS::TopicPolicy"
    service = "sns"
    create_operation = "SetTopicAttributes"
    update_operation = "SetTopicAttributes"
    identifiers = ("TopicArn",)
    ref = "TopicArn"

    def delete(self, account_id: str, region_name: str) -> None:
        """Leave the policy: a topic always has one, and it goes with its topic."""

    @classmethod
    def create_request(cls, properties: Properties) -> Properties:
        """Return SetTopicAttributes' request for the first topic."""
        policy = text_of(properties["PolicyDocument"])
        topic = properties["Topics"][0]
        return {"TopicArn": topic, "AttributeName": "Policy", "AttributeValue": policy}


class Subscription(ApiResource):
    """`AWS::SNS::Subscription`."""

    cfn_type = "AWS::SNS::Subscription"
    service = "sns"
    create_operation = "Subscribe"
    delete_operation = "Unsubscribe"
    identifiers = ()
    ref = "SubscriptionArn"
    attributes = {"Arn": "SubscriptionArn"}  # noqa: RUF012

    def delete(self, account_id: str, region_name: str) -> None:
        """Unsubscribe; only the answer of Subscribe knows the ARN."""
        del account_id
        self.call("Unsubscribe", {"SubscriptionArn": self.answer["SubscriptionArn"]}, region_name)


def _without_conditional_denials(document: Any) -> Any:
    """Drop what would deny everything here: moto applies a denial whatever its condition says.

    CDK's bucket denies access without TLS, and the local AWS is served without.
    """
    if not isinstance(document, dict):
        return document
    statements = document.get("Statement", [])
    kept = [
        statement
        for statement in ([statements] if isinstance(statements, dict) else statements)
        if not (statement.get("Effect") == "Deny" and "Condition" in statement)
    ]
    return {**document, "Statement": kept}


def _tags(properties: Properties) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in properties.get("Tags", [])}


TYPES: tuple[type[ApiResource], ...] = (
    Model,
    EndpointConfig,
    Endpoint,
    InferenceComponent,
    Alarm,
    CompositeAlarm,
    ScalableTarget,
    ScalingPolicy,
    BucketPolicy,
    TopicPolicy,
    Subscription,
    *NETWORK_TYPES,
    *SECRET_TYPES,
)
