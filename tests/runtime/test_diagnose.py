"""`lmi diagnose`: state, log and settings of an endpoint of the local AWS, and log files."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from click.testing import CliRunner

from lmi_constructs.cli.diagnose import diagnose
from lmi_constructs.runtime import EndpointNotFoundError
from lmi_constructs.runtime.diagnosis import diagnose_endpoint

GROUP = "/aws/sagemaker/Endpoints/chat"
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB."
HEADS = "Total number of attention heads (28) must be divisible by tensor parallel size (8)."


def write_log(aws: Any, *messages: str, group: str = GROUP, stream: str = "AllTraffic/i-1") -> None:
    logs = aws.client("logs")
    logs.create_log_group(logGroupName=group)
    logs.create_log_stream(logGroupName=group, logStreamName=stream)
    events = [
        {"timestamp": int(time.time() * 1000) - 10_000 + number, "message": message}
        for number, message in enumerate(messages)
    ]
    logs.put_log_events(logGroupName=group, logStreamName=stream, logEvents=events)


def diagnosed(aws: Any) -> Any:
    return diagnose_endpoint("chat", sagemaker=aws.client("sagemaker"), logs=aws.client("logs"))


def test_the_log_gives_the_cause_and_the_settings_the_change(aws: Any, deployed: str) -> None:
    write_log(aws, "INFO starting", OOM)
    report = diagnosed(aws)
    assert [item.name for item in report.diagnoses] == ["out-of-memory"]
    changed = {change.field: (change.before, change.after) for change in report.changes}
    assert changed["max_rolling_batch_size"] == (64, 32)
    assert report.is_in_service
    assert report.notes == ()


@pytest.mark.parametrize(
    ("status", "note"), [("Creating", "no container has started"), ("InService", "was deleted")]
)
def test_what_a_missing_log_means_depends_on_the_state(
    aws: Any, deployed: str, status: str, note: str
) -> None:
    sagemaker = aws.client("sagemaker")
    described = {**sagemaker.describe_endpoint(EndpointName="chat"), "EndpointStatus": status}
    sagemaker.describe_endpoint = lambda EndpointName: described
    report = diagnose_endpoint("chat", sagemaker=sagemaker, logs=aws.client("logs"))
    del sagemaker.describe_endpoint  # the client is shared
    assert report.diagnoses == ()
    assert note in report.notes[0]
    assert ("LMI033" in report.notes[0]) == (status == "Creating")


def add_component(aws: Any, name: str, specification: dict[str, Any]) -> None:
    aws.client("sagemaker").create_inference_component(
        InferenceComponentName=name,
        EndpointName="chat",
        VariantName="AllTraffic",
        Specification=specification,
        RuntimeConfig={"CopyCount": 1},
    )


@pytest.fixture
def fleet(aws: Any, deployed: str) -> Any:
    """The endpoint without a model of its own, and the log of a component that ran out of memory."""
    sagemaker = aws.client("sagemaker")
    sagemaker.delete_endpoint(EndpointName="chat")
    variant = {"VariantName": "AllTraffic", "InstanceType": "ml.g6.12xlarge"}
    sagemaker.create_endpoint_config(
        EndpointConfigName="fleet",
        ExecutionRoleArn="arn:aws:iam::123456789012:role/Execution",
        ProductionVariants=[{**variant, "InitialInstanceCount": 1}],
    )
    sagemaker.create_endpoint(EndpointName="chat", EndpointConfigName="fleet")
    write_log(aws, OOM, group="/aws/sagemaker/InferenceComponents/base")
    return aws


NEEDS = {"NumberOfAcceleratorDevicesRequired": 1, "MinMemoryRequiredInMb": 1024}


def test_the_settings_of_a_component_are_those_of_its_own_container(fleet: Any) -> None:
    image = "763104351884.dkr.ecr.us-east-1.amazonaws.com/djl-inference:0.36.0-lmi27.0.0-cu130"
    container = {"Image": image, "Environment": {"OPTION_MAX_ROLLING_BATCH_SIZE": "48"}}
    add_component(fleet, "base", {"Container": container, "ComputeResourceRequirements": NEEDS})
    add_component(fleet, "adapter", {"BaseInferenceComponentName": "base"})
    changed = {change.field: (change.before, change.after) for change in diagnosed(fleet).changes}
    assert changed["max_rolling_batch_size"] == (48, 24)


def test_the_settings_of_a_component_may_be_those_of_a_model(fleet: Any) -> None:
    add_component(fleet, "base", {"ModelName": "llama", "ComputeResourceRequirements": NEEDS})
    changed = {change.field: (change.before, change.after) for change in diagnosed(fleet).changes}
    assert changed["max_rolling_batch_size"] == (64, 32)


def test_of_several_components_none_is_changed_by_guess(fleet: Any) -> None:
    for name in ("base", "other"):
        add_component(fleet, name, {"ModelName": "llama", "ComputeResourceRequirements": NEEDS})
    report = diagnosed(fleet)
    assert report.changes == ()
    assert "2 components with settings of their own" in report.notes[-1]


def test_an_endpoint_that_does_not_exist_is_an_error(aws: Any) -> None:
    with pytest.raises(EndpointNotFoundError):
        diagnosed(aws)


class Denied:
    """Clients of a caller who may describe the endpoint and nothing else."""

    def __init__(self, status: str, reason: str, code: str = "AccessDeniedException") -> None:
        self.code = code
        self.state = {
            "EndpointStatus": status,
            "EndpointConfigName": "one",
            "FailureReason": reason,
        }

    def describe_endpoint(self, EndpointName: str) -> Any:
        return self.state

    def __getattr__(self, name: str) -> Any:
        from botocore.exceptions import ClientError

        def refuse(*_: Any, **__: Any) -> Any:
            error = {"Code": self.code, "Message": f"not allowed: {name}"}
            raise ClientError({"Error": error}, name)

        return refuse


@pytest.mark.parametrize(
    "code",
    ["AccessDeniedException", "ThrottlingException", "InternalFailure", "ValidationException"],
)
def test_what_cannot_be_asked_is_a_note_beside_what_is_known(code: str) -> None:
    reason = "Unable to provision requested ML compute capacity due to InsufficientInstanceCapacity"
    denied = Denied("Failed", reason, code)
    report = diagnose_endpoint("chat", sagemaker=denied, logs=denied)
    assert [item.name for item in report.diagnoses] == ["no-capacity"]
    assert "unknown whether it has components" in report.notes[0]
    assert "could not be read" in report.notes[1]
    assert not report.is_in_service


@pytest.mark.parametrize("code", ["AccessDeniedException", "ValidationException"])
def test_settings_that_cannot_be_read_are_a_note(code: str) -> None:
    """They may have been deleted with the configuration."""
    denied = Denied("Failed", OOM, code)
    report = diagnose_endpoint("chat", sagemaker=denied, logs=denied)
    assert report.changes == ()
    assert "no change is worked out" in report.notes[-1]


def run(aws: Any, *arguments: str, given: str | bytes | None = None) -> Any:
    return CliRunner().invoke(diagnose, arguments, input=given, env=aws.environment())


def test_the_command_prints_cause_line_remedy_and_change(aws: Any, deployed: str) -> None:
    write_log(aws, HEADS, HEADS, OOM)
    result = run(aws, "chat")
    assert result.exit_code == 1
    assert "endpoint chat: InService on one" in result.output
    assert "28 attention heads cannot be shared by 8 ranks [LMI052]" in result.output
    assert "seen in line 1, 2 times: Total number" in result.output
    assert "what to do: set tensor_parallel_degree to a number that divides 28" in result.output
    assert "max_rolling_batch_size: 64 -> 32" in result.output


def test_the_command_says_that_nothing_is_wrong(aws: Any, deployed: str) -> None:
    write_log(aws, "INFO started")
    result = run(aws, "chat")
    assert result.exit_code == 0
    assert "no known failure" in result.output


def test_the_command_gives_json(aws: Any, deployed: str) -> None:
    write_log(aws, OOM)
    report = json.loads(run(aws, "chat", "--format", "json").stdout)
    assert report["states"][0]["status"] == "InService"
    assert report["diagnoses"][0]["rule"] == "LMI050"
    assert {change["field"] for change in report["changes"]} >= {"max_rolling_batch_size"}


@pytest.fixture
def no_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    import boto3

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("AWS was asked")

    monkeypatch.setattr(boto3, "Session", refuse)


@pytest.mark.usefixtures("no_aws")
def test_a_log_file_needs_no_aws(tmp_path: Any) -> None:
    file = tmp_path / "log.txt"
    file.write_text(f"start\n{HEADS}\n")
    result = CliRunner().invoke(diagnose, ["--log", str(file)])
    assert result.exit_code == 1
    assert "28 attention heads" in result.output
    found = CliRunner().invoke(diagnose, ["--log", "-", "--format", "json"], input=OOM)
    assert json.loads(found.stdout)[0]["name"] == "out-of-memory"
    healthy = CliRunner().invoke(diagnose, ["--log", "-"], input="all is well")
    assert (healthy.exit_code, healthy.output) == (
        0,
        "no known failure was recognized in the log\n",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [([], "either"), (["chat", "--log", "-"], "either"), (["--log", "/nowhere"], "cannot be read")],
)
def test_a_mistake_in_the_command_is_a_message(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(diagnose, arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_a_log_may_hold_bytes_that_are_no_text(aws: Any) -> None:
    result = run(aws, "--log", "-", given=b"\xff\xfe " + HEADS.encode())
    assert result.exit_code == 1
    assert "28 attention heads cannot be shared" in result.output
