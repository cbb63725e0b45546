"""`lmi smoke`, against the local AWS's stub and against endpoints that misbehave."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from lmi_constructs.cli.smoke import smoke
from lmi_constructs.runtime.smoke import CHECKS, smoke_test

if TYPE_CHECKING:
    from lmi_constructs.runtime import LmiClient

CHAT = {"choices": [{"message": {"content": "Hello."}, "finish_reason": "stop"}]}
GREETING = {"choices": [{"message": {"content": '{"greeting": "Hi"}'}, "finish_reason": "stop"}]}
TEXT = {"choices": [{"text": "Hello.", "finish_reason": "stop"}]}
GENERATED = {"generated_text": "Hello."}
CHAT_LINES = b'{"choices":[{"delta":{"content":"Hello."},"finish_reason":"stop"}]}\n'
TEXT_LINES = b'{"choices":[{"text":"Hello.","finish_reason":"stop"}]}\n'
TGI_LINES = b'{"token":{"id":1,"text":"Hello."},"generated_text":"Hello."}\n'


class InService:
    """boto3's client of `sagemaker`, for an endpoint in a certain state."""

    def __init__(self, status: str = "InService") -> None:
        self.status = status

    def describe_endpoint(self, EndpointName: str) -> Any:
        return {"EndpointStatus": self.status, "EndpointConfigName": "one"}


def will_pass(runtime: Any) -> None:
    for body in (CHAT, TEXT, GENERATED):
        runtime.will_answer(body)
    for lines in (CHAT_LINES, TEXT_LINES, TGI_LINES):
        runtime.will_stream(lines)
    runtime.will_answer(GREETING)


def outcomes(client: LmiClient, **options: Any) -> dict[str, Any]:
    results = smoke_test(client, sagemaker=options.pop("sagemaker", InService()), **options)
    return {result.name: result for result in results}


def test_every_check_passes_on_an_endpoint_that_answers(runtime: Any, client: LmiClient) -> None:
    will_pass(runtime)
    results = outcomes(client)
    assert tuple(results) == CHECKS
    assert {result.status for result in results.values()} == {"passed"}
    assert results["streamed-chat"].first_text_seconds > 0
    assert results["chat"].first_text_seconds is None
    assert results["structured-output"].detail == '{"greeting": "Hi"}'


def test_adapters_answer_and_an_unknown_one_is_refused(runtime: Any, client: LmiClient) -> None:
    will_pass(runtime)
    runtime.will_answer(CHAT)
    runtime.will_fail(
        "ModelError",
        424,
        OriginalStatusCode=424,
        OriginalMessage="LoRA adapter x not found",
        Message="",
    )
    results = outcomes(client, adapters=["legal"])
    assert results["adapter legal"].status == "passed"
    assert results["unknown adapter"].status == "passed"
    assert [body["adapters"] for _, _, body in runtime.asked[-2:]] == [
        "legal",
        "lmi-smoke-no-such-adapter",
    ]


def test_an_unknown_adapter_that_is_answered_is_a_failure(runtime: Any, client: LmiClient) -> None:
    will_pass(runtime)
    runtime.will_answer(CHAT)
    runtime.will_answer(CHAT)
    unknown = outcomes(client, adapters=["legal"])["unknown adapter"]
    assert unknown.status == "failed"
    assert "served by the base model" in unknown.detail


@pytest.mark.parametrize(
    ("content", "detail"), [("Hello!", "is no JSON"), ('{"a": 1}', "does not have the asked form")]
)
def test_an_answer_without_the_asked_form_is_a_failure(
    runtime: Any, client: LmiClient, content: str, detail: str
) -> None:
    runtime.will_answer({"choices": [{"message": {"content": content}, "finish_reason": "stop"}]})
    skip = set(CHECKS) - {"structured-output"}
    result = outcomes(client, skip=skip)["structured-output"]
    assert (result.status, detail in result.detail) == ("failed", True)


def test_an_empty_answer_and_a_broken_stream_are_failures(runtime: Any, client: LmiClient) -> None:
    runtime.will_answer({"choices": [{"message": {"content": ""}, "finish_reason": "length"}]})
    runtime.will_stream(b'{"choices":[{"delta":{"content":"Hel"}}]}\n')
    results = outcomes(client, skip=set(CHECKS) - {"chat", "streamed-chat"})
    assert "the answer is empty (finish reason length)" in results["chat"].detail
    assert "had not finished" in results["streamed-chat"].detail
    assert results["inputs"].status == "skipped"


def test_nothing_is_called_that_would_fail_in_the_same_way(runtime: Any, client: LmiClient) -> None:
    results = outcomes(client, sagemaker=InService("Updating"))
    assert results["readiness"].status == "failed"
    assert {result.status for name, result in results.items() if name != "readiness"} == {"skipped"}
    assert runtime.asked == []


def test_a_component_that_does_not_exist_is_said_once(aws: Any, deployed: str) -> None:
    result = run(aws.environment(), "chat", "--component", "absent")
    assert (result.exit_code, result.output.count("list-inference-components")) == (1, 1)
    assert result.output.count("skipped") == len(CHECKS) - 1


def run(environment: Any, *arguments: str) -> Any:
    return CliRunner().invoke(smoke, arguments, env=environment)


def test_the_command_tries_every_way_on_the_local_stub(aws: Any, deployed: str) -> None:
    result = run(aws.environment(), "chat")
    lines = dict(reversed(line.split()[:2]) for line in result.output.splitlines())
    assert lines == dict.fromkeys(CHECKS, "passed")
    assert result.exit_code == 0
    skipped = run(aws.environment(), "chat", "--skip", "structured-output", "--format", "json")
    assert skipped.exit_code == 0
    assert [item["name"] for item in json.loads(skipped.stdout)] == list(CHECKS)


def test_an_endpoint_that_does_not_exist_fails_at_readiness(aws: Any) -> None:
    result = run(aws.environment(), "nowhere")
    assert result.exit_code == 1
    assert result.output.startswith("failed   readiness")
    assert "list-endpoints" in result.output


def test_a_check_that_does_not_exist_is_a_usage_error(aws: Any) -> None:
    result = run(aws.environment(), "chat", "--skip", "chats")
    assert result.exit_code == 2
    assert "no check" in result.output
