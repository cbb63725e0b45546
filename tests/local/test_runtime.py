"""Invoking a local endpoint: schemas, streams, errors, asynchronous calls, forwarding."""

from __future__ import annotations

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from lmi_constructs.local import LocalAwsError
from lmi_constructs.local.engines import ForwardingEngine, Invocation, StubEngine

if TYPE_CHECKING:
    from collections.abc import Iterator

CHAT = {"messages": [{"role": "user", "content": "How are you today?"}]}


def invoke(runtime: Any, body: object, **options: Any) -> Any:
    return runtime.invoke_endpoint(
        EndpointName=options.pop("EndpointName", "chat"),
        Body=body if isinstance(body, bytes) else json.dumps(body),
        ContentType="application/json",
        **options,
    )


def stream(runtime: Any, body: object, **options: Any) -> bytes:
    answer = runtime.invoke_endpoint_with_response_stream(
        EndpointName=options.pop("EndpointName", "chat"), Body=json.dumps(body), **options
    )
    assert answer["ContentType"] == "application/jsonlines"
    return b"".join(event["PayloadPart"]["Bytes"] for event in answer["Body"])


def test_a_chat_is_answered_as_a_chat_completion(runtime: Any, deployed: str) -> None:
    answer = invoke(runtime, CHAT)
    body = json.loads(answer["Body"].read())
    text = body["choices"][0]["message"]["content"]
    assert answer["ContentType"] == "application/json"
    assert answer["InvokedProductionVariant"] == "AllTraffic"
    assert body["object"] == "chat.completion"
    assert body["model"] == "lmi"
    assert text.startswith("Local stub of endpoint chat: no model ran.")
    assert "s3://models/llama/" in text
    assert body["choices"][0]["finish_reason"] == "stop"
    assert body["usage"]["prompt_tokens"] == 4
    assert body["usage"]["completion_tokens"] == len(text.split())


def test_a_prompt_is_answered_as_a_completion(runtime: Any, deployed: str) -> None:
    body = json.loads(invoke(runtime, {"prompt": "Hi", "max_tokens": 4})["Body"].read())
    assert body["object"] == "text_completion"
    assert body["choices"][0]["text"] == "Local stub of endpoint"
    assert body["choices"][0]["finish_reason"] == "length"


def test_inputs_are_answered_with_generated_text(runtime: Any, deployed: str) -> None:
    parameters = {"max_new_tokens": 5, "details": True, "return_full_text": True}
    answer = invoke(runtime, {"inputs": "Hi. ", "parameters": parameters})
    body = json.loads(answer["Body"].read())
    assert body["generated_text"] == "Hi. Local stub of endpoint chat:"
    assert body["details"]["finish_reason"] == "length"
    assert body["details"]["generated_tokens"] == 5
    assert [token["text"] for token in body["details"]["tokens"]][:2] == ["Local", " stub"]


def test_the_first_key_of_the_container_decides_the_schema(runtime: Any, deployed: str) -> None:
    body = json.loads(invoke(runtime, {**CHAT, "inputs": "Hi"})["Body"].read())
    assert set(body) == {"generated_text"}


def test_a_chat_streams_one_json_object_a_line(runtime: Any, deployed: str) -> None:
    options = {"stream": True, "stream_options": {"include_usage": True}}
    lines = stream(runtime, {**CHAT, **options}).decode().splitlines()
    chunks = [json.loads(line) for line in lines]
    text = "".join(chunk["choices"][0]["delta"]["content"] for chunk in chunks if chunk["choices"])
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert text.startswith("Local stub of endpoint chat: no model ran.")
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"
    assert chunks[-1]["usage"]["completion_tokens"] == len(text.split())


def test_inputs_stream_tokens_and_the_text_at_last(runtime: Any, deployed: str) -> None:
    body = {"inputs": "Hi", "parameters": {"max_new_tokens": 3, "details": True}, "stream": True}
    lines = [json.loads(line) for line in stream(runtime, body).splitlines()]
    assert [line["token"]["text"] for line in lines] == ["Local", " stub", " of"]
    assert [line["generated_text"] for line in lines] == [None, None, "Local stub of"]
    assert lines[-1]["details"]["finish_reason"] == "length"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"text": "x"},
        b"no json",
        [1],
        {"messages": 3},
        {"prompt": "x", "max_tokens": 0},
        {"inputs": "x", "parameters": {"max_new_tokens": -1}},
        b'{"prompt": "x", "max_tokens": Infinity}',
        {
            "prompt": "x",
            "response_format": {"type": "json_schema", "json_schema": {"schema": {"enum": []}}},
        },
    ],
)
@pytest.mark.parametrize("operation", ["invoke_endpoint", "invoke_endpoint_with_response_stream"])
def test_a_body_the_container_cannot_use_is_a_model_error(
    runtime: Any, deployed: str, body: object, operation: str
) -> None:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    with pytest.raises(runtime.exceptions.ModelError) as caught:
        getattr(runtime, operation)(EndpointName="chat", Body=raw)
    assert caught.value.response["OriginalStatusCode"] == 424
    assert "/aws/sagemaker/Endpoints/chat" in caught.value.response["LogStreamArn"]
    assert "error" in json.loads(caught.value.response["OriginalMessage"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"EndpointName": "none"}, "Endpoint none of account 123456789012 not found."),
        ({"TargetVariant": "Other"}, "Variant Other not found"),
        ({"InferenceComponentName": "x"}, "Inference Component x not found"),
    ],
)
def test_what_does_not_exist_is_a_validation_error(
    runtime: Any, deployed: str, options: dict[str, str], words: str
) -> None:
    with pytest.raises(runtime.exceptions.ValidationError, match=words):
        invoke(runtime, CHAT, **options)


