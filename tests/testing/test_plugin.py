"""The pytest plugin, run in a platform repository of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
STACK = """
import aws_cdk as cdk
import pytest
from lmi_constructs import LmiEndpoint, ModelData

@pytest.fixture
def stack():
    stack = cdk.Stack(cdk.App(), "Llm")
    LmiEndpoint(
        stack, "Chat",
        model_data=ModelData.s3_prefix("my-models", "m/"), instance_type="{instance_type}",
    )
    return stack
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "conftest.py").write_text(STACK.format(instance_type="ml.g6.12xlarge"))
    (tmp_path / "pytest.ini").write_text("[pytest]\nlmi_cdk_validation = off\n")
    (tmp_path / "test_stack.py").write_text(
        "def test_is_unchanged(stack, lmi_snapshot):\n    assert stack == lmi_snapshot\n"
    )
    return tmp_path


def run(repository: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "lmi_constructs.testing.plugin", *arguments]
    return subprocess.run(
        command,
        cwd=repository,
        env=os.environ | {"PYTHONPATH": str(ROOT), "CDK_VALIDATION": "surely unset"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_snapshot_is_written_kept_and_compared_line_by_line(repository: Path) -> None:
    missing = run(repository)
    assert missing.returncode == 1, missing.stdout
    assert run(repository, "--snapshot-update").returncode == 0
    (file,) = (repository / "__snapshots__").rglob("*.template.json")
    assert "BootstrapVersion" not in file.read_text()
    assert "AWS::SageMaker::Endpoint" in {
        resource["Type"] for resource in json.loads(file.read_text())["Resources"].values()
    }
    assert run(repository).returncode == 0
    (repository / "conftest.py").write_text(STACK.format(instance_type="ml.g6.48xlarge"))
    changed = run(repository)
    assert changed.returncode == 1
    # Where `CI` is set, pytest repeats the difference in its summary, without the "E".
    report = [line for line in changed.stdout.splitlines() if line.startswith("E ")]
    shown = [line for line in report if "InstanceType" in line]
    assert len(shown) == 2, changed.stdout


def test_a_parametrized_test_may_have_a_slash_in_its_name(repository: Path) -> None:
    (repository / "test_stack.py").write_text(
        "import pytest\n"
        "@pytest.mark.parametrize('hub_id', ['Qwen/Qwen3-8B', 'ü'])\n"
        "def test_it(stack, lmi_snapshot, hub_id): assert stack == lmi_snapshot\n"
    )
    written = run(repository, "-W", "error", "--snapshot-update")
    assert written.returncode == 0, written.stdout
    assert run(repository, "-W", "error").returncode == 0
    (repository / "conftest.py").write_text(STACK.format(instance_type="ml.g6.48xlarge"))
    changed = run(repository, "-W", "error")
    assert "2 failed" in changed.stdout, changed.stdout


def test_a_name_that_syrupy_5_cannot_relate_to_its_test_is_no_warning(repository: Path) -> None:
    """syrupy 5 does not ask `matches_test_location`; here it says no, as the test of syrupy 5 does."""
    with (repository / "conftest.py").open("a") as conftest:
        conftest.write(
            "from lmi_constructs.testing.template_snapshot import TemplateSnapshotExtension as It\n"
            "It.matches_test_location = classmethod(lambda cls, **keywords: False)\n"
        )
    written = run(repository, "-W", "error", "--snapshot-update")
    assert written.returncode == 0, written.stdout + written.stderr


@pytest.mark.skipif(not Path("/proc/sys/debug").is_dir(), reason="a folder no one may write to")
def test_a_snapshot_that_cannot_be_written_is_named(repository: Path) -> None:
    (repository / "__snapshots__").symlink_to("/proc/sys/debug")
    refused = run(repository, "--snapshot-update")
    assert refused.returncode == 1
    said = refused.stdout + refused.stderr
    assert re.search(
        r"Exit: cannot write the snapshot \S*/test_is_unchanged\.template\.json: ", said
    )


def test_a_failed_assertion_shows_the_line_of_the_test(repository: Path) -> None:
    (repository / "test_stack.py").write_text("""
from pathlib import Path
from lmi_constructs.testing import assert_fits, assert_no_findings, assert_updates_in_place
def test_findings(): assert_no_findings({"Resources": {}})
def test_fits(stack): assert_fits(stack)
def test_old_is_a_text(stack): assert_updates_in_place(old="Llm.json", new=stack)
def test_old_is_missing(stack): assert_updates_in_place(old=Path("Llm.json"), new=stack)
def test_deletes(stack): assert_updates_in_place({"Resources": {"A": {"Type": "B"}}}, stack)
def test_deploys_a_text(lmi_deploy): lmi_deploy("Llm")
""")
    said = run(repository).stdout
    assert "6 failed" in said, said
    assert "lmi_constructs/" not in said, "frames of the library are shown"
    assert "write Path('Llm.json')" in said


def test_each_worker_has_a_local_aws_of_its_own(repository: Path) -> None:
    (repository / "test_stack.py").write_text("""
import pathlib, time, pytest
@pytest.mark.parametrize("name", ["one", "two"])
def test_it(name, local_aws, worker_id):
    s3 = local_aws.client("s3")
    assert not s3.list_buckets()["Buckets"]
    s3.create_bucket(Bucket=f"bucket-{name}")
    pathlib.Path(name).write_text(local_aws.environment()["AWS_ENDPOINT_URL"] + worker_id)
    give_up = time.monotonic() + 30
    while not (pathlib.Path("one").exists() and pathlib.Path("two").exists()):
        assert time.monotonic() < give_up
        time.sleep(0.05)
    assert [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]] == [f"bucket-{name}"]
""")
    done = run(repository, "-n", "2")
    assert done.returncode == 0, done.stdout
    one, two = ((repository / name).read_text() for name in ("one", "two"))
    assert one[:-3] != two[:-3]
    assert {one[-3:], two[-3:]} == {"gw0", "gw1"}


def test_without_node_a_deployment_says_what_to_install(
    lmi_deploy: Callable[[Any], dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    import aws_cdk as cdk

    from lmi_constructs.local import CdkError

    stack = topic_stack(cdk.App(), "Topics")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(CdkError, match=r"npx was not found.*install Node\.js"):
        lmi_deploy(stack)


def test_a_change_in_a_nested_stack_changes_the_snapshot(repository: Path) -> None:
    test = """
import aws_cdk as cdk
def test_it(lmi_snapshot):
    parent = cdk.Stack(cdk.App(), "Parent")
    cdk.CfnResource(cdk.NestedStack(parent, "Nested"), "Topic", type="AWS::SNS::Topic",
                    properties={{"TopicName": "{name}"}})
    assert parent == lmi_snapshot
"""
    (repository / "test_stack.py").write_text(test.format(name="one"))
    assert run(repository, "--snapshot-update").returncode == 0
    (repository / "test_stack.py").write_text(test.format(name="two"))
    changed = run(repository)
    assert changed.returncode == 1
    assert '"TopicName": "two"' in changed.stdout


def test_without_syrupy_or_with_another_snapshot_the_fixture_says_what_to_do(
    repository: Path,
) -> None:
    (repository / "test_stack.py").write_text("def test_it(lmi_snapshot): pass\n")
    off = run(repository, "-p", "no:syrupy")
    assert "lmi_snapshot needs pytest's plugin syrupy, which is turned off" in off.stdout
    (repository / "conftest.py").write_text(
        "import pytest\n@pytest.fixture\ndef snapshot(): return 'mine'\n"
    )
    assert "another one stands in its place: rename yours" in run(repository).stdout


def test_the_choice_of_the_validator_reaches_the_cdk(repository: Path) -> None:
    (repository / "test_stack.py").write_text(
        "import os\ndef test_it(): assert os.environ['CDK_VALIDATION'] == 'false'\n"
    )
    assert run(repository).returncode == 0
    assert run(repository, "--lmi-cdk-validation", "on").returncode == 1
    (repository / "pytest.ini").write_text("[pytest]\nlmi_cdk_validation = maybe\n")
    unknown = run(repository)
    assert unknown.returncode == 4
    assert "write one of on, off" in unknown.stderr


@pytest.mark.deploy
def test_a_stack_is_deployed_and_answers(
    lmi_deploy: Callable[[Any], dict[str, str]], local_aws: Any
) -> None:
    import aws_cdk as cdk

    from lmi_constructs import LmiEndpoint, ModelData

    stack = cdk.Stack(cdk.App(), "Llm")
    data = ModelData.s3_prefix("my-models", "m/")
    endpoint = LmiEndpoint(stack, "Chat", model_data=data, instance_type="ml.g6.12xlarge")
    cdk.CfnOutput(stack, "Name", value=endpoint.endpoint_name)
    outputs = lmi_deploy(stack)
    described = local_aws.client("sagemaker").describe_endpoint(EndpointName=outputs["Name"])
    assert described["EndpointStatus"] == "InService"


def topic_stack(scope: Any, id: str, **props: Any) -> Any:
    import aws_cdk as cdk
    from aws_cdk import aws_sns as sns

    stack = cdk.Stack(scope, id, **props)
    cdk.CfnOutput(stack, f"{id}Topic", value=sns.Topic(stack, "Topic").topic_name)
    return stack


@pytest.mark.deploy
def test_stacks_of_a_stage_are_deployed_each_to_its_region(
    lmi_deploy: Callable[[Any], dict[str, str]], local_aws: Any
) -> None:
    import aws_cdk as cdk

    app = cdk.App()
    stage = cdk.Stage(app, "Prod")
    topic_stack(stage, "Europe", stack_name="eu", env=cdk.Environment(region="eu-west-1"))
    topic_stack(stage, "Here")
    outputs = lmi_deploy(app)
    assert set(outputs) == {"EuropeTopic", "HereTopic"}
    (topic,) = local_aws.client("sns", "eu-west-1").list_topics()["Topics"]
    assert topic["TopicArn"].endswith(outputs["EuropeTopic"])


@pytest.mark.deploy
def test_one_stack_is_deployed_by_its_path_whatever_its_name(
    lmi_deploy: Callable[[Any], dict[str, str]], local_aws: Any
) -> None:
    import aws_cdk as cdk

    stage = cdk.Stage(cdk.App(), "Prod")
    chosen = topic_stack(stage, "Chosen", stack_name="another-name")
    topic_stack(stage, "Other")
    assert set(lmi_deploy(chosen)) == {"ChosenTopic"}
    names = [
        one["StackName"]
        for one in local_aws.client("cloudformation").describe_stacks()["Stacks"]
        if one["StackName"] != "CDKToolkit"
    ]
    assert names == ["another-name"]


@pytest.mark.deploy
def test_two_outputs_of_one_name_are_refused_rather_than_mixed(
    lmi_deploy: Callable[[Any], dict[str, str]],
) -> None:
    import aws_cdk as cdk

    app = cdk.App()
    topic_stack(app, "Same", stack_name="one")
    topic_stack(cdk.Stage(app, "Prod"), "Same", stack_name="two")
    with pytest.raises(ValueError, match="several stacks have an output SameTopic"):
        lmi_deploy(app)


def test_what_cannot_be_deployed_is_refused_before_it_is_tried(
    lmi_deploy: Callable[[Any], dict[str, str]],
) -> None:
    import aws_cdk as cdk

    with pytest.raises(TypeError, match="an app, a stage or a stack is needed, not dict"):
        lmi_deploy({"Resources": {}})
    with pytest.raises(ValueError, match="there is no stack in the app"):
        lmi_deploy(cdk.App())
    elsewhere = cdk.Stack(cdk.App(), "Llm", env=cdk.Environment(account="111122223333"))
    with pytest.raises(ValueError, match=r"Llm names the account 111122223333.*'123456789012'"):
        lmi_deploy(elsewhere)
