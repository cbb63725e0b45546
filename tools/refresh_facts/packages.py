"""Reading files out of published packages, without installing them."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_PLATFORMS = ("manylinux_2_31_x86_64", "manylinux_2_28_x86_64", "manylinux1_x86_64", "any")


class RefreshError(Exception):
    """A package cannot be downloaded, or not be read."""


@contextmanager
def wheel(requirement: str) -> Iterator[zipfile.ZipFile]:
    """Download the wheel of a requirement with pip, open it, and delete it afterward.

    Raises:
        RefreshError: If pip finds or gets no such wheel.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", requirement, "--no-deps", "--quiet"]
        command += ["--no-cache-dir", "--only-binary", ":all:", "--dest", folder]
        for platform in _PLATFORMS:
            command += ["--platform", platform]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            raise RefreshError(f"pip cannot download {requirement}:\n{done.stderr.strip()}")
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as archive:
            yield archive


def version_of(archive: zipfile.ZipFile) -> str:
    """Return the version of an opened wheel."""
    return Path(archive.filename or "").name.split("-")[1]
