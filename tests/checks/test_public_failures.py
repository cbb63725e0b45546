"""Failures that people reported in public, and defects of other libraries' templates."""

import pytest

from lmi_constructs.checks.examples import REMOVED, Example
from lmi_constructs.checks.rules.network import S3OutOfReach
from tests.checks.support import (
    CONTAINER,
    ENVIRONMENT,
    HOST_IMAGE,
    IMAGE,
    REGISTRY,
    SOURCE,
    V27,
    VARIANT,
    WITHOUT_DATA,
    rules,
)

STATEMENT = "Role/Properties/Policies/0/PolicyDocument/Statement"
V12 = f"{REGISTRY}/djl-inference:0.30.0-lmi12.0.0-cu124"
TGI = f"{REGISTRY}/huggingface-pytorch-tgi-inference:2.7.0-tgi3.3.4-gpu-py311-cu124-ubuntu22.04"
WHISPERX = f"{REGISTRY}/whisperx:3.7-gpu-py312-cu128-ubuntu22.04-sagemaker"
TRITON = f"{REGISTRY}/sagemaker-tritonserver:25.08-py3-cu130"
TRACKING = "Policy/Properties/TargetTrackingScalingPolicyConfiguration"
PREDEFINED = f"{TRACKING}/PredefinedMetricSpecification/PredefinedMetricType"
NEEDS = "Component/Properties/Specification/ComputeResourceRequirements"
MODEL_NAME = {"Fn::GetAtt": ["Model", "ModelName"]}
ROLE_POLICY = {
    "Type": "AWS::IAM::Policy",
    "Properties": {
        "PolicyName": "Pull",
        "Roles": [{"Ref": "Role"}],
        "PolicyDocument": {
            "Statement": [{"Effect": "Allow", "Action": "ecr:*", "Resource": "*"}],
        },
    },
}


