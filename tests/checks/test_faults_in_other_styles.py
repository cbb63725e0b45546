"""Public failures, written as people write YAML: defaults of parameters, mappings, conditions, short forms."""

import pytest

from lmi_constructs.checks import CheckOptions, Facts, check_sources
from lmi_constructs.checks.template import read_path
from tests.checks.support import errors

GOOD = """
Parameters:
  Tag: {Type: String, Default: 0.36.0-lmi22.0.0-cu129}
  Type: {Type: String, Default: ml.g5.12xlarge}
  HostImage: {Type: String, Default: al2-ami-sagemaker-inference-gpu-3-1}
  Bucket: {Type: String, Default: team-models}
  Degree: {Type: Number, Default: 4}
  Repository: {Type: String, Default: djl-inference}
  Isolated: {Type: String, Default: "true"}
  Least: {Type: Number, Default: 1}
Conditions:
  Always: !Not [!Equals [a, b]]
Mappings:
  ByRegion: {us-east-1: {type: ml.g4dn.xlarge}}
Resources:
  Role:
    Type: AWS::IAM::Role
    Properties:
      AssumeRolePolicyDocument:
        Statement: [{Effect: Allow, Principal: {Service: [sagemaker.amazonaws.com]}, Action: "sts:AssumeRole"}]
      Policies:
        - PolicyName: serve
          PolicyDocument:
            Statement:
              - {Effect: Allow, Action: "ecr:GetAuthorizationToken", Resource: "*"}
              - {Effect: Allow, Action: ["ecr:Batch*", "ecr:GetDownloadUrlForLayer"], Resource: !Sub "arn:aws:ecr:${AWS::Region}:763104351884:repository/${Repository}"}
              - {Effect: Allow, Action: ["s3:GetObject", "s3:ListBucket"], Resource: [!Sub "arn:aws:s3:::${Bucket}", !Sub "arn:aws:s3:::${Bucket}/*"]}
  Model:
    Type: AWS::SageMaker::Model
    Properties:
      ExecutionRoleArn: !GetAtt Role.Arn
      EnableNetworkIsolation: !Ref Isolated
      PrimaryContainer:
        Image: !Sub "763104351884.dkr.ecr.${AWS::Region}.amazonaws.com/djl-inference:${Tag}"
        ModelDataSource: {S3DataSource: {S3Uri: !Join ["", ["s3://", !Ref Bucket, /llama/]], S3DataType: S3Prefix, CompressionType: None}}
        Environment: {OPTION_TENSOR_PARALLEL_DEGREE: !Ref Degree}
  Config:
    Type: AWS::SageMaker::EndpointConfig
    Properties:
      ProductionVariants:
        - VariantName: !Sub "main"
          ModelName: !GetAtt Model.ModelName
          InstanceType: !Ref Type
          InitialInstanceCount: 1
          ContainerStartupHealthCheckTimeoutInSeconds: 1800
          InferenceAmiVersion: !Ref HostImage
  Endpoint:
    Type: AWS::SageMaker::Endpoint
    Properties: {EndpointConfigName: !GetAtt Config.EndpointConfigName, RetainAllVariantProperties: true}
  Target:
    Type: AWS::ApplicationAutoScaling::ScalableTarget
    Properties:
      ServiceNamespace: sagemaker
      ScalableDimension: sagemaker:variant:DesiredInstanceCount
      ResourceId: !Join ["/", [endpoint, !GetAtt Endpoint.EndpointName, variant, main]]
      MinCapacity: !Ref Least
      MaxCapacity: 4
"""
HEADS = {"model_type": "qwen2", "num_hidden_layers": 28, "hidden_size": 3584, "vocab_size": 152064}
HEADS |= {"intermediate_size": 18944, "num_attention_heads": 28, "num_key_value_heads": 4}
HEADS |= {"max_position_embeddings": 131072, "torch_dtype": "bfloat16"}
DATA = """ModelDataSource: {S3DataSource: {S3Uri: !Join ["", ["s3://", !Ref Bucket, /llama/]], S3DataType: S3Prefix, CompressionType: None}}"""
FAULTS = {
    "the default host by a mapping": (
        "LMI032",
        [
            ("!Ref Type", "!FindInMap [ByRegion, !Ref AWS::Region, type]"),
            ("          InferenceAmiVersion: !Ref HostImage\n", ""),
        ],
    ),
    "heads that eight ranks cannot share, by a default": (
        "LMI052",
        [("Default: ml.g5.12xlarge", "Default: ml.p4d.24xlarge"), ("Default: 4", "Default: 8")],
    ),
    "more ranks than GPUs, by a condition": (
        "LMI055",
        [("DEGREE: !Ref Degree", "DEGREE: !If [Always, 8, 4]")],
    ),
    "a repository that the role may not pull, by a default": (
        "LMI092",
        [("Default: djl-inference", "Default: huggingface-*")],
    ),
    "a prefix without slash, put together": ("LMI020", [("/llama/]]", "/llama]]")]),
    "a host image that does not exist, by a default": ("LMI035", [("gpu-3-1", "gpu-4-1")]),
    "a volume on local storage, by a condition": (
        "LMI042",
        [
            ("InitialInstanceCount: 1", "InitialInstanceCount: 1\n          VolumeSizeInGB: *"),
            ("VolumeSizeInGB: *", "VolumeSizeInGB: !If [Always, 200, !Ref AWS::NoValue]"),
        ],
    ),
    "a hub id and isolation as a string": (
        "LMI090",
        [
            (DATA, ""),
            ("Environment: {", "Environment: {HF_MODEL_ID: !Select [0, [Qwen/Qwen3-8B]], "),
        ],
    ),
    "managed scaling on a model, by a condition": (
        "LMI075",
        [
            (
                "InitialInstanceCount: 1",
                "InitialInstanceCount: 1\n          ManagedInstanceScaling: *",
            ),
            (
                "ManagedInstanceScaling: *",
                "ManagedInstanceScaling:"
                " !If [Always, {Status: ENABLED, MinInstanceCount: 1, MaxInstanceCount: 3}, x]",
            ),
        ],
    ),
    "a fixed name, joined": (
        "LMI066",
        [
            (
                "      ProductionVariants:",
                "      EndpointConfigName: !Join ['-', [!Ref AWS::StackName, config]]\n"
                "      ProductionVariants:",
            )
        ],
    ),
    "a variant scaled to zero, by a default": ("LMI083", [("Default: 1}", "Default: 0}")]),
    "scaling of a missing variant, joined": (
        "LMI081",
        [("variant, main]", "variant, AllTraffic]")],
    ),
}


def found(tmp_path, text, config=None):
    file = tmp_path / "template.yaml"
    file.write_text(text)
    facts = Facts(model_configs={"Model": config} if config else {})
    return check_sources(read_path(file, "us-east-1"), CheckOptions(facts=facts))


def test_finds_nothing_in_the_template_without_a_fault(tmp_path):
    assert found(tmp_path, GOOD) == ()
    assert errors(found(tmp_path, GOOD, HEADS)) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_finds(fault, tmp_path):
    rule, changes = FAULTS[fault]
    text = GOOD
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    assert rule in {one.rule for one in found(tmp_path, text, HEADS)}
