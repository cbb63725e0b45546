"""Stacks of components, composite alarms, bucket policies and topics: made, changed and deleted."""

from __future__ import annotations

from typing import Any

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


def test_a_bucket_policy_that_asks_for_tls_does_not_lock_everyone_out(stack: Any) -> None:
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
                    "PolicyDocument": {"Version": "2012-10-17", "Statement": [denial]},
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