def test_a_component_is_invoked_by_its_name(
    runtime: Any, sagemaker: Any, component_endpoint: str, component_request: dict[str, Any]
) -> None:
    sagemaker.create_inference_component(**component_request)
    with pytest.raises(ClientError, match="Inference Component Name header is required"):
        invoke(runtime, CHAT, EndpointName=component_endpoint)
    answer = invoke(
        runtime, CHAT, EndpointName=component_endpoint, InferenceComponentName="llama-copy"
    )
    assert b"s3://models/llama/" in answer["Body"].read()


@pytest.fixture
def async_endpoint(
    aws: Any, sagemaker: Any, model_request: dict[str, Any], variant: dict[str, Any]
) -> str:
    aws.client("s3").create_bucket(Bucket="calls")
    sagemaker.create_model(**model_request)
    output = {"S3OutputPath": "s3://calls/out", "S3FailurePath": "s3://calls/failed"}
    sagemaker.create_endpoint_config(
        EndpointConfigName="one",
        ProductionVariants=[variant],
        AsyncInferenceConfig={"OutputConfig": output},
    )
    sagemaker.create_endpoint(EndpointName="chat", EndpointConfigName="one")
    return "chat"


@pytest.mark.parametrize(
    ("body", "place", "words"),
    [(CHAT, "OutputLocation", b"no model ran"), ({}, "FailureLocation", b"needs one of")],
)
def test_an_asynchronous_call_writes_its_output(
    aws: Any, runtime: Any, async_endpoint: str, body: object, place: str, words: bytes
) -> None:
    s3 = aws.client("s3")
    s3.put_object(Bucket="calls", Key="in.json", Body=json.dumps(body))
    answer = runtime.invoke_endpoint_async(
        EndpointName=async_endpoint, InputLocation="s3://calls/in.json", InferenceId="call-1"
    )
    assert answer["InferenceId"] == "call-1"
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 202
    key = answer[place].removeprefix("s3://calls/")
    assert words in s3.get_object(Bucket="calls", Key=key)["Body"].read()


def test_an_asynchronous_call_needs_an_output_path(runtime: Any, deployed: str) -> None:
    with pytest.raises(ClientError, match="no AsyncInferenceConfig"):
        runtime.invoke_endpoint_async(EndpointName="chat", InputLocation="s3://calls/in.json")


class _Server(BaseHTTPRequestHandler):
    """A container of its own: echoes, streams in two parts, or fails."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status = body.get("status", 200)
        self.send_response(status)
        self.send_header("Content-Type", "application/jsonlines" if "stream" in body else "text/x")
        self.end_headers()
        for part in body["parts"]:
            self.wfile.write(f"{self.path} {part}\n".encode())
            self.wfile.flush()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server_url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server behind the local endpoints, as `engine=URL` sets it."""
    from lmi_constructs.local.runtime import LocalRuntimeBackend

    server = ThreadingHTTPServer(("127.0.0.1", 0), _Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(LocalRuntimeBackend, "engine", ForwardingEngine(url))
    yield url
    server.shutdown()
    server.server_close()


def test_forwards_to_the_invocations_route(runtime: Any, deployed: str, server_url: str) -> None:
    answer = invoke(runtime, {"parts": ["a", "b"]})
    assert answer["Body"].read() == b"/invocations a\n/invocations b\n"
    assert answer["ContentType"] == "text/x"


def test_forwards_a_stream(runtime: Any, deployed: str, server_url: str) -> None:
    body = {"parts": ["a", "b"], "stream": True}
    assert stream(runtime, body) == b"/invocations a\n/invocations b\n"


def test_forwards_an_error_with_its_status(runtime: Any, deployed: str, server_url: str) -> None:
    with pytest.raises(runtime.exceptions.ModelError) as caught:
        invoke(runtime, {"parts": ["full"], "status": 503})
    assert caught.value.response["OriginalStatusCode"] == 503
    assert caught.value.response["OriginalMessage"] == "/invocations full\n"


def test_a_server_that_is_not_there_is_named() -> None:
    reply = ForwardingEngine("http://127.0.0.1:9/").invoke(Invocation(b"{}", {}, "chat", "x"))
    assert reply.status == 503
    assert b"cannot be reached at http://127.0.0.1:9/invocations" in reply.read()


def test_a_server_that_speaks_no_http_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"220 mail ready\r\n")

        threading.Thread(target=answer, daemon=True).start()
        engine = ForwardingEngine(f"http://127.0.0.1:{listener.getsockname()[1]}")
        reply = engine.invoke(Invocation(b"{}", {}, "chat", "x"))
    assert reply.status == 503
    assert b"cannot be reached" in reply.read()


def test_an_engine_that_is_no_address_is_refused() -> None:
    with pytest.raises(LocalAwsError, match="'localhost:8080' is no address of a server"):
        ForwardingEngine("localhost:8080")


def test_the_stub_answers_the_same_words_twice() -> None:
    invocation = Invocation(json.dumps({"inputs": "Hi"}).encode(), {}, "chat", "nothing")
    engine = StubEngine()
    assert engine.invoke(invocation).read() == engine.invoke(invocation).read()
