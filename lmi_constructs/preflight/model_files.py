"""Where the model is, and whether its files are there and complete."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.checks.queries.containers import environment
from lmi_constructs.checks.resources import S3DataSource
from lmi_constructs.checks.values import shown
from lmi_constructs.operations.aws import AwsError, NotThereError, asking
from lmi_constructs.operations.completeness import check_files, read_json, read_text
from lmi_constructs.operations.s3_files import S3Files
from lmi_constructs.preflight.place import MADE_HERE
from lmi_constructs.presets.layout import CONFIG, PROPERTIES, check_layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lmi_constructs.checks.resources import Container
    from lmi_constructs.checks.values import String
    from lmi_constructs.findings import Finding
    from lmi_constructs.preflight.outcome import Outcome
    from lmi_constructs.preflight.place import Place

_ADDRESS: Final = re.compile(r"s3://([^/]+)/?(.*)", re.DOTALL)
_LATER: Final = "where the model is, is known only when it is deployed"
_STAGE: Final = "stage it to S3 to have it checked (lmi stage)"
_UNPACKED: Final = "copy its files uncompressed (lmi stage): they load faster, and can be checked"


@dataclass(frozen=True, slots=True)
class Location:
    """Where a container's model is.

    Attributes:
        address: S3 address or hub id, as far as it is known.
        is_prefix: Whether it is a prefix that is mounted; else it is one object.
        problem: Why nothing can be said about the files; empty if something can.
        fix: What to do about the problem.
    """

    address: str
    is_prefix: bool = False
    problem: str = ""
    fix: str = ""

    @property
    def has_files(self) -> bool:
        """Whether there are files to look at."""
        return self.is_prefix and not self.problem


def locate(place: Place, container: Container) -> Location:
    """Return where the model of a container is."""
    source = container.s3_data_source
    if isinstance(source, S3DataSource):
        return _in_s3(place, source.uri, is_prefix=source.data_type != "S3Object")
    if source is not None:
        return Location("", problem=_LATER)
    if container.model_data_url is not None:
        return _in_s3(place, container.model_data_url, is_prefix=False)
    known = environment(container)
    model = known.get("HF_MODEL_ID") or known.get("OPTION_MODEL_ID")
    if model is None:
        return Location("", problem="the template names no model data")
    if place.text(model).startswith("s3://"):
        return _in_s3(place, model, is_prefix=True)
    address = shown(model)
    problem = f"{address} is downloaded when the container starts, and is not looked at"
    return Location(address, problem=problem, fix=_STAGE)


def _in_s3(place: Place, uri: String | None, *, is_prefix: bool) -> Location:
    known = place.known(uri)
    if known is None:
        made_here = uri is not None and MADE_HERE in place.text(uri)
        problem = "these templates make the bucket" if made_here else _LATER
        fix = "deploy the bucket first, and stage the model before the endpoint is made"
        return Location(shown(uri), problem=problem, fix=fix if made_here else "")
    match = _ADDRESS.fullmatch(known)
    if match is None:
        return Location(known, problem=f"{known} is no address that starts with s3://")
    slash = "/" if is_prefix and match[2] and not match[2].endswith("/") else ""
    return Location(known + slash, is_prefix=is_prefix)


def listed(place: Place, location: Location) -> S3Files:
    """Return the files under a prefix, which are listed once.

    Raises:
        AwsError: If they cannot be listed.
    """

    def ask() -> S3Files:
        files = S3Files(place.client("s3"), *parsed(location))
        len(files.sizes)  # lists them
        return files

    return place.account.once(("files", location.address, place.region), ask)


def contents(place: Place, location: Location) -> tuple[Mapping[str, Any] | None, str | None]:
    """Return a model's own `config.json` and `serving.properties`; nothing where there is none.

    What cannot be read is `None`, as `files_complete` says why.
    """
    config: Mapping[str, Any] | None = None
    properties: str | None = None
    try:
        files = listed(place, location)
        if CONFIG in files.sizes:
            config = read_json(files, CONFIG)[0] or None
        if PROPERTIES in files.sizes:
            properties = read_text(files, PROPERTIES)
    except AwsError:
        pass  # the same questions are asked by files_complete
    return config, properties


def files_complete(place: Place, location: Location) -> Iterator[Outcome]:
    """Yield whether the files of a model are there, uncompressed and complete.

    Raises:
        AwsError: If S3 does not tell.
    """
    if location.problem:
        yield place.outcome("files", "unknown", location.problem, location.fix)
    elif location.is_prefix:
        yield from _prefix(place, location)
    else:
        yield from _object(place, location)


def _prefix(place: Place, location: Location) -> Iterator[Outcome]:
    stage = f"lmi stage MODEL {location.address}"
    try:
        files = listed(place, location)
    except NotThereError as error:
        yield place.outcome("files", "fail", error.message, f"{error.advice}; then {stage}")
        return
    if not files.sizes:
        yield place.outcome("files", "fail", f"nothing lies under {location.address}", stage)
        return
    yield from _same_region(place, files)
    try:
        found = check_files(files)
    except AwsError:
        yield from _failures(place, check_layout(files.sizes))
        raise
    errors = list(_failures(place, found))
    yield from errors
    if not errors:
        size = sum(files.sizes.values()) / 1e9
        notes = "".join(f"; note: {one.message} ({one.fix})" for one in found)
        detail = f"{len(files.sizes)} files, {size:.2f} GB under {location.address}{notes}"
        yield place.outcome("files", "pass", detail)


def _failures(place: Place, findings: Iterable[Finding]) -> Iterator[Outcome]:
    for one in findings:
        if one.severity == "error":
            yield place.outcome("files", "fail", one.message, one.fix, one.rule)


def _same_region(place: Place, files: S3Files) -> Iterator[Outcome]:
    """Yield that the bucket is in another region, if it surely is."""
    try:
        with asking(f"bucket {files.bucket}", "s3:ListBucket"):
            region = files.client.head_bucket(Bucket=files.bucket).get("BucketRegion")
    except AwsError:
        return  # the files are there, which is what matters
    if region and place.region and region != place.region:
        detail = f"the bucket {files.bucket} is in {region}, the endpoint in {place.region}"
        fix = f"copy the model to a bucket in {place.region}"
        yield place.outcome("files", "fail", detail, fix)


def _object(place: Place, location: Location) -> Iterator[Outcome]:
    if location.address.endswith("/"):
        count = len(listed(place, location).sizes)
        detail = f"{count} objects under {location.address}, which are not looked into"
        yield place.outcome("files", "unknown" if count else "fail", detail, _UNPACKED)
        return
    size = size_of(place, location)
    detail = f"{location.address} is one object of {size / 1e9:.2f} GB, and is not looked into"
    yield place.outcome("files", "unknown" if size else "fail", detail, _UNPACKED)


def size_of(place: Place, location: Location) -> int:
    """Return the size of one object in bytes.

    Raises:
        AwsError: If S3 does not tell.
    """
    bucket, key = parsed(location)
    with asking(location.address, "s3:GetObject"):
        return int(place.client("s3").head_object(Bucket=bucket, Key=key)["ContentLength"])


def parsed(location: Location) -> tuple[str, str]:
    """Return the bucket and the key of a location without a problem."""
    match = _ADDRESS.fullmatch(location.address)
    assert match is not None  # noqa: S101 (one without a match has a problem)
    return match[1], match[2]


def key_of(place: Place, location: Location) -> str | None:
    """Return the ARN of the KMS key that a model's files are encrypted with, if there is one.

    Raises:
        AwsError: If S3 does not tell.
    """
    files = listed(place, location)
    if not files.sizes:
        return None
    first = CONFIG if CONFIG in files.sizes else min(files.sizes)
    key = place.account.once(("head", files.uri), lambda: files.head(first)).get("SSEKMSKeyId")
    return str(key) if key else None
