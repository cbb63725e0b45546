"""The app as the CDK CLI runs it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from cfnlint.api import lint_file

import app
from lmi_constructs import LmiError
from lmi_constructs.presets import PRESETS
from lmi_constructs.testing import stable_template
from stacks import PresetStack

if TYPE_CHECKING:
    from collections.abc import Callable

    from syrupy.assertion import SnapshotAssertion

    Template = Callable[[cdk.Stack], dict[str, Any]]

ROOT = Path(__file__).parent.parent.parent


CONTEXT: dict[str, Any] = json.loads((ROOT / "cdk.json").read_text())["context"]
BAD_ENDPOINT = """
import aws_cdk as cdk
from aws_cdk import aws_sagemaker as sagemaker
app = cdk.App()
variant = sagemaker.CfnEndpointConfig.ProductionVariantProperty(
    variant_name="AllTraffic", model_name="m", instance_type="ml.g6.12xlarge",
    container_startup_health_check_timeout_in_seconds=7200)
stack = cdk.Stack(app, "Bad")
sagemaker.CfnEndpointConfig(stack, "Config", production_variants=[variant])
app.synth()
"""
FULL_ENDPOINT = """
import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2, aws_kms as kms, aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns
from lmi_constructs import *
app = cdk.App()
stack = cdk.Stack(app, "Full", env=cdk.Environment(account="111122223333", region="us-west-2"))
key = kms.Key(stack, "Key", removal_policy=cdk.RemovalPolicy.RETAIN)
vpc = ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id="vpc-12345678",
    availability_zones=["us-west-2a"], private_subnet_ids=["subnet-12345678"],
    private_subnet_route_table_ids=["rtb-12345678"])
token = secretsmanager.Secret.from_secret_name_v2(stack, "Token", "hub")
endpoint = LmiEndpoint(stack, "Chat", model_data=ModelData.hub("Qwen/Qwen3-8B", token=token),
    instance_type="ml.g6.12xlarge", vpc=vpc, encryption_key=key,
    data_capture=DataCapture(bucket="my-records", prefix="chat/", encryption_key=key),
    metrics=EndpointMetrics(enhanced=True, publish_frequency=cdk.Duration.seconds(10)),
    routing=Routing.prefix_aware(prefix_length=4096, concurrency_threshold=8),
    core_dump=CoreDump("my-dumps", "chat/"), enable_ssm_access=True)
scaling = endpoint.auto_scale_instance_count(max_capacity=4)
scaling.scale_on_concurrency("Concurrency")
scaling.scale_on_invocations("Invocations", target_invocations_per_minute=60)
endpoint.add_alarms(topic=sns.Topic(stack, "Pager", master_key=key), p99_latency=cdk.Duration.seconds(9),
    client_error_rate=0.2, concurrent_requests=32, gpu_memory_utilization=98)
queue = AsyncInference(bucket="my-answers", output_prefix="ok/", failure_prefix="failed/")
LmiEndpoint(stack, "Queue", model_data=ModelData.s3_prefix("my-models", "m/", encryption_key=key),
    instance_type="ml.p5.48xlarge", async_inference=queue)
cdk.Validations.of(stack).acknowledge(
    cdk.Acknowledgment(id="lmi::LMI043", reason="our policy asks for the key"))
