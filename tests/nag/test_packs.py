"""All packs of cdk-nag over every preset and stack: what is reported is what a user must decide."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import cdk_nag
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns

from lmi_constructs import (
    AdapterData,
    LmiEndpoint,
    LmiFleet,
    LmiInferenceComponent,
    LmiSettings,
    ModelData,
    S3Location,
)
from lmi_constructs.presets import PRESETS
from stacks import PresetStack

PACKS = (
    cdk_nag.AwsSolutionsChecks,
    cdk_nag.HIPAASecurityChecks,
    cdk_nag.NIST80053R4Checks,
    cdk_nag.NIST80053R5Checks,
    cdk_nag.PCIDSS321Checks,
)
INLINE = ("HIPAA.Security", "NIST.800.53.R4", "NIST.800.53.R5", "PCI.DSS.321")
ENVIRONMENT = cdk.Environment(account="111122223333", region="us-west-2")
Found = set[tuple[str, str]]
"""Findings that are not acknowledged: full id, and construct path."""


@pytest.fixture
def app(tmp_path: Path) -> cdk.App:
    return cdk.App(outdir=str(tmp_path))


def findings(app: cdk.App) -> Found:
    """Synthesize with all packs, and return what is left."""
    cdk.Validations.of(app).add_plugins(*(pack() for pack in PACKS))
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    return reported(app)


def reported(app: cdk.App) -> Found:
    report: dict[str, Any] = json.loads((Path(app.outdir) / "validation-report.json").read_text())
    return {
        (violation["ruleName"], construct["constructPath"])
        for pack in report["pluginReports"]
        for violation in pack["violations"]
        for construct in violation["violatingConstructs"]
    }


def short(finding: str) -> str:
    """Return a finding without its pack, such as `IAMNoInlinePolicy`."""
    return re.sub(r"\[.*", "", finding).rpartition("-")[2]


def endpoint_of(stack: cdk.Stack, id: str = "Chat", **keywords: Any) -> LmiEndpoint:
    data = ModelData.s3_prefix("my-models", "m/")
    return LmiEndpoint(stack, id, model_data=data, instance_type="ml.g6.12xlarge", **keywords)


def test_every_preset_and_stack_leaves_only_what_its_owner_decides(app: cdk.App) -> None:
    for name in PRESETS:
        id = name.replace(".", "-")
        PresetStack(app, f"{id}-S3", preset=name, model_bucket="my-models", env=ENVIRONMENT)
    PresetStack(app, "Hub", preset="gpt-oss-20b", env=ENVIRONMENT)
    left = findings(app)
    assert {short(finding) for finding, _ in left} == {
        "SageMakerEndpointConfigurationKMSKeyConfigured",  # encryption_key=
        "CloudWatchAlarmAction",  # add_alarms(topic=)
    }


def test_an_endpoint_with_key_and_topic_leaves_nothing(app: cdk.App) -> None:
    stack = cdk.Stack(app, "Llm", env=ENVIRONMENT)
    key = kms.Key.from_key_arn(stack, "Key", "arn:aws:kms:us-west-2:111122223333:key/a")
    topic = sns.Topic.from_topic_arn(stack, "Topic", "arn:aws:sns:us-west-2:111122223333:ops")
    endpoint = endpoint_of(stack, encryption_key=key)
    endpoint.add_alarms(topic=topic)
    cdk.Validations.of(app).add_plugins(*(pack() for pack in PACKS))
    app.synth()
    assert {found for found in reported(app) if not found[0].startswith("LMI")} == set()


def test_the_example_of_the_documentation_leaves_nothing_of_ours_either(app: cdk.App) -> None:
    stack = cdk.Stack(app, "Llm", env=ENVIRONMENT)
    names: dict[str, Any] = {
        "cdk": cdk,
        "stack": stack,
        "bucket": s3.Bucket.from_bucket_name(stack, "Bucket", "my-models"),
        "key": kms.Key.from_key_arn(stack, "Key", "arn:aws:kms:us-west-2:111122223333:key/a"),
        "topic": sns.Topic.from_topic_arn(stack, "Topic", "arn:aws:sns:us-west-2:111122223333:ops"),
    }
    page = Path(__file__).parents[2] / "docs" / "how-to" / "cdk-nag.md"
    (example,) = (
        block
        for block in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
        if "governed = LmiEndpoint" in block
    )
    exec(example, names)
    cdk.Validations.of(app).add_plugins(*(pack() for pack in PACKS))
    app.synth()
    assert reported(app) == set()


def test_a_fleet_of_components_and_adapters_leaves_nothing(app: cdk.App) -> None:
    """With the key and the topic that its owner decides."""
    stack = cdk.Stack(app, "Llm", env=ENVIRONMENT)
    key = kms.Key.from_key_arn(stack, "Key", "arn:aws:kms:us-west-2:111122223333:key/a")
    topic = sns.Topic.from_topic_arn(stack, "Topic", "arn:aws:sns:us-west-2:111122223333:ops")
    fleet = LmiFleet(stack, "Fleet", instance_type="ml.g6.12xlarge", encryption_key=key)
    base = LmiInferenceComponent(
        stack,
        "Base",
        fleet=fleet,
        model_data=ModelData.s3_prefix("my-models", "m/"),
        settings=LmiSettings(tensor_parallel_degree=1, enable_lora=True),
        min_memory=cdk.Size.gibibytes(16),
        adapter_location=S3Location("my-models", "adapters/"),
    )
    for place in ("adapters/a.tar.gz", "elsewhere/b.tar.gz"):
        tenant = base.add_adapter(place[-8], AdapterData.s3_archive("my-models", place))
        tenant.add_no_capacity_alarm(topic=topic)
    cdk.Validations.of(app).add_plugins(*(pack() for pack in PACKS))
    app.synth()
    assert {found for found in reported(app) if not found[0].startswith("LMI")} == set()


@pytest.mark.parametrize("environment", [ENVIRONMENT, None], ids=["bound", "agnostic"])
def test_buckets_of_the_stack_and_unknown_regions_are_named_as_cdk_nag_names_them(
    app: cdk.App, environment: cdk.Environment | None
) -> None:
    stack = cdk.Stack(app, "Llm", env=environment)
    bucket = s3.Bucket(stack, "Models")
    LmiEndpoint(
        stack,
        "Chat",
        model_data=ModelData.s3_prefix(bucket, "m/"),
        instance_type="ml.g6.12xlarge",
    )
    assert not [found for found in findings(app) if "IAM" in short(found[0])]


def test_exactly_the_wildcards_and_inline_policy_of_our_role_are_removed(app: cdk.App) -> None:
    """The same role, written by hand, is reported in full."""
    stack = cdk.Stack(app, "Llm", env=ENVIRONMENT)
    endpoint_of(stack)
    logs = "arn:aws:logs:us-west-2:111122223333:log-group:/aws/sagemaker/Endpoints/*"
    files = "arn:aws:s3:::my-models/m/*"
    iam.Role(
        stack,
        "Theirs",
        assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"),
        inline_policies={
            "Execution": iam.PolicyDocument(
                statements=[
                    iam.PolicyStatement(actions=["logs:PutLogEvents"], resources=[logs]),
                    iam.PolicyStatement(actions=["cloudwatch:PutMetricData"], resources=["*"]),
                    iam.PolicyStatement(actions=["s3:GetObject"], resources=[files]),
                ]
            )
        },
    )
    about_roles = {found for found in findings(app) if "IAM" in short(found[0])}
    assert about_roles == {
        *(
            (f"AwsSolutions-IAM5[Resource::{arn}]", "Llm/Theirs/Resource")
            for arn in (logs, "*", files)
        ),
        *((f"{pack}-IAMNoInlinePolicy", "Llm/Theirs/Resource") for pack in INLINE),
    }


def test_what_is_added_to_our_role_later_stays_reported(app: cdk.App) -> None:
    stack = cdk.Stack(app, "Llm", env=ENVIRONMENT)
    role = endpoint_of(stack).role
    assert role is not None
    statement = iam.PolicyStatement(actions=["sagemaker:InvokeEndpoint"], resources=["*"])
    role.add_to_principal_policy(statement)
    added = "Llm/Chat/Model/Role/DefaultPolicy/Resource"
    assert ("AwsSolutions-IAM5[Resource::*]", added) in findings(app)


def test_a_role_of_the_user_is_theirs_to_acknowledge(app: cdk.App) -> None:
    stack = cdk.Stack(app, "Llm", env=ENVIRONMENT)
    theirs = iam.Role(stack, "Theirs", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    endpoint_of(stack, role=theirs)
    left = findings(app)
    assert ("AwsSolutions-IAM5[Resource::*]", "Llm/Theirs/DefaultPolicy/Resource") in left


def test_acknowledges_at_synth_for_a_pack_that_is_loaded_after_the_endpoint(tmp_path: Path) -> None:
    program = """
import sys
import aws_cdk as cdk
from lmi_constructs import LmiEndpoint, ModelData
app = cdk.App(outdir=sys.argv[1])
stack = cdk.Stack(app, "Llm", env=cdk.Environment(account="111122223333", region="us-west-2"))
data = ModelData.s3_prefix("my-models", "m/")
LmiEndpoint(stack, "Chat", model_data=data, instance_type="ml.g6.12xlarge")
assert "cdk_nag" not in sys.modules
import cdk_nag
cdk.Validations.of(app).add_plugins(cdk_nag.AwsSolutionsChecks(), cdk_nag.HIPAASecurityChecks())
try:
    app.synth()
except RuntimeError:
    pass
"""
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True, capture_output=True)
    report = json.loads((tmp_path / "validation-report.json").read_text())
    assert {pack["pluginName"] for pack in report["pluginReports"]} >= {"AwsSolutions"}
    rules = {one["ruleName"] for pack in report["pluginReports"] for one in pack["violations"]}
    assert rules
    assert not [rule for rule in rules if "IAM5" in rule or "IAMNoInlinePolicy" in rule]
