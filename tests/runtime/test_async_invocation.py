"""Asynchronous requests: queued through boto3, their answers read from S3."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.response import StreamingBody
from botocore.stub import Stubber

from lmi_constructs.runtime import (
    AsyncInvocation,
    CallerError,
    ChatRequest,
    ContainerError,
    LmiClient,
    NotReadyError,
    RefusedError,
    ThrottledError,
)

OUTPUT, FAILURE = "s3://out/results/1.out", "s3://out/failures/1-error.out"
ANSWER = {"choices": [{"message": {"content": "Hi."}, "finish_reason": "stop"}]}


@pytest.fixture
def s3() -> Any:
    client = boto3.client(
        "s3", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x"
    )
    with Stubber(client) as stubber:
        client.stubber = stubber
        yield client
        stubber.assert_no_pending_responses()


def will_hold(s3: Any, key: str, content: bytes) -> None:
    body = StreamingBody(io.BytesIO(content), len(content))
    s3.stubber.add_response("get_object", {"Body": body}, {"Bucket": "out", "Key": key})


def will_lack(s3: Any, key: str, code: str = "NoSuchKey") -> None:
    s3.stubber.add_client_error(
        "get_object", code, http_status_code=404, expected_params={"Bucket": "out", "Key": key}
    )


def queued(s3: Any) -> AsyncInvocation:
    return AsyncInvocation(
        output_location=OUTPUT, failure_location=FAILURE, inference_id="1", s3_client=s3
    )


def test_a_request_is_queued_and_its_answer_waited_for(runtime: Any, s3: Any) -> None:
    headers = {
        "X-Amzn-SageMaker-OutputLocation": OUTPUT,
        "X-Amzn-SageMaker-FailureLocation": FAILURE,
    }
    runtime.will_answer({"InferenceId": "1"}, **headers)
    client = LmiClient("chat", client=runtime.client(), s3_client=s3).using(adapter="legal")
    invocation = client.submit(ChatRequest("Hi"), invocation_timeout_seconds=1800)
    path, sent, body = runtime.asked[0]
    assert path == "/endpoints/chat/async-invocations"
    assert sent["X-Amzn-SageMaker-InvocationTimeoutSeconds"] == "1800"
    assert (body["adapters"], "stream" in body) == ("legal", False)
    assert invocation == queued(s3)
    will_lack(s3, "results/1.out")
    will_lack(s3, "failures/1-error.out")
    will_hold(s3, "results/1.out", json.dumps(ANSWER).encode())
    assert invocation.result(poll_seconds=0.01).text == "Hi."


def test_a_request_of_any_size_goes_by_its_address(runtime: Any) -> None:
    runtime.will_answer({}, **{"X-Amzn-SageMaker-OutputLocation": OUTPUT})
    LmiClient("chat", client=runtime.client()).submit(input_location="s3://in/1.json")
    assert runtime.asked[0][1]["X-Amzn-SageMaker-InputLocation"] == "s3://in/1.json"


def test_a_failure_is_raised_with_the_containers_words(s3: Any) -> None:
    will_lack(s3, "results/1.out")
    will_hold(s3, "failures/1-error.out", b"LoRA adapter x not found in registry")
    with pytest.raises(RefusedError, match="LoRA adapter x"):
        queued(s3).result(poll_seconds=0.01)


def test_an_error_in_the_output_is_raised(s3: Any) -> None:
    will_hold(s3, "results/1.out", b'{"error": "worn out", "code": 500}')
    with pytest.raises(ContainerError, match="worn out"):
        queued(s3).result()


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b'[{"generated_text": "Hi."}]', "Hi."),
        (b'"Hi."', "Hi."),
        (b"Hi.", "Hi."),
        (b"[1, 2]", "[1, 2]"),
        (b"", ""),
    ],
)
def test_any_form_of_answer_is_read_as_by_a_plain_call(s3: Any, body: bytes, text: str) -> None:
    will_hold(s3, "results/1.out", body)
    assert queued(s3).result().text == text


def test_a_question_without_an_answer_does_not_end_the_wait(s3: Any) -> None:
    will_lack(s3, "results/1.out")
    will_lack(s3, "failures/1-error.out")
    will_lack(s3, "results/1.out", "SlowDown")
    will_hold(s3, "results/1.out", json.dumps(ANSWER).encode())
    assert queued(s3).result(poll_seconds=0.01).text == "Hi."
    will_lack(s3, "results/1.out")
    will_lack(s3, "failures/1-error.out")
    cut = {"Body": StreamingBody(io.BytesIO(b"{"), 999)}
    s3.stubber.add_response("get_object", cut, {"Bucket": "out", "Key": "results/1.out"})
    will_hold(s3, "results/1.out", json.dumps(ANSWER).encode())
    assert queued(s3).result(poll_seconds=0.01).text == "Hi."
    will_lack(s3, "results/1.out", "SlowDown")
    with pytest.raises(ThrottledError):  # at once: nothing was ever answered
        queued(s3).result()


def test_the_answer_is_read_in_the_region_of_the_endpoint(
    runtime: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.will_answer({}, **{"X-Amzn-SageMaker-OutputLocation": OUTPUT})
    client = LmiClient("chat", region="eu-west-1", client=runtime.client())
    asked: list[tuple[str, str | None]] = []

    def service(name: str, region: str | None = None) -> Any:
        asked.append((name, region))
        return SimpleNamespace(get_object=lambda **_: {"Body": io.BytesIO(b"Hi.")})

    monkeypatch.setattr("lmi_constructs.runtime.async_invocation.service_client", service)
    assert client.submit(ChatRequest("Hi")).result().text == "Hi."
    assert asked == [("s3", "eu-west-1")]


def test_says_when_no_answer_comes_in_time(s3: Any) -> None:
    will_lack(s3, "results/1.out")
    will_lack(s3, "failures/1-error.out")
    with pytest.raises(NotReadyError, match="ApproximateBacklogSize"):
        queued(s3).result(timeout_seconds=0.01, poll_seconds=0.02)


def test_says_that_a_missing_object_may_be_a_missing_permission(s3: Any) -> None:
    will_lack(s3, "results/1.out", "AccessDenied")
    with pytest.raises(CallerError, match="s3:ListBucket"):
        queued(s3).result()


def test_says_that_a_bucket_does_not_exist(s3: Any) -> None:
    will_lack(s3, "results/1.out", "NoSuchBucket")
    with pytest.raises(Exception, match="NoSuchBucket"):
        queued(s3).result()
