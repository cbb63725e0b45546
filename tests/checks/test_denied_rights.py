"""An explicit Deny beats every Allow, wherever each of them stands."""

from __future__ import annotations

from typing import Any

import pytest

from lmi_constructs.checks.examples import Example
from tests.checks.support import findings

POLICIES = "Role/Properties/Policies/1"
BUCKET = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "example-models"}}
BUCKET_POLICY = {
    "Type": "AWS::S3::BucketPolicy",
    "Properties": {
        "Bucket": "example-models",
        "PolicyDocument": {
            "Statement": [
                {
                    "Effect": "Allow",
                    "Principal": "*",
                    "Action": "s3:GetObject",
                    "Resource": "arn:aws:s3:::example-models/*",
                }
            ]
        },
    },
}


OTHERS_DENIED = {"Effect": "Deny", "NotAction": ["s3:*", "ecr:*"], "Resource": "*"}


def deny(action: str, resource: object = "*", **more: Any) -> dict[str, Any]:
    statement = {"Effect": "Deny", "Action": action, "Resource": resource, **more}
    return {"PolicyName": "Deny", "PolicyDocument": {"Statement": [statement]}}


def attached(action: str) -> dict[str, Any]:
    properties = {**deny(action), "Roles": [{"Ref": "Role"}]}
    return {"Type": "AWS::IAM::Policy", "Properties": properties}


def said(change: dict[str, Any], base: str = "endpoint") -> list[tuple[str, str, str]]:
    return [
        (one.rule, one.severity, one.message)
        for one in findings(Example(change, base=base))
        if one.rule in ("LMI091", "LMI092", "LMI097", "LMI098")
    ]


@pytest.mark.parametrize(
    ("change", "rule", "message"),
    [
        ({POLICIES: deny("s3:GetObject")}, "LMI091", "a Deny in Role takes s3:GetObject on"),
        (
            {POLICIES: deny("s3:*", "arn:aws:s3:::example-models/*")},
            "LMI091",
            "a Deny in Role takes s3:GetObject on",
        ),
        ({"Denial": attached("s3:Get*")}, "LMI091", "a Deny in Denial takes s3:GetObject on"),
        ({POLICIES: deny("ecr:*")}, "LMI092", "a Deny in Role takes ecr:BatchGetImage on"),
        (
            {POLICIES: deny("s3:GetObject"), "BucketPolicy": BUCKET_POLICY, "Bucket": BUCKET},
            "LMI091",
            "a Deny in Role takes s3:GetObject on",
        ),
    ],
    ids=["in the role", "of the bucket", "attached", "image", "bucket that is open"],
)
def test_finds_what_is_denied_though_it_is_allowed(
    change: dict[str, Any], rule: str, message: str
) -> None:
    ((found, severity, text),) = said(change)
    assert (found, severity) == (rule, "error")
    assert text.startswith(message)


def test_says_who_denies_and_what_to_do() -> None:
    (finding,) = [
        one for one in findings(Example({"Denial": attached("s3:*")})) if one.rule == "LMI091"
    ]
    assert (
        finding.fix == "take the Deny of s3:GetObject out of Denial: no other policy can allow it"
    )


def test_finds_outputs_that_may_not_be_written() -> None:
    found = said({POLICIES: deny("s3:PutObject")}, base="asynchronous")
    assert {(rule, severity) for rule, severity, _ in found} == {("LMI098", "error")}


@pytest.mark.parametrize(
    "denied",
    [
        deny("s3:DeleteObject"),
        deny("s3:GetObject", "arn:aws:s3:::somebody-elses/*"),
        deny("s3:*", Condition={"Bool": {"aws:SecureTransport": "false"}}),
        deny("s3:*", {"Fn::ImportValue": "somewhere"}),
        deny("s3:GetObject", {"Ref": "AWS::NoValue"}),
        {"PolicyName": "Deny", "PolicyDocument": {"Statement": [OTHERS_DENIED]}},
    ],
    ids=["another action", "another bucket", "condition", "unknown", "nothing", "all but some"],
)
def test_abstains_where_nothing_needed_is_denied_for_sure(denied: dict[str, Any]) -> None:
    assert said({POLICIES: denied}) == []


def test_a_denial_that_cannot_be_judged_hides_no_right_that_is_lacking() -> None:
    statements = "Role/Properties/Policies/0/PolicyDocument/Statement"
    ((rule, severity, _),) = said({f"{statements}/2": OTHERS_DENIED})
    assert (rule, severity) == ("LMI091", "warning")


CAPTURE = {
    "Config/Properties/DataCaptureConfig": {
        "CaptureOptions": [{"CaptureMode": "Input"}],
        "DestinationS3Uri": "s3://captured/c/",
        "InitialSamplingPercentage": 10,
    }
}


def test_the_role_of_a_fleet_writes_what_is_captured() -> None:
    allowed = {
        "PolicyName": "Write",
        "PolicyDocument": {
            "Statement": [
                {
                    "Effect": "Allow",
                    "Action": "s3:PutObject",
                    "Resource": "arn:aws:s3:::captured/c/*",
                }
            ]
        },
    }
    assert [rule for rule, _, _ in said(CAPTURE, base="components")] == ["LMI098"]
    assert said({**CAPTURE, POLICIES: allowed}, base="components") == []
