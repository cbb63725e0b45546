"""A model of a hub on its way to S3."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from lmi_constructs.findings import LmiError
from lmi_constructs.operations import stage
from tests.operations.support import (
    TARGET,
    model_files,
    write,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[SimpleNamespace]:
    """A hub with one model, as its client library shows it."""
    files = {**model_files(), "pytorch_model.bin": b"x", ".gitattributes": b"x"}
    seen = SimpleNamespace(downloads=[], revisions=[], error=None)

    class Api:
        def model_info(self, hub_id: str, *, revision: str | None, files_metadata: bool) -> Any:
            seen.revisions.append(revision)
            if seen.error:
                raise seen.error
            siblings = [SimpleNamespace(rfilename=k, size=len(v)) for k, v in files.items()]
            return SimpleNamespace(sha="abc123", siblings=siblings)

    def download(hub_id: str, *, revision: str, allow_patterns: list[str]) -> str:
        seen.downloads.append((hub_id, revision))
        return str(write(tmp_path / "hub", {name: files[name] for name in allow_patterns}))

    module = SimpleNamespace(HfApi=Api, snapshot_download=download)
    monkeypatch.setitem(sys.modules, "huggingface_hub", module)
    return seen  # type: ignore[return-value]


def test_copies_a_revision_of_a_hub_at_its_commit(s3: Any, hub: Any) -> None:
    report = stage("Qwen/Qwen3-8B@v1.0", TARGET, client=s3)
    assert (hub.revisions, hub.downloads) == (["v1.0"], [("Qwen/Qwen3-8B", "abc123")])
    assert (report.revision, report.is_complete) == ("abc123", True)
    assert set(report.left_out) == {"pytorch_model.bin", ".gitattributes"}


def test_a_dry_run_downloads_nothing_from_a_hub(s3: Any, hub: Any) -> None:
    report = stage("Qwen/Qwen3-8B", TARGET, client=s3, dry_run=True)
    assert hub.downloads == []
    assert set(report.uploaded) == set(model_files())


def test_what_the_hub_refuses_is_a_message(s3: Any, hub: Any) -> None:
    hub.error = type("GatedRepoError", (OSError,), {})("401 Client Error.\n\nlong text")
    with pytest.raises(LmiError, match="accept the model's terms") as caught:
        stage("meta-llama/Llama-3.1-8B", TARGET, client=s3)
    assert "401 Client Error." in str(caught.value)
    assert "long text" not in str(caught.value)


def test_a_hub_without_its_library_names_the_extra(
    s3: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(LmiError, match=r"lmi-constructs\[hub\]"):
        stage("Qwen/Qwen3-8B", TARGET, client=s3)
