"""A bucket on the local AWS, and a model to bring there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.operations.support import fresh, model_files, write

if TYPE_CHECKING:
    from pathlib import Path

    from lmi_constructs.local import LocalAws


@pytest.fixture
def s3(aws: LocalAws) -> Any:
    client = fresh(aws)
    client.create_bucket(Bucket="models")
    return client


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "model", model_files())
