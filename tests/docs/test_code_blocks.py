"""Every code block of the documentation runs, and every shown output is the real one.

Python blocks of a page run in order, in one namespace that knows what a page does not repeat: `cdk`,
an `app`, a `stack`, the things around an endpoint, and an endpoint `chat` on the local AWS.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from markdown_it import MarkdownIt

from tools import shown_outputs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lmi_constructs.local import LocalAws

ROOT = shown_outputs.ROOT


def python_blocks(page: Path) -> Iterator[tuple[str, int]]:
    """Yield text and line of each Python block."""
    for token in MarkdownIt().parse(page.read_text("utf-8")):
        if token.type == "fence" and token.info.strip() == "python":
            yield token.content, token.map[0] + 1 if token.map else 0


PAGES = sorted(shown_outputs.pages())
EVERY_PAGE = [pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES]
PAGES_WITH_PYTHON = [
    pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES if any(python_blocks(page))
]


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
        "cdk": cdk,
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


@pytest.fixture
def endpoint_named_chat(local_aws: LocalAws, monkeypatch: pytest.MonkeyPatch) -> None:
    """An endpoint that pages may talk to, on the local AWS."""
    for name, value in local_aws.environment().items():
        monkeypatch.setenv(name, value)
    sagemaker = local_aws.client("sagemaker")
    image = "763104351884.dkr.ecr.us-east-1.amazonaws.com/djl-inference:0.36.0-lmi27.0.0-cu130"
    sagemaker.create_model(
        ModelName="model",
        ExecutionRoleArn="arn:aws:iam::123456789012:role/Execution",
        PrimaryContainer={"Image": image, "Environment": {"HF_MODEL_ID": "Qwen/Qwen3-8B"}},
    )
    variant = {
        "VariantName": "AllTraffic",
        "ModelName": "model",
        "InstanceType": "ml.g6.12xlarge",
        "InitialInstanceCount": 1,
    }
    sagemaker.create_endpoint_config(EndpointConfigName="one", ProductionVariants=[variant])
    sagemaker.create_endpoint(EndpointName="chat", EndpointConfigName="one")


@pytest.mark.usefixtures("endpoint_named_chat")
@pytest.mark.parametrize("page", PAGES_WITH_PYTHON)
def test_python_blocks_run(
    page: Path,
    surroundings: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": page.stem, **surroundings}
    for text, line in python_blocks(page):
        exec(compile("\n" * line + text, str(page), "exec"), namespace)


@pytest.mark.parametrize("page", EVERY_PAGE)
def test_commands_print_what_is_shown(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = page.read_text("utf-8")
    assert shown_outputs.with_real_outputs(text) == text, "run python -m tools.shown_outputs"


@pytest.mark.parametrize("page", ["README.md", "README.ko.md"])
def test_each_block_of_the_readme_is_complete(page: str) -> None:
    """A reader begins there, with nothing defined: what a block uses, it imports."""
    blocks = list(python_blocks(ROOT / page))
    assert len(blocks) == 3
    for text, line in blocks:
        exec(compile("\n" * line + text, page, "exec"), {"__name__": "readme"})


def test_the_endpoint_of_the_platform_page_has_no_findings(surroundings: dict[str, Any]) -> None:
    from lmi_constructs.testing import assert_no_findings

    subclass, use, *_ = python_blocks(ROOT / "docs" / "how-to" / "platform-repository.md")
    for text, _ in (subclass, use):
        exec(text, surroundings)
    assert_no_findings(surroundings["stack"])


def test_the_release_that_the_tests_page_stores_is_what_it_compares(
    surroundings: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for text, _ in python_blocks(ROOT / "docs" / "how-to" / "tests.md"):
        exec(text, surroundings)
    stack, compare = surroundings["stack"], surroundings["test_the_release_updates_in_place"]
    surroundings["store"](stack)
    compare(stack)
    released = json.loads(surroundings["RELEASED"].read_text())
    for resource in released["Resources"].values():
        if resource["Type"] == "AWS::SageMaker::Endpoint":
            resource["Properties"]["EndpointName"] = "another"
    surroundings["RELEASED"].write_text(json.dumps(released))
    with pytest.raises(AssertionError, match="EndpointName changed"):
        compare(stack)
