"""A place in S3: checked once, and granted exactly."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lmi_constructs.checks.archives import UNPACK, is_archive
from lmi_constructs.findings import Finding, LmiError
from lmi_constructs.hosting._cdk_tokens import is_token
from lmi_constructs.hosting._kinds import BUCKET, ENCRYPTION_KEY, check_fields, needed, text
from lmi_constructs.hosting._permissions import Permission, key_permission

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_s3 as s3

    from lmi_constructs.hosting._stack_environment import StackEnvironment

_BUCKET_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_LOCATION = {
    "bucket": BUCKET,
    "prefix": needed(text("qwen3-8b/")),
    "encryption_key": ENCRYPTION_KEY,
}
_OBJECT = {
    "bucket": BUCKET,
    "key": needed(text("adapters/tenant-a.tar.gz")),
    "encryption_key": ENCRYPTION_KEY,
}
_SOURCE = "botocore 1.44.8 sagemaker 2017-07-24 S3ModelDataSource"
_MOUNTED = (
    "cannot be mounted",
    "SageMaker takes an S3 prefix only with exactly one trailing slash and makes the file paths under"
    " /opt/ml/model from what follows it",
    UNPACK,
)
_WRITTEN = (
    "is no place to write to",
    "SageMaker writes to what follows s3://bucket/, and the role may write below exactly that prefix",
    None,
)


@dataclass(frozen=True, slots=True)
class S3Location:
    """A prefix in a bucket.

    Attributes:
        bucket: The bucket, or the name of one.
        prefix: Prefix with exactly one trailing slash; empty for the whole bucket.
        encryption_key: Key of the objects. Default: the key the bucket was given, if any.
    """

    bucket: s3.IBucket | str
    prefix: str
    encryption_key: kms.IKey | None = None

    def __post_init__(self) -> None:
        """Refuse a place that SageMaker would refuse or read wrongly."""
        check_fields(self, _LOCATION)
        findings = [*_check_bucket(self.bucket), *_check_prefix(self.prefix, "prefix", *_MOUNTED)]
        if findings:
            raise LmiError(findings)

    @property
    def bucket_name(self) -> str:
        """Name of the bucket."""
        return _name_of(self.bucket)

    @property
    def uri(self) -> str:
        """The place as `s3://bucket/prefix/`."""
        return f"s3://{self.bucket_name}/{self.prefix}"

    @property
    def key(self) -> kms.IKey | None:
        """Key of the objects: the one given, else the bucket's."""
        if self.encryption_key is not None or isinstance(self.bucket, str):
            return self.encryption_key
        return self.bucket.encryption_key

    def read_permissions(self, env: StackEnvironment) -> tuple[Permission, ...]:
        """Return what reading exactly this prefix takes."""
        bucket_arn = self._bucket_arn(env)
        listed = {"StringLike": {"s3:prefix": [f"{self.prefix}*"]}} if self.prefix else {}
        permissions = [
            Permission(
                ("s3:GetObject",),
                (f"{bucket_arn}/{self.prefix}*",),
                why_wildcard="every file of the model lies below this prefix, and nothing else",
            ),
            Permission(("s3:ListBucket",), (bucket_arn,), listed),
        ]
        if self.key is not None:
            permissions.append(key_permission(("kms:Decrypt",), self.key))
        return tuple(permissions)

    def write_permissions(self, env: StackEnvironment) -> tuple[Permission, ...]:
        """Return what writing below exactly this prefix takes."""
        target = f"{self._bucket_arn(env)}/{self.prefix}*"
        permissions = [
            Permission(
                ("s3:PutObject",),
                (target,),
                why_wildcard="SageMaker chooses the names of the objects that it writes below it",
            )
        ]
        if self.key is not None:
            actions = ("kms:Decrypt", "kms:GenerateDataKey")
            permissions.append(key_permission(actions, self.key))
        return tuple(permissions)

    def _bucket_arn(self, env: StackEnvironment) -> str:
        return _arn_of(self.bucket, env)


