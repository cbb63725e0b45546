"""Model data: what is rendered, what is granted, what is refused."""

from __future__ import annotations

import tarfile
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager

from lmi_constructs import LmiError, LmiModel, ModelData
from lmi_constructs.hosting._model_bundle import pack

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import aws_cdk as cdk


def container_of(resources: Any, stack: cdk.Stack) -> dict[str, Any]:
    (model,) = resources(stack, "AWS::SageMaker::Model")
    container: dict[str, Any] = model["PrimaryContainer"]
    return container


def statements_of(resources: Any, stack: cdk.Stack) -> list[dict[str, Any]]:
    (role,) = resources(stack, "AWS::IAM::Role")
    (policy,) = role["Policies"]
    statements: list[dict[str, Any]] = policy["PolicyDocument"]["Statement"]
    return statements


def allowed(statements: list[dict[str, Any]], action: str) -> list[dict[str, Any]]:
    return [
        item
        for item in statements
        if action in ([item["Action"]] if isinstance(item["Action"], str) else item["Action"])
    ]


def test_mounts_an_uncompressed_prefix(stack: cdk.Stack, resources: Any) -> None:
    LmiModel(stack, "Model", model_data=ModelData.s3_prefix("my-models", "qwen3-8b/"))
    container = container_of(resources, stack)
    assert container["ModelDataSource"] == {
        "S3DataSource": {
            "S3Uri": "s3://my-models/qwen3-8b/",
            "S3DataType": "S3Prefix",
            "CompressionType": "None",
        }
    }
    assert "ModelDataUrl" not in container
    assert "HF_MODEL_ID" not in container.get("Environment", {})


def test_reads_exactly_the_prefix(stack: cdk.Stack, resources: Any) -> None:
    LmiModel(stack, "Model", model_data=ModelData.s3_prefix("my-models", "qwen3-8b/"))
    statements = statements_of(resources, stack)
    assert [item["Resource"] for item in allowed(statements, "s3:GetObject")] == [
        "arn:aws:s3:::my-models/qwen3-8b/*"
    ]
    assert allowed(statements, "s3:ListBucket") == [
        {
            "Action": "s3:ListBucket",
            "Effect": "Allow",
            "Resource": "arn:aws:s3:::my-models",
            "Condition": {"StringLike": {"s3:prefix": ["qwen3-8b/*"]}},
        }
    ]
    assert not allowed(statements, "kms:Decrypt")


def test_decrypts_with_the_key_of_the_bucket(stack: cdk.Stack, resources: Any) -> None:
    key = kms.Key(stack, "Key")
    bucket = s3.Bucket(stack, "Bucket", encryption_key=key)
    LmiModel(stack, "Model", model_data=ModelData.s3_prefix(bucket, "m/"))
    (statement,) = allowed(statements_of(resources, stack), "kms:Decrypt")
    assert statement["Resource"] == stack.resolve(key.key_arn)


def test_decrypts_with_a_key_given_for_a_bucket_name(stack: cdk.Stack, resources: Any) -> None:
    key = kms.Key(stack, "Key")
    data = ModelData.s3_prefix("my-models", "m/", encryption_key=key)
    LmiModel(stack, "Model", model_data=data)
    (statement,) = allowed(statements_of(resources, stack), "kms:Decrypt")
    assert statement["Resource"] == stack.resolve(key.key_arn)


@pytest.mark.parametrize(
    ("prefix", "rule", "instead"),
    [
        ("qwen", "LMI020", "'qwen/'"),
        ("a/b", "LMI020", "'a/b/'"),
        ("/qwen/", "LMI021", "'qwen/'"),
        ("a//b/", "LMI021", "'a/b/'"),
        ("a/./b/", "LMI021", "'a/b/'"),
        ("a/../b/", "LMI021", "'a/b/'"),
        ("qwen//", "LMI021", "'qwen/'"),
        ("/", "LMI021", "''"),
        ("s3://my-models/qwen/", "LMI021", "'qwen/'"),
    ],
)
def test_refuses_a_prefix_that_cannot_be_mounted(prefix: str, rule: str, instead: str) -> None:
    with pytest.raises(LmiError) as raised:
        ModelData.s3_prefix("my-models", prefix)
    (finding,) = raised.value.findings
    assert finding.rule == rule
    assert instead in finding.fix


@pytest.mark.parametrize("name", ["model.tar.gz", "a/model.tgz", "model.tar", "Model.ZIP"])
def test_says_of_an_archive_that_it_must_be_unpacked(
    name: str, stack: cdk.Stack, reported: Callable[[cdk.Stack], set[tuple[str, str]]]
) -> None:
    with pytest.raises(LmiError) as raised:
        ModelData.s3_prefix("my-models", name)
    (finding,) = raised.value.findings
    assert (finding.rule, finding.fix.split(",")[0]) == ("LMI020", "unpack the archive")
    LmiModel(stack, "Model", model_data=ModelData.s3_prefix("my-models", f"{name}/"))
    assert reported(stack) == {("LMI110", "Stack/Model/Resource")}


@pytest.mark.parametrize(
    "prefix", ["", "a/", "a/b.c/d_e/", "${Token[TOKEN.12]}", "x/${Token[a.1]}"]
)
def test_takes_prefixes_that_can_be_mounted_and_tokens(prefix: str) -> None:
    assert ModelData.s3_prefix("my-models", prefix) == ModelData.s3_prefix("my-models", prefix)


