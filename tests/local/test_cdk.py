"""The real CDK CLI against the local AWS."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest

from lmi_constructs.local import CdkCli, CdkError, LocalAws
from lmi_constructs.local.cdk import CDK_CLI

if TYPE_CHECKING:
    from pathlib import Path

APP = """
import json
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_applicationautoscaling as scaling
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sagemaker as sagemaker

settings = json.loads(Path("settings.json").read_text())
app = cdk.App()
stack = cdk.Stack(app, "Llm", env=cdk.Environment(account="123456789012", region="us-east-1"))
role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
role.add_to_policy(iam.PolicyStatement(actions=["s3:GetObject"], resources=["*"]))
source = sagemaker.CfnModel.S3DataSourceProperty(
    s3_uri="s3://models/llama/", s3_data_type="S3Prefix", compression_type="None"
)
model = sagemaker.CfnModel(
    stack, "Model", execution_role_arn=role.role_arn,
    primary_container=sagemaker.CfnModel.ContainerDefinitionProperty(
        image="763104351884.dkr.ecr.us-east-1.amazonaws.com/djl-inference:0.36.0-lmi27.0.0-cu130",
        environment=settings["environment"],
        model_data_source=sagemaker.CfnModel.ModelDataSourceProperty(s3_data_source=source),
    ),
)
model.node.add_dependency(role)
config = sagemaker.CfnEndpointConfig(
    stack, "Config", production_variants=[sagemaker.CfnEndpointConfig.ProductionVariantProperty(
        variant_name="AllTraffic", model_name=model.attr_model_name,
        instance_type="ml.g6.48xlarge", initial_instance_count=1, initial_variant_weight=1,
        container_startup_health_check_timeout_in_seconds=1800,
        volume_size_in_gb=settings.get("volume"),
    )],
)
endpoint = sagemaker.CfnEndpoint(
    stack, "Endpoint", endpoint_config_name=config.attr_endpoint_config_name,
    retain_all_variant_properties=True,
)
target = scaling.CfnScalableTarget(
    stack, "Target", min_capacity=1, max_capacity=4, service_namespace="sagemaker",
    scalable_dimension="sagemaker:variant:DesiredInstanceCount",
    resource_id=f"endpoint/{endpoint.attr_endpoint_name}/variant/AllTraffic",
)
scaling.CfnScalingPolicy(
    stack, "Policy", policy_name="track", policy_type="TargetTrackingScaling",
    scaling_target_id=target.ref,
    target_tracking_scaling_policy_configuration={
        "targetValue": 10,
        "predefinedMetricSpecification": {
            "predefinedMetricType": "SageMakerVariantInvocationsPerInstance"
        },
    },
)
cloudwatch.Alarm(
    stack, "Alarm", threshold=30_000_000, evaluation_periods=3,
    metric=cloudwatch.Metric(
        namespace="AWS/SageMaker", metric_name="ModelLatency", statistic="p99",
        dimensions_map={
            "EndpointName": endpoint.attr_endpoint_name, "VariantName": "AllTraffic"
        },
    ),
)
cdk.CfnOutput(stack, "EndpointName", value=endpoint.attr_endpoint_name)
app.synth()
"""


def write(directory: Path, **settings: Any) -> None:
    (directory / "settings.json").write_text(json.dumps(settings))


def names(aws: LocalAws) -> dict[str, set[str]]:
    sagemaker = aws.client("sagemaker")
    scaling = aws.client("application-autoscaling")
    return {
        "models": {item["ModelName"] for item in sagemaker.list_models()["Models"]},
        "configs": {
            item["EndpointConfigName"]
            for item in sagemaker.list_endpoint_configs()["EndpointConfigs"]
        },
        "endpoints": {item["EndpointName"] for item in sagemaker.list_endpoints()["Endpoints"]},
        "alarms": {
            item["AlarmName"] for item in aws.client("cloudwatch").describe_alarms()["MetricAlarms"]
        },
        "targets": {
            item["ResourceId"]
            for item in scaling.describe_scalable_targets(ServiceNamespace="sagemaker")[
                "ScalableTargets"
            ]
        },
        "policies": {
            item["PolicyName"]
            for item in scaling.describe_scaling_policies(ServiceNamespace="sagemaker")[
                "ScalingPolicies"
            ]
        },
    }


@pytest.mark.deploy
@pytest.mark.skipif(shutil.which("npx") is None, reason="needs Node.js")
def test_the_cdk_cli_bootstraps_deploys_updates_refuses_and_destroys(
    aws: LocalAws, tmp_path: Path
) -> None:
    (tmp_path / "app.py").write_text(APP)
    write(tmp_path, environment={"OPTION_TENSOR_PARALLEL_DEGREE": "8"})
    cdk = CdkCli(aws, app=f"{sys.executable} app.py", directory=tmp_path)

    bootstrapped = cdk.bootstrap()
    assert "bootstrapped" in bootstrapped.output

    deployed = cdk.deploy()
    assert "end-of-life" not in deployed.output
    assert "Warning" not in deployed.output
    first = names(aws)
    assert {kind: len(found) for kind, found in first.items()} == dict.fromkeys(first, 1)
    [endpoint_name] = first["endpoints"]
    assert f"Llm.EndpointName = {endpoint_name}" in deployed.output
    before = aws.client("sagemaker").describe_endpoint(EndpointName=endpoint_name)

    answer = aws.client("sagemaker-runtime").invoke_endpoint(
        EndpointName=endpoint_name, Body=json.dumps({"inputs": "Hi"})
    )
    assert b"s3://models/llama/" in answer["Body"].read()

    assert "no changes" in cdk.deploy().output

    write(tmp_path, environment={"OPTION_MAX_MODEL_LEN": "8192"})
    cdk.deploy("Llm")
    second = names(aws)
    after = aws.client("sagemaker").describe_endpoint(EndpointName=endpoint_name)
    assert second["endpoints"] == first["endpoints"]
    assert after["CreationTime"] == before["CreationTime"]
    assert {after["EndpointConfigName"]} == second["configs"]
    assert second["configs"].isdisjoint(first["configs"])
    assert second["models"].isdisjoint(first["models"])
    assert len(second["models"]) == len(second["configs"]) == 1

    write(tmp_path, environment={"OPTION_MAX_MODEL_LEN": "9216"}, volume=256)
    with pytest.raises(CdkError) as caught:
        cdk.deploy()
    assert "VolumeSizeInGB is not allowed for instance type ml.g6.48xlarge" in str(caught.value)
    assert names(aws) == second

    cdk.destroy()
    assert not any(names(aws).values())
    stacks = aws.client("cloudformation").describe_stacks()["Stacks"]
    assert [stack["StackName"] for stack in stacks] == ["CDKToolkit"]


def test_the_cli_sees_the_local_aws_and_none_of_the_users_settings(
    aws: LocalAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "secret")
    environment = CdkCli(aws).environment()
    assert environment["AWS_ENDPOINT_URL"] == aws.endpoint_url
    assert not {"AWS_PROFILE", "AWS_SESSION_TOKEN"} & environment.keys()


def test_a_missing_npx_is_a_plain_message(aws: LocalAws, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CdkError, match="npx was not found"):
        CdkCli(aws).bootstrap()


def test_a_failed_command_raises_with_what_it_printed(
    aws: LocalAws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npx = tmp_path / "npx"
    npx.write_text('#!/bin/sh\necho "$@"\nexit 3\n')
    npx.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CdkError) as caught:
        CdkCli(aws, app="python app.py", context={"stage": "dev"}).deploy("Llm")
    assert "cdk deploy failed with exit code 3" in str(caught.value)
    assert (
        f"--yes {CDK_CLI} deploy Llm --require-approval=never --app python app.py "
        "--context=stage=dev --no-notices --no-version-reporting --ci"
    ) in str(caught.value)
    assert CdkCli(aws).run("doctor", check=False).exit_code == 3
