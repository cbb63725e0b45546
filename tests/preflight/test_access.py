"""Whether the role may read, decrypt and pull, and whose the endpoint's name is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from lmi_constructs.checks import TemplateSource
from lmi_constructs.preflight import preflight
from tests.operations.support import model_files
from tests.preflight.support import (
    ACCOUNT,
    REGION,
    ROLE,
    TRUST,
    Canned,
    Faked,
    refused,
    template,
)
from tests.preflight.test_preflight import one

if TYPE_CHECKING:
    from tests.preflight.conftest import Prepared

ACTIONS = "Role__Properties__Policies__0__PolicyDocument__Statement__0__Action"
THEIRS = template(Model__Properties__ExecutionRoleArn=ROLE)


@pytest.mark.parametrize(
    ("actions", "lacking", "rule"),
    [
        (["s3:ListBucket", "ecr:*"], "s3:GetObject", "LMI091"),
        (["s3:GetObject", "ecr:*"], "s3:ListBucket", "LMI091"),
        (["s3:*"], "ecr:BatchGetImage", "LMI092"),
    ],
)
def test_a_role_of_the_template_is_judged_by_its_policies(
    account: Prepared, actions: list[str], lacking: str, rule: str
) -> None:
    found = one(account.look(template(**{ACTIONS: actions})), "role", "fail")
    assert (f"does not allow {lacking}" in found.detail, found.rule) == (True, rule)


def simulated(decisions: dict[str, Any], trust: object = TRUST) -> Canned:
    def simulate(**request: Any) -> Any:
        result = decisions.get(request["ActionNames"][0], "allowed")
        return {
            "EvaluationResults": [result if isinstance(result, dict) else {"EvalDecision": result}]
        }

    role = {"Role": {"AssumeRolePolicyDocument": trust}}
    return Canned(get_role=role, simulate_principal_policy=simulate)


def test_a_role_that_exists_and_may_all_passes(account: Prepared) -> None:
    account.fakes["iam"] = simulated({})
    assert {each.status for each in account.look(THEIRS)} == {"pass"}


@pytest.mark.parametrize(
    ("decision", "status", "said"),
    [
        ("implicitDeny", "fail", "(implicit deny)"),
        ("explicitDeny", "fail", "(explicit deny)"),
        (
            {"EvalDecision": "implicitDeny", "MissingContextValues": ["s3:prefix"]},
            "unknown",
            "depends on s3:prefix",
        ),
        (
            {
                "EvalDecision": "implicitDeny",
                "OrganizationsDecisionDetail": {"AllowedByOrganizations": False},
            },
            "fail",
            "organization",
        ),
        (
            {
                "EvalDecision": "implicitDeny",
                "PermissionsBoundaryDecisionDetail": {"AllowedByPermissionsBoundary": False},
            },
            "fail",
            "permissions boundary",
        ),
    ],
)
def test_a_denial_is_reported_as_what_it_is(
    account: Prepared, decision: Any, status: str, said: str
) -> None:
    account.fakes["iam"] = simulated({"s3:ListBucket": decision})
    found = one(account.look(THEIRS), "role", status)
    assert ("s3:ListBucket" in found.detail, said in found.detail) == (True, True), found


def test_who_may_not_simulate_is_told_what_to_allow(account: Prepared) -> None:
    denied = refused("AccessDenied", "SimulatePrincipalPolicy")
    account.fakes["iam"] = Canned(get_role=denied, simulate_principal_policy=denied)
    found = [each for each in account.look(THEIRS) if each.check == "role"]
    assert {each.status for each in found} == {"unknown"}
    assert any("allow iam:SimulatePrincipalPolicy" in each.fix for each in found)


def test_a_role_of_another_account_is_not_looked_for_in_this_one(account: Prepared) -> None:
    theirs = ROLE.replace(ACCOUNT, "999999999999")
    found = account.look(template(Model__Properties__ExecutionRoleArn=theirs))
    assert "another account" in one(found, "role", "unknown").detail


def test_a_role_that_sagemaker_may_not_assume_fails(account: Prepared) -> None:
    account.fakes["iam"] = simulated({}, trust={})
    assert one(account.look(THEIRS), "role", "fail").rule == "LMI094"


def test_a_role_that_does_not_exist_fails(account: Prepared) -> None:
    missing = refused("NoSuchEntity")
    account.fakes["iam"] = Canned(get_role=missing, simulate_principal_policy=missing)
    found = [each for each in account.look(THEIRS) if each.check == "role"]
    assert {each.status for each in found} == {"fail"}
    assert all("does not exist" in each.detail for each in found)


@pytest.mark.parametrize(
    ("principal", "status"), [(ROLE, "pass"), (f"{ROLE}Other", "fail"), ("*", "pass")]
)
def test_a_policy_of_the_bucket_may_allow_what_the_role_does_not(
    account: Prepared, principal: str, status: str
) -> None:
    account.fakes["iam"] = simulated({"s3:GetObject": "implicitDeny"})
    statement = {"Effect": "Allow", "Principal": {"AWS": [principal]}, "Action": "s3:*"}
    statement["Resource"] = "arn:aws:s3:::models/*"
    policy = {"Version": "2012-10-17", "Statement": [statement]}
    account.s3.put_bucket_policy(Bucket="models", Policy=json.dumps(policy))
    found = [each for each in account.look(THEIRS) if "s3:GetObject on" in each.detail]
    assert [each.status for each in found] == [status]


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, "fail"),
        ({"Condition": {"StringNotEquals": {"aws:SourceVpce": "vpce-1"}}}, "unknown"),
        ({"Condition": {"Bool": {"aws:SecureTransport": "false"}}}, "pass"),
        ({"Action": "s3:PutObject"}, "pass"),
        ({"Resource": "arn:aws:s3:::models/other/*"}, "pass"),
    ],
)
def test_a_policy_of_the_bucket_may_deny_what_the_role_allows(
    account: Prepared, changes: dict[str, Any], status: str
) -> None:
    account.fakes["iam"] = simulated({})
    statement = {"Effect": "Deny", "Principal": "*", "Action": "s3:GetObject"}
    statement |= {"Resource": "arn:aws:s3:::models/*", **changes}
    policy = {"Version": "2012-10-17", "Statement": [statement]}
    account.s3.put_bucket_policy(Bucket="models", Policy=json.dumps(policy))
    for body in (THEIRS, template()):
        found = [each for each in account.look(body) if "s3:GetObject on" in each.detail]
        assert [each.status for each in found] == [status]


@pytest.mark.parametrize(
    ("principal", "status"),
    [
        (f"arn:aws:iam::{ACCOUNT}:root", "pass"),
        (ROLE, "pass"),
        ("arn:aws:iam::210987654321:root", "fail"),
    ],
)
def test_a_policy_of_the_key_must_let_the_policies_of_the_role_count(
    account: Prepared, principal: str, status: str
) -> None:
    kms = account.aws.client("kms")
    key = kms.create_key()["KeyMetadata"]
    statement = {"Effect": "Allow", "Principal": {"AWS": principal}, "Action": "kms:*"}
    policy = {"Version": "2012-10-17", "Statement": [{**statement, "Resource": "*"}]}
    kms.put_key_policy(KeyId=key["KeyId"], PolicyName="default", Policy=json.dumps(policy))
    account.put({**model_files()}, ServerSideEncryption="aws:kms", SSEKMSKeyId=key["Arn"])
    account.fakes["iam"] = simulated({})
    found = [each for each in account.look(THEIRS) if "kms:Decrypt on" in each.detail]
    assert [each.status for each in found] == [status]


def test_the_key_of_the_files_must_be_enabled_and_the_role_decrypt_with_it(
    account: Prepared,
) -> None:
    kms = account.aws.client("kms")
    key = kms.create_key()["KeyMetadata"]
    account.put({**model_files()}, ServerSideEncryption="aws:kms", SSEKMSKeyId=key["Arn"])
    found = account.look()
    assert "the key of the files" in one(found, "key", "pass").detail
    assert f"kms:Decrypt on {key['Arn']}" in one(found, "role", "fail").detail
    may = template(**{ACTIONS: ["s3:*", "ecr:*", "kms:Decrypt"]})
    assert {each.status for each in account.look(may)} == {"pass"}
    kms.disable_key(KeyId=key["KeyId"])
    assert "Disabled" in one(account.look(may), "key", "fail").detail


def test_a_key_that_may_not_be_seen_is_unknown(account: Prepared) -> None:
    account.put({**model_files()}, ServerSideEncryption="aws:kms", SSEKMSKeyId="alias/theirs")
    account.fakes["kms"] = Canned(
        describe_key=refused("AccessDeniedException"),
        get_key_policy=refused("AccessDeniedException"),
    )
    found = account.look()
    assert "allow kms:DescribeKey" in one(found, "key", "unknown").fix
    assert "kms:Decrypt" in one(found, "role", "unknown").detail


NAMED = template(Endpoint__Properties__EndpointName="chat")
ARN = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:endpoint/chat"
ROW = {"ResourceType": "AWS::SageMaker::Endpoint", "PhysicalResourceId": ARN}
NOWHERE = refused("ValidationError", words=f"Stack for {ARN} does not exist")


def test_a_name_that_nobody_has_is_free(account: Prepared) -> None:
    assert one(account.look(NAMED), "name", "pass").detail == "chat is free"


@pytest.mark.parametrize(
    ("accounts", "statuses"),
    [
        ((ACCOUNT, ACCOUNT), ["fail", "fail"]),
        ((None, None), ["pass", "pass"]),  # of two stages, perhaps for two accounts
    ],
)
def test_two_endpoints_cannot_have_one_name_in_an_account(
    account: Prepared, accounts: tuple[str | None, str | None], statuses: list[str]
) -> None:
    sources = [
        TemplateSource(name, NAMED, REGION, own, stack_name=name)
        for name, own in zip(("One", "Two"), accounts, strict=True)
    ]
    names = [each for each in preflight(sources, Faked(account.fakes)) if each.check == "name"]
    assert [each.status for each in names] == statuses
    body = json.loads(json.dumps(NAMED))
    body["Resources"]["Other"] = body["Resources"]["Endpoint"]
    found = [each for each in account.look(body, account=None) if each.check == "name"]
    assert {each.status for each in found} == {"fail"}
    assert "Other takes the name chat as well" in found[0].detail


@pytest.mark.parametrize(
    ("own", "owner", "stack", "status", "said"),
    [
        (ARN, None, "Llm", "pass", "in the stack Llm, and will be updated"),
        ("another", "Other", "Llm", "fail", "the stack Other has made it"),
        (None, "Other", "Llm", "fail", "the stack Other has made it"),
        (None, None, "Llm", "fail", "no stack has made it"),
        (None, "Other", None, "unknown", "made by the stack Other"),
    ],
)
def test_a_name_is_its_own_or_taken(
    account: Prepared, own: str | None, owner: str | None, stack: str | None, status: str, said: str
) -> None:
    row = {**ROW, "StackName": owner, "LogicalResourceId": "Endpoint"}
    detail = {"StackResourceDetail": {"PhysicalResourceId": own}}
    account.fakes["sagemaker"] = Canned(describe_endpoint={"EndpointArn": ARN})
    account.fakes["cloudformation"] = Canned(
        describe_stack_resource=detail if own else NOWHERE,
        describe_stack_resources={"StackResources": [row]} if owner else NOWHERE,
    )
    found = one(account.look(NAMED, stack_name=stack), "name")
    assert (found.status, said in found.detail) == (status, True), found


def test_an_endpoint_of_a_nested_stack_is_its_own(account: Prepared) -> None:
    stacks = {
        ("Llm", "Inner"): "arn:of:the:inner:stack",
        ("arn:of:the:inner:stack", "Endpoint"): ARN,
    }

    def described(StackName: str, LogicalResourceId: str) -> Any:
        found = stacks[StackName, LogicalResourceId]
        return {"StackResourceDetail": {"PhysicalResourceId": found}}

    inner = TemplateSource("Llm/Inner", NAMED, REGION, ACCOUNT)
    body = {"Resources": {"Inner": {"Type": "AWS::CloudFormation::Stack", "Properties": {}}}}
    outer = TemplateSource("Llm", body, REGION, ACCOUNT, {"Inner": inner}, stack_name="Llm")
    fakes = {
        "sagemaker": Canned(describe_endpoint={"EndpointArn": ARN}),
        "cloudformation": Canned(describe_stack_resource=described),
    }
    assert one(list(preflight([outer], Faked(fakes))), "name").status == "pass"


def test_who_may_not_see_stacks_does_not_know_whose_the_name_is(account: Prepared) -> None:
    account.fakes["sagemaker"] = Canned(describe_endpoint={"EndpointArn": ARN})
    account.fakes["cloudformation"] = Canned(describe_stack_resource=refused("AccessDenied"))
    found = one(account.look(NAMED), "name", "unknown")
    assert "allow cloudformation:DescribeStackResource" in found.fix


def test_a_denial_of_the_template_that_cannot_be_judged_is_no_pass(account: Prepared) -> None:
    denial = {"Effect": "Deny", "NotAction": ["ecr:*"], "Resource": "*"}
    policy = {"PolicyName": "Deny", "PolicyDocument": {"Statement": [denial]}}
    body = template()
    body["Resources"]["Role"]["Properties"]["Policies"].append(policy)
    found = [each for each in account.look(body) if each.check == "role"]
    assert {each.status for each in found} == {"unknown"}
    assert all("not known before deploying" in each.detail for each in found)
