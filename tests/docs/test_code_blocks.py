"""Every code block of the documentation runs, and every shown output is the real one.

Python blocks of a page run in order, in one namespace that knows what a page does not repeat: `cdk`,
an `app`, a `stack`, and the things around an endpoint. `lmi` commands in console blocks run if they
need neither an endpoint nor a file that is not there; what is printed below them must be what they
print.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import aws_cdk as cdk
import pytest
from click.testing import CliRunner
from markdown_it import MarkdownIt

from lmi_constructs.cli._group import lmi

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
GENERATED = {"presets", "rules"}
PURE = {"check", "options", "plan", "presets", "report", "verdict"}
WIDTH = 88
PLACEHOLDER = re.compile(r"\b(NAME|BUCKET|FILE|FOLDER)\b|cdk\.out|\.\.\.")


class Block(NamedTuple):
    language: str
    text: str
    line: int


def pages() -> list[Path]:
    found = [*ROOT.glob("README*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*/*.md")]
    return sorted(page for page in found if page.parent.name not in GENERATED)


def blocks(page: Path) -> Iterator[Block]:
    for token in MarkdownIt().parse(page.read_text("utf-8")):
        if token.type == "fence":
            yield Block(token.info.strip(), token.content, token.map[0] + 1 if token.map else 0)


def having(language: str) -> list[Any]:
    chosen = [page for page in pages() if any(block.language == language for block in blocks(page))]
    return [pytest.param(page, id=str(page.relative_to(ROOT))) for page in chosen]


@pytest.fixture
def surroundings() -> dict[str, Any]:
    """What the pages take for granted."""
    from aws_cdk import aws_ec2 as ec2
    from aws_cdk import aws_iam as iam
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_s3 as s3
    from aws_cdk import aws_secretsmanager as secretsmanager
    from aws_cdk import aws_sns as sns

    from lmi_constructs import LmiEndpoint, ModelData

    app = cdk.App()
    environment = cdk.Environment(account="111122223333", region="us-west-2")
    stack = cdk.Stack(app, "Platform", env=environment)
    return {
        "app": app,
        "stack": stack,
        "bucket": s3.Bucket.from_bucket_name(stack, "Bucket", "my-models"),
        "key": kms.Key(stack, "Key"),
        "secret": secretsmanager.Secret(stack, "Secret"),
        "topic": sns.Topic(stack, "Topic"),
        "vpc": ec2.Vpc(stack, "Vpc"),
        "app_role": iam.Role(
            stack, "AppRole", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com")
        ),
        "template": {"Resources": {}},
        "endpoint": LmiEndpoint(
            stack,
            "Endpoint",
            model_data=ModelData.s3_prefix("my-models", "qwen3-8b/", architecture="Qwen/Qwen3-8B"),
            instance_type="ml.g6.12xlarge",
        ),
    }


@pytest.mark.parametrize("page", having("python"))
def test_python_blocks_run(
    page: Path,
    surroundings: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": page.stem, **surroundings}
    for block in blocks(page):
        if block.language == "python":
            code = compile("\n" * block.line + block.text, str(page), "exec")
            exec(code, namespace)


@pytest.mark.parametrize("page", having("console"))
def test_commands_print_what_is_shown(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for block in blocks(page):
        if block.language == "console":
            for command, shown in commands(block.text):
                check(command, shown)


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a console block with the text below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        while command.endswith("\\"):
            more, _, shown = shown.partition("\n")
            command = command[:-1] + more.strip()
        yield command.partition("  #")[0].strip(), shown.rstrip()


def check(command: str, shown: str) -> None:
    words = shlex.split(command)
    if words[0] != "lmi" or len(words) < 2 or words[1] not in PURE or PLACEHOLDER.search(command):
        return
    done = CliRunner().invoke(lmi, words[1:], env={"COLUMNS": str(WIDTH)})
    assert done.exit_code in (0, 1), f"{command}\n{done.output}"
    assert "Traceback" not in done.output
    if shown:
        printed = [line.rstrip() for line in done.output.rstrip().splitlines()]
        assert printed == shown.splitlines(), command
