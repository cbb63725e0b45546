"""Adapters that are components of their own."""

from __future__ import annotations

import io
import json
import random
import tarfile
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ReadTimeoutError

from lmi_constructs.preflight import archives
from tests.operations.support import adapter_files
from tests.preflight.support import ENVIRONMENT, Canned, refused, template
from tests.preflight.test_preflight import one

if TYPE_CHECKING:
    from lmi_constructs.preflight import Outcome
    from tests.preflight.conftest import Prepared

KEY = "acme.tar.gz"


def archive(files: dict[str, bytes]) -> bytes:
    """A `.tar.gz` of files."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def fleet(**settings: str) -> dict[str, Any]:
    """An endpoint whose base component has an adapter of its own."""
    body = template(
        **{ENVIRONMENT: {"OPTION_TENSOR_PARALLEL_DEGREE": "4", **settings}},
        Config__Properties__ExecutionRoleArn={"Fn::GetAtt": ["Role", "Arn"]},
    )
    del body["Resources"]["Config"]["Properties"]["ProductionVariants"][0]["ModelName"]
    place = {
        "EndpointName": {"Fn::GetAtt": ["Endpoint", "EndpointName"]},
        "VariantName": "AllTraffic",
    }
    needs = {"NumberOfAcceleratorDevicesRequired": 4, "MinMemoryRequiredInMb": 1024}
    for name, specification in {
        "Base": {
            "ModelName": {"Fn::GetAtt": ["Model", "ModelName"]},
            "ComputeResourceRequirements": needs,
        },
        "Acme": {
            "BaseInferenceComponentName": "base",
            "Container": {"ArtifactUrl": f"s3://models/adapters/{KEY}"},
        },
    }.items():
        body["Resources"][name] = {
            "Type": "AWS::SageMaker::InferenceComponent",
            "Properties": {
                **place,
                "InferenceComponentName": name.lower(),
                "Specification": specification,
            },
        }
    return body


ON = {"OPTION_ENABLE_LORA": "true"}


def of_acme(found: list[Outcome]) -> list[Outcome]:
    return [each for each in found if each.subject == "Acme"]


@pytest.mark.parametrize(
    ("rank", "status", "said"),
    [
        (16, "pass", "rank 16 is within max_lora_rank 16"),
        (64, "fail", "rank 64, above max_lora_rank 16"),
    ],
)
def test_the_rank_in_an_archive_must_fit_the_base(
    account: Prepared, rank: int, status: str, said: str
) -> None:
    account.put({KEY: archive(adapter_files(rank))}, prefix="adapters/")
    looked = of_acme(account.look(fleet(**ON)))
    found = [each for each in looked if each.check == "adapters" and said in each.detail]
    assert [each.status for each in found] == [status], looked
    assert {each.check for each in looked} == {"files", "adapters", "role"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "does not exist"),
        (b"", "is empty"),
        (b"not packed", "is no .tar.gz"),
        (archive(adapter_files())[:60], "is no .tar.gz"),
        (archive({"adapter_model.safetensors": b"x"}), "holds no adapter_config.json"),
        (archive({"adapter_config.json": b"["}), "no JSON object"),
        (archive({"./adapter_config.json": b"[]"}), "no JSON object"),
    ],
    ids=("absent", "empty", "unpacked", "cut", "no config", "no JSON", "no object"),
)
def test_an_archive_that_holds_no_adapter_fails(
    account: Prepared, content: bytes | None, said: str
) -> None:
    account.put({KEY: content}, prefix="adapters/")
    found = one(of_acme(account.look(fleet(**ON))), "files")
    assert (found.status, said in found.detail) == ("fail", True), found


def test_only_the_beginning_of_an_archive_is_read(
    account: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "_LARGEST_READ_BYTES", 50_000)
    noise = random.Random(0).randbytes(200_000)
    late = {"noise.bin": noise, **adapter_files()}
    account.put({KEY: archive(late)}, prefix="adapters/")
    found = of_acme(account.look(fleet(**ON)))
    assert one(found, "files").status == "pass"
    assert "not at the beginning" in one(found, "adapters", "unknown").detail


def test_an_adapter_of_a_base_that_is_elsewhere_is_not_compared(account: Prepared) -> None:
    account.put({KEY: archive(adapter_files())}, prefix="adapters/")
    body = fleet(**ON)
    specification = body["Resources"]["Acme"]["Properties"]["Specification"]
    specification["BaseInferenceComponentName"] = "elsewhere"
    assert one(of_acme(account.look(body)), "adapters").status == "unknown"


def test_an_archive_that_may_not_be_read_is_unknown(account: Prepared) -> None:
    denied = refused("AccessDenied")
    account.fakes["s3"] = Canned(
        list_objects_v2=denied, head_object=denied, get_object=denied, get_bucket_policy=denied
    )
    found = one(of_acme(account.look(fleet(**ON))), "files")
    assert (found.status, "allow s3:GetObject" in found.fix) == ("unknown", True)


def test_a_connection_that_breaks_says_nothing_about_an_archive(account: Prepared) -> None:
    class Breaking(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise ReadTimeoutError(endpoint_url="s3")

    account.put({KEY: archive(adapter_files())}, prefix="adapters/")
    account.fakes["s3"] = Canned(
        list_objects_v2=[],
        head_object={"ContentLength": 9},
        get_object={"Body": Breaking()},
        get_bucket_policy=refused("AccessDenied"),
    )
    assert one(of_acme(account.look(fleet(**ON))), "files").status == "unknown"


def test_the_endpoint_s_role_must_read_the_archive(account: Prepared) -> None:
    account.put({KEY: archive(adapter_files())}, prefix="adapters/")
    body = fleet(**ON)
    policy = body["Resources"]["Role"]["Properties"]["Policies"][0]["PolicyDocument"]
    policy["Statement"][0]["Resource"] = "arn:aws:s3:::models/llama/*"
    looked = of_acme(account.look(json.loads(json.dumps(body))))
    found = [each for each in looked if each.check == "role" and "s3:GetObject" in each.detail]
    assert [each.status for each in found] == ["fail"]
