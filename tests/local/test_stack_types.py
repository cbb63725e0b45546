"""Stacks of components, composite alarms, bucket policies and topics: made, changed and deleted."""

from __future__ import annotations

import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk.assertions import Template

from lmi_constructs import LmiModel, ModelData

CREATE_DONE = "CREATE_COMPLETE"


def test_components_deploy_update_and_go(
    stack: Any, template: dict[str, Any], component_request: dict[str, Any]
) -> None:
    resources = template["Resources"]
    for name in ("Target", "Policy"):
        del resources[name]
        del template["Outputs"][f"{name}Ref"]
    del resources["Config"]["Properties"]["ProductionVariants"][0]["ModelName"]
    resources["Config"]["Properties"]["ExecutionRoleArn"] = {"Fn::GetAtt": ["Role", "Arn"]}
    properties = {
        **component_request,
        "EndpointName": {"Fn::GetAtt": ["Endpoint", "EndpointName"]},
    }
    del properties["InferenceComponentName"]
    properties["Specification"]["ModelName"] = {"Fn::GetAtt": ["Model", "ModelName"]}
    resources["Component"] = {
        "Type": "AWS::SageMaker::InferenceComponent",
        "Properties": properties,
    }
    template["Outputs"]["Component"] = {"Value": {"Ref": "Component"}}
    assert stack.create(template) == CREATE_DONE
    arn = stack.outputs["Component"]
    name = arn.rpartition("/")[2]
    properties["RuntimeConfig"]["CopyCount"] = 2
    assert stack.update(template) == "UPDATE_COMPLETE"
    sagemaker = stack.aws.client("sagemaker")
    described = sagemaker.describe_inference_component(InferenceComponentName=name)
    assert described["InferenceComponentArn"] == arn == stack.outputs["Component"]
    assert described["RuntimeConfig"]["DesiredCopyCount"] == 2
    properties["VariantName"] = "Other"
    assert stack.update(template) == "UPDATE_ROLLBACK_COMPLETE"
    stack.cloudformation.delete_stack(StackName="S")
    assert sagemaker.list_inference_components()["InferenceComponents"] == []


def test_a_composite_alarm_is_made(stack: Any, template: dict[str, Any]) -> None:
    template["Resources"]["Both"] = {
        "Type": "AWS::CloudWatch::CompositeAlarm",
        "Properties": {"AlarmRule": {"Fn::Sub": 'ALARM("${Alarm}")'}},
    }
    assert stack.create(template) == CREATE_DONE
    found = stack.aws.client("cloudwatch").describe_alarms(
        AlarmTypes=["CompositeAlarm", "MetricAlarm"]
    )
    assert found["CompositeAlarms"][0]["AlarmRule"].startswith('ALARM("S-Alarm-')


@pytest.mark.parametrize("as_list", [True, False])
def test_a_bucket_policy_that_asks_for_tls_does_not_lock_everyone_out(
    stack: Any, as_list: bool
) -> None:
    denial = {
        "Effect": "Deny",
        "Action": "s3:*",
        "Principal": "*",
        "Resource": "*",
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
    template = {
        "Resources": {
            "Bucket": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "assets"}},
            "Policy": {
                "Type": "AWS::S3::BucketPolicy",
                "Properties": {
                    "Bucket": {"Ref": "Bucket"},
                    "PolicyDocument": {
                        "Version": "2012-10-17",
                        "Statement": [denial] if as_list else denial,
                    },
                },
            },
        }
    }
    assert stack.create(template) == CREATE_DONE
    stack.aws.client("s3").put_object(Bucket="assets", Key="a", Body=b"x")


