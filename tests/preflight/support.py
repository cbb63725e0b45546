"""An account as a preflight finds it, and templates to look at."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError
from click.testing import CliRunner

from lmi_constructs.cli._group import lmi
from lmi_constructs.preflight import Account

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

ACCOUNT = "123456789012"
REGION = "us-east-1"
IMAGE = f"{ACCOUNT}.dkr.ecr.{REGION}.amazonaws.com/djl-inference:0.36.0-lmi27.0.0-cu130"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/Serving"
TRUST = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Action": "sts:AssumeRole",
            "Principal": {"Service": "sagemaker.amazonaws.com"},
        }
    ],
}
MANIFEST = {
    "schemaVersion": 2,
    "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
    "config": {"digest": "sha256:0"},
    "layers": [],
}
ENVIRONMENT = "Model__Properties__PrimaryContainer__Environment"
URI = "Model__Properties__PrimaryContainer__ModelDataSource__S3DataSource__S3Uri"


class Canned:
    """A client whose operations answer what they are given, or raise it."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers

    def get_paginator(self, operation: str) -> Any:
        return Canned(paginate=lambda **_: iter(self._answer(operation, {})))

    def __getattr__(self, operation: str) -> Any:
        return lambda **request: self._answer(operation, request)

    def _answer(self, operation: str, request: dict[str, Any]) -> Any:
        answer = self.answers[operation]
        if isinstance(answer, Exception):
            raise answer
        return answer(**request) if callable(answer) else answer


class Refusing:
    """A client that refuses everything."""

    def __init__(self, code: str) -> None:
        self.code = code

    def __getattr__(self, name: str) -> Any:
        def refuse(*_: Any, **__: Any) -> Any:
            raise refused(self.code, name)

        return refuse


def refused(code: str, operation: str = "Operation", words: str | None = None) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": words or code}}, operation)


def quotas(value: float, name: str = "ml.g6.12xlarge") -> Canned:
    row = {"QuotaName": f"{name} for endpoint usage", "Value": value}
    return Canned(
        list_aws_default_service_quotas=[{"Quotas": [{**row, "Value": 0.0}]}, {"Quotas": []}],
        list_service_quotas=[{"Quotas": []}, {"Quotas": [row]}],
    )


class Faked(Account):
    """The local account, of which some services answer something else.

    Attributes:
        fakes: Clients by service.
        asked: Every service and region that was asked.
    """

    def __init__(self, fakes: dict[str, Any] | None = None) -> None:
        super().__init__(REGION)
        self.fakes = {"service-quotas": quotas(4), **(fakes or {})}
        self.asked: list[tuple[str, str | None]] = []

    def client(self, service: str, region: str | None = None) -> Any:
        self.asked.append((service, region))
        return self.fakes.get(service) or super().client(service, region)


def template(**changes: Any) -> dict[str, Any]:
    """An endpoint as CDK renders one; `A__b__0=value` sets what is there."""
    statement = {
        "Effect": "Allow",
        "Action": ["s3:GetObject", "s3:ListBucket", "ecr:*"],
        "Resource": "*",
    }
    policy = {"PolicyName": "Execution", "PolicyDocument": {"Statement": [statement]}}
    source = {"S3Uri": "s3://models/llama/", "S3DataType": "S3Prefix", "CompressionType": "None"}
    variant = {
        "VariantName": "AllTraffic",
        "ModelName": {"Fn::GetAtt": ["Model", "ModelName"]},
        "InstanceType": "ml.g6.12xlarge",
        "InitialInstanceCount": 2,
    }
    container = {
        "Image": IMAGE,
        "Environment": {"OPTION_TENSOR_PARALLEL_DEGREE": "4", "OPTION_MAX_MODEL_LEN": "8192"},
        "ModelDataSource": {"S3DataSource": source},
    }
    resources: dict[str, Any] = {
        "Role": {
            "Type": "AWS::IAM::Role",
            "Properties": {"AssumeRolePolicyDocument": TRUST, "Policies": [policy]},
        },
        "Model": {
            "Type": "AWS::SageMaker::Model",
            "Properties": {
                "ExecutionRoleArn": {"Fn::GetAtt": ["Role", "Arn"]},
                "PrimaryContainer": container,
            },
        },
        "Config": {
            "Type": "AWS::SageMaker::EndpointConfig",
            "Properties": {"ProductionVariants": [variant]},
        },
        "Endpoint": {
            "Type": "AWS::SageMaker::Endpoint",
            "Properties": {"EndpointConfigName": {"Fn::GetAtt": ["Config", "EndpointConfigName"]}},
        },
    }
    for path, value in changes.items():
        *way, last = path.split("__")
        place: Any = resources
        for part in way:
            place = place[int(part) if part.isdecimal() else part]
        place[last] = value
    return {"Resources": resources}


def assembly(folder: Path, stacks: dict[str, tuple[str, dict[str, Any]]]) -> Path:
    """Write a cloud assembly: for each stack the account and the template."""
    folder.mkdir(exist_ok=True)
    artifacts = {}
    for name, (account, body) in stacks.items():
        (folder / f"{name}.template.json").write_text(json.dumps(body))
        artifacts[name] = {
            "type": "aws:cloudformation:stack",
            "environment": f"aws://{account}/{REGION}",
            "properties": {"templateFile": f"{name}.template.json", "stackName": f"{name}-stack"},
        }
    (folder / "manifest.json").write_text(json.dumps({"artifacts": artifacts}))
    return folder


def run(*arguments: str) -> Result:
    """Run the command as a user does."""
    done = CliRunner().invoke(lmi, ["preflight", *arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert "Traceback" not in done.output
    return done
