"""Uploading files so that S3 verifies them, and so that half of a model never looks complete."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from lmi_constructs.operations.aws import AwsError, asking
from lmi_constructs.operations.completeness import ADAPTER_CONFIG, is_index
from lmi_constructs.operations.staging.source import cannot
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
        before: dict[str, tuple[int, int]] = {}
        manager = TransferManager(target.client, config=config, osutil=_whole_parts())
        try:
            with asking(target.uri, "s3:PutObject"), manager:
                futures = []
                for name in step:
                    before[name] = _state(files.paths[name])
                    given = _given(name, files, target, encryption)
                    futures.append(manager.upload(*given, [_subscriber(progress)]))
                for future in futures:
                    future.result()
        except (AwsError, OSError, EOFError) as error:
            _refuse_changed(before, files, target)
            if isinstance(error, AwsError):
                raise
            raise cannot(
                f"a file of the source cannot be read: {error}", why="the upload broke off"
            ) from error
        _refuse_changed(before, files, target)


def _given(
    name: str, files: LocalFiles, target: S3Files, encryption: Encryption
) -> tuple[str, str, str, dict[str, Any]]:
    """Return what an upload takes: the file, bucket and key, and the arguments of S3's operation."""
    path = files.paths[name]
    arguments = {
        "ChecksumAlgorithm": "SHA256",
        "Metadata": {DIGEST: digest(path)},
        **encryption.arguments,
    }
    return str(path), target.bucket, f"{target.prefix}{name}", arguments


def _state(path: Path) -> tuple[int, int]:
    """Return what changes when a file is written to; nothing is known of one that is gone."""
    try:
        known = path.stat()
    except OSError:
        return -1, -1
    return known.st_size, known.st_mtime_ns


def _refuse_changed(before: dict[str, tuple[int, int]], files: LocalFiles, target: S3Files) -> None:
    """Refuse files that were written to meanwhile: their objects are mixtures under a wrong SHA-256.

    The objects are deleted, or else the next run would take them for the files they were meant to be.

    Raises:
        LmiError: If there are some.
    """
    changed = [name for name, state in before.items() if _state(files.paths[name]) != state]
    if not changed:
        return
    left = [f"{target.uri}{name}" for name in changed if not _deleted(name, target)]
    first = f"delete {', '.join(left)}, then " if left else ""
    raise cannot(
        f"{files.paths[changed[0]]} changed while it was uploaded",
        f"{first}wait until nothing writes to the source, and run lmi stage again",
        why="what arrived is neither the old file nor the new one",
    )


def _deleted(name: str, target: S3Files) -> bool:
    """Delete a file, and tell whether that was allowed."""
    try:
        with asking(f"{target.uri}{name}", "s3:DeleteObject"):
            target.client.delete_object(Bucket=target.bucket, Key=f"{target.prefix}{name}")
    except AwsError:
        return False
    return True


def _whole_parts() -> Any:
    """Return how files are read: a part that ends early is an error.

    S3 would wait for the bytes that were announced until the connection times out.
    """
    from s3transfer.utils import OSUtils, ReadFileChunk

    class WholeChunk(ReadFileChunk):
        """A part of a file."""

        def read(self, amount: int | None = None) -> bytes:
            """Return the next bytes."""
            content: bytes = super().read(amount)
            if not content and amount != 0 and self.tell() < len(self):
                raise EOFError("the file was cut short meanwhile")
            return content

    class WholeParts(OSUtils):
        """Opens files."""

        def open_file_chunk_reader_from_fileobj(
            self,
            fileobj: Any,
            chunk_size: int,
            full_file_size: int,
            callbacks: Any,
            close_callbacks: Any = None,
        ) -> WholeChunk:
            """Return a part."""
            return WholeChunk(
                fileobj,
                chunk_size,
                full_file_size,
                callbacks=callbacks,
                enable_callbacks=False,
                close_callbacks=close_callbacks,
            )

    return WholeParts()


Standing = Literal["kept", "absent", "other", "not known", "not encrypted"]
"""How a file stands in S3: surely the same; not there; surely another one; perhaps the same, but
brought by somebody else; the same, but not encrypted with a key."""


def standings(files: LocalFiles, target: S3Files, encryption: Encryption) -> dict[str, Standing]:
    """Return how each file stands in S3, asked side by side.

    Raises:
        AwsError: If it cannot be told.
    """
    len(target.sizes)  # listed once, before many threads ask
    with ThreadPoolExecutor(_CONCURRENCY) as threads:
        found = threads.map(lambda name: standing(name, files, target, encryption), files.sizes)
        return dict(zip(files.sizes, found, strict=True))


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
    """Return the SHA-256 of a file in hexadecimal digits.

    Raises:
        LmiError: If it cannot be read.
    """
    computed = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_READ_BYTES):
                computed.update(block)
    except OSError as error:
        raise cannot(f"{path}: {error.strerror or error}") from error
    return computed.hexdigest()


def _subscriber(progress: Callable[[int], None]) -> Any:
    from s3transfer.subscribers import BaseSubscriber

    class Reporter(BaseSubscriber):
        """Passes progress on."""

        def on_progress(self, future: object, bytes_transferred: int, **_: object) -> None:
            """Pass it on."""
            progress(bytes_transferred)

    return Reporter()
