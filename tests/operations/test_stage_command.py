"""`lmi stage`: what people see, and never a traceback."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.config import Config
from click.testing import CliRunner

from lmi_constructs.cli._group import lmi
from lmi_constructs.operations import stage
from lmi_constructs.operations.aws import NoAnswerError
from tests.operations.support import (
    TARGET,
)

if TYPE_CHECKING:
    from pathlib import Path

    from lmi_constructs.local import LocalAws


def run(aws: LocalAws, *arguments: str) -> Any:
    return CliRunner().invoke(lmi, ["stage", *arguments], env=aws.environment())


def test_the_command_says_what_it_did(s3: Any, aws: LocalAws, folder: Path) -> None:
    result = run(aws, str(folder), TARGET)
    assert result.exit_code == 0, result.output
    assert re.search(r"6 files uploaded \([\d.]+ (bytes|kB)\)", result.stdout)
    again = run(aws, str(folder), TARGET, "--format", "json")
    report = json.loads(again.stdout)
    assert (report["uploaded"], len(report["kept"])) == ([], 6)


LONG = "x" * 300


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["FOLDER", TARGET, "--adapter", "x"], "NAME=FOLDER"),
        (["FOLDER", TARGET, "--adapter", "x=/nowhere"], "has no adapter_config.json"),
        (["FOLDER", TARGET, "--adapter", f"x={LONG}"], "too long"),
        (["FOLDER", TARGET, "--serving-properties", "/nowhere"], "is no file"),
        (["FOLDER", TARGET, "--serving-properties", LONG], "too long"),
        (["FOLDER", TARGET, "--region", "us~east"], "us~east"),
        (["FOLDER", "s3://models/llama"], "write s3://models/llama/"),
        (["FOLDER", "models/llama/"], "write s3://BUCKET/PREFIX/"),
        (["FOLDER", "s3://My_Models/llama/"], "no name of a bucket"),
        (["FOLDER", "s3://models/\udcff/"], "no name that S3 can have"),
        (["", TARGET], "the source is empty"),
        (["/nowhere", TARGET], "does not exist"),
        (["~nobody-of-this-name/model", TARGET], "home directory"),
        ([LONG, TARGET], "too long"),
        ([f"{LONG}/{LONG}", TARGET], "too long"),
    ],
)
def test_what_must_be_written_otherwise_is_a_message_and_status_2(
    aws: LocalAws, folder: Path, arguments: list[str], message: str
) -> None:
    result = run(aws, *(str(folder) if given == "FOLDER" else given for given in arguments))
    assert (result.exit_code, message in result.output) == (2, True), result.output


def test_what_is_not_there_is_a_message_and_status_1(aws: LocalAws, folder: Path) -> None:
    result = run(aws, str(folder), "s3://absent/x/")
    assert (result.exit_code, "does not exist" in result.output) == (1, True), result.output


def test_a_machine_without_credentials_is_told_to_sign_in(
    aws: LocalAws, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in aws.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    client = boto3.Session().client("s3", config=Config(region_name="us-east-1"))
    with pytest.raises(NoAnswerError, match="sign in"):
        stage(folder, TARGET, client=client)


def test_an_address_that_is_none_is_no_traceback(
    aws: LocalAws, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {**aws.environment(), "AWS_ENDPOINT_URL": "no-address"}
    result = CliRunner().invoke(lmi, ["stage", str(folder), TARGET], env=environment)
    assert (result.exit_code, "correct AWS_ENDPOINT_URL" in result.output) == (1, True)


def test_ctrl_c_ends_with_130(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lmi_constructs.operations.stage", stopped)
    done = CliRunner().invoke(lmi, ["stage", str(folder), TARGET])
    assert (done.exit_code, done.output.strip()) == (130, "interrupted")
