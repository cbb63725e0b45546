import json

import boto3
import pytest
from botocore.exceptions import ClientError
from click.testing import CliRunner

from lmi_constructs.checks.examples import good_templates
from lmi_constructs.cli.check import check

GOOD = good_templates()["endpoint"]["Resources"]


class SageMaker:
    """Answers the describing calls for one endpoint; any other call fails the test."""

    def __init__(self, variant, components):
        self.variant = variant
        self.components = components

    def describe_endpoint(self, *, EndpointName):
        if EndpointName != "llama":
            answer = {"Error": {"Code": "ValidationException", "Message": "Could not find it"}}
            raise ClientError(answer, "DescribeEndpoint")
        return {"EndpointName": "llama", "EndpointConfigName": "llama-config-1"}

    def describe_endpoint_config(self, *, EndpointConfigName):
        assert EndpointConfigName == "llama-config-1"
        return {"EndpointConfigName": EndpointConfigName, "ProductionVariants": [self.variant]}

    def describe_model(self, *, ModelName):
        assert ModelName == "llama-model-1"
        role = "arn:aws:iam::111122223333:role/serve"
        return {**GOOD["Model"]["Properties"], "ModelName": ModelName, "ExecutionRoleArn": role}

    def get_paginator(self, name):
        assert name == "list_inference_components"
        rows = [{"InferenceComponentName": name} for name in self.components]
        return Pages({"InferenceComponents": rows})

    def describe_inference_component(self, *, InferenceComponentName):
        return self.components[InferenceComponentName]


class AutoScaling:
    def get_paginator(self, name):
        assert name == "describe_scalable_targets"
        target = {
            "ServiceNamespace": "sagemaker",
            "ResourceId": "endpoint/llama/variant/AllTraffic",
            "ScalableDimension": "sagemaker:variant:DesiredInstanceCount",
            "MinCapacity": 1,
            "MaxCapacity": 4,
        }
        return Pages({"ScalableTargets": [target]})


class Pages:
    def __init__(self, page):
        self.page = page

    def paginate(self, **_):
        return [self.page]


@pytest.fixture
def account(monkeypatch):
    def with_variant(components=(), **changes):
        variant = {**GOOD["Config"]["Properties"]["ProductionVariants"][0], **changes}
        if components:
            del variant["ModelName"]
        else:
            variant["ModelName"] = "llama-model-1"
        sagemaker = SageMaker(variant, dict(components))
        clients = {"sagemaker": sagemaker, "application-autoscaling": AutoScaling()}

        class Session:
            region_name = "us-east-1"

            def __init__(self, region_name=None):
                self.client = clients.get

        monkeypatch.setattr(boto3, "Session", Session)

    return with_variant


def run(*arguments):
    return CliRunner().invoke(check, [*arguments, "--format", "json"])


def test_finds_nothing_on_a_good_endpoint(account):
    account()
    result = run("--endpoint", "llama")
    assert json.loads(result.output) == {"findings": []}
    assert result.exit_code == 0


def test_finds_the_faults_of_a_running_endpoint(account):
    account(InstanceType="ml.g5.2xlarge")
    result = run("--endpoint", "llama")
    (found,) = json.loads(result.output)["findings"]
    assert (found["rule"], found["construct"]) == ("LMI055", "llama-model-1")
    assert result.exit_code == 1


def test_reads_the_image_of_a_component_where_the_service_shows_it(account):
    image = GOOD["Model"]["Properties"]["PrimaryContainer"]["Image"]
    container = {
        "DeployedImage": {"SpecifiedImage": image, "ResolvedImage": f"{image}@sha256:0"},
        "Environment": {"OPTION_DTYPE": "fp8"},
    }
    component = {"VariantName": "AllTraffic", "Specification": {"Container": container}}
    account(components={"chat": component})
    found = json.loads(run("--endpoint", "llama").output)["findings"]
    assert ("LMI001", "Component0") in [(one["rule"], one["resource"]) for one in found]


def test_says_that_an_endpoint_cannot_be_read(account):
    account()
    result = run("--endpoint", "other")
    assert result.exit_code == 2
    assert "Could not find it" in result.output
