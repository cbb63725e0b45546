"""Keys that are given by an alias: IAM knows them by their ARN, or by a condition."""

from __future__ import annotations

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_kms as kms

from lmi_constructs import AsyncInference, CoreDump, DataCapture, LmiEndpoint, ModelData


@pytest.mark.parametrize("feature", ["model", "capture", "answers", "dumps"])
def test_a_key_made_elsewhere_is_asked_for_by_its_alias(
    stack: cdk.Stack, template: Any, feature: str
) -> None:
    key = kms.Alias.from_alias_name(stack, "Alias", "alias/data")
    make_endpoint(stack, key, feature)
    (statement,) = statements_about_keys(template(stack))
    assert statement["Condition"] == {
        "ForAnyValue:StringEquals": {"kms:ResourceAliases": "alias/data"}
    }
    assert stack.resolve(statement["Resource"]) == {
        "Fn::Join": [
            "",
            ["arn:", {"Ref": "AWS::Partition"}, ":kms:us-west-2:111122223333:key/*"],
        ]
    }


@pytest.mark.parametrize("feature", ["model", "capture", "answers", "dumps"])
def test_the_key_behind_an_alias_of_this_app_is_named(
    stack: cdk.Stack, template: Any, feature: str
) -> None:
    key = kms.Key(stack, "Key")
    make_endpoint(stack, kms.Alias(stack, "Alias", alias_name="data", target_key=key), feature)
    (statement,) = statements_about_keys(template(stack))
    assert statement["Resource"] == stack.resolve(key.key_arn)
    assert "Condition" not in statement


def make_endpoint(stack: cdk.Stack, key: kms.IKey, feature: str) -> None:
    features: dict[str, Any] = {
        "model": {},
        "capture": {"data_capture": DataCapture(bucket="captured", encryption_key=key)},
        "answers": {
            "async_inference": AsyncInference(
                bucket="answers", output_prefix="a/", encryption_key=key
            )
        },
        "dumps": {"core_dump": CoreDump("dumps", "d/", encryption_key=key)},
    }
    data_key = key if feature == "model" else None
    LmiEndpoint(
        stack,
        "Chat",
        model_data=ModelData.s3_prefix("my-models", "m/", encryption_key=data_key),
        instance_type="ml.g6.12xlarge",
        **features[feature],
    )


def statements_about_keys(template: dict[str, Any]) -> list[dict[str, Any]]:
    """Statements of roles and their policies that are about keys."""
    documents = []
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::IAM::Policy":
            documents.append(resource["Properties"]["PolicyDocument"])
        if resource["Type"] == "AWS::IAM::Role":
            policies = resource["Properties"].get("Policies", ())
            documents += [policy["PolicyDocument"] for policy in policies]
    return [
        statement
        for document in documents
        for statement in document["Statement"]
        if "kms:Decrypt" in statement["Action"]
    ]
