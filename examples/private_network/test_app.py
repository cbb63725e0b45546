"""The endpoint is cut off from the internet, reaches what it needs, and is encrypted with our key."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from aws_cdk.assertions import Match, Template

from lmi_constructs.runtime import LmiClient
from lmi_constructs.testing import assert_fits, assert_no_findings

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="module")
def app() -> dict[str, Any]:
    return runpy.run_path(str(Path(__file__).with_name("app.py")))


def test_fits_and_has_no_findings(app: dict[str, Any]) -> None:
    assert_fits(app["chat"])
    assert_no_findings(app["chat"])


def test_no_way_leads_to_the_internet(app: dict[str, Any]) -> None:
    network = Template.from_stack(app["foundation"])
    for kind in ("Route", "NatGateway", "InternetGateway", "EgressOnlyInternetGateway"):
        network.resource_count_is(f"AWS::EC2::{kind}", 0)
    found = network.find_resources("AWS::EC2::VPCEndpoint").values()
    services = {str(endpoint["Properties"]["ServiceName"]) for endpoint in found}
    for service in (".s3", ".logs", ".monitoring", ".sagemaker.runtime"):
        assert any(service in name for name in services)


def test_the_model_is_isolated_and_its_data_comes_through_the_subnets(app: dict[str, Any]) -> None:
    (model,) = Template.from_stack(app["chat"]).find_resources("AWS::SageMaker::Model").values()
    assert model["Properties"]["EnableNetworkIsolation"] is True
    assert len(model["Properties"]["VpcConfig"]["Subnets"]) == 2


def test_what_is_stored_is_encrypted_with_our_key(app: dict[str, Any]) -> None:
    Template.from_stack(app["foundation"]).has_resource_properties(
        "AWS::S3::Bucket", {"BucketEncryption": Match.any_value()}
    )
    Template.from_stack(app["chat"]).has_resource_properties(
        "AWS::SageMaker::EndpointConfig",
        {"DataCaptureConfig": {"KmsKeyId": {"Fn::ImportValue": Match.string_like_regexp("Key")}}},
    )


@pytest.mark.deploy
def test_is_deployed_and_answers(
    app: dict[str, Any],
    lmi_deploy: Callable[[Any], dict[str, str]],
    local_aws: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outputs = lmi_deploy(app["app"])
    for name, value in local_aws.environment().items():
        monkeypatch.setenv(name, value)
    config = local_aws.client("sagemaker").describe_endpoint(EndpointName=outputs["EndpointName"])
    stored = local_aws.client("sagemaker").describe_endpoint_config(
        EndpointConfigName=config["EndpointConfigName"]
    )
    assert stored["DataCaptureConfig"]["KmsKeyId"] == outputs["KeyArn"]
    found = local_aws.client("ec2").describe_vpc_endpoints()["VpcEndpoints"]
    assert len(found) == 4
    answer = LmiClient(outputs["EndpointName"]).generate("Hello")
    assert "no model ran" in answer.text
