"""What the tests of the local AWS share."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from lmi_constructs.local import LocalAws

ROLE = "arn:aws:iam::123456789012:role/Execution"
IMAGE = "763104351884.dkr.ecr.us-east-1.amazonaws.com/djl-inference:0.36.0-lmi27.0.0-cu130"


@pytest.fixture
def sagemaker(aws: LocalAws) -> Any:
    """A client that checks nothing itself, so that refusals are the local AWS's own."""
    from lmi_constructs.local import clients

    return clients.client(
        "sagemaker", endpoint_url=aws.endpoint_url, region=aws.region, checked=False
    )


@pytest.fixture
def runtime(aws: LocalAws) -> Any:
    return aws.client("sagemaker-runtime")


@pytest.fixture
def model_request() -> dict[str, Any]:
    return {
        "ModelName": "llama",
        "ExecutionRoleArn": ROLE,
        "PrimaryContainer": {
            "Image": IMAGE,
            "Environment": {"OPTION_TENSOR_PARALLEL_DEGREE": "8"},
            "ModelDataSource": {
                "S3DataSource": {
                    "S3Uri": "s3://models/llama/",
                    "S3DataType": "S3Prefix",
                    "CompressionType": "None",
                }
            },
        },
    }


@pytest.fixture
def variant() -> dict[str, Any]:
    return {
        "VariantName": "AllTraffic",
        "ModelName": "llama",
        "InstanceType": "ml.g6.48xlarge",
        "InitialInstanceCount": 1,
    }


@pytest.fixture
def deployed(sagemaker: Any, model_request: dict[str, Any], variant: dict[str, Any]) -> str:
    """An endpoint `chat` on config `one` with model `llama`."""
    sagemaker.create_model(**model_request)
    sagemaker.create_endpoint_config(EndpointConfigName="one", ProductionVariants=[variant])
    sagemaker.create_endpoint(EndpointName="chat", EndpointConfigName="one")
    return "chat"


@pytest.fixture
def component_endpoint(sagemaker: Any, model_request: dict[str, Any]) -> str:
    """An endpoint `shared` for inference components, and a model `llama` to put there."""
    sagemaker.create_model(**model_request)
    sagemaker.create_endpoint_config(
        EndpointConfigName="bare",
        ExecutionRoleArn=ROLE,
        ProductionVariants=[
            {
                "VariantName": "AllTraffic",
                "InstanceType": "ml.g6.48xlarge",
                "InitialInstanceCount": 1,
                "ManagedInstanceScaling": {
                    "Status": "ENABLED",
                    "MinInstanceCount": 1,
                    "MaxInstanceCount": 2,
                },
            }
        ],
    )
    sagemaker.create_endpoint(EndpointName="shared", EndpointConfigName="bare")
    return "shared"


@pytest.fixture
def component_request() -> dict[str, Any]:
    return {
        "InferenceComponentName": "llama-copy",
        "EndpointName": "shared",
        "VariantName": "AllTraffic",
        "Specification": {
            "ModelName": "llama",
            "ComputeResourceRequirements": {
                "NumberOfAcceleratorDevicesRequired": 4,
                "MinMemoryRequiredInMb": 1024,
            },
        },
        "RuntimeConfig": {"CopyCount": 1},
    }


