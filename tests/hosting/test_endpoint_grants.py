"""What a grant of an endpoint allows, also of one that was made elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam

from lmi_constructs import LmiEndpoint, LmiError, ModelData
from tests.hosting.support import actions_of

if TYPE_CHECKING:
    from lmi_constructs.hosting import EndpointBase


DATA = ModelData.s3_prefix("my-models", "m/")


@pytest.fixture
def endpoint(stack: cdk.Stack) -> LmiEndpoint:
    return LmiEndpoint(stack, "Chat", model_data=DATA, instance_type="ml.g6.12xlarge")


@pytest.fixture
def caller(stack: cdk.Stack) -> iam.Role:
    return iam.Role(stack, "Caller", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))


def test_grants_plain_and_streamed_requests(
    endpoint: LmiEndpoint, stack: cdk.Stack, caller: iam.Role, resources: Any
) -> None:
    endpoint.grant_invoke(caller)
    assert actions_of(resources, stack) == {
        "sagemaker:InvokeEndpoint": {"Ref": "Chat26DEB33F"},
        "sagemaker:InvokeEndpointWithResponseStream": {"Ref": "Chat26DEB33F"},
    }


def test_grants_asynchronous_requests(
    endpoint: LmiEndpoint, stack: cdk.Stack, caller: iam.Role, resources: Any
) -> None:
    endpoint.grant_invoke_async(caller)
    assert list(actions_of(resources, stack)) == ["sagemaker:InvokeEndpointAsync"]


def test_grants_the_openai_path(
    endpoint: LmiEndpoint, stack: cdk.Stack, caller: iam.Role, resources: Any
) -> None:
    endpoint.grant_invoke_openai(caller)
    actions = actions_of(resources, stack)
    assert actions["sagemaker:CallWithBearerToken"] == "*"
    assert actions["sagemaker:InvokeEndpoint"] == {"Ref": "Chat26DEB33F"}


def test_tells_the_base_url_of_the_openai_path(stack: cdk.Stack) -> None:
    endpoint = LmiEndpoint.from_endpoint_name(stack, "Chat", "chat")
    assert stack.resolve(endpoint.openai_base_url) == {
        "Fn::Join": [
            "",
            [
                "https://runtime.sagemaker.us-west-2.",
                {"Ref": "AWS::URLSuffix"},
                "/endpoints/chat/openai/v1",
            ],
        ]
    }


def test_refers_to_an_endpoint_made_elsewhere(
    stack: cdk.Stack, caller: iam.Role, resources: Any
) -> None:
    endpoint: EndpointBase = LmiEndpoint.from_endpoint_name(stack, "Chat", "chat")
    endpoint.grant_invoke(caller)
    arn = actions_of(resources, stack)["sagemaker:InvokeEndpoint"]
    assert arn == "arn:aws:sagemaker:us-west-2:111122223333:endpoint/chat"
    with pytest.raises(LmiError, match="variant_name is 5"):
        endpoint.metric("ModelLatency", variant_name=5)  # type: ignore[arg-type]
    assert endpoint.metric_model_latency().dimensions == {
        "EndpointName": "chat",
        "VariantName": "AllTraffic",
    }