def test_topics_with_policy_and_subscription_come_and_go(stack: Any) -> None:
    statement = {
        "Effect": "Allow",
        "Action": "sns:Publish",
        "Principal": {"Service": "cloudwatch.amazonaws.com"},
        "Resource": {"Ref": "Topic"},
    }
    template = {
        "Resources": {
            "Topic": {"Type": "AWS::SNS::Topic"},
            "Policy": {
                "Type": "AWS::SNS::TopicPolicy",
                "Properties": {
                    "Topics": [{"Ref": "Topic"}],
                    "PolicyDocument": {"Version": "2012-10-17", "Statement": [statement]},
                },
            },
            "Mail": {
                "Type": "AWS::SNS::Subscription",
                "Properties": {
                    "TopicArn": {"Ref": "Topic"},
                    "Protocol": "email",
                    "Endpoint": "team@example.com",
                },
            },
        }
    }
    sns = stack.aws.client("sns")
    assert stack.create(template) == CREATE_DONE
    assert len(sns.list_subscriptions()["Subscriptions"]) == 1
    stack.cloudformation.delete_stack(StackName="S")
    assert sns.list_subscriptions()["Subscriptions"] == sns.list_topics()["Topics"] == []


def secret(**properties: Any) -> dict[str, Any]:
    return {
        "Resources": {"Token": {"Type": "AWS::SecretsManager::Secret", "Properties": properties}},
        "Outputs": {
            "Ref": {"Value": {"Ref": "Token"}},
            "Id": {"Value": {"Fn::GetAtt": ["Token", "Id"]}},
        },
    }


def test_a_secret_of_a_given_value_comes_changes_and_goes(stack: Any) -> None:
    secrets = stack.aws.client("secretsmanager")
    assert stack.create(secret(Name="hub", SecretString="one")) == CREATE_DONE
    arn = stack.outputs["Ref"]
    assert arn == stack.outputs["Id"]
    assert arn.startswith("arn:aws:secretsmanager:us-east-1:123456789012:secret:hub-")
    assert secrets.get_secret_value(SecretId=arn)["SecretString"] == "one"
    assert stack.update(secret(Name="hub", SecretString="two", Description="d")) == (
        "UPDATE_COMPLETE"
    )
    assert secrets.get_secret_value(SecretId=arn)["SecretString"] == "two"
    stack.cloudformation.delete_stack(StackName="S")
    assert secrets.list_secrets()["SecretList"] == []
    assert stack.create(secret(Name="hub", SecretString="three")) == CREATE_DONE


def test_a_generated_secret_is_what_its_template_says_and_stays_until_that_changes(
    stack: Any,
) -> None:
    secrets = stack.aws.client("secretsmanager")

    def value() -> str:
        found: str = secrets.get_secret_value(SecretId=stack.outputs["Ref"])["SecretString"]
        return found

    assert stack.create(secret(GenerateSecretString={})) == CREATE_DONE
    first = value()
    assert len(first) == 32
    assert stack.update(secret(GenerateSecretString={}, Description="d")) == "UPDATE_COMPLETE"
    assert value() == first
    told = {
        "SecretStringTemplate": '{"user": "lmi"}',
        "GenerateStringKey": "password",
        "PasswordLength": "12",
        "ExcludePunctuation": "true",
    }
    assert stack.update(secret(GenerateSecretString=told, Description="d")) == "UPDATE_COMPLETE"
    found = json.loads(value())
    assert found["user"] == "lmi"
    assert len(found["password"]) == 12
    assert found["password"].isalnum()


def test_a_secret_of_the_cdk_deploys_with_the_model_that_takes_it(stack: Any) -> None:
    of_cdk = cdk.Stack(cdk.App(), "S", synthesizer=cdk.LegacyStackSynthesizer())
    token = secretsmanager.Secret(of_cdk, "Token")
    LmiModel(
        of_cdk, "Model", model_data=ModelData.hub("meta-llama/Llama-3.1-8B-Instruct", token=token)
    )
    assert stack.create(Template.from_stack(of_cdk).to_json()) == CREATE_DONE
    (made,) = stack.aws.client("secretsmanager").list_secrets()["SecretList"]
    assert made["Name"].startswith("S-Token")


def test_a_secret_whose_template_is_no_object_is_refused(stack: Any) -> None:
    told = {"SecretStringTemplate": "[1]", "GenerateStringKey": "password"}
    assert stack.create(secret(GenerateSecretString=told)) == "ROLLBACK_COMPLETE"
    assert "SecretStringTemplate is no JSON object" in str(stack.events)
