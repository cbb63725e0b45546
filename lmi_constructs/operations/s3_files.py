"""The files below an S3 prefix."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from lmi_constructs.operations.aws import asking

if TYPE_CHECKING:
    from collections.abc import Mapping


class S3Files:
    """Files of a model below an S3 prefix, listed once, page by page.

    Args:
        client: boto3's client of `s3`.
        bucket: Name of the bucket.
        prefix: What all keys start with; empty, or ending in a slash.
    """

    def __init__(self, client: Any, bucket: str, prefix: str) -> None:
        """Ask nothing yet."""
        self.client, self.bucket, self.prefix = client, bucket, prefix

    @property
    def uri(self) -> str:
        """Address of the prefix."""
        return f"s3://{self.bucket}/{self.prefix}"

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """Size in bytes by name relative to the prefix.

        Raises:
            AwsError: If they cannot be listed.
        """
        with asking(f"bucket {self.bucket}", "s3:ListBucket"):
            pages = self.client.get_paginator("list_objects_v2").paginate(
                Bucket=self.bucket, Prefix=self.prefix
            )
            return {
                item["Key"].removeprefix(self.prefix) or "/": int(item["Size"])
                for page in pages
                for item in page.get("Contents", ())
            }

    def read(self, name: str, start: int = 0, length: int | None = None) -> bytes:
        """Return a part of a file.

        Raises:
            AwsError: If it cannot be read.
        """
        size = self.sizes.get(name, 0)
        end = size if length is None else min(size, start + length)
        if start >= end:
            return b""
        with asking(f"{self.uri}{name}", "s3:GetObject"):
            answer = self.client.get_object(
                Bucket=self.bucket, Key=self._key(name), Range=f"bytes={start}-{end - 1}"
            )
            return bytes(answer["Body"].read())

    def head(self, name: str) -> dict[str, Any]:
        """Return what S3 knows of a file.

        Raises:
            AwsError: If it does not tell.
        """
        with asking(f"{self.uri}{name}", "s3:GetObject"):
            answer: dict[str, Any] = self.client.head_object(
                Bucket=self.bucket, Key=self._key(name)
            )
        return answer

    def _key(self, name: str) -> str:
        """Return the key of a file; the object that stands for the prefix itself is called `/`."""
        return self.prefix if name == "/" else f"{self.prefix}{name}"