app.synth()
"""


def run(
    arguments: list[str], output: Path, *, validate: bool = False, **context: str
) -> subprocess.CompletedProcess[str]:
    """Run a CDK app as the CLI does, with the context of cdk.json and of the command line."""
    environment = {
        **os.environ,
        "CDK_OUTDIR": str(output),
        "CDK_CONTEXT_JSON": json.dumps({**CONTEXT, **context}),
        "CDK_DEFAULT_ACCOUNT": "111122223333",
        "CDK_DEFAULT_REGION": "us-west-2",
    }
    if validate:
        del environment["CDK_VALIDATION"]
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True
    )


def stack_of(**context: str) -> PresetStack:
    return app.build(cdk.App(context={**CONTEXT, **context}))


def test_deploys_a_preset_by_context(template: Template) -> None:
    stack = stack_of(preset="gpt-oss-120b", model_bucket="my-models", model_prefix="weights/oss/")
    assert stack.stack_name == "GptOss120B"
    rendered = template(stack)
    assert "s3://my-models/weights/oss/" in json.dumps(rendered)
    assert set(rendered["Outputs"]) == {"EndpointName", "EndpointArn", "Image", "InstanceType"}


def test_changes_a_setting_by_context(template: Template) -> None:
    rendered = template(stack_of(max_rolling_batch_size="32"))
    assert '"OPTION_MAX_ROLLING_BATCH_SIZE": "32"' in json.dumps(rendered)


@pytest.mark.parametrize(
    ("context", "says"),
    [
        ({"preset": "gpt-os-120b"}, "did you mean gpt-oss-120b?"),
        ({"preset": "llama-9"}, "use one of deepseek-r1, qwen3-235b, gpt-oss-120b"),
    ],
)
def test_names_the_presets_there_are(context: dict[str, str], says: str) -> None:
    with pytest.raises(app.ContextError, match=re.escape(says)):
        stack_of(**context)


@pytest.mark.parametrize("preset", PRESETS)
def test_deploys_every_preset_by_its_name(preset: str) -> None:
    stack = stack_of(preset=preset, model_bucket="my-models")
    assert re.fullmatch("[A-Za-z][A-Za-z0-9-]*", stack.stack_name)


def test_changes_instance_and_release_by_context(template: Template) -> None:
    stack = stack_of(instance_type="ml.g6e.48xlarge", container="v26")
    rendered = json.dumps(template(stack))
    assert '"InstanceType": "ml.g6e.48xlarge"' in rendered
    assert "lmi26.0.0" in rendered


@pytest.mark.parametrize(
    ("context", "says"),
    [
        ({"max_modle_len": "8192"}, "nothing reads -c max_modle_len; did you mean max_model_len?"),
        ({"model-bucket": "my-models"}, "did you mean model_bucket?"),
        ({"max_capacity": "many"}, "-c max_capacity=many is not a whole number"),
        ({"max_capacity": 2.5}, "-c max_capacity=2.5 is not a whole number"),
        ({"max_capacity": True}, "-c max_capacity=True is not a whole number"),
        ({"model_prefix": "oss/"}, "-c model_prefix needs -c model_bucket"),
        ({"preset": "GPT_OSS_120B"}, "did you mean gpt-oss-120b?"),
    ],
)
def test_refuses_a_context_that_nothing_can_read(context: dict[str, str], says: str) -> None:
    with pytest.raises(app.ContextError, match=re.escape(says)):
        stack_of(**context)


@pytest.mark.parametrize(
    ("context", "says"),
    [
        ({"model_bucket": "my-models", "model_prefix": "oss"}, "LMI020"),
        ({"max_model_len": "many"}, "max_model_len"),
        ({"tensor_parallel_degree": "16"}, "LMI"),
    ],
)
def test_refuses_a_context_that_cannot_be_deployed(context: dict[str, str], says: str) -> None:
    with pytest.raises(LmiError, match=says):
        stack_of(**context)


def test_warns_of_a_context_that_nothing_reads() -> None:
    stack = stack_of(color="blue", **{"@company/color": "blue", "ami:account=1": "ami-1"})
    warnings = cdk.assertions.Annotations.from_stack(stack).find_warning(
        "*", cdk.assertions.Match.string_like_regexp("nothing reads")
    )
    assert [str(entry.entry.data).partition(" [ack")[0] for entry in warnings] == [
        "nothing reads -c color"
    ]


def test_prints_nothing_about_the_age_of_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", raising=False)
    done = run(["app.py"], tmp_path, preset="gpt-oss-20b", model_bucket="my-models")
    assert done.returncode == 0
    assert "end-of-life" not in done.stderr


def test_says_what_is_wrong_without_a_traceback(tmp_path: Path) -> None:
    done = run(["app.py"], tmp_path, preset="llama-9")
    assert done.returncode == 1
    assert "use one of deepseek-r1, qwen3-235b, gpt-oss-120b" in done.stderr
    assert "Traceback" not in done.stderr


def test_says_of_a_gated_model_what_to_write_on_the_command_line(tmp_path: Path) -> None:
    done = run(["app.py"], tmp_path, preset="llama-3-8b")
    assert done.returncode == 1
    assert "LMI014" in done.stderr
    assert "-c model_bucket=BUCKET" in done.stderr
    assert "ModelData" not in done.stderr


@pytest.mark.cdk_validation
@pytest.mark.parametrize("program", [["app.py"], ["-c", FULL_ENDPOINT]], ids=["app", "full"])
def test_passes_the_strict_validation_of_the_cdk_and_cfn_lint(
    tmp_path: Path, program: list[str]
) -> None:
    done = run(program, tmp_path, validate=True, model_bucket="my-models")
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "validation-report.json").read_text())
    assert [item for plugin in report["pluginReports"] for item in plugin["violations"]] == []
    (file,) = tmp_path.glob("*.template.json")
    assert [str(match) for match in lint_file(file)] == []


@pytest.mark.cdk_validation
def test_would_be_stopped_by_that_validation(tmp_path: Path) -> None:
    done = run(["-c", BAD_ENDPOINT], tmp_path, validate=True)
    assert done.returncode != 0
    assert "7200" in done.stdout + done.stderr


def test_turns_the_strict_validation_on() -> None:
    assert json.loads((ROOT / "cdk.json").read_text())["app"] == "python3 app.py"
    assert CONTEXT["@aws-cdk/core:validateAgainstDefaultRules"] is True


@pytest.mark.parametrize("preset", list(PRESETS))
def test_is_deployed_as_reviewed(
    preset: str,
    template: Template,
    snapshot: SnapshotAssertion,
) -> None:
    stack = PresetStack(
        cdk.App(),
        "Stack",
        preset=preset,
        model_bucket="my-models",
        env=cdk.Environment(account="111122223333", region="us-west-2"),
    )
    assert stable_template(template(stack)) == snapshot
