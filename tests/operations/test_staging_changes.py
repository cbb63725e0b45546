"""Files that are written to while they are uploaded."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from lmi_constructs.findings import LmiError
from lmi_constructs.operations import stage
from lmi_constructs.operations.staging import upload as uploading
from tests.operations.support import (
    FIRST,
    TARGET,
    fresh,
    keys,
    refusing,
    safetensors,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lmi_constructs.local import LocalAws


def during(client: Any, operation: str, act: Callable[[], object]) -> None:
    """Do something when S3 is first asked for an operation."""
    left = [act]
    client.meta.events.register(
        f"provide-client-params.s3.{operation}",
        lambda **_: (left.pop()() if left else None) and None,
    )


@pytest.mark.parametrize("change", ["rewritten", "cut short", "gone"])
def test_a_file_that_changes_while_it_is_uploaded_is_refused_and_not_kept(
    s3: Any, aws: LocalAws, folder: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its object would be a mixture, under the SHA-256 of a file that it is not."""
    monkeypatch.setattr(uploading, "_PART_BYTES", 5 * 1024 * 1024)
    large = safetensors(b"x" * (11 * 1024 * 1024))
    path = folder / FIRST
    path.write_bytes(large)
    os.utime(path, (1, 1))

    def act() -> None:
        if change == "rewritten":
            path.write_bytes(large.replace(b"x", b"y"))
        elif change == "cut short":
            os.truncate(path, 6 * 1024 * 1024)
        else:
            path.unlink()

    watched = fresh(aws)
    during(watched, "CreateMultipartUpload", act)
    with pytest.raises(LmiError, match=f"{FIRST} changed while it was uploaded"):
        stage(folder, TARGET, client=watched)
    assert f"llama/{FIRST}" not in keys(s3)
    path.write_bytes(large)
    assert stage(folder, TARGET, client=s3).is_complete


def test_a_mixture_that_may_not_be_deleted_is_named(s3: Any, folder: Path) -> None:
    during(s3, "PutObject", lambda: (folder / FIRST).write_bytes(safetensors(b"4444")))
    refusing(s3, "AccessDenied", "DeleteObject")
    os.utime(folder / FIRST, (1, 1))
    with pytest.raises(LmiError, match=f"delete {TARGET}{FIRST}, then wait"):
        stage(folder, TARGET, client=s3)
