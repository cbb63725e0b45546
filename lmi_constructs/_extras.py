"""What is said when a package of an extra is not installed: in one place, however it is noticed."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def is_foreign(missing: ModuleNotFoundError) -> bool:
    """Tell whether a package of others is missing, not a module of this library."""
    return missing.name is not None and not missing.name.startswith("lmi_constructs")


def install(extra: str) -> str:
    """Return the command that installs an extra, for a clone and for an index of one's own.

    No public index has this package, and anybody could put another one there under its name.

    Args:
        extra: The extra; several with commas.
    """
    return (
        f"pip install '.[{extra}]' in a clone of lmi-constructs, or 'lmi-constructs[{extra}]' from"
        " your own package index"
    )


def how_to_get(module: str | None, extra: str) -> str:
    """Return what brings a missing module, as in `needs 'yaml': pip install ...`.

    Args:
        module: Name of the module that is missing.
        extra: Extra that brings it; several with commas.
    """
    return f"needs {module!r}: {install(extra)}"


@contextmanager
def needed(by: str, extra: str) -> Iterator[None]:
    """Import within this block what an extra brings.

    Args:
        by: Who needs it, such as `lmi_constructs.runtime`.
        extra: Extra that brings it.

    Raises:
        ModuleNotFoundError: If it is not installed, with the command that installs it.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        if not is_foreign(missing):
            raise
        words = f"{by} {how_to_get(missing.name, extra)}"
        raise ModuleNotFoundError(words, name=missing.name) from missing
