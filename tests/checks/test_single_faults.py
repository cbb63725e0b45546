"""One good template, one fault at a time: what other tools let pass is found."""

import pytest

from lmi_constructs.checks.examples import REMOVED, Example
from lmi_constructs.checks.rules import all_rules
from tests.checks.support import findings, rules

CONTAINER = "Model/Properties/PrimaryContainer"
ENVIRONMENT = f"{CONTAINER}/Environment"
SOURCE = f"{CONTAINER}/ModelDataSource/S3DataSource"
VARIANT = "Config/Properties/ProductionVariants/0"
IMAGE = "763104351884.dkr.ecr.us-west-2.amazonaws.com/djl-inference:0.36.0-lmi22.0.0-cu129"
CANARY = {
    "Type": "CANARY",
    "CanarySize": {"Type": "CAPACITY_PERCENT", "Value": 80},
    "WaitIntervalInSeconds": 300,
}
ROLLING = {
    "MaximumBatchSize": {"Type": "CAPACITY_PERCENT", "Value": 25},
    "WaitIntervalInSeconds": 60,
}
FAULTS = {
    "an environment value of more than 1024 bytes": (
        "LMI005",
        Example({f"{ENVIRONMENT}/OPTION_CHAT_TEMPLATE": "x" * 1500}),
    ),
    "an environment of more than 32 KB": (
        "LMI005",
        Example({f"{ENVIRONMENT}/PART_{index}": "x" * 1000 for index in range(40)}),
    ),
    "more than 100 environment entries": (
        "LMI005",
        Example({f"{ENVIRONMENT}/PART_{index}": "x" for index in range(120)}),
    ),
    "an empty host image": ("LMI035", Example({f"{VARIANT}/InferenceAmiVersion": ""})),
    "an empty instance type": ("LMI040", Example({f"{VARIANT}/InstanceType": ""})),
    "a dotted environment name": ("LMI005", Example({f"{ENVIRONMENT}/option.dtype": "bf16"})),
    "a variable of text-generation-inference": (
        "LMI007",
        Example({f"{ENVIRONMENT}/MAX_TOTAL_TOKENS": "8192"}),
    ),
    "a slip of the prefix": ("LMI007", Example({f"{ENVIRONMENT}/OPTIONS_DTYPE": "fp16"})),
    "adapters that are off": ("LMI002", Example({f"{ENVIRONMENT}/OPTION_MAX_LORAS": "4"})),
    "a prefix without slash": ("LMI020", Example({f"{SOURCE}/S3Uri": "s3://example-models/llama"})),
    "an archive as a prefix": (
        "LMI110",
        Example({f"{SOURCE}/S3Uri": {"Fn::Sub": "s3://${AWS::StackName}/a/model.zip/"}}),
    ),
    "a compressed prefix": ("LMI022", Example({f"{SOURCE}/CompressionType": "Gzip"})),
    "two places for the data": (
        "LMI023",
        Example({f"{CONTAINER}/ModelDataUrl": "s3://example-models/llama/model.tar.gz"}),
    ),
    "a key on local storage": ("LMI043", Example({"Config/Properties/KmsKeyId": "alias/key"})),
    "a volume size on local storage": ("LMI042", Example({f"{VARIANT}/VolumeSizeInGB": 256})),
    "a volume size out of range": (
        "LMI044",
        Example({f"{VARIANT}/VolumeSizeInGB": 1024, f"{VARIANT}/InstanceType": "ml.p3.8xlarge"}),
    ),
    "a health check of 5400 s": (
        "LMI060",
        Example({f"{VARIANT}/ContainerStartupHealthCheckTimeoutInSeconds": 5400}),
    ),
    "a missing instance type": ("LMI040", Example({f"{VARIANT}/InstanceType": "ml.g5.large"})),
    "an instance type of other regions": (
        "LMI041",
        Example({f"{VARIANT}/InstanceType": "ml.p5.48xlarge"}, region="ca-west-1"),
    ),
    "eight ranks on four GPUs": (
        "LMI055",
        Example({f"{ENVIRONMENT}/OPTION_TENSOR_PARALLEL_DEGREE": "8"}),
    ),
    "isolation and a hub id": (
        "LMI090",
        Example(
            {f"{ENVIRONMENT}/HF_MODEL_ID": "Qwen/Qwen3-8B", f"{CONTAINER}/ModelDataSource": REMOVED}
        ),
    ),
    "no host image for CUDA 12.9": ("LMI032", Example({f"{VARIANT}/InferenceAmiVersion": REMOVED})),
    "an unknown host image": (
        "LMI035",
        Example({f"{VARIANT}/InferenceAmiVersion": "al2-ami-sagemaker-inference-gpu-9"}),
    ),
    "a cache format of Gaudi": (
        "LMI054",
        Example({f"{ENVIRONMENT}/OPTION_KV_CACHE_DTYPE": "fp8_inc"}),
    ),
    "a token in plain text": ("LMI006", Example({f"{ENVIRONMENT}/HF_TOKEN": "hf_" + "a" * 34})),
    "an underscore in a name": ("LMI065", Example({"Model/Properties/ModelName": "my_model"})),
    "a fixed configuration name": (
        "LMI066",
        Example({"Config/Properties/EndpointConfigName": "llama-config"}),
    ),
    "a canary of 80 %": (
        "LMI071",
        Example(
            {
                "Endpoint/Properties/DeploymentConfig/BlueGreenUpdatePolicy": {
                    "TrafficRoutingConfiguration": CANARY
                }
            }
        ),
    ),
    "both update policies": (
        "LMI070",
        Example(
            {
                "Endpoint/Properties/DeploymentConfig": {
                    "BlueGreenUpdatePolicy": {"TrafficRoutingConfiguration": CANARY},
                    "RollingUpdatePolicy": ROLLING,
                }
            }
        ),
    ),
    "scaling of a missing variant": (
        "LMI081",
        Example(
            {
                "Target/Properties/ResourceId": {
                    "Fn::Sub": "endpoint/${Endpoint.EndpointName}/variant/Other"
                }
            },
            base="scaled",
        ),
    ),
    "a component's metric for a variant": (
        "LMI080",
        Example(
            {
                "Policy/Properties/TargetTrackingScalingPolicyConfiguration"
                "/PredefinedMetricSpecification/PredefinedMetricType": (
                    "SageMakerInferenceComponentInvocationsPerCopy"
                )
            },
            base="scaled",
        ),
    ),
    "a variant scaled to zero": (
        "LMI083",
        Example({"Target/Properties/MinCapacity": 0}, base="scaled"),
    ),
    "a target that does not wait": (
        "LMI082",
        Example(
            {
                "Endpoint/Properties/EndpointName": "llama",
                "Target/Properties/ResourceId": "endpoint/llama/variant/AllTraffic",
            },
            base="scaled",
        ),
    ),
    "an image of another region": ("LMI030", Example({f"{CONTAINER}/Image": IMAGE})),
    "a component of eight GPUs on four": (
        "LMI077",
        Example(
            {
                "Component/Properties/Specification/ComputeResourceRequirements"
                "/NumberOfAcceleratorDevicesRequired": 8
            },
            base="components",
        ),
    ),
    "components without a role": (
        "LMI076",
        Example({"Config/Properties/ExecutionRoleArn": REMOVED}, base="components"),
    ),
    "a download time-out of 30 s": (
        "LMI061",
        Example({f"{VARIANT}/ModelDataDownloadTimeoutInSeconds": 30}),
    ),
    "a role without S3 rights": (
        "LMI091",
        Example(
            {
                "Role/Properties/Policies/0/PolicyDocument/Statement/2": REMOVED,
            }
        ),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_finds(fault):
    rule, example = FAULTS[fault]
    assert rule in {finding.rule for finding in findings(example)}


def test_shows_a_whole_number_as_one_however_it_is_written():
    needs = "Component/Properties/Specification/ComputeResourceRequirements"
    changed = {f"{needs}/NumberOfAcceleratorDevicesRequired": 8.0}
    messages = [one.message for one in findings(Example(changed, base="components"))]
    assert "the component asks for 8 accelerators, but ml.g5.12xlarge has 4" in messages


NEURON = "763104351884.dkr.ecr.us-east-1.amazonaws.com/djl-inference:0.30.0-neuronx-sdk2.20.1"
FALLBACK = {
    "Type": "AWS::SageMaker::Model",
    "Properties": {
        "ExecutionRoleArn": {"Fn::GetAtt": ["Role", "Arn"]},
        "PrimaryContainer": {
            "Image": NEURON,
            "Environment": {"OPTION_TENSOR_PARALLEL_DEGREE": "8"},
        },
    },
}


def pools(second):
    return {
        "Fallback": FALLBACK,
        f"{VARIANT}/InstanceType": REMOVED,
        f"{VARIANT}/InferenceAmiVersion": REMOVED,
        f"{VARIANT}/InstancePools": [
            {"InstanceType": "ml.g6.12xlarge", "Priority": 1},
            {"InstanceType": "ml.inf2.24xlarge", "Priority": 2, **second},
        ],
    }


def test_judges_an_instance_pool_with_the_model_that_runs_on_it():
    override = {"ModelNameOverride": {"Fn::GetAtt": ["Fallback", "ModelName"]}}
    assert "LMI036" not in rules(Example(pools(override)))
    found = {one.rule: one for one in findings(Example(pools({})))}
    assert found["LMI036"].path == "ProductionVariants/0/InstancePools/1/InstanceType"


def test_finds_an_override_of_a_pool_that_its_accelerators_cannot_run():
    override = {"ModelNameOverride": {"Fn::GetAtt": ["Fallback", "ModelName"]}}
    changes = pools(override)
    changes[f"{VARIANT}/InstancePools"][1]["InstanceType"] = "ml.g6.48xlarge"
    found = {one.rule: one for one in findings(Example(changes))}
    assert found["LMI036"].path == "ProductionVariants/0/InstancePools/1/InstanceType"


def test_names_the_host_image_of_the_variant_since_pools_have_none():
    changes = pools({})
    changes[f"{VARIANT}/InstancePools"] = [{"InstanceType": "ml.g5.12xlarge", "Priority": 1}]
    found = {one.rule: one for one in findings(Example(changes))}
    assert found["LMI032"].path == "ProductionVariants/0/InferenceAmiVersion"


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("LMI018", "v12, which has DJL Serving 0.30.0, runs on an async endpoint"),
        ("LMI031", "the image is in 763104351884"),
        ("LMI033", "the host image al2023-ami-sagemaker-inference-gpu-4-1 has 13.0"),
        ("LMI042", "VolumeSizeInGB is 256, but ml.g5.12xlarge has 3800 GB"),
        ("LMI054", "bfloat16 needs compute capability 8.0, T4 has 7.5"),
        ("LMI079", "MinInstanceCount 3 is above MaxInstanceCount 2"),
        ("LMI094", "only lambda.amazonaws.com may assume Role"),
    ],
)
def test_says_which_value_is_wrong_and_against_what(rule, words):
    (example,) = (one.failing for one in all_rules() if one.id == rule)
    messages = [one.message for one in findings(example) if one.rule == rule]
    assert any(words in message for message in messages), messages


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ({"WaitIntervalInSeconds": 4000}, "WaitIntervalInSeconds is 4000, but must be 0 to 3600"),
        (
            {"MaximumExecutionTimeoutInSeconds": 10},
            "MaximumExecutionTimeoutInSeconds is 10, but must be 600 to 28800",
        ),
        (
            {"WaitIntervalInSeconds": 700, "MaximumExecutionTimeoutInSeconds": 600},
            "MaximumExecutionTimeoutInSeconds is 600, but the waits alone take 700 seconds",
        ),
    ],
)
def test_names_the_time_of_an_update_that_is_out_of_range(times, message):
    policy = "Endpoint/Properties/DeploymentConfig/RollingUpdatePolicy"
    found = findings(Example({policy: {**ROLLING, **times}}))
    (said,) = [one.message for one in found if one.rule == "LMI071"]
    assert said.startswith(message)


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ({"Type": "CAPACITY_PERCENT", "Value": 25}, "a step moves 25 % of 1 instance"),
        ({"Type": "INSTANCE_COUNT", "Value": 1}, "a step moves 1 instance of 1 instance"),
        (
            {"Type": "INSTANCE_COUNT", "Value": {"Fn::ImportValue": "size"}},
            "the update moves a part of 1 instance",
        ),
    ],
)
def test_says_what_a_step_moves_only_where_it_is_known(size, message):
    policy = "Endpoint/Properties/DeploymentConfig/RollingUpdatePolicy"
    found = findings(Example({policy: {**ROLLING, "MaximumBatchSize": size}}))
    assert [one.message for one in found if one.rule == "LMI072"] == [message]


@pytest.mark.parametrize(("percent", "is_found"), [(25, True), (50, False)])
def test_finds_a_share_of_two_instances_that_is_less_than_one(percent, is_found):
    size = {"Type": "CAPACITY_PERCENT", "Value": percent}
    change = {
        "Endpoint/Properties/DeploymentConfig/RollingUpdatePolicy": {
            **ROLLING,
            "MaximumBatchSize": size,
        },
        f"{VARIANT}/InitialInstanceCount": 2,
    }
    assert ("LMI072" in rules(Example(change))) == is_found


def test_says_one_thing_of_an_address_without_a_bucket():
    found = findings(Example({f"{SOURCE}/S3Uri": "s3:///llama/"}))
    assert [one.rule for one in found] == ["LMI025"]
