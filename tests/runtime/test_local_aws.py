"""The client against the package's own local AWS, whose stub speaks the container's schemas."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from lmi_constructs.cli.stream import stream
from lmi_constructs.runtime import (
    ChatRequest,
    EndpointNotFoundError,
    LmiClient,
    RefusedError,
    Request,
    StreamInterruptedError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def client(aws: Any, deployed: str) -> LmiClient:
    return LmiClient(deployed, client=aws.client("sagemaker-runtime"), s3_client=aws.client("s3"))


def test_every_schema_answers_plain_and_streamed(client: LmiClient) -> None:
    begun = "Local stub of endpoint chat"
    assert client.chat("Hi").text.startswith(begun)
    assert client.complete("Hi").text.startswith(begun)
    assert client.generate("Hi").text.startswith(begun)
    for streamed in (client.stream_chat, client.stream_complete, client.stream_generate):
        with streamed("Hi") as answer:
            assert "".join(answer.text()).startswith(begun)


def test_a_streamed_chat_tells_its_usage_and_reason(client: LmiClient) -> None:
    answer = client.stream_chat("Hi", max_tokens=3).read()
    assert (answer.text, answer.finish_reason) == ("Local stub of", "length")
    assert answer.usage is not None
    assert answer.usage.completion_tokens == 3
    assert answer.variant == "AllTraffic"


def test_a_body_that_no_schema_matches_is_refused_with_the_containers_words(
    client: LmiClient,
) -> None:
    with pytest.raises(RefusedError, match="the body needs one of") as raised:
        client.send(Request({"question": "Hi"}))
    assert raised.value.status == 424
    assert "log-group" in (raised.value.log_stream or "")


def test_an_endpoint_that_does_not_exist_is_named(aws: Any) -> None:
    with pytest.raises(EndpointNotFoundError, match="nowhere"):
        LmiClient("nowhere", client=aws.client("sagemaker-runtime")).chat("Hi")


def test_an_asynchronous_answer_is_read_from_s3(aws: Any, deployed: str, client: LmiClient) -> None:
    aws.client("s3").create_bucket(Bucket="answers")
    sagemaker = aws.client("sagemaker")
    variants = sagemaker.describe_endpoint_config(EndpointConfigName="one")["ProductionVariants"]
    sagemaker.create_endpoint_config(
        EndpointConfigName="queued",
        ProductionVariants=variants,
        AsyncInferenceConfig={"OutputConfig": {"S3OutputPath": "s3://answers/out"}},
    )
    sagemaker.create_endpoint(EndpointName="queued", EndpointConfigName="queued")
    queued = LmiClient("queued", client=aws.client("sagemaker-runtime"), s3_client=aws.client("s3"))
    invocation = queued.submit(ChatRequest("Hi"), inference_id="1")
    assert invocation.output_location.startswith("s3://answers/out/")
    assert invocation.result(timeout_seconds=1).text.startswith("Local stub of endpoint queued")


@pytest.fixture
def engine() -> Iterator[Any]:
    """A server behind a local AWS that cuts its answers where the test says."""

    class Engine(BaseHTTPRequestHandler):
        parts: tuple[bytes, ...] = ()

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(200)
            self.send_header("Content-Type", "application/jsonlines")
            self.end_headers()
            for part in Engine.parts:
                self.wfile.write(part)
                self.wfile.flush()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Engine)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    Engine.url = f"http://127.0.0.1:{server.server_port}"  # type: ignore[attr-defined]
    yield Engine
    server.shutdown()
    server.server_close()
    thread.join()


def test_an_engine_behind_the_local_aws_streams_to_the_command(
    aws: Any, deployed: str, engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lmi_constructs.local.engines import ForwardingEngine
    from lmi_constructs.local.runtime import LocalRuntimeBackend

    monkeypatch.setattr(LocalRuntimeBackend, "engine", ForwardingEngine(engine.url))
    lines = [
        json.dumps({"choices": [{"index": 0, "delta": {"content": "안"}}]}, ensure_ascii=False),
        json.dumps(
            {"choices": [{"index": 0, "delta": {"content": "녕"}, "finish_reason": "stop"}]}
        ),
    ]
    data = "\n".join(lines).encode() + b"\n"
    engine.parts = tuple(data[start : start + 5] for start in range(0, len(data), 5))
    result = CliRunner().invoke(stream, ["chat", "Hi"], env=aws.environment())
    assert (result.exit_code, result.stdout) == (0, "안녕\n")
    engine.parts = engine.parts[:20]
    client = LmiClient("chat", client=aws.client("sagemaker-runtime"))
    with pytest.raises(StreamInterruptedError):
        client.stream_chat("Hi").read()
