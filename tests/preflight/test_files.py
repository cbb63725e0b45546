"""What the files under a prefix tell: complete or not, and which model it really is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from lmi_constructs.checks.deployment import Facts
from lmi_constructs.checks.template import read_path
from lmi_constructs.preflight import preflight
from tests.operations.support import CONFIG, FIRST, adapter_files, model_files, safetensors
from tests.preflight.support import (
    ACCOUNT,
    ENVIRONMENT,
    URI,
    Canned,
    Faked,
    assembly,
    refused,
    template,
)
from tests.preflight.test_preflight import one

if TYPE_CHECKING:
    from pathlib import Path

    from tests.preflight.conftest import Prepared

LARGE = {
    **CONFIG,
    "hidden_size": 8192,
    "intermediate_size": 28672,
    "num_hidden_layers": 80,
    "num_attention_heads": 64,
}
AWQ = {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}


@pytest.mark.parametrize(
    ("files", "status", "said"),
    [
        ({FIRST: None}, "fail", f"are missing: {FIRST}"),
        ({FIRST: b""}, "fail", f"{FIRST} is empty"),
        ({FIRST: safetensors()[:-2]}, "fail", "and its header says"),
        ({"tokenizer.json": None, "tokenizer_config.json": None}, "fail", "no tokenizer"),
        ({"config.json": None}, "fail", "config.json is not in the root"),
        ({"model.tar.gz": b"zipped"}, "fail", "model.tar.gz is an archive"),
        ({"original/x.pth": b"x"}, "pass", "original/ holds the weights once more"),
    ],
)
def test_says_what_is_wrong_with_the_files(
    account: Prepared, files: dict[str, bytes | None], status: str, said: str
) -> None:
    account.put(files)
    found = [each for each in account.look() if each.check == "files" and said in each.detail]
    assert [each.status for each in found] == [status]


def test_an_object_for_the_prefix_itself_is_one_failure(account: Prepared) -> None:
    account.put({"": b"", "config.json": None})
    found = account.look()
    said = [each.detail for each in found if each.status == "fail"]
    assert any("stands for a folder" in detail for detail in said)
    assert not [detail for detail in said if "does not exist" in detail]
    assert not [each for each in found if each.check == "key"]


def test_a_prefix_of_an_archive_alone_is_one_failure(account: Prepared) -> None:
    account.put({"model.tar.gz": b"x"}, prefix="packed/")
    found = account.look(template(**{URI: "s3://models/packed/"}))
    assert "model.tar.gz is an archive" in one(found, "files", "fail").detail


@pytest.mark.parametrize(
    ("uri", "status", "said"),
    [
        ("s3://models/absent/", "fail", "nothing lies under s3://models/absent/"),
        ("s3://no-such-bucket/llama/", "fail", "bucket no-such-bucket does not exist"),
        ("s3://models/llama", "pass", "6 files"),
        ("models/llama/", "unknown", "no address that starts with s3://"),
        ({"Fn::Sub": "s3://${AWS::AccountId}-models/x/"}, "fail", f"{ACCOUNT}-models does not"),
        ({"Fn::Sub": "s3://${Bucket}/x/"}, "unknown", "known only when"),
        ({"Fn::Sub": "s3://${Role}/x/"}, "unknown", "these templates make the bucket"),
    ],
)
def test_a_prefix_that_is_not_there_fails_and_one_not_known_yet_is_unknown(
    account: Prepared, uri: object, status: str, said: str
) -> None:
    found = one(account.look(template(**{URI: uri})), "files")
    assert (found.status, said in found.detail) == (status, True), found


def test_a_bucket_of_another_region_fails(account: Prepared) -> None:
    found = account.look(region="eu-west-1")
    assert "the bucket models is in us-east-1" in one(found, "files", "fail").detail


@pytest.mark.parametrize(("content", "status"), [(b"x", "unknown"), (b"", "fail"), (None, "fail")])
def test_an_archive_is_there_but_not_looked_into(
    account: Prepared, content: bytes | None, status: str
) -> None:
    account.put({"model.tar.gz": content}, prefix="old/")
    url = "s3://models/old/model.tar.gz"
    body = template(Model__Properties__PrimaryContainer__ModelDataUrl=url)
    del body["Resources"]["Model"]["Properties"]["PrimaryContainer"]["ModelDataSource"]
    found = one(account.look(body), "files")
    assert (found.status, url in found.detail) == (status, True)


@pytest.mark.parametrize(("prefix", "status"), [("old/", "unknown"), ("absent/", "fail")])
def test_a_prefix_of_archives_is_not_looked_into(
    account: Prepared, prefix: str, status: str
) -> None:
    account.put({"a.tar.gz": b"x"}, prefix="old/")
    body = template(
        Model__Properties__PrimaryContainer__ModelDataUrl=f"s3://models/{prefix}",
    )
    del body["Resources"]["Model"]["Properties"]["PrimaryContainer"]["ModelDataSource"]
    assert one(account.look(body), "files").status == status


def test_what_the_names_alone_show_is_said_without_permission_to_read(account: Prepared) -> None:
    account.put({"config.json": None})
    pages = [{"Contents": [{"Key": f"llama/{name}", "Size": 9} for name in ("a.tar.gz", "x.json")]}]
    denied = refused("AccessDenied")
    account.fakes["s3"] = Canned(
        list_objects_v2=pages,
        get_object=denied,
        head_bucket={},
        head_object=denied,
        get_bucket_policy=denied,
    )
    found = [each for each in account.look() if each.check == "files"]
    assert any("a.tar.gz is an archive" in each.detail for each in found if each.status == "fail")


def test_files_that_may_be_listed_and_not_read_are_unknown(account: Prepared) -> None:
    names = [*model_files(), "serving.properties"]
    pages = [{"Contents": [{"Key": f"llama/{name}", "Size": 99} for name in names]}]
    denied = refused("AccessDenied")
    account.fakes["s3"] = Canned(
        list_objects_v2=pages,
        get_object=denied,
        head_bucket=denied,
        head_object=denied,
        get_bucket_policy=denied,
    )
    looked = account.look()
    for check in ("files", "settings", "key"):
        found = one(looked, check)
        assert (found.status, "allow s3:GetObject" in found.fix) == ("unknown", True)


def test_a_model_of_the_hub_is_not_looked_at(account: Prepared) -> None:
    body = template(**{f"{ENVIRONMENT}__HF_MODEL_ID": "Qwen/Qwen3-8B"})
    del body["Resources"]["Model"]["Properties"]["PrimaryContainer"]["ModelDataSource"]
    found = account.look(body)
    assert "Qwen/Qwen3-8B is downloaded" in one(found, "files", "unknown").detail
    assert "by the published config.json" in one(found, "memory", "pass").detail


def test_the_real_quantization_decides_whether_it_fits(account: Prepared) -> None:
    account.put({"config.json": json.dumps(LARGE).encode()})
    refused_one = one(account.look(), "memory")
    account.put({"config.json": json.dumps({**LARGE, "quantization_config": AWQ}).encode()})
    taken = one(account.look(), "memory")
    assert (refused_one.status, refused_one.rule) == ("fail", "LMI050")
    assert (taken.status, taken.detail[:5]) == ("pass", "fits ")


def test_a_model_of_an_unknown_family_is_unknown(account: Prepared) -> None:
    account.put({"config.json": json.dumps({**CONFIG, "model_type": "novel"}).encode()})
    found = one(account.look(), "memory")
    assert (found.status, "novel" in found.detail) == ("unknown", True)


def test_a_model_of_no_family_is_unknown_and_noted(account: Prepared) -> None:
    bare = {key: value for key, value in CONFIG.items() if key != "model_type"}
    account.put({"config.json": json.dumps(bare).encode()})
    found = account.look()
    assert "names no model_type" in one(found, "memory", "unknown").detail
    assert "note: config.json names no model_type" in one(found, "files", "pass").detail


def test_a_given_config_plans_what_cannot_be_read(account: Prepared, tmp_path: Path) -> None:
    """Stages have the same logical ids; a construct path tells them apart."""
    body = template(**{URI: "s3://models/absent/"})
    for name, resource in body["Resources"].items():
        resource["Metadata"] = {"aws:cdk:path": f"STAGE/Llm/Chat/{name}/Resource"}
    stacks = {
        stage: (ACCOUNT, json.loads(json.dumps(body).replace("STAGE", stage)))
        for stage in ("Dev", "Prod")
    }
    sources = read_path(assembly(tmp_path / "cdk.out", stacks))
    facts = Facts(model_configs={"Dev/Llm/Chat": CONFIG, "Prod/Llm/Chat/Model": LARGE})
    found = list(preflight(sources, Faked(), facts))
    assert {each.subject: each.status for each in found if each.check == "memory"} == {
        "Dev/Llm/Chat/Model": "pass",
        "Prod/Llm/Chat/Model": "fail",
    }


def test_two_stages_with_two_models_are_planned_apart(account: Prepared, tmp_path: Path) -> None:
    account.put({**model_files(), "config.json": json.dumps(LARGE).encode()}, prefix="large/")
    stacks = {
        "Dev": (ACCOUNT, template()),
        "Prod": (ACCOUNT, template(**{URI: "s3://models/large/"})),
    }
    found = list(preflight(read_path(assembly(tmp_path / "cdk.out", stacks)), Faked()))
    assert [each.status for each in found if each.check == "memory"] == ["pass", "fail"]


def test_what_lies_in_the_bucket_wins_over_what_is_given(account: Prepared) -> None:
    found = account.look(facts=Facts(model_configs={"Model": LARGE}))
    assert one(found, "memory").status == "pass"


@pytest.mark.parametrize(
    ("text", "status", "rule", "said"),
    [
        ("option.tensor_parallel_degree=4\noption.dtype=fp8\n", "fail", "LMI001", "dtype"),
        ("option.max_model_len=4096\n", "pass", "", "wins over the environment"),
        ("option.tensor_parallel_degree=8\n", "fail", "LMI055", "tensor_parallel_degree"),
    ],
)
def test_settings_beside_the_model_are_judged_like_the_environment(
    account: Prepared, text: str, status: str, rule: str, said: str
) -> None:
    account.put({"serving.properties": text.encode()})
    found = one(account.look(), "settings")
    assert (found.status, found.rule, said in found.detail) == (status, rule, True), found


def test_settings_beside_the_model_count_in_the_plan(account: Prepared) -> None:
    account.put({"serving.properties": b"option.max_model_len=400000\n"})
    found = account.look()
    assert one(found, "memory", "fail").rule == "LMI056"


@pytest.mark.parametrize(
    ("rank", "settings", "status", "said"),
    [
        (16, {"OPTION_ENABLE_LORA": "true"}, "pass", "within max_lora_rank 16"),
        (48, {"OPTION_ENABLE_LORA": "true"}, "fail", "rank 48, above max_lora_rank 16"),
        (
            48,
            {"OPTION_ENABLE_LORA": "true", "OPTION_MAX_LORA_RANK": "64"},
            "pass",
            "within max_lora_rank 64",
        ),
        (
            16,
            {"OPTION_ENABLE_LORA": "true", "OPTION_MAX_LORA_RANK": {"Ref": "Rank"}},
            "unknown",
            "OPTION_MAX_LORA_RANK is known only when",
        ),
        (16, {}, "unknown", "enable_lora is not on"),
    ],
)
def test_an_adapter_must_fit_into_its_slot(
    account: Prepared, rank: int, settings: dict[str, Any], status: str, said: str
) -> None:
    account.put({**adapter_files(rank)}, prefix="llama/adapters/legal/")
    body = template(**{ENVIRONMENT: {"OPTION_TENSOR_PARALLEL_DEGREE": "4", **settings}})
    looked = account.look(body)
    found = [each for each in looked if each.check == "adapters" and said in each.detail]
    assert [each.status for each in found] == [status], looked
    if status == "fail":
        assert "set max_lora_rank to 64" in found[0].fix


def test_the_rank_of_a_single_layer_counts_too(account: Prepared) -> None:
    config = {"r": 8, "rank_pattern": {"q_proj": 32}, "base_model_name_or_path": "a/b"}
    account.put(
        {**adapter_files(), "adapter_config.json": json.dumps(config).encode()},
        prefix="llama/adapters/legal/",
    )
    body = template(**{f"{ENVIRONMENT}__OPTION_ENABLE_LORA": "true"})
    assert "rank 32" in one(account.look(body), "adapters", "fail").detail


@pytest.mark.parametrize(
    ("served", "status"),
    [("Llama-3.1-8B", "pass"), ("Qwen/Qwen3-8B", "unknown"), (None, "unknown")],
)
def test_the_adapter_of_another_model_is_pointed_out(
    account: Prepared, served: str | None, status: str
) -> None:
    account.put({**adapter_files()}, prefix="llama/adapters/legal/")
    body = template(**{f"{ENVIRONMENT}__OPTION_ENABLE_LORA": "true"})
    config = {**CONFIG, **({"_name_or_path": served} if served else {})}
    account.put({"config.json": json.dumps(config).encode()})
    found = [each for each in account.look(body) if "trained on" in each.detail]
    assert [each.status for each in found] == [status]


@pytest.mark.parametrize(
    ("name", "width", "fails"),
    [
        ("model.layers.0.self_attn.q_proj.lora_A.weight", 4096, False),
        ("model.layers.0.self_attn.q_proj.lora_A.weight", 2048, True),
        ("model.layers.0.self_attn.v_proj.lora_A.default.weight", 2048, True),
        ("model.layers.0.mlp.down_proj.lora_A.weight", 14336, False),
        ("vision.blocks.0.attn.q_proj.lora_A.weight", 1024, False),
        ("model.layers.0.self_attn.q_proj.lora_B.weight", 16, False),
        ("model.layers.0.self_attn.q_proj.lora_A.weight", [2048], False),
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_an_adapter_of_a_model_of_another_width_fails(
    account: Prepared, name: str, width: object, fails: bool, nested: bool
) -> None:
    tensor = {"dtype": "U8", "shape": [16, width], "data_offsets": [0, 4]}
    header = json.dumps({f"base_model.model.{name}": tensor}).encode()
    weights = len(header).to_bytes(8, "little") + header + b"1234"
    account.put(
        {**adapter_files(), "adapter_model.safetensors": weights}, prefix="llama/adapters/legal/"
    )
    config = {"model_type": "novel", "text_config": CONFIG} if nested else CONFIG
    account.put({"config.json": json.dumps(config).encode()})
    body = template(**{f"{ENVIRONMENT}__OPTION_ENABLE_LORA": "true"})
    found = [each for each in account.look(body) if "of width" in each.detail]
    assert [each.status for each in found] == (["fail"] if fails else [])


def test_an_adapter_that_is_no_json_fails(account: Prepared) -> None:
    account.put({**adapter_files(), "adapter_config.json": b"{"}, prefix="llama/adapters/legal/")
    assert "is no JSON" in one(account.look(), "adapters", "fail").detail
