"""Names of archives, which SageMaker does not unpack where it mounts a prefix."""

from __future__ import annotations

from typing import Final

ARCHIVES: Final = (".tar.gz", ".tgz", ".tar", ".zip")
"""How the names of archives end."""

UNPACK: Final = "unpack the archive, and give the prefix of its files with one '/' at the end"
"""What to do with an archive that is to be mounted."""


def is_archive(prefix: str) -> bool:
    """Tell whether a prefix names an archive, with or without slashes behind it."""
    return prefix.rstrip("/").lower().endswith(ARCHIVES)
