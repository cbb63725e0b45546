"""CloudFormation of the local AWS: references, replacement, roll-back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from lmi_constructs.local.rollout import dependency_order

CREATE_DONE = "CREATE_COMPLETE"


def environment(template: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = template["Resources"]["Model"]["Properties"]["PrimaryContainer"]
    return found["Environment"]


def variant(template: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = template["Resources"]["Config"]["Properties"]
    return found["ProductionVariants"][0]


def test_makes_all_resources_in_the_order_of_their_references(
    stack: Any, template: dict[str, Any]
) -> None:
    assert stack.create(template) == CREATE_DONE
    assert {kind: len(names) for kind, names in stack.inventory().items()} == dict.fromkeys(
        ("models", "configs", "endpoints", "alarms", "targets", "policies", "roles"), 1
    )
    done = [name for name, status, _ in stack.events if status == CREATE_DONE]
    assert done == ["Role", "Model", "Config", "Endpoint", "Alarm", "Target", "Policy", "S"]


def test_references_are_those_of_cloudformation(stack: Any, template: dict[str, Any]) -> None:
    stack.create(template)
    outputs, inventory = stack.outputs, stack.inventory()
    arn = "arn:aws:sagemaker:us-east-1:123456789012"
    name = outputs["EndpointName"]
    assert name == inventory["endpoints"][0]
    assert outputs["EndpointRef"] == f"{arn}:endpoint/{name}"
    assert outputs["ModelRef"] == f"{arn}:model/{inventory['models'][0]}"
    assert outputs["AlarmArn"].endswith(f":alarm:{inventory['alarms'][0]}")
    assert outputs["TargetRef"] == (
        f"endpoint/{name}/variant/AllTraffic|sagemaker:variant:DesiredInstanceCount|sagemaker"
    )
    assert outputs["PolicyRef"].startswith("arn:aws:autoscaling:")


def test_a_changed_model_replaces_model_and_config_under_the_same_endpoint(
    stack: Any, template: dict[str, Any]
) -> None:
    stack.create(template)
    before = stack.inventory()
    sagemaker = stack.aws.client("sagemaker")
    name = before["endpoints"][0]
    old = sagemaker.describe_endpoint(EndpointName=name)
    environment(template)["OPTION_MAX_MODEL_LEN"] = "8192"
    assert stack.update(template) == "UPDATE_COMPLETE"
    after, new = stack.inventory(), sagemaker.describe_endpoint(EndpointName=name)
    assert after["endpoints"] == before["endpoints"]
    assert new["CreationTime"] == old["CreationTime"]
    assert new["EndpointConfigName"] == after["configs"][0] != before["configs"][0]
    assert len(after["models"]) == len(after["configs"]) == 1
    assert after["models"] != before["models"]
    deleted = [item for item, status, _ in stack.events if status == "DELETE_COMPLETE"]
    assert deleted == ["Config", "Model"]


def test_an_update_keeps_the_instances_that_scaling_chose(
    stack: Any, template: dict[str, Any]
) -> None:
    stack.create(template)
    sagemaker = stack.aws.client("sagemaker")
    name = stack.outputs["EndpointName"]
    sagemaker.update_endpoint_weights_and_capacities(
        EndpointName=name,
        DesiredWeightsAndCapacities=[{"VariantName": "AllTraffic", "DesiredInstanceCount": 3}],
    )
    environment(template)["OPTION_MAX_MODEL_LEN"] = "8192"
    stack.update(template)
    described = sagemaker.describe_endpoint(EndpointName=name)
    assert described["ProductionVariants"][0]["DesiredInstanceCount"] == 3


def test_a_resource_the_api_refuses_rolls_the_stack_back_and_says_why(
    stack: Any, template: dict[str, Any]
) -> None:
    variant(template)["InstanceType"] = "ml.g6.99xlarge"
    assert stack.create(template) == "ROLLBACK_COMPLETE"
    assert not any(stack.inventory().values())
    reason = next(why for name, status, why in stack.events if status == "CREATE_FAILED")
    assert reason.startswith("Resource handler returned message: ")
    assert "Value 'ml.g6.99xlarge' at 'productionVariants.1.member.instanceType'" in reason
    assert stack.outputs == {}


def test_a_failed_update_brings_everything_back(stack: Any, template: dict[str, Any]) -> None:
    stack.create(template)
    before = stack.inventory()
    good = json.loads(json.dumps(template))
    environment(template)["OPTION_MAX_MODEL_LEN"] = "8192"
    template["Resources"]["Alarm"]["Properties"]["ComparisonOperator"] = "Above"
    assert stack.update(template) == "UPDATE_ROLLBACK_COMPLETE"
    assert stack.inventory() == before
    endpoint = stack.aws.client("sagemaker").describe_endpoint(EndpointName=before["endpoints"][0])
    assert endpoint["EndpointConfigName"] == before["configs"][0]
    environment(good)["OPTION_MAX_MODEL_LEN"] = "4096"
    assert stack.update(good) == "UPDATE_COMPLETE"


def test_a_removed_resource_goes_in_the_clean_up(stack: Any, template: dict[str, Any]) -> None:
    stack.create(template)
    del template["Resources"]["Alarm"], template["Outputs"]["AlarmArn"]
    assert stack.update(template) == "UPDATE_COMPLETE"
    assert stack.inventory()["alarms"] == []


def test_deleting_a_stack_leaves_nothing(stack: Any, template: dict[str, Any]) -> None:
    stack.create(template)
    stack.cloudformation.delete_stack(StackName="S")
    assert not any(stack.inventory().values())
    assert stack.cloudformation.describe_stacks()["Stacks"] == []


def test_a_retained_resource_outlives_its_stack(stack: Any, template: dict[str, Any]) -> None:
    template["Resources"]["Model"]["DeletionPolicy"] = "Retain"
    stack.create(template)
    stack.cloudformation.delete_stack(StackName="S")
    assert len(stack.inventory()["models"]) == 1


def test_a_scalable_target_of_a_missing_variant_fails(stack: Any, template: dict[str, Any]) -> None:
    target = template["Resources"]["Target"]["Properties"]
    target["ResourceId"]["Fn::Join"][1][2] = "/variant/Other"
    assert stack.create(template) == "ROLLBACK_COMPLETE"
    assert any("does not exist" in why for _, _, why in stack.events)


@pytest.mark.parametrize("name", ["ModelName", "EndpointName"])
def test_a_fixed_name_is_used(stack: Any, template: dict[str, Any], name: str) -> None:
    template["Resources"][name.removesuffix("Name")]["Properties"][name] = "fixed"
    stack.create(template)
    assert stack.inventory()[f"{name.removesuffix('Name').lower()}s"] == ["fixed"]


def test_a_fixed_model_name_collides_with_its_own_replacement(
    stack: Any, template: dict[str, Any]
) -> None:
    template["Resources"]["Model"]["Properties"]["ModelName"] = "fixed"
    stack.create(template)
    environment(template)["OPTION_MAX_MODEL_LEN"] = "8192"
    assert stack.update(template) == "UPDATE_ROLLBACK_COMPLETE"
    assert any("already existing model" in why for _, _, why in stack.events)


def test_generated_names_fit_the_api_for_a_long_stack_name(
    aws: Any, template: dict[str, Any]
) -> None:
    cloudformation, name = aws.client("cloudformation"), "A" * 100
    cloudformation.create_stack(StackName=name, TemplateBody=json.dumps(template))
    assert cloudformation.describe_stacks()["Stacks"][0]["StackStatus"] == CREATE_DONE


def test_an_unknown_type_is_refused_and_not_skipped(stack: Any, template: dict[str, Any]) -> None:
    template["Resources"]["Odd"] = {"Type": "AWS::Odd::Thing"}
    assert stack.create(template) == "ROLLBACK_COMPLETE"
    assert any("does not know the type AWS::Odd::Thing" in why for _, _, why in stack.events)


def test_an_unknown_property_is_refused(stack: Any, template: dict[str, Any]) -> None:
    template["Resources"]["Endpoint"]["Properties"]["EndpointConfiguration"] = "x"
    assert stack.create(template) == "ROLLBACK_COMPLETE"
    assert any("extraneous key [EndpointConfiguration]" in why for _, _, why in stack.events)


def test_a_condition_that_is_false_leaves_a_resource_out(
    stack: Any, template: dict[str, Any]
) -> None:
    template["Conditions"] = {"Never": {"Fn::Equals": ["a", "b"]}}
    template["Resources"]["Alarm"]["Condition"] = "Never"
    template["Outputs"]["AlarmArn"]["Condition"] = "Never"
    assert stack.create(template) == CREATE_DONE
    assert stack.inventory()["alarms"] == []


def test_another_stack_can_import_an_export(aws: Any, template: dict[str, Any]) -> None:
    cloudformation = aws.client("cloudformation")
    template["Outputs"]["EndpointName"]["Export"] = {"Name": "chat"}
    cloudformation.create_stack(StackName="One", TemplateBody=json.dumps(template))
    alarm = template["Resources"]["Alarm"]
    alarm["Properties"]["Dimensions"][0]["Value"] = {"Fn::ImportValue": "chat"}
    second = {"Resources": {"Alarm": alarm}}
    cloudformation.create_stack(StackName="Two", TemplateBody=json.dumps(second))
    alarms = aws.client("cloudwatch").describe_alarms()["MetricAlarms"]
    names = {alarm["Dimensions"][0]["Value"] for alarm in alarms}
    assert len(alarms) == 2
    assert len(names) == 1


def test_a_circle_of_references_is_named() -> None:
    resources = {"A": {"DependsOn": "B"}, "B": {"Properties": {"X": {"Ref": "A"}}}}
    with pytest.raises(ValueError, match=r"Circular dependency between resources: \[A, B\]"):
        dependency_order(resources)


def test_a_change_set_keeps_an_ssm_parameter_and_is_found_by_its_stack(
    aws: Any, template: dict[str, Any]
) -> None:
    cloudformation = aws.client("cloudformation")
    aws.client("ssm").put_parameter(Name="/version", Value="32", Type="String")
    version = {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/version"}
    template["Parameters"] = {"Version": version}

    def run(stack: str, kind: str, **options: Any) -> str:
        name = {"StackName": stack, "ChangeSetName": "same-name"}
        cloudformation.create_change_set(
            **name, ChangeSetType=kind, TemplateBody=json.dumps(template), **options
        )
        cloudformation.execute_change_set(**name)
        cloudformation.delete_change_set(**name)
        return str(cloudformation.describe_stacks(StackName=stack)["Stacks"][0]["StackStatus"])

    assert run("One", "CREATE") == CREATE_DONE
    assert run("Two", "CREATE") == CREATE_DONE
    environment(template)["OPTION_MAX_MODEL_LEN"] = "8192"
    kept = [{"ParameterKey": "Version", "UsePreviousValue": True}]
    assert run("One", "UPDATE", Parameters=kept) == "UPDATE_COMPLETE"
    with pytest.raises(cloudformation.exceptions.ChangeSetNotFoundException):
        cloudformation.describe_change_set(StackName="One", ChangeSetName="same-name")


def test_two_change_sets_of_one_name_are_told_apart(aws: Any, template: dict[str, Any]) -> None:
    cloudformation = aws.client("cloudformation")
    for stack in ("One", "Two"):
        cloudformation.create_change_set(
            StackName=stack,
            ChangeSetName="same-name",
            ChangeSetType="CREATE",
            TemplateBody=json.dumps(template),
        )
    cloudformation.execute_change_set(StackName="One", ChangeSetName="same-name")
    stacks = cloudformation.describe_stacks()["Stacks"]
    assert {item["StackName"]: item["StackStatus"] for item in stacks} == {
        "One": CREATE_DONE,
        "Two": "REVIEW_IN_PROGRESS",
    }


def test_a_stack_takes_its_change_sets_with_it(aws: Any, template: dict[str, Any]) -> None:
    """The CDK CLI waits for the end of a change set of its own name before it makes the next."""
    cloudformation = aws.client("cloudformation")
    name = {"StackName": "One", "ChangeSetName": "same-name"}
    body = json.dumps(template)
    for _ in range(2):
        cloudformation.create_change_set(**name, ChangeSetType="CREATE", TemplateBody=body)
        cloudformation.execute_change_set(**name)
        cloudformation.delete_stack(StackName="One")
        with pytest.raises(cloudformation.exceptions.ChangeSetNotFoundException):
            cloudformation.describe_change_set(**name)


def test_a_stack_in_review_is_one_stack_with_its_own_change_sets(
    aws: Any, template: dict[str, Any]
) -> None:
    cloudformation = aws.client("cloudformation")
    body = json.dumps(template)

    def ask(stack: str, name: str) -> None:
        cloudformation.create_change_set(
            StackName=stack, ChangeSetName=name, ChangeSetType="CREATE", TemplateBody=body
        )

    for stack, name in (("One", "first"), ("One", "second"), ("Two", "first")):
        ask(stack, name)
    listed = cloudformation.list_stacks()["StackSummaries"]
    assert [(one["StackName"], one["StackStatus"]) for one in listed] == [
        ("One", "REVIEW_IN_PROGRESS"),
        ("Two", "REVIEW_IN_PROGRESS"),
    ]
    own = cloudformation.list_change_sets(StackName="One")["Summaries"]
    assert [one["ChangeSetName"] for one in own] == ["first", "second"]
    with pytest.raises(cloudformation.exceptions.AlreadyExistsException, match="first"):
        ask("One", "first")
    cloudformation.execute_change_set(StackName="One", ChangeSetName="second")
    (made,) = cloudformation.describe_stacks(StackName="One")["Stacks"]
    assert made["StackStatus"] == CREATE_DONE
    with pytest.raises(ClientError, match="already exists and cannot be created again"):
        ask("One", "third")


def test_a_rolled_back_stack_can_be_deleted_and_made_again(
    stack: Any, template: dict[str, Any]
) -> None:
    variant(template)["InstanceType"] = "ml.g6.99xlarge"
    stack.create(template)
    stack.cloudformation.delete_stack(StackName="S")
    variant(template)["InstanceType"] = "ml.g6.48xlarge"
    assert stack.create(template) == CREATE_DONE


def test_tags_change_in_place(stack: Any, template: dict[str, Any]) -> None:
    properties = template["Resources"]["Model"]["Properties"]
    properties["Tags"] = [{"Key": "team", "Value": "a"}, {"Key": "old", "Value": "x"}]
    stack.create(template)
    before = stack.inventory()
    properties["Tags"] = [{"Key": "team", "Value": "b"}, {"Key": "stage", "Value": "dev"}]
    assert stack.update(template) == "UPDATE_COMPLETE"
    assert stack.inventory() == before
    found = stack.aws.client("sagemaker").list_tags(ResourceArn=stack.outputs["ModelRef"])
    assert {tag["Key"]: tag["Value"] for tag in found["Tags"]} == {"team": "b", "stage": "dev"}


def test_a_stack_is_found_by_what_it_has_made(stack: Any, template: dict[str, Any]) -> None:
    stack.create(template)
    rows = stack.cloudformation.describe_stack_resources(StackName="S")["StackResources"]
    made = rows[0]["PhysicalResourceId"]
    found = stack.cloudformation.describe_stack_resources(PhysicalResourceId=made)
    assert found["StackResources"][0]["StackName"] == "S"
    with pytest.raises(ClientError, match="Stack for nothing does not exist"):
        stack.cloudformation.describe_stack_resources(PhysicalResourceId="nothing")


@pytest.fixture
def renamed(template: dict[str, Any]) -> dict[str, Any]:
    """The template with its endpoint under another logical id, as a renamed construct has it."""
    template["Outputs"]["EndpointName"]["Export"] = {"Name": "chat"}
    changed: dict[str, Any] = json.loads(
        json.dumps(template).replace('"Endpoint"', '"Renamed"').replace("${Endpoint", "${Renamed")
    )
    return changed


def _importing(name: str) -> dict[str, Any]:
    value = {"Fn::ImportValue": name}
    return {"Resources": {"Topic": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": value}}}}


def test_an_exported_resource_may_be_renamed_and_all_goes_away(
    stack: Any, template: dict[str, Any], renamed: dict[str, Any]
) -> None:
    assert stack.create(template) == CREATE_DONE
    first = stack.outputs["EndpointName"]
    assert stack.update(renamed) == "UPDATE_COMPLETE"
    assert stack.outputs["EndpointName"] != first
    exports = stack.cloudformation.list_exports()["Exports"]
    assert [item["Value"] for item in exports] == [stack.outputs["EndpointName"]]
    stack.cloudformation.delete_stack(StackName="S")
    assert not any(stack.inventory().values())
    assert stack.cloudformation.list_exports()["Exports"] == []


def test_an_export_in_use_is_neither_changed_nor_taken_away(
    stack: Any, template: dict[str, Any], renamed: dict[str, Any]
) -> None:
    stack.create(template)
    user = stack.cloudformation.create_stack(
        StackName="User", TemplateBody=json.dumps(_importing("chat"))
    )
    assert user["StackId"]
    before = stack.inventory(), stack.outputs
    assert stack.update(renamed) == "UPDATE_ROLLBACK_COMPLETE"
    assert "Export chat cannot be updated as it is in use by User" in str(stack.events)
    assert (stack.inventory(), stack.outputs) == before
    stack.cloudformation.delete_stack(StackName="S")
    assert stack.status == "DELETE_FAILED"
    assert "Export chat cannot be deleted as it is in use by User" in str(stack.events)
    assert (stack.inventory(), stack.outputs) == before
    for name in ("User", "S"):
        stack.cloudformation.delete_stack(StackName=name)
    assert not any(stack.inventory().values())


def test_what_was_given_a_new_reference_goes_before_what_it_refers_to(
    stack: Any, template: dict[str, Any]
) -> None:
    topic = {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": "one"}}
    alone = {"Resources": {"First": topic}}
    stack.create(alone)
    first = {**topic, "Properties": {"DisplayName": {"Fn::GetAtt": ["Second", "TopicName"]}}}
    stack.update({"Resources": {"First": first, "Second": topic}})
    stack.cloudformation.delete_stack(StackName="S")
    gone = [name for name, status, _ in _events_of_deleted(stack) if status == "DELETE_COMPLETE"]
    assert gone == ["First", "Second", "S"]


def _events_of_deleted(stack: Any) -> list[tuple[str, str, str]]:
    deleted = stack.cloudformation.list_stacks(StackStatusFilter=["DELETE_COMPLETE"])
    (summary,) = deleted["StackSummaries"]
    found = stack.cloudformation.describe_stack_events(StackName=summary["StackId"])
    return [
        (item["LogicalResourceId"], item["ResourceStatus"], "")
        for item in reversed(found["StackEvents"])
    ]
