"""`stage`: a model, from a folder or a hub, to the prefix that SageMaker mounts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.findings import Finding, raise_errors
from lmi_constructs.operations.completeness import ADAPTER_CONFIG, WEIGHTS, check_files
from lmi_constructs.operations.s3_files import S3Files
from lmi_constructs.operations.staging.selection import select
from lmi_constructs.operations.staging.source import (
    LONGEST_KEY_BYTES,
    LocalFiles,
    Source,
    cannot,
    find_source,
    folder_files,
    impossible,
    local_path,
    unusable,
)
from lmi_constructs.operations.staging.upload import Encryption, standings, upload
from lmi_constructs.presets.layout import ADAPTERS, CONFIG, PROPERTIES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from lmi_constructs.operations.staging.upload import Standing

_ADDRESS: Final = re.compile(r"s3://([^/]+)(?:/(.*))?", re.DOTALL)
_BUCKET: Final = re.compile(r"(?!.*\.\.)(?!\d+\.\d+\.\d+\.\d+$)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_WHY_BUCKET: Final = (
    "S3 has no bucket with capitals, underscores, two dots in a row, the form of an IP address, or "
    "fewer than 3 characters"
)
_WHY_PREFIX: Final = "SageMaker mounts what is below a prefix that ends in exactly one slash"
_ADAPTER_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]*")


@dataclass(frozen=True, kw_only=True)
class StagingReport:
    """What was copied, or would be.

    Attributes:
        destination: Address of the prefix, for `ModelData.s3_prefix`.
        revision: Commit of the hub's repository, `None` for a folder.
        uploaded: Files that were uploaded; with `dry_run`, that would be.
        kept: Files that were there already, with the same content.
        left_out: Why each other file of the source was not taken.
        bytes_uploaded: Size of the uploaded files in bytes.
        dry_run: Whether nothing was uploaded.
        findings: What is wrong with the files at the destination; errors mean that no endpoint
            starts from them.
    """

    destination: str
    revision: str | None
    uploaded: tuple[str, ...]
    kept: tuple[str, ...]
    left_out: Mapping[str, str]
    bytes_uploaded: int
    dry_run: bool
    findings: tuple[Finding, ...]

    @property
    def is_complete(self) -> bool:
        """Whether an endpoint can start from what is there."""
        return not self.dry_run and all(one.severity != "error" for one in self.findings)


def stage(
    source: str | Path,
    destination: str,
    *,
    adapters: Mapping[str, str | Path] | None = None,
    serving_properties: str | Path | None = None,
    kms_key: str | None = None,
    dry_run: bool = False,
    client: Any = None,
    region: str | None = None,
    on_start: Callable[[int], None] = lambda size: None,
    on_progress: Callable[[int], None] = lambda size: None,
) -> StagingReport:
    """Copy a model to an S3 prefix, in the layout that SageMaker mounts.

    What is there already with the same content is not uploaded again, so that an interrupted or a
    second run copies only what is missing. Weights are never replaced by others: endpoints that run
    would mount a mixture of two models at their next start.

    Args:
        source: Folder of the model, or a hub id such as `Qwen/Qwen3-8B@REVISION`.
        destination: `s3://bucket/prefix/`.
        adapters: LoRA adapters by name, each a folder; they go to `adapters/NAME/`.
        serving_properties: File that becomes `serving.properties`.
        kms_key: Key to encrypt with. Default: what the bucket does.
        dry_run: Whether to say only what would be copied. Nothing is downloaded from a hub then, so
            that its files are not compared.
        client: boto3's client of `s3`. Default: one for the region.
        region: Region of the bucket. Default: that of the AWS configuration.
        on_start: Called with the number of bytes to upload.
        on_progress: Called with every number of bytes that was sent.

    Raises:
        UnusableArgumentError: If the source, an addition (LMI028) or the destination (LMI020,
            LMI025) cannot be used as it is written.
        LmiError: If the source is no complete model, or the destination holds another one (LMI028).
        AwsError: If S3 refuses something.
    """
    bucket, prefix = _parse(destination)
    found = find_source(source)
    extra, left_out = _additions(adapters or {}, serving_properties)
    if client is None:
        from lmi_constructs.runtime.connection import service_client

        client = service_client("s3", region)
    target = S3Files(client, bucket, prefix)
    encryption = Encryption(kms_key)
    if dry_run and found.revision is not None:
        return _guess(found, extra, target, left_out)
    files = LocalFiles({**found.fetch().paths, **extra})
    _refuse_adapter(files)
    warnings = raise_errors(check_files(files))
    _refuse_long(files, prefix)
    found_there = standings(files, target, encryption)
    _refuse_other_weights(found_there, target)
    kept = {name for name, how in found_there.items() if how == "kept"}
    todo = sorted(set(files.sizes) - kept)
    size = sum(files.sizes[name] for name in todo)
    after = target
    if not dry_run:
        on_start(size)
        upload(todo, files, target, encryption=encryption, progress=on_progress)
        after = S3Files(client, bucket, prefix)
        warnings = (*check_files(after), *_cut_short(files, after))
    return StagingReport(
        destination=after.uri,
        revision=found.revision,
        uploaded=tuple(todo),
        kept=tuple(sorted(kept)),
        left_out={**found.left_out, **left_out},
        bytes_uploaded=size,
        dry_run=dry_run,
        findings=warnings,
    )


def _parse(destination: str) -> tuple[str, str]:
    match = _ADDRESS.fullmatch(destination)
    write = "write s3://BUCKET/PREFIX/"
    if not match:
        message = f"{destination!r} is no address of a prefix"
        raise unusable("destination", message, write, rule="LMI025")
    bucket, prefix = match[1], match[2] or ""
    if not _BUCKET.fullmatch(bucket):
        message = f"{bucket!r} is no name of a bucket"
        raise unusable("destination", message, write, why=_WHY_BUCKET, rule="LMI025")
    parts = prefix.split("/")
    if not prefix.endswith("/") or any(part in ("", ".", "..") for part in parts[:-1]):
        meant = "".join(f"{part}/" for part in parts if part not in ("", ".", ".."))
        message = f"the prefix {prefix!r} is no folder of its own"
        write = f"write s3://{bucket}/{meant or 'PREFIX/'}"
        raise unusable("destination", message, write, why=_WHY_PREFIX, rule="LMI020")
    if odd := impossible(prefix):
        raise unusable("destination", odd.message, odd.fix, rule="LMI020")
    return bucket, prefix


def _additions(
    adapters: Mapping[str, str | Path], serving_properties: str | Path | None
) -> tuple[dict[str, Path], dict[str, str]]:
    """Return the files of adapters and settings by their names, and those that are left out."""
    found: dict[str, Path] = {}
    left_out: dict[str, str] = {}
    if serving_properties is not None:
        path = local_path(serving_properties, "serving_properties")
        if not path.is_file():
            raise unusable("serving_properties", f"{path} is no file", "give a serving.properties")
        found[PROPERTIES] = path
    for name, place in adapters.items():
        if not _ADAPTER_NAME.fullmatch(name):
            message = f"the adapter name {name!r} is no name of a folder"
            write = (
                "begin with a letter or digit, and go on with those, hyphens, underscores or dots"
            )
            raise unusable("adapters", message, write)
        folder = local_path(place, "adapters")
        if not (folder / ADAPTER_CONFIG).is_file():
            message = f"adapter {name}: {folder} has no {ADAPTER_CONFIG}"
            raise unusable("adapters", message, "give its folder")
        below = {f"{ADAPTERS}/{name}/{key}": path for key, path in folder_files(folder).items()}
        taken, useless = select(below)
        found.update({key: below[key] for key in taken})
        left_out.update(useless)
    return found, left_out


def _guess(
    found: Source, extra: Mapping[str, Path], target: S3Files, left_out: Mapping[str, str]
) -> StagingReport:
    """Return what would be copied from a hub, judged by names and sizes alone."""
    sizes = {**found.sizes, **LocalFiles(extra).sizes}
    kept = {name for name, size in sizes.items() if target.sizes.get(name) == size}
    todo = sorted(set(sizes) - kept)
    return StagingReport(
        destination=target.uri,
        revision=found.revision,
        uploaded=tuple(todo),
        kept=tuple(sorted(kept)),
        left_out={**found.left_out, **left_out},
        bytes_uploaded=sum(sizes[name] for name in todo),
        dry_run=True,
        findings=(),
    )


def _refuse_adapter(files: LocalFiles) -> None:
    if CONFIG not in files.sizes and ADAPTER_CONFIG in files.sizes:
        raise cannot(
            "the source is a LoRA adapter, not a model",
            "give the folder of the model it was trained on, and --adapter NAME=FOLDER",
        )


def _refuse_long(files: LocalFiles, prefix: str) -> None:
    """Refuse keys that S3 would refuse after an hour of uploading."""
    longest = max(files.sizes, key=lambda name: len(name.encode()))
    if len(f"{prefix}{longest}".encode()) > LONGEST_KEY_BYTES:
        raise cannot(
            f"{longest[:60]} below the prefix makes a key of more than {LONGEST_KEY_BYTES} bytes",
            "shorten the prefix or the name",
        )


def _refuse_other_weights(found: Mapping[str, Standing], target: S3Files) -> None:
    """Refuse to mix two models: weights of another name, or of the same name and other content."""
    there = [name for name in target.sizes if "/" not in name and name.endswith(WEIGHTS)]
    strange = sorted(name for name in there if name not in found)
    changed = sorted(name for name in there if found.get(name) == "other")
    if strange or changed:
        name = (strange or changed)[0]
        raise cannot(
            f"{target.uri} holds weights of another model, such as {name}",
            "use a new prefix for every model and revision, or empty this one first",
        )


def _cut_short(files: LocalFiles, target: S3Files) -> list[Finding]:
    """Return files whose size is not that of the source."""
    wrong = [name for name, size in files.sizes.items() if target.sizes.get(name) != size]
    return [
        Finding(
            rule="LMI028",
            message=f"{name} has {target.sizes.get(name, 0)} bytes, the source {files.sizes[name]}",
            why="another upload changed it meanwhile, or the source changed",
            fix="run lmi stage again, alone",
            where="model_data",
        )
        for name in wrong
    ]
