"""What the account tells of a deployment before it is one."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import NoCredentialsError

from lmi_constructs.checks import TemplateSource
from lmi_constructs.checks.template import read_path
from lmi_constructs.preflight import CHECKS, preflight
from tests.preflight.support import (
    ACCOUNT,
    ENVIRONMENT,
    IMAGE,
    REGION,
    ROLE,
    Canned,
    Faked,
    Refusing,
    assembly,
    quotas,
    refused,
    template,
)

if TYPE_CHECKING:
    from pathlib import Path

    from lmi_constructs.preflight import Outcome
    from tests.preflight.conftest import Prepared


def one(found: list[Outcome], check: str, status: str | None = None) -> Outcome:
    """The only outcome of a check, or of a check and status."""
    some = [each for each in found if each.check == check and status in (None, each.status)]
    assert len(some) == 1, found
    return some[0]


def test_everything_passes_where_everything_is_there(account: Prepared) -> None:
    found = account.look()
    assert [each for each in found if each.status != "pass"] == []
    assert {each.check for each in found} == {
        "name", "region", "quota", "image", "files", "memory", "role",
    }  # fmt: skip
    assert {each.check for each in found} <= set(CHECKS)
    assert "6 files" in one(found, "files").detail
    assert {each.endpoint for each in found} == {"Endpoint"}


def test_nothing_but_reading_is_asked(account: Prepared) -> None:
    seen: list[str] = []

    class Watched(Faked):
        def _client(self, service: str, region: str | None) -> Any:
            client = super()._client(service, region)
            client.meta.events.register(
                "before-call.*.*", lambda model, **_: seen.append(model.name)
            )
            return client

    body = template(
        Endpoint__Properties__EndpointName="chat", Model__Properties__ExecutionRoleArn=ROLE
    )
    list(preflight([TemplateSource("template", body, REGION, ACCOUNT)], Watched()))
    assert {"ListObjectsV2", "GetObject", "BatchGetImage", "DescribeEndpoint", "GetRole"} <= set(
        seen
    )
    reading = ("Get", "List", "Describe", "Head", "BatchGet", "Simulate")
    assert all(name.startswith(reading) for name in seen), seen


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ({"images": [{}]}, "pass"),
        ({"images": [], "failures": [{"failureCode": "ImageNotFound"}]}, "fail"),
        (refused("AccessDeniedException"), "unknown"),
        (refused("RepositoryNotFoundException"), "unknown"),
    ],
)
def test_an_image_of_a_foreign_registry_that_is_hidden_is_unknown(
    account: Prepared, answer: Any, status: str
) -> None:
    account.fakes["ecr"] = Canned(batch_get_image=answer)
    image = IMAGE.replace(ACCOUNT, "763104351884")
    found = account.look(template(Model__Properties__PrimaryContainer__Image=image))
    assert one(found, "image").status == status


@pytest.mark.parametrize(
    ("image", "status"),
    [
        (IMAGE.replace("lmi27", "lmi27000"), "fail"),
        (IMAGE.replace("djl-inference", "absent"), "fail"),
        (IMAGE.split(":", maxsplit=1)[0], "unknown"),
        ({"Ref": "ImageParameter"}, "unknown"),
        (IMAGE.split(":", maxsplit=1)[0] + "@sha256:" + "0" * 64, "unknown"),
    ],
)
def test_an_own_image_that_is_not_there_fails(
    account: Prepared, image: object, status: str
) -> None:
    found = account.look(template(Model__Properties__PrimaryContainer__Image=image))
    assert one(found, "image").status == status


@pytest.mark.parametrize(("allowed", "status"), [(1, "fail"), (2, "pass")])
def test_a_quota_below_the_first_instances_fails(
    account: Prepared, allowed: int, status: str
) -> None:
    account.fakes["service-quotas"] = quotas(allowed)
    found = one(account.look(), "quota")
    assert (found.status, "2 x ml.g6.12xlarge at first" in found.detail) == (status, True)
    assert ("ml.g6.12xlarge for endpoint usage" in found.fix) == (status == "fail")


def test_endpoints_of_one_assembly_share_a_quota(account: Prepared) -> None:
    body = template()
    for name in ("Config", "Endpoint"):
        body["Resources"][f"{name}2"] = copy.deepcopy(body["Resources"][name])
    second = body["Resources"]["Endpoint2"]["Properties"]
    second["EndpointConfigName"] = {"Fn::GetAtt": ["Config2", "EndpointConfigName"]}
    account.fakes["service-quotas"] = quotas(3)
    rows = [each for each in account.look(body) if each.check == "quota"]
    assert [(each.endpoint, each.status) for each in rows] == [
        ("Endpoint", "fail"),
        ("Endpoint2", "fail"),
    ]
    assert "2 x ml.g6.12xlarge at first (4 with the other endpoints here)" in rows[0].detail


def test_the_defaults_are_asked_only_for_what_the_account_has_none_of(account: Prepared) -> None:
    own, default = quotas(4).answers, refused("AccessDenied")
    account.fakes["service-quotas"] = Canned(
        list_service_quotas=own["list_service_quotas"], list_aws_default_service_quotas=default
    )
    assert one(account.look(), "quota").status == "pass"
    row = {"QuotaName": "ml.g6.12xlarge for endpoint usage", "Value": 0.0}
    account.fakes["service-quotas"] = Canned(
        list_service_quotas=[{"Quotas": []}], list_aws_default_service_quotas=[{"Quotas": [row]}]
    )
    assert one(account.look(), "quota").status == "fail"


def test_a_quota_that_is_not_listed_is_unknown(account: Prepared) -> None:
    account.fakes["service-quotas"] = quotas(4, "ml.p5.48xlarge")
    assert one(account.look(), "quota").status == "unknown"
    account.fakes["service-quotas"] = Canned(
        list_aws_default_service_quotas=refused("NoSuchResourceException"),
        list_service_quotas=refused("NoSuchResourceException"),
    )
    assert one(account.look(), "quota").status == "unknown"


def test_an_instance_type_that_the_region_lacks_fails(account: Prepared) -> None:
    found = one(account.look(region="ca-west-1"), "region")
    assert (found.status, found.rule) == ("fail", "LMI041")


@pytest.mark.parametrize(
    ("state", "status"), [("Enabled", "pass"), ("Disabled", "fail"), (None, "fail")]
)
def test_the_key_of_the_volumes_must_be_enabled(
    account: Prepared, state: str | None, status: str
) -> None:
    kms = account.aws.client("kms")
    arn = kms.create_key()["KeyMetadata"]["Arn"]
    if state == "Disabled":
        kms.disable_key(KeyId=arn.rpartition("/")[2])
    if state is None:
        arn = arn.rpartition("/")[0] + "/11111111-2222-3333-4444-555555555555"
    found = one(account.look(template(Config__Properties__KmsKeyId=arn)), "key")
    assert (found.status, arn in found.detail) == (status, True)


def test_a_key_that_the_template_makes_is_not_asked_for(account: Prepared) -> None:
    body = template(Config__Properties__KmsKeyId={"Fn::GetAtt": ["Key", "Arn"]})
    body["Resources"]["Key"] = {"Type": "AWS::KMS::Key", "Properties": {}}
    assert not [each for each in account.look(body) if each.check == "key"]


def test_a_secret_must_exist(account: Prepared) -> None:
    reference = "{{resolve:secretsmanager:hub-token:SecretString:::}}"
    body = template(**{f"{ENVIRONMENT}__HF_TOKEN": reference})
    assert one(account.look(body), "secret").status == "fail"
    secrets = account.aws.client("secretsmanager")
    secrets.create_secret(Name="hub-token", SecretString="x")
    assert one(account.look(body), "secret").status == "pass"
    secrets.delete_secret(SecretId="hub-token")
    assert "scheduled for deletion" in one(account.look(body), "secret", "fail").detail


@pytest.mark.parametrize(
    ("middle", "said"),
    [
        ([{"Ref": "AWS::Region"}, f":{ACCOUNT}:secret:gone-abc"], "fail"),
        ([{"Ref": "Parameter"}], "unknown"),
    ],
)
def test_a_secret_whose_arn_is_put_together_is_found(
    account: Prepared, middle: list[Any], said: str
) -> None:
    start = ["{{resolve:secretsmanager:arn:", {"Ref": "AWS::Partition"}, ":secretsmanager:"]
    joined = {"Fn::Join": ["", [*start, *middle, ":SecretString:::}}"]]}
    found = one(account.look(template(**{f"{ENVIRONMENT}__HF_TOKEN": joined})), "secret")
    arn = f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:gone-abc"
    assert (found.status, arn in found.detail) == (said, said == "fail")


def test_a_secret_that_the_template_makes_is_not_asked_for(account: Prepared) -> None:
    text = {"Fn::Sub": "{{resolve:secretsmanager:${Token}:SecretString:::}}"}
    body = template(**{f"{ENVIRONMENT}__HF_TOKEN": text})
    body["Resources"]["Token"] = {"Type": "AWS::SecretsManager::Secret", "Properties": {}}
    assert not [each for each in account.look(body) if each.check == "secret"]


@pytest.mark.parametrize("code", ["AccessDenied", "InternalFailure", "ValidationException"])
def test_what_may_not_be_asked_is_unknown_and_never_a_crash(account: Prepared, code: str) -> None:
    body = template(
        Model__Properties__ExecutionRoleArn=ROLE,
        Endpoint__Properties__EndpointName="chat",
        Config__Properties__KmsKeyId=f"arn:aws:kms:{REGION}:{ACCOUNT}:key/1",
        **{f"{ENVIRONMENT}__HF_TOKEN": "{{resolve:secretsmanager:hub:SecretString:::}}"},
    )
    services = ("s3", "ecr", "iam", "service-quotas", "sagemaker", "kms", "secretsmanager", "sts")
    account.fakes = {service: Refusing(code) for service in services}
    found = account.look(body)
    asked = [each for each in found if each.check != "region"]
    assert {each.status for each in asked} == {"unknown"}
    assert {each.check for each in asked} == {
        "name", "quota", "key", "image", "files", "memory", "secret", "role",
    }  # fmt: skip
    assert all(each.fix for each in asked)


def test_without_credentials_it_is_said_once_and_nothing_is_asked(account: Prepared) -> None:
    account.fakes["sts"] = Canned(get_caller_identity=NoCredentialsError())
    found = account.look()
    assert "sign in" in one(found, "account", "unknown").fix
    assert {service for service, _ in account.asked} == {"sts"}
    assert one(found, "region").status == "pass"


def test_another_account_is_not_asked_in_place_of_the_right_one(
    account: Prepared, tmp_path: Path
) -> None:
    body = template(Endpoint__Properties__EndpointName="chat")
    stacks = {"Dev": (ACCOUNT, body), "Prod": ("999999999999", body), "Far": ("999999999999", body)}
    asking = Faked()
    found = list(preflight(read_path(assembly(tmp_path / "cdk.out", stacks)), asking))
    wrong = one(found, "account")
    assert (wrong.status, wrong.subject, wrong.endpoint) == ("unknown", "999999999999", None)
    assert ACCOUNT in wrong.detail
    assert "999999999999" in wrong.fix
    assert len([each for each in found if each.check == "files"]) == 1
    assert len([each for each in found if each.check == "region"]) == 3


def test_a_model_behind_no_endpoint_is_looked_at_too(account: Prepared) -> None:
    body = template()
    del body["Resources"]["Endpoint"], body["Resources"]["Config"]
    found = account.look(body)
    assert {each.check for each in found} == {"image", "files", "role"}
    assert {(each.endpoint, each.subject) for each in found} == {(None, "Model")}


def test_a_template_for_any_region_is_looked_at_in_that_of_the_configuration(
    account: Prepared,
) -> None:
    image = {
        "Fn::Sub": IMAGE.replace(ACCOUNT, "${AWS::AccountId}").replace(REGION, "${AWS::Region}")
    }
    body = template(Model__Properties__PrimaryContainer__Image=image)
    found = account.look(body, region=None, account=None)
    assert one(found, "image").status == "pass"
    assert f"offered in {REGION}" in one(found, "region", "pass").detail


def test_an_endpoint_whose_configuration_is_elsewhere_says_so(account: Prepared) -> None:
    body = template(Endpoint__Properties__EndpointConfigName="elsewhere")
    found = account.look(body)
    assert one(found, "configuration").status == "unknown"
    assert one(found, "files").endpoint is None
