"""What the account tells of a synthesised endpoint before it is deployed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_secretsmanager as secretsmanager
from click.testing import CliRunner

from lmi_constructs import LmiEndpoint, LmiSettings, ModelData
from lmi_constructs.cli._group import lmi
from lmi_constructs.preflight import account as accounts

if TYPE_CHECKING:
    from pathlib import Path

    from lmi_constructs.local import LocalAws

LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_hidden_layers": 32,
    "max_position_embeddings": 131072,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
INDEX = {
    "metadata": {"total_size": 8},
    "weight_map": {
        "a": "model-00001-of-00002.safetensors",
        "b": "model-00002-of-00002.safetensors",
    },
}
FILES: dict[str, bytes] = {
    "config.json": json.dumps(LLAMA).encode(),
    "tokenizer.json": b"{}",
    "model.safetensors.index.json": json.dumps(INDEX).encode(),
    "model-00001-of-00002.safetensors": b"1234",
    "model-00002-of-00002.safetensors": b"5678",
}


@pytest.fixture
def account(aws: LocalAws, monkeypatch: pytest.MonkeyPatch) -> LocalAws:
    for name, value in aws.environment().items():
        monkeypatch.setenv(name, value)
    aws.client("s3").create_bucket(Bucket="my-models")
    return aws


def put(aws: LocalAws, files: dict[str, bytes], prefix: str = "llama/") -> None:
    for name, content in files.items():
        aws.client("s3").put_object(Bucket="my-models", Key=prefix + name, Body=content)


def assembly(folder: Path, instance_type: str = "ml.g6.12xlarge", **keywords: Any) -> Path:
    app = cdk.App(outdir=str(folder / "cdk.out"))
    environment = cdk.Environment(account="123456789012", region="us-east-1")
    stack = cdk.Stack(app, "Llm", env=environment)
    build = keywords.pop("build", lambda _: {})
    LmiEndpoint(
        stack,
        "Chat",
        **{"model_data": ModelData.s3_prefix("my-models", "llama/"), **build(stack), **keywords},
        instance_type=instance_type,
        settings=LmiSettings(tensor_parallel_degree="max", max_model_len=8192),
    )
    app.synth()
    return folder / "cdk.out"


def looked(path: Path) -> tuple[int, dict[str, set[str]]]:
    """Return the exit status, and the statuses by check."""
    done = CliRunner().invoke(lmi, ["preflight", str(path), "--format", "json"])
    assert done.exit_code in (0, 1), done.output
    found: dict[str, set[str]] = {}
    for outcome in json.loads(done.stdout):
        found.setdefault(outcome["check"], set()).add(outcome["status"])
    return done.exit_code, found


def text(path: Path) -> str:
    return CliRunner().invoke(lmi, ["preflight", str(path)]).output


def test_a_complete_prefix_on_an_instance_that_fits_passes(
    account: LocalAws, tmp_path: Path
) -> None:
    put(account, FILES)
    status, found = looked(assembly(tmp_path))
    assert status == 0
    assert found["files"] == {"pass"}
    assert found["memory"] == {"pass"}
    assert found["region"] == {"pass"}


def test_the_model_that_is_really_there_is_planned(account: LocalAws, tmp_path: Path) -> None:
    put(account, FILES | {"config.json": json.dumps({**LLAMA, "num_hidden_layers": 400}).encode()})
    status, found = looked(assembly(tmp_path))
    assert (status, found["memory"]) == (1, {"fail"})


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "nothing lies under s3://my-models/llama/"),
        (
            {**FILES, "model-00002-of-00002.safetensors": None},
            "model-00002-of-00002.safetensors is",
        ),
        ({**FILES, "model-00002-of-00002.safetensors": b""}, "safetensors is empty"),
        ({**FILES, "model-00002-of-00002.safetensors": b"5"}, "the weights have 5 bytes"),
        ({**FILES, "config.json": None}, "config.json is not in the root"),
        ({"model.tar.gz": b"zipped"}, "tar.gz"),
    ],
)
def test_what_is_lacking_is_named(
    account: LocalAws, tmp_path: Path, changed: dict[str, bytes | None], said: str
) -> None:
    put(account, {name: content for name, content in changed.items() if content is not None})
    path = assembly(tmp_path)
    assert said in text(path)
    assert looked(path)[0] == 1


def test_a_bucket_that_is_not_there_fails(account: LocalAws, tmp_path: Path) -> None:
    data = ModelData.s3_prefix("no-such-bucket", "llama/")
    assert looked(assembly(tmp_path, model_data=data))[1]["files"] == {"fail"}


def test_an_adapter_of_a_higher_rank_fails(account: LocalAws, tmp_path: Path) -> None:
    adapter = {"r": 128, "base_model_name_or_path": "meta-llama/Meta-Llama-3-8B"}
    put(
        account,
        FILES
        | {
            "adapters/legal/adapter_config.json": json.dumps(adapter).encode(),
            "adapters/legal/adapter_model.safetensors": b"1",
        },
    )
    path = assembly(
        tmp_path, environment={"OPTION_ENABLE_LORA": "true", "OPTION_MAX_LORA_RANK": "64"}
    )
    assert looked(path)[1]["adapters"] == {"fail"}
    assert "adapter legal has rank 128, the engine takes 64" in text(path)


def test_key_secret_and_name_are_looked_up(account: LocalAws, tmp_path: Path) -> None:
    put(account, FILES)
    arn = account.client("kms").create_key()["KeyMetadata"]["Arn"]
    account.client("secretsmanager").create_secret(Name="hub", SecretString="x")

    def build(stack: cdk.Stack) -> dict[str, Any]:
        token = secretsmanager.Secret.from_secret_name_v2(stack, "Token", "hub")
        return {
            "model_data": ModelData.hub("Qwen/Qwen3-8B", token=token),
            "encryption_key": kms.Key.from_key_arn(stack, "Key", arn),
            "endpoint_name": "chat",
        }

    _, found = looked(assembly(tmp_path, build=build))
    assert found["key"] == {"pass"}
    assert found["name"] == {"pass"}
    arn = arn.rpartition("/")[0] + "/11111111-2222-3333-4444-555555555555"
    assert looked(assembly(tmp_path, build=build))[1]["key"] == {"fail"}


@pytest.mark.parametrize(("secret", "status"), [("hub", "pass"), ("nub", "fail")])
def test_a_secret_that_is_not_there_fails(
    account: LocalAws, tmp_path: Path, secret: str, status: str
) -> None:
    account.client("secretsmanager").create_secret(Name="hub", SecretString="x")
    token = f"{{{{resolve:secretsmanager:{secret}:SecretString:token}}}}"
    data = ModelData.hub("Qwen/Qwen3-8B")
    path = assembly(tmp_path, model_data=data, environment={"HF_TOKEN": token})
    assert looked(path)[1]["secret"] == {status}


def test_a_role_of_the_user_is_simulated(account: LocalAws, tmp_path: Path) -> None:
    put(account, FILES)
    arn = "arn:aws:iam::123456789012:role/Theirs"

    def build(stack: cdk.Stack) -> dict[str, Any]:
        return {"role": iam.Role.from_role_arn(stack, "Theirs", arn, mutable=False)}

    assert looked(assembly(tmp_path, build=build))[1]["role"] <= {"fail", "unknown"}


def test_what_may_not_be_asked_is_unknown_and_no_failure(
    account: LocalAws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from botocore.exceptions import ClientError

    class Denied:
        def __getattr__(self, operation: str) -> Any:
            def refuse(*_: object, **__: object) -> None:
                error = {"Code": "AccessDeniedException", "Message": f"not allowed: {operation}"}
                raise ClientError({"Error": error}, operation)

            return refuse

    monkeypatch.setattr(accounts.Account, "client", lambda *_, **__: Denied())
    status, found = looked(assembly(tmp_path, endpoint_name="chat"))
    assert status == 0
    for check in ("files", "image", "quota", "name"):
        assert found[check] == {"unknown"}, check


def test_without_credentials_everything_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    nowhere = str(tmp_path / "none")
    monkeypatch.setenv("AWS_CONFIG_FILE", nowhere)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", nowhere)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    status, found = looked(assembly(tmp_path))
    assert status == 0
    assert found["files"] == {"unknown"}


@pytest.mark.parametrize("path", ["nothing-here", "pyproject.toml"])
def test_what_cannot_be_read_is_said(path: str) -> None:
    done = CliRunner().invoke(lmi, ["preflight", path])
    assert done.exit_code == 2
    assert "Traceback" not in done.output
