"""What moto lacks: each test fails once moto can do it, and then our own part can go."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING

import pytest
from botocore.exceptions import ClientError
from moto.applicationautoscaling.models import ScalableDimensionValueSet
from moto.cloudformation import models as cloudformation
from moto.cloudformation.parsing import ResourceMap
from moto.cloudwatch.responses import CloudWatchResponse
from moto.core import responses
from moto.core.common_models import CloudFormationModel
from moto.sagemaker.models import FakeEndpointConfig, SageMakerModelBackend
from moto.sagemaker.responses import SageMakerResponse
from moto.sagemakerruntime.responses import SageMakerRuntimeResponse

from lmi_constructs.local.types import TYPES

if TYPE_CHECKING:
    from lmi_constructs.local import LocalAws

ADDED = {
    "AWS::SageMaker::InferenceComponent",
    "AWS::CloudWatch::Alarm",
    "AWS::CloudWatch::CompositeAlarm",
    "AWS::ApplicationAutoScaling::ScalableTarget",
    "AWS::ApplicationAutoScaling::ScalingPolicy",
    "AWS::S3::BucketPolicy",
    "AWS::SNS::TopicPolicy",
    "AWS::SNS::Subscription",
    "AWS::SecretsManager::Secret",
}
WITHOUT_DELETION = {
    "AWS::EC2::EIP",
    "AWS::EC2::InternetGateway",
    "AWS::EC2::NatGateway",
    "AWS::EC2::Route",
    "AWS::EC2::RouteTable",
    "AWS::EC2::SubnetRouteTableAssociation",
    "AWS::EC2::VPCEndpoint",
    "AWS::EC2::VPCGatewayAttachment",
}
REPLACED = {
    "AWS::SageMaker::Model",
    "AWS::SageMaker::EndpointConfig",
    "AWS::SageMaker::Endpoint",
    *WITHOUT_DELETION,
}


def moto_types() -> set[str]:
    return {
        str(kind.cloudformation_type())
        for kind in CloudFormationModel.__subclasses__()
        if kind.__module__.startswith("moto.")
    }


def test_every_type_here_is_missing_in_moto_or_replaced_on_purpose() -> None:
    ours = {kind.cfn_type for kind in TYPES}
    assert ours == ADDED | REPLACED
    assert not ADDED & moto_types()
    assert moto_types() >= REPLACED


def test_moto_cannot_delete_what_leads_out_of_a_subnet() -> None:
    for kind in CloudFormationModel.__subclasses__():
        if str(kind.cloudformation_type()) in WITHOUT_DELETION and kind.__module__[:5] == "moto.":
            assert not hasattr(kind, "delete")
            deletion = kind.delete_from_cloudformation_json
            assert getattr(deletion, "__isabstractmethod__", False)


@pytest.mark.parametrize(
    "operation",
    [
        "update_endpoint",
        "create_inference_component",
        "describe_inference_component",
        "list_inference_components",
        "update_inference_component",
        "update_inference_component_runtime_config",
        "delete_inference_component",
    ],
)
def test_moto_has_no_such_sagemaker_operation(operation: str) -> None:
    assert not hasattr(SageMakerResponse, operation)


def test_moto_cannot_stream_an_invocation_or_make_a_composite_alarm() -> None:
    assert not hasattr(SageMakerRuntimeResponse, "invoke_endpoint_with_response_stream")
    assert not hasattr(CloudWatchResponse, "put_composite_alarm")


def test_moto_does_not_know_todays_instance_types() -> None:
    assert "ml.g6" not in inspect.getsource(FakeEndpointConfig.validate_instance_type)


def test_moto_needs_a_model_name_on_every_variant() -> None:
    source = inspect.getsource(SageMakerModelBackend.validate_production_variants)
    assert 'production_variant["ModelName"]' in source


def test_moto_cannot_scale_inference_components() -> None:
    known = {dimension.value for dimension in ScalableDimensionValueSet}
    assert "sagemaker:inference-component:DesiredCopyCount" not in known


def test_moto_does_not_roll_back() -> None:
    assert "ROLLBACK_COMPLETE" not in inspect.getsource(cloudformation.CloudFormationBackend)


def test_moto_has_no_place_to_name_another_stack_class() -> None:
    """`moto.cloudformation.models.Stack` is patched because it is named there directly."""
    assert "new_stack = Stack(" in inspect.getsource(
        cloudformation.CloudFormationBackend.create_stack
    )
    assert "stack = Stack(" in inspect.getsource(
        cloudformation.CloudFormationBackend.create_change_set
    )


def test_moto_makes_resources_when_it_looks_at_them() -> None:
    assert "parse_and_create_resource(" in inspect.getsource(ResourceMap.__getitem__)


def test_moto_raises_what_it_has_not_implemented() -> None:
    """`BaseResponse.call_action` is patched because the error reaches the client as HTML."""
    assert "raise NotImplementedError(" in inspect.getsource(responses)


def test_moto_applies_a_denial_whatever_its_condition_says(aws: LocalAws) -> None:
    """Why a bucket's policy loses its conditional denials here."""
    statement = {
        "Effect": "Deny",
        "Action": "s3:PutObject",
        "Principal": "*",
        "Resource": "*",
        "Condition": {"StringEquals": {"aws:PrincipalTag/never": "true"}},
    }
    s3 = aws.client("s3")
    s3.create_bucket(Bucket="assets")
    s3.put_bucket_policy(
        Bucket="assets", Policy=json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    )
    with pytest.raises(ClientError, match=r"403|Forbidden|AccessDenied"):
        s3.put_object(Bucket="assets", Key="a", Body=b"x")
