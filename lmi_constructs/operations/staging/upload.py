"""Uploading files so that S3 verifies them, and so that half of a model never looks complete."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from lmi_constructs.operations.aws import asking
from lmi_constructs.operations.completeness import ADAPTER_CONFIG, is_index
from lmi_constructs.presets.layout import CONFIG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from lmi_constructs.operations.s3_files import S3Files
    from lmi_constructs.operations.staging.source import LocalFiles

DIGEST: Final = "lmi-sha256"
"""Metadata of an object: SHA-256 of the whole file. S3's own SHA-256 of a multipart upload depends
on the size of its parts, so that it cannot be compared with a file."""

_PART_BYTES: Final = 64 * 1024 * 1024
"""10000 parts of it, the most that S3 takes, are 625 GiB: larger than any shard."""

_READ_BYTES: Final = 8 * 1024 * 1024
_CONCURRENCY: Final = 10


@dataclass(frozen=True, slots=True)
class Encryption:
    """How objects are encrypted.

    Attributes:
        kms_key: Id, ARN or alias of a KMS key; `None` for the bucket's own default.
    """

    kms_key: str | None = None

    @property
    def arguments(self) -> dict[str, str]:
        """Arguments of S3's operations."""
        if self.kms_key is None:
            return {}
        return {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": self.kms_key}


def in_order(names: Iterable[str]) -> list[list[str]]:
    """Return files in steps: an index follows its weights, and config.json is the very last.

    Whoever looks at an interrupted upload finds that something is missing.
    """
    steps: list[list[str]] = [[], [], []]
    for name in sorted(names):
        last = name.rsplit("/", 1)[-1]
        steps[2 if name == CONFIG else 1 if is_index(name) or last == ADAPTER_CONFIG else 0].append(
            name
        )
    return [step for step in steps if step]


def upload(
    names: Iterable[str],
    files: LocalFiles,
    target: S3Files,
    *,
    encryption: Encryption,
    progress: Callable[[int], None],
) -> None:
    """Upload files in parallel, and large ones in parallel parts.

    S3 checks the SHA-256 of each part as it arrives.

    Args:
        names: Names of the files.
        files: Where they are.
        target: Where they go.
        encryption: How they are encrypted.
        progress: Called with every number of bytes that was sent; negative when a part is sent anew.

    Raises:
        AwsError: If S3 refuses one of them; those that were finished stay.
    """
    from boto3.s3.transfer import TransferConfig
    from s3transfer.manager import TransferManager

    config = TransferConfig(
        multipart_threshold=_PART_BYTES,
        multipart_chunksize=_PART_BYTES,
        max_concurrency=_CONCURRENCY,
    )
    for step in in_order(names):
        manager = TransferManager(target.client, config=config)
        with asking(f"upload to {target.uri}", "s3:PutObject"), manager:
            futures = [
                manager.upload(
                    str(files.paths[name]),
                    target.bucket,
                    f"{target.prefix}{name}",
                    extra_args={
                        "ChecksumAlgorithm": "SHA256",
                        "Metadata": {DIGEST: digest(files.paths[name])},
                        **encryption.arguments,
                    },
                    subscribers=[_subscriber(progress)],
                )
                for name in step
            ]
            for future in futures:
                future.result()


Standing = Literal["kept", "absent", "other", "not known", "not encrypted"]
"""How a file stands in S3: surely the same; not there; surely another one; perhaps the same, but
brought by somebody else; the same, but not encrypted with a key."""


def standing(name: str, files: LocalFiles, target: S3Files, encryption: Encryption) -> Standing:
    """Return how a file stands in S3.

    Raises:
        AwsError: If it cannot be told.
    """
    if name not in target.sizes:
        return "absent"
    if target.sizes[name] != files.sizes[name]:
        return "other"
    known = target.head(name)
    stored = known.get("Metadata", {}).get(DIGEST)
    if stored is None:
        return "not known"
    if stored != digest(files.paths[name]):
        return "other"
    if encryption.kms_key and known.get("ServerSideEncryption") != "aws:kms":
        return "not encrypted"
    return "kept"


def digest(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    computed = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_READ_BYTES):
            computed.update(block)
    return computed.hexdigest()


def _subscriber(progress: Callable[[int], None]) -> Any:
    from s3transfer.subscribers import BaseSubscriber

    class Reporter(BaseSubscriber):
        """Passes progress on."""

        def on_progress(self, future: object, bytes_transferred: int, **_: object) -> None:
            """Pass it on."""
            progress(bytes_transferred)

    return Reporter()
