"""Small models as they lie on disk, and a client of S3 that tests hook into."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import boto3
from botocore.exceptions import ClientError

from lmi_constructs.checks.examples import llama_config
from lmi_constructs.local import clients

if TYPE_CHECKING:
    from pathlib import Path

    from lmi_constructs.local import LocalAws

TARGET = "s3://models/llama/"
FIRST = "model-00001-of-00002.safetensors"

CONFIG: dict[str, Any] = llama_config()

TOKENIZER = b'{"model": {"type": "BPE", "vocab": {}, "merges": []}}'
POINTER = (
    b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d" * 32 + b"\nsize 4976698672\n"
)


def safetensors(data: bytes = b"\1\2\3\4") -> bytes:
    """A file with one tensor."""
    tensor = {"dtype": "U8", "shape": [len(data)], "data_offsets": [0, len(data)]}
    header = json.dumps({"__metadata__": {"format": "pt"}, "w": tensor}).encode()
    return len(header).to_bytes(8, "little") + header + data


def model_files(shards: int = 2) -> dict[str, bytes]:
    """The files of a model in shards."""
    names = [f"model-{n:05}-of-{shards:05}.safetensors" for n in range(1, shards + 1)]
    index = {
        "metadata": {"total_size": 4 * shards},
        "weight_map": {f"layer.{n}": name for n, name in enumerate(names)},
    }
    return {
        "config.json": json.dumps(CONFIG).encode(),
        "tokenizer.json": TOKENIZER,
        "tokenizer_config.json": b"{}",
        "model.safetensors.index.json": json.dumps(index).encode(),
        **{name: safetensors() for name in names},
    }


def adapter_files(rank: int = 16, base: str = "meta-llama/Llama-3.1-8B") -> dict[str, bytes]:
    """The files of a LoRA adapter."""
    config = {"r": rank, "base_model_name_or_path": base, "peft_type": "LORA"}
    return {
        "adapter_config.json": json.dumps(config).encode(),
        "adapter_model.safetensors": safetensors(),
    }


def write(folder: Path, files: dict[str, bytes]) -> Path:
    """Write files into a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


class Memory:
    """Files of a model that lie nowhere."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        self.sizes = {name: len(content) for name, content in files.items()}

    def read(self, name: str, start: int = 0, length: int | None = None) -> bytes:
        return self.files[name][start : None if length is None else start + length]


def fresh(aws: LocalAws) -> Any:
    """A client of one test, since tests hook into it."""
    return boto3.client(
        "s3",
        endpoint_url=aws.endpoint_url,
        region_name=aws.region,
        aws_access_key_id=clients.ACCESS_KEY,
        aws_secret_access_key=clients.SECRET_KEY,
    )


def keys(s3: Any, bucket: str = "models") -> set[str]:
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket)
    return {item["Key"] for page in pages for item in page.get("Contents", ())}


def spied(client: Any, operation: str) -> list[dict[str, Any]]:
    """Every call of an operation from now on."""
    calls: list[dict[str, Any]] = []
    client.meta.events.register(
        f"provide-client-params.s3.{operation}", lambda params, **_: calls.append(dict(params))
    )
    return calls


def refusing(client: Any, code: str, operation: str, key: str = "") -> None:
    """Let S3 refuse an operation on a key."""

    def refuse(params: dict[str, Any], **_: Any) -> None:
        if params.get("Key", "").endswith(key):
            raise ClientError({"Error": {"Code": code, "Message": code}}, operation)

    client.meta.events.register(f"provide-client-params.s3.{operation}", refuse)