REPORTS = {
    "NVIDIA/nim-deploy/pull/104": ("LMI032", Example({HOST_IMAGE: REMOVED, IMAGE: V27})),
    "aws/deep-learning-containers/issues/4990": (
        "LMI032",
        Example({HOST_IMAGE: REMOVED, f"{VARIANT}/InstanceType": "ml.g4dn.12xlarge"}),
    ),
    "bentoml/aws-sagemaker-deploy/issues/50": (
        "LMI032",
        Example({HOST_IMAGE: REMOVED, IMAGE: TRITON, f"{VARIANT}/InstanceType": "ml.g4dn.xlarge"}),
    ),
    "aws/deep-learning-containers/pull/6187": (
        "LMI033",
        Example({HOST_IMAGE: "al2023-ami-sagemaker-inference-gpu-4-1"}),
    ),
    "aws/sagemaker-python-sdk/pull/6281": ("LMI037", Example({IMAGE: V27})),
    "aws/deep-learning-containers whisperx on the default host": (
        "LMI032",
        Example({HOST_IMAGE: REMOVED, IMAGE: WHISPERX}),
    ),
    "vllm-project/vllm/issues/1157": (
        "LMI054",
        Example(
            {f"{ENVIRONMENT}/OPTION_DTYPE": "bf16", f"{VARIANT}/InstanceType": "ml.g4dn.12xlarge"}
        ),
    ),
    "aws/amazon-sagemaker-examples/issues/3432 without a time-out": (
        "LMI062",
        Example({f"{VARIANT}/ContainerStartupHealthCheckTimeoutInSeconds": REMOVED}),
    ),
    "aws/amazon-sagemaker-examples/issues/3432 with a misplaced time-out": (
        "LMI007",
        Example(
            {f"{ENVIRONMENT}/CONTAINER_STARTUP_HEALTH_CHECK_TIMEOUT_IN_SECONDS": "900", IMAGE: TGI}
        ),
    ),
    "deepjavalibrary/djl-demo/issues/424": (
        "LMI062",
        Example(
            {
                IMAGE: f"{REGISTRY}/djl-inference:0.28.0-tensorrtllm0.9.0-cu122",
                f"{VARIANT}/ContainerStartupHealthCheckTimeoutInSeconds": 600,
            }
        ),
    ),
    "aws/sagemaker-python-sdk/pull/4828": (
        "LMI042",
        Example({f"{VARIANT}/InstanceType": "ml.trn1.32xlarge", f"{VARIANT}/VolumeSizeInGB": 512}),
    ),
    "aws/sagemaker-python-sdk/issues/3677": (
        "LMI043",
        Example({"Config/Properties/KmsKeyId": "k", f"{VARIANT}/InstanceType": "ml.p4d.24xlarge"}),
    ),
    "aws/sagemaker-python-sdk/issues/4248": (
        "LMI020",
        Example({f"{SOURCE}/S3Uri": "s3://example-models/llama"}),
    ),
    "aws/sagemaker-python-sdk/issues/4249": (
        "LMI020",
        Example({f"{SOURCE}/S3Uri": "s3://example-models/llama//"}),
    ),
    "huggingface/text-generation-inference/issues/751": (
        "LMI007",
        Example({**WITHOUT_DATA, f"{ENVIRONMENT}/HF_API_TOKEN": "hf_" + "a" * 30}),
    ),
    "huggingface/text-generation-inference/issues/479": (
        "LMI008",
        Example({f"{ENVIRONMENT}/OPTION_SERVED_MODEL_NAME": '"llama"'}),
    ),
    "huggingface/optimum-neuron/issues/535": (
        "LMI090",
        Example(
            {f"{ENVIRONMENT}/HF_MODEL_ID": "Qwen/Qwen3-8B", f"{CONTAINER}/ModelDataSource": REMOVED}
        ),
    ),
    "aws-solutions-library-samples/guidance-for-text-generation-using-embeddings-from-enterprise-"
    "data-on-aws/issues/3": (
        "LMI099",
        Example(
            {
                **S3OutOfReach.failing.change,
                f"{SOURCE}/S3Uri": "s3://jumpstart-cache-prod-us-east-1/huggingface-text2text/",
            }
        ),
    ),
    "aws-samples/generative-ai-sagemaker-cdk-demo/issues/2": (
        "LMI093",
        Example({f"{STATEMENT}/1": REMOVED, "Pull": ROLE_POLICY}),
    ),
    "aws/sagemaker-python-sdk/issues/2002": (
        "LMI092",
        Example({f"{STATEMENT}/1/Resource": "arn:aws:ecr:*:763104351884:repository/huggingface-*"}),
    ),
    "awslabs/aws-solutions-constructs/issues/986": (
        "LMI092",
        Example(
            {
                f"{STATEMENT}/1/Resource": {
                    "Fn::Join": [
                        "",
                        [
                            "arn:",
                            {"Ref": "AWS::Partition"},
                            ":ecr:",
                            {"Ref": "AWS::Region"},
                            ":",
                            {"Ref": "AWS::AccountId"},
                            ":repository/*",
                        ],
                    ]
                }
            }
        ),
    ),
    "philschmid/terraform-aws-sagemaker-huggingface/issues/6": (
        "LMI066",
        Example({"Config/Properties/EndpointConfigName": "llama-config"}),
    ),
    "hashicorp/terraform-provider-aws/pull/48993": (
        "LMI066",
        Example({"Model/Properties/ModelName": {"Fn::Sub": "${AWS::StackName}-model"}}),
    ),
    "aws/aws-cdk/issues/29065": (
        "LMI080",
        Example(
            {
                PREDEFINED: "SageMakerVariantProvisionedConcurrencyUtilization",
            },
            base="scaled",
        ),
    ),
    "hashicorp/terraform-provider-aws/pull/45926": (
        "LMI075",
        Example(
            {
                f"{VARIANT}/ManagedInstanceScaling": {
                    "Status": "ENABLED",
                    "MinInstanceCount": 1,
                    "MaxInstanceCount": 2,
                }
            }
        ),
    ),
    "stdapi-ai/stdapi.ai/issues/43 without a role": (
        "LMI076",
        Example({"Config/Properties/ExecutionRoleArn": REMOVED}, base="components"),
    ),
    "stdapi-ai/stdapi.ai/issues/43 with no copy": (
        "LMI078",
        Example({"Component/Properties/RuntimeConfig/CopyCount": 0}, base="components"),
    ),
    "pulumi/pulumi-aws/issues/4940": (
        "LMI075",
        Example({f"{VARIANT}/ModelName": MODEL_NAME}, base="components"),
    ),
    "hashicorp/terraform-provider-aws/issues/40606": (
        "LMI083",
        Example({"Target/Properties/MinCapacity": 0}, base="scaled"),
    ),
    "aws/sagemaker-python-sdk/pull/5558 with too many accelerators": (
        "LMI077",
        Example({f"{NEEDS}/NumberOfAcceleratorDevicesRequired": 8}, base="components"),
    ),
    "aws/sagemaker-python-sdk/pull/5558 with accelerators on a CPU": (
        "LMI077",
        Example({f"{VARIANT}/InstanceType": "ml.m5.12xlarge"}, base="components"),
    ),
    "aws/sagemaker-python-sdk/pull/5558 with too much memory": (
        "LMI077",
        Example({f"{NEEDS}/MinMemoryRequiredInMb": 400_000}, base="components"),
    ),
    "deepjavalibrary/djl-serving/issues/2567": (
        "LMI018",
        Example({IMAGE: V12}, base="asynchronous"),
    ),
    "aws/sagemaker-sparkml-serving-container/issues/12": (
        "LMI005",
        Example({f"{ENVIRONMENT}/SAGEMAKER_SPARKML_SCHEMA": "{" + "x" * 1100}),
    ),
}
REMOVED_BACKENDS = {
    backend: Example({f"{ENVIRONMENT}/OPTION_ROLLING_BATCH": backend})
    for backend in ("lmi-dist", "scheduler", "deepspeed")
}
BACKLOG_DIMENSIONS = [
    {"Name": "Endpoint", "Value": {"Fn::GetAtt": ["Endpoint", "EndpointName"]}},
    {"Name": "Variant", "Value": "AllTraffic"},
]
FULL_ACCESS = {"Fn::Sub": "arn:${AWS::Partition}:iam::aws:policy/AmazonSageMakerFullAccess"}
DEFECTS = {
    "generative-ai-cdk-constructs: a backlog alarm with other dimensions": (
        "LMI085",
        Example(
            {
                "Latency/Properties/MetricName": "ApproximateBacklogSizePerInstance",
                "Latency/Properties/Dimensions": BACKLOG_DIMENSIONS,
            },
            base="scaled",
        ),
    ),
    "generative-ai-cdk-constructs: a backlog alarm on a real-time endpoint": (
        "LMI088",
        Example({"Latency/Properties/MetricName": "ApproximateBacklogSize"}, base="scaled"),
    ),
    "generative-ai-cdk-constructs: an async endpoint that cannot wake": (
        "LMI083",
        Example({"Target/Properties/MinCapacity": 0}, base="asynchronous"),
    ),
    "generative-ai-cdk-constructs: full access does not reach a private bucket": (
        "LMI091",
        Example(
            {
                "Role/Properties/ManagedPolicyArns": [FULL_ACCESS],
                "Role/Properties/Policies": REMOVED,
            }
        ),
    ),
    "generative-ai-cdk-constructs: a time-out of two hours": (
        "LMI060",
        Example({f"{VARIANT}/ContainerStartupHealthCheckTimeoutInSeconds": 7200}),
    ),
    "generative-ai-cdk-constructs: no instance": (
        "LMI045",
        Example({f"{VARIANT}/InitialInstanceCount": 0}),
    ),
    "aws-sagemaker-alpha: a prefix as an archive": (
        "LMI024",
        Example(
            {
                f"{CONTAINER}/ModelDataUrl": {
                    "Fn::Sub": "https://s3.${AWS::Region}.${AWS::URLSuffix}/example-models/llama/"
                },
                f"{CONTAINER}/ModelDataSource": REMOVED,
            }
        ),
    ),
    "aws-sagemaker-alpha: the default instance type for an LLM": (
        "LMI036",
        Example({f"{VARIANT}/InstanceType": "ml.t2.medium", HOST_IMAGE: REMOVED}),
    ),
    "aws-sagemaker-alpha: full access": (
        "LMI095",
        Example({"Role/Properties/ManagedPolicyArns": [FULL_ACCESS]}),
    ),
    "aws-solutions-constructs: rights on every bucket": (
        "LMI095",
        Example(
            {
                f"{STATEMENT}/2": {
                    "Effect": "Allow",
                    "Action": ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:ListBucket"],
                    "Resource": "arn:aws:s3:::*",
                }
            }
        ),
    ),
    "terraform-aws-sagemaker-huggingface: invocations of an async endpoint": (
        "LMI084",
        Example(
            {
                TRACKING: {
                    "TargetValue": 10,
                    "PredefinedMetricSpecification": {
                        "PredefinedMetricType": "SageMakerVariantInvocationsPerInstance"
                    },
                }
            },
            base="asynchronous",
        ),
    ),
    "foundation-model-benchmarking-tool: a token in the environment": (
        "LMI006",
        Example({f"{ENVIRONMENT}/HUGGING_FACE_HUB_TOKEN": "hf_" + "a" * 34}),
    ),
    "scaling on GPU utilization": (
        "LMI084",
        Example(
            {
                TRACKING: {
                    "TargetValue": 70,
                    "CustomizedMetricSpecification": {
                        "Namespace": "/aws/sagemaker/Endpoints",
                        "MetricName": "GPUUtilization",
                        "Statistic": "Average",
                        "Dimensions": [
                            {
                                "Name": "EndpointName",
                                "Value": {"Fn::GetAtt": ["Endpoint", "EndpointName"]},
                            },
                            {"Name": "VariantName", "Value": "AllTraffic"},
                        ],
                    },
                }
            },
            base="scaled",
        ),
    ),
}


@pytest.mark.parametrize("report", REPORTS)
def test_finds_what_was_reported_in(report):
    rule, example = REPORTS[report]
    assert rule in rules(example)


@pytest.mark.parametrize("backend", REMOVED_BACKENDS)
def test_refuses_a_removed_back_end(backend):
    assert rules(REMOVED_BACKENDS[backend]) & {"LMI001", "LMI002", "LMI003", "LMI004", "LMI015"}


@pytest.mark.parametrize("defect", DEFECTS)
def test_finds_the_defect_of(defect):
    rule, example = DEFECTS[defect]
    assert rule in rules(example)
