"""`lmi preflight` as a user meets it: what it prints, and how it ends."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_secretsmanager as secretsmanager

from lmi_constructs import LmiEndpoint, LmiSettings, ModelData
from lmi_constructs.preflight import CHECKS
from tests.operations.support import CONFIG, FIRST, adapter_files
from tests.preflight.support import ACCOUNT, REGION, assembly, run, template

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.preflight.conftest import Prepared


@pytest.fixture
def place(account: Prepared, tmp_path: Path) -> Path:
    """An assembly of one endpoint that could be deployed into the account."""
    return assembly(tmp_path / "cdk.out", {"Llm": (ACCOUNT, template())})


def test_an_endpoint_that_can_be_deployed_ends_with_0(place: Path) -> None:
    done = run(str(place))
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Endpoint\n  pass     name      CloudFormation")
    assert "Model: 6 files" in done.stdout
    assert "0 fail" in done.stdout


def test_a_failure_ends_with_1_and_says_what_to_do(place: Path, account: Prepared) -> None:
    account.put({FIRST: None})
    done = run(str(place))
    assert done.exit_code == 1
    assert "1 of 2 shards" in done.stdout
    assert "what to do: bring the missing files" in done.stdout
    assert "[LMI028]" in done.stdout


def test_unknown_fails_only_where_it_is_asked_to(place: Path) -> None:
    """The local AWS has no quotas."""
    assert run(str(place)).exit_code == 0
    assert run(str(place), "--fail-on", "unknown").exit_code == 1


def test_json_has_the_same_fields_for_every_outcome(place: Path, account: Prepared) -> None:
    account.put({FIRST: None})
    done = run(str(place), "--format", "json")
    said = json.loads(done.stdout)
    assert list(said) == ["version", "counts", "outcomes"]
    assert said["version"] == 1
    assert set(said["counts"]) == {"pass", "fail", "unknown"}
    assert sum(said["counts"].values()) == len(said["outcomes"])
    for row in said["outcomes"]:
        assert list(row) == ["endpoint", "subject", "check", "status", "detail", "fix", "rule"]
        assert row["check"] in CHECKS
    assert {
        "check": "files",
        "status": "fail",
        "rule": "LMI028",
        "endpoint": "Endpoint",
    }.items() <= (next(row for row in said["outcomes"] if row["status"] == "fail").items())
    assert done.stdout == run(str(place), "--format", "json").stdout


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (None, "nothing-here: No such file"),
        ({}, "neither a cloud assembly nor a folder with templates"),
        ({"manifest.json": "{"}, "manifest.json: "),
        (
            {
                "manifest.json": json.dumps(
                    {
                        "artifacts": {
                            "Llm": {
                                "type": "aws:cloudformation:stack",
                                "properties": {"templateFile": "Llm.template.json"},
                            }
                        }
                    }
                )
            },
            "Llm.template.json: No such file",
        ),
        ({"t.json": "no template"}, "neither a cloud assembly nor a folder with templates"),
    ],
)
def test_what_cannot_be_read_ends_with_2(
    tmp_path: Path, files: dict[str, str] | None, said: str
) -> None:
    folder = tmp_path / "nothing-here"
    if files is not None:
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_text(content)
    done = run(str(folder))
    assert (done.exit_code, said in done.stderr, done.stdout) == (2, True, ""), done.output


def test_a_path_that_the_system_refuses_ends_with_2() -> None:
    done = run("x" * 300)
    assert (done.exit_code, "too long" in done.stderr) == (2, True), done.output


def test_without_a_path_cdk_out_is_meant(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "Endpoint" in run().stdout
    monkeypatch.chdir(place)
    done = run()
    assert (done.exit_code, "cdk.out" in done.stderr) == (2, True)


@pytest.mark.parametrize("stacks", [{}, {"Llm": (ACCOUNT, {"Resources": {}})}])
def test_an_assembly_of_no_endpoint_says_so(account: Prepared, tmp_path: Path, stacks: Any) -> None:
    done = run(str(assembly(tmp_path / "cdk.out", stacks)))
    assert (done.exit_code, "there is no endpoint" in done.stdout) == (0, True)
    said = json.loads(run(str(tmp_path / "cdk.out"), "--format", "json").stdout)
    assert (said["outcomes"], said["counts"]["fail"]) == ([], 0)


def test_an_arn_is_printed_as_it_is(place: Path, account: Prepared) -> None:
    """`:secret:` and `[b]` are an emoji and markup to some printers."""
    arn = f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:hub[b]x"
    body = template(
        Model__Properties__PrimaryContainer__Environment={
            "HF_TOKEN": f"{{{{resolve:secretsmanager:{arn}:SecretString:::}}}}"
        }
    )
    (place / "Llm.template.json").write_text(json.dumps(body))
    done = run(str(place))
    assert f"secret {arn} does not exist" in done.stdout


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"AWS_ACCESS_KEY_ID": None, "AWS_SECRET_ACCESS_KEY": None, "AWS_PROFILE": None},
            "what to do: sign in to AWS",
        ),
        ({"AWS_PROFILE": "nobody"}, "what to do: correct AWS_PROFILE"),
        ({"AWS_ENDPOINT_URL": "no-address"}, "what to do: correct AWS_ENDPOINT_URL"),
        ({"AWS_ENDPOINT_URL": "http://localhost:9"}, "what to do: check the region, the network"),
        ({"AWS_SECRET_ACCESS_KEY": None}, "what to do: sign in to AWS"),
    ],
)
def test_a_machine_that_cannot_ask_says_so_once(
    place: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, str | None], said: str
) -> None:
    for name, value in changed.items():
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    done = run(str(place))
    assert (done.exit_code, done.stdout.count(said)) == (0, 1), done.output
    assert done.stdout.count("nothing could be asked") == 1


def test_a_template_without_a_region_needs_one(
    account: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_REGION")
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    file = tmp_path / "template.json"
    file.write_text(json.dumps(template()))
    assert "what to do: give --region" in run(str(file)).stdout
    assert "offered in us-east-1" in run(str(file), "--region", "us-east-1").stdout


def test_a_misspelled_region_is_no_crash(account: Prepared, tmp_path: Path) -> None:
    file = tmp_path / "template.json"
    file.write_text(json.dumps(template()))
    done = run(str(file), "--region", "us-esat-1")
    assert done.exit_code in (0, 1)
    assert "<html" not in done.stdout
    for region in ("us east 1", "", "us~east"):
        done = run(str(file), "--region", region)
        assert done.exit_code == 2
        assert "is no name of a region, such as us-east-1" in " ".join(done.stderr.split())


def test_a_config_can_be_given(account: Prepared, place: Path, tmp_path: Path) -> None:
    account.put({"config.json": None})
    assert "not planned: no config.json of the model is known" in run(str(place)).stdout
    file = tmp_path / "config.json"
    file.write_text(json.dumps(CONFIG))
    assert "fits ml.g6.12xlarge" in run(str(place), "--model-config", f"Model={file}").stdout
    bad = run(str(place), "--model-config", f"Model={tmp_path / 'absent.json'}")
    assert bad.exit_code == 2
    assert run(str(place), "--model-config", "Model").exit_code == 2


@pytest.fixture
def two_stages(tmp_path: Path) -> Callable[[], Path]:
    def synthesized() -> Path:
        app = cdk.App(outdir=str(tmp_path / "two"))
        for name, account in (("Dev", ACCOUNT), ("Prod", "999999999999")):
            stage = cdk.Stage(app, name, env=cdk.Environment(account=account, region=REGION))
            stack = cdk.Stack(stage, "Llm")
            token = secretsmanager.Secret.from_secret_name_v2(stack, "Token", "hub")
            LmiEndpoint(
                stack,
                "Chat",
                model_data=ModelData.s3_prefix("models", "llama/", architecture="a/Llama-3.1-8B"),
                instance_type="ml.g6.12xlarge",
                endpoint_name=f"chat-{name.lower()}",
                settings=LmiSettings(
                    tensor_parallel_degree="max", max_model_len=8192, enable_lora=True
                ),
            )
            LmiEndpoint(
                stack,
                "Hub",
                model_data=ModelData.hub("Qwen/Qwen3-8B", token=token),
                instance_type="ml.g6.12xlarge",
            )
        app.synth()
        return tmp_path / "two"

    return synthesized


def test_two_stages_of_real_constructs_are_told_apart(
    account: Prepared, two_stages: Callable[[], Path]
) -> None:
    account.put({**adapter_files(64)}, prefix="llama/adapters/legal/")
    path = two_stages()
    rows = json.loads(run(str(path), "--format", "json").stdout)["outcomes"]
    by = {(row["endpoint"], row["check"]): row for row in rows if row["status"] == "fail"}
    assert set(by) == {("Dev/Llm/Chat", "adapters"), ("Dev/Llm/Hub", "secret")}
    assert "rank 64, above max_lora_rank 16" in by["Dev/Llm/Chat", "adapters"]["detail"]
    assert [row["subject"] for row in rows if row["check"] == "account"] == ["999999999999"]
    account.aws.client("secretsmanager").create_secret(Name="hub", SecretString="x")
    rows = json.loads(run(str(path), "--format", "json").stdout)["outcomes"]
    assert [row["status"] for row in rows if row["check"] == "secret"] == ["pass"]


def test_one_stack_of_an_assembly_keeps_its_account_region_and_paths(
    account: Prepared, two_stages: Callable[[], Path]
) -> None:
    inner = two_stages() / "assembly-Prod"
    (file,) = inner.glob("*.template.json")
    rows = json.loads(run(str(file), "--format", "json").stdout)["outcomes"]
    assert {row["endpoint"] for row in rows} == {None, "Prod/Llm/Chat", "Prod/Llm/Hub"}
    assert [row["subject"] for row in rows if row["check"] == "account"] == ["999999999999"]
    (inner / "manifest.json").write_text("{")
    assert run(str(file)).stdout.startswith("Chat")


def test_a_name_that_another_stack_took_on_the_local_aws_fails(
    account: Prepared, place: Path
) -> None:
    body = template(Endpoint__Properties__EndpointName="chat")
    (place / "Llm.template.json").write_text(json.dumps(body))
    cloudformation = account.aws.client("cloudformation")
    for stack, status in (("Llm-stack", "pass"), ("Other", "fail")):
        cloudformation.create_stack(StackName=stack, TemplateBody=json.dumps(body))
        rows = json.loads(run(str(place), "--format", "json").stdout)["outcomes"]
        (found,) = [row for row in rows if row["check"] == "name"]
        assert (found["status"], stack in found["detail"]) == (status, True), found
        cloudformation.delete_stack(StackName=stack)