@dataclass(frozen=True, slots=True)
class S3Object:
    """One object in a bucket.

    Attributes:
        bucket: The bucket, or the name of one.
        key: Key of the object.
        encryption_key: Key it is encrypted with. Default: the key the bucket was given, if any.
    """

    bucket: s3.IBucket | str
    key: str
    encryption_key: kms.IKey | None = None

    def __post_init__(self) -> None:
        """Refuse a bucket that there cannot be."""
        check_fields(self, _OBJECT)
        findings = _check_bucket(self.bucket)
        if findings:
            raise LmiError(findings)

    @property
    def uri(self) -> str:
        """The object as `s3://bucket/key`."""
        return f"s3://{_name_of(self.bucket)}/{self.key}"

    def is_below(self, location: S3Location) -> bool:
        """Return whether it surely lies below a prefix."""
        same = _name_of(self.bucket) == location.bucket_name
        return same and not is_token(self.key) and self.key.startswith(location.prefix)

    def read_permissions(self, env: StackEnvironment) -> tuple[Permission, ...]:
        """Return what reading exactly this object takes."""
        arn = f"{_arn_of(self.bucket, env)}/{self.key}"
        permissions = [Permission(("s3:GetObject",), (arn,))]
        key = self.encryption_key
        if key is None and not isinstance(self.bucket, str):
            key = self.bucket.encryption_key
        if key is not None:
            permissions.append(key_permission(("kms:Decrypt",), key))
        return tuple(permissions)


def _name_of(bucket: s3.IBucket | str) -> str:
    return bucket if isinstance(bucket, str) else bucket.bucket_name


def _arn_of(bucket: s3.IBucket | str, env: StackEnvironment) -> str:
    return env.bucket_arn(bucket) if isinstance(bucket, str) else bucket.bucket_arn


def _check_bucket(bucket: s3.IBucket | str) -> list[Finding]:
    if not isinstance(bucket, str) or is_token(bucket) or _BUCKET_NAME.fullmatch(bucket):
        return []
    return [
        Finding(
            rule="LMI025",
            message=f"{bucket!r} is not the name of a bucket",
            why="SageMaker could not read the S3 address",
            fix="give the bare name in small letters, such as my-models, without s3:// and without the"
            " prefix",
            where="bucket",
            source=_SOURCE,
        )
    ]


def check_output(bucket: s3.IBucket | str, prefixes: Mapping[str, str | None]) -> list[Finding]:
    """Check a place that SageMaker writes to: a bucket, and prefixes by their keywords."""
    return [
        *_check_bucket(bucket),
        *(
            finding
            for where, prefix in prefixes.items()
            if prefix is not None
            for finding in _check_prefix(prefix, where, *_WRITTEN)
        ),
    ]


def _check_prefix(
    prefix: str, where: str, wrongly: str, why: str, archive_fix: str | None
) -> list[Finding]:
    """Check a prefix: one trailing slash, none leading, no empty, `.` or `..` parts.

    One that names an archive and ends in a slash is warned of at synth (LMI110).
    """
    if is_token(prefix) or prefix == "":
        return []
    parts = [part for part in prefix.split("/") if part not in ("", ".", "..")]
    meant = "".join(f"{part}/" for part in parts)
    if prefix == meant:
        return []
    rule = "LMI021"
    if prefix.startswith("s3://"):
        wrong, meant = "it is a whole address", "".join(f"{part}/" for part in parts[2:])
    elif prefix.rstrip("/") + "/" == meant and not prefix.endswith("/"):
        rule, wrong = "LMI020", "it does not end in a slash"
    elif prefix.startswith("/"):
        wrong = "it starts with a slash"
    else:
        wrong = "it has an empty, '.' or '..' part"
    return [
        Finding(
            rule=rule,
            message=f"{where} {prefix!r} {wrongly}: {wrong}",
            why=why,
            fix=archive_fix if archive_fix and is_archive(prefix) else f"write {meant!r}",
            where=where,
            source=_SOURCE,
        )
    ]
