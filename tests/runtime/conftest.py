"""A scripted SageMaker runtime on a socket, so that boto3's real parsing is at work."""

from __future__ import annotations

import contextlib
import json
import os
import struct
import threading
import time
import zlib
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.config import Config

from lmi_constructs.runtime import LmiClient

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Scripted:
    """One answer of the service: plain, or a stream of frames."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    frames: list[bytes] | None = None
    is_framed: bool = True
    pause_seconds: float = 0
    cut_bytes: int = 0
    """How many bytes of the last frame are lost when the connection breaks."""


@dataclass
class Runtime:
    """The service: what it will answer, and what it was asked."""

    url: str
    answers: list[Scripted] = field(default_factory=list)
    asked: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)

    def client(self, **config: Any) -> Any:
        """boto3's client of it, which waits for no time between retries."""
        return boto3.client(
            "sagemaker-runtime",
            endpoint_url=self.url,
            region_name="us-east-1",
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
            config=Config(**{"retries": {"total_max_attempts": 3, "mode": "standard"}, **config}),
        )

    @property
    def environment(self) -> dict[str, str | None]:
        """What makes commands call it, and nothing of the user's own."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_PROFILE": None,
            "AWS_REGION": None,
        }

    def will_answer(self, body: Any, **headers: str) -> None:
        self.answers.append(Scripted(body=json.dumps(body).encode(), headers=headers))

    def will_say(self, body: bytes) -> None:
        """Answer what is no JSON."""
        self.answers.append(Scripted(body=body))

    def will_fail(self, code: str, status: int, **members: Any) -> None:
        headers = {"x-amzn-ErrorType": code, "Content-Type": "application/json"}
        self.answers.append(
            Scripted(status, json.dumps({"__type": code, **members}).encode(), headers)
        )

    def will_send(self, *parts: bytes, **headers: str) -> None:
        """Stream a body without AWS's framing, as the OpenAI-compatible path does."""
        self.answers.append(Scripted(frames=list(parts), headers=headers, is_framed=False))

    def will_stream(self, *parts: bytes, error: bytes | None = None, **options: Any) -> None:
        frames = [frame({":event-type": "PayloadPart"}, part) for part in parts]
        self.answers.append(Scripted(frames=[*frames, *([error] if error else [])], **options))


def frame(headers: dict[str, str], payload: bytes, kind: str = "event") -> bytes:
    """A message of AWS's event-stream framing."""
    fields = {":message-type": kind, ":content-type": "application/octet-stream", **headers}
    encoded = b"".join(
        struct.pack("!B", len(name))
        + name.encode()
        + struct.pack("!BH", 7, len(value.encode()))
        + value.encode()
        for name, value in fields.items()
    )
    prelude = struct.pack("!II", len(encoded) + len(payload) + 16, len(encoded))
    message = prelude + struct.pack("!I", zlib.crc32(prelude)) + encoded + payload
    return message + struct.pack("!I", zlib.crc32(message))


def error_frame(kind: str, **members: str) -> bytes:
    """An error inside a stream."""
    return frame({":exception-type": kind}, json.dumps(members).encode(), "exception")


@pytest.fixture
def stream_error() -> Any:
    return error_frame


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    service = Runtime("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            service.asked.append((self.path, dict(self.headers), json.loads(content or b"{}")))
            answer = service.answers.pop(0)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name.replace("_", "-"), value)
            if answer.frames is None:
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)
                return
            if answer.is_framed:
                self.send_header("Content-Type", "application/vnd.amazon.eventstream")
            self.send_header("x-Amzn-Invoked-Production-Variant", "AllTraffic")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            *whole, last = answer.frames
            for piece in [*whole, last[: len(last) - answer.cut_bytes]]:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                self.wfile.flush()
                time.sleep(answer.pause_seconds)
            if answer.cut_bytes:
                self.close_connection = True
                self.connection.close()
                return
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, *_: Any) -> None:
            pass

        def handle(self) -> None:
            with contextlib.suppress(ConnectionError, ValueError):  # one of the sides hung up
                super().handle()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield service
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def client(runtime: Runtime) -> LmiClient:
    return LmiClient("chat", client=runtime.client())


@pytest.fixture
def deployed(aws: Any) -> str:
    """An endpoint `chat` on it, with settings of its own."""
    sagemaker = aws.client("sagemaker")
    image = "763104351884.dkr.ecr.us-east-1.amazonaws.com/djl-inference:0.36.0-lmi27.0.0-cu130"
    source = {
        "S3Uri": "s3://models/llama/",
        "S3DataType": "S3Prefix",
        "CompressionType": "None",
    }
    sagemaker.create_model(
        ModelName="llama",
        ExecutionRoleArn="arn:aws:iam::123456789012:role/Execution",
        PrimaryContainer={
            "Image": image,
            "Environment": {"OPTION_MAX_ROLLING_BATCH_SIZE": "64", "OPTION_DTYPE": "bf16"},
            "ModelDataSource": {"S3DataSource": source},
        },
    )
    sagemaker.create_endpoint_config(
        EndpointConfigName="one",
        ProductionVariants=[
            {
                "VariantName": "AllTraffic",
                "ModelName": "llama",
                "InstanceType": "ml.g6.12xlarge",
                "InitialInstanceCount": 1,
            }
        ],
    )
    sagemaker.create_endpoint(EndpointName="chat", EndpointConfigName="one")
    return "chat"