@pytest.fixture
def template() -> dict[str, Any]:
    """A stack as CDK renders one: role, model, config, endpoint, scaling, alarm."""
    name = {"Fn::GetAtt": ["Endpoint", "EndpointName"]}
    return {
        "Resources": {
            "Alarm": {
                "Type": "AWS::CloudWatch::Alarm",
                "Properties": {
                    "Namespace": "AWS/SageMaker",
                    "MetricName": "ModelLatency",
                    "Dimensions": [{"Name": "EndpointName", "Value": name}],
                    "ExtendedStatistic": "p99",
                    "Period": 60,
                    "EvaluationPeriods": 3,
                    "Threshold": 30_000_000,
                    "ComparisonOperator": "GreaterThanThreshold",
                },
            },
            "Policy": {
                "Type": "AWS::ApplicationAutoScaling::ScalingPolicy",
                "Properties": {
                    "PolicyName": "track",
                    "PolicyType": "TargetTrackingScaling",
                    "ScalingTargetId": {"Ref": "Target"},
                    "TargetTrackingScalingPolicyConfiguration": {
                        "TargetValue": 10,
                        "PredefinedMetricSpecification": {
                            "PredefinedMetricType": "SageMakerVariantInvocationsPerInstance"
                        },
                    },
                },
            },
            "Target": {
                "Type": "AWS::ApplicationAutoScaling::ScalableTarget",
                "Properties": {
                    "MinCapacity": 1,
                    "MaxCapacity": "4",
                    "ServiceNamespace": "sagemaker",
                    "ScalableDimension": "sagemaker:variant:DesiredInstanceCount",
                    "ResourceId": {"Fn::Join": ["", ["endpoint/", name, "/variant/AllTraffic"]]},
                },
            },
            "Endpoint": {
                "Type": "AWS::SageMaker::Endpoint",
                "Properties": {
                    "EndpointConfigName": {"Fn::GetAtt": ["Config", "EndpointConfigName"]},
                    "RetainAllVariantProperties": True,
                },
            },
            "Config": {
                "Type": "AWS::SageMaker::EndpointConfig",
                "Properties": {
                    "ProductionVariants": [
                        {
                            "VariantName": "AllTraffic",
                            "ModelName": {"Fn::GetAtt": ["Model", "ModelName"]},
                            "InstanceType": "ml.g6.48xlarge",
                            "InitialInstanceCount": "1",
                            "ContainerStartupHealthCheckTimeoutInSeconds": 1800,
                        }
                    ]
                },
            },
            "Model": {
                "Type": "AWS::SageMaker::Model",
                "Properties": {
                    "ExecutionRoleArn": {"Fn::GetAtt": ["Role", "Arn"]},
                    "PrimaryContainer": {
                        "Image": IMAGE,
                        "Environment": {"OPTION_TENSOR_PARALLEL_DEGREE": 8},
                    },
                },
            },
            "Role": {
                "Type": "AWS::IAM::Role",
                "Properties": {
                    "AssumeRolePolicyDocument": {
                        "Version": "2012-10-17",
                        "Statement": [
                            {
                                "Effect": "Allow",
                                "Action": "sts:AssumeRole",
                                "Principal": {"Service": "sagemaker.amazonaws.com"},
                            }
                        ],
                    }
                },
            },
        },
        "Outputs": {
            "EndpointName": {"Value": name},
            "EndpointRef": {"Value": {"Ref": "Endpoint"}},
            "ModelRef": {"Value": {"Ref": "Model"}},
            "AlarmArn": {"Value": {"Fn::GetAtt": ["Alarm", "Arn"]}},
            "TargetRef": {"Value": {"Ref": "Target"}},
            "PolicyRef": {"Value": {"Ref": "Policy"}},
        },
    }


@pytest.fixture
def stack(aws: Any) -> Any:
    return _Stack(aws)


class _Stack:
    def __init__(self, aws: Any) -> None:
        self.cloudformation = aws.client("cloudformation")
        self.aws = aws

    def create(self, template: dict[str, Any]) -> str:
        self.cloudformation.create_stack(StackName="S", TemplateBody=json.dumps(template))
        return self.status

    def update(self, template: dict[str, Any]) -> str:
        self.cloudformation.update_stack(StackName="S", TemplateBody=json.dumps(template))
        return self.status

    @property
    def description(self) -> dict[str, Any]:
        return self.cloudformation.describe_stacks(StackName="S")["Stacks"][0]

    @property
    def status(self) -> str:
        return self.description["StackStatus"]

    @property
    def outputs(self) -> dict[str, str]:
        return {
            item["OutputKey"]: item["OutputValue"] for item in self.description.get("Outputs", [])
        }

    @property
    def events(self) -> list[tuple[str, str, str]]:
        """Events, the first one first."""
        found = self.cloudformation.describe_stack_events(StackName="S")["StackEvents"]
        return [
            (
                event["LogicalResourceId"],
                event["ResourceStatus"],
                event.get("ResourceStatusReason", ""),
            )
            for event in reversed(found)
        ]

    def inventory(self) -> dict[str, list[str]]:
        sagemaker = self.aws.client("sagemaker")
        alarms = self.aws.client("cloudwatch").describe_alarms()["MetricAlarms"]
        scaling = self.aws.client("application-autoscaling")
        targets = scaling.describe_scalable_targets(ServiceNamespace="sagemaker")
        policies = scaling.describe_scaling_policies(ServiceNamespace="sagemaker")
        return {
            "models": [item["ModelName"] for item in sagemaker.list_models()["Models"]],
            "configs": [
                item["EndpointConfigName"]
                for item in sagemaker.list_endpoint_configs()["EndpointConfigs"]
            ],
            "endpoints": [item["EndpointName"] for item in sagemaker.list_endpoints()["Endpoints"]],
            "alarms": [item["AlarmName"] for item in alarms],
            "targets": [item["ResourceId"] for item in targets["ScalableTargets"]],
            "policies": [item["PolicyName"] for item in policies["ScalingPolicies"]],
            "roles": [item["RoleName"] for item in self.aws.client("iam").list_roles()["Roles"]],
        }