@pytest.mark.parametrize("bucket", ["s3://my-models", "my-models\n", "My-Models"])
def test_refuses_what_is_no_name_of_a_bucket(bucket: str) -> None:
    with pytest.raises(LmiError, match="LMI025"):
        ModelData.s3_prefix(bucket, "m/")


def test_names_a_hub_model_and_needs_the_network(stack: cdk.Stack, resources: Any) -> None:
    LmiModel(stack, "Model", model_data=ModelData.hub("Qwen/Qwen3-8B", revision="abc123"))
    (model,) = resources(stack, "AWS::SageMaker::Model")
    assert model["PrimaryContainer"]["Environment"]["HF_MODEL_ID"] == "Qwen/Qwen3-8B"
    assert model["PrimaryContainer"]["Environment"]["HF_REVISION"] == "abc123"
    assert model["EnableNetworkIsolation"] is False
    assert not allowed(statements_of(resources, stack), "s3:GetObject")


@pytest.mark.parametrize(
    ("field", "reference"), [(None, ":SecretString:::}}"), ("token", ":SecretString:token::}}")]
)
def test_takes_the_token_from_secrets_manager(
    stack: cdk.Stack, resources: Any, field: str | None, reference: str
) -> None:
    secret = secretsmanager.Secret.from_secret_complete_arn(
        stack, "Token", "arn:aws:secretsmanager:us-west-2:111122223333:secret:hub-AbCdEf"
    )
    data = ModelData.hub("meta-llama/Llama-3.1-8B", token=secret, token_field=field)
    LmiModel(stack, "Model", model_data=data)
    token = container_of(resources, stack)["Environment"]["HF_TOKEN"]
    assert token == (
        "{{resolve:secretsmanager:arn:aws:secretsmanager:us-west-2:111122223333:secret:hub-AbCdEf"
        + reference
    )


def test_refuses_a_token_as_text() -> None:
    with pytest.raises(LmiError, match="LMI006") as raised:
        ModelData.hub("meta-llama/Llama-3.1-8B", token="hf_abcdefgh")  # type: ignore[arg-type]
    assert "hf_abcdefgh" not in str(raised.value)


@pytest.mark.parametrize(
    "model_id",
    ["", "qwen", "a/b/c", "/opt/ml/model", "s3://b/m", "Qwen/Qwen3-8B\n", "Qwen/Qwen3-\uff18B"],
)
def test_refuses_what_is_no_hub_id(model_id: str) -> None:
    with pytest.raises(LmiError, match="LMI027"):
        ModelData.hub(model_id)


def test_names_the_prefix_to_use_for_an_s3_address() -> None:
    with pytest.raises(LmiError) as raised:
        ModelData.hub("s3://my-models/qwen")
    assert "ModelData.s3_prefix('my-models', 'qwen/')" in raised.value.findings[0].fix


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    (tmp_path / "code").mkdir()
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "code" / "notes.txt").write_text("x")
    return tmp_path


def test_packs_a_folder_into_one_archive(stack: cdk.Stack, resources: Any, bundle: Path) -> None:
    LmiModel(stack, "Model", model_data=ModelData.from_asset(bundle))
    source = container_of(resources, stack)["ModelDataSource"]["S3DataSource"]
    assert (source["S3DataType"], source["CompressionType"]) == ("S3Object", "Gzip")
    assert source["S3Uri"].startswith("s3://cdk-hnb659fds-assets-111122223333-us-west-2/")
    (statement,) = allowed(statements_of(resources, stack), "s3:GetObject")
    assert statement["Resource"] == source["S3Uri"].replace("s3://", "arn:aws:s3:::")


def test_adds_no_resource_for_a_folder(
    stack: cdk.Stack, template: Callable[[cdk.Stack], dict[str, Any]], bundle: Path
) -> None:
    LmiModel(stack, "Model", model_data=ModelData.from_asset(bundle))
    types = sorted(item["Type"] for item in template(stack)["Resources"].values())
    assert types == ["AWS::IAM::Role", "AWS::SageMaker::Model"]


def test_packs_the_same_files_into_the_same_bytes(bundle: Path) -> None:
    first = pack(bundle)
    (bundle / "config.json").write_text("{}")
    (bundle / "config.json").chmod(0o600)
    assert pack(bundle) == first
    with tarfile.open(fileobj=BytesIO(first)) as archive:
        assert archive.getnames() == ["code/notes.txt", "config.json"]


def test_reads_from_a_bundle_that_its_model_is_in_s3(
    stack: cdk.Stack, resources: Any, tmp_path: Path
) -> None:
    (tmp_path / "serving.properties").write_text("option.model_id=s3://my-models/qwen/\n")
    LmiModel(stack, "Model", model_data=ModelData.from_asset(tmp_path))
    (model,) = resources(stack, "AWS::SageMaker::Model")
    assert model["EnableNetworkIsolation"] is False
    reads = allowed(statements_of(resources, stack), "s3:GetObject")
    assert "arn:aws:s3:::my-models/qwen/*" in [item["Resource"] for item in reads]


@pytest.mark.parametrize(
    "content", ["option.model_id=m".encode("utf-16"), rb"option.model_id=\u12zz"]
)
def test_refuses_a_properties_file_that_cannot_be_read(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "serving.properties").write_bytes(content)
    with pytest.raises(LmiError, match="LMI011"):
        ModelData.from_asset(tmp_path)


def test_refuses_a_folder_without_files(tmp_path: Path) -> None:
    with pytest.raises(LmiError, match="LMI028"):
        ModelData.from_asset(tmp_path / "nowhere")
