"""What the container is told and what it does with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs.container.release import LmiContainer
from lmi_constructs.container.verdict import Verdict, verdict

if TYPE_CHECKING:
    from lmi_constructs.container.remedies import Change, Remedies, Remedy
    from lmi_constructs.container.settings import LmiSettings

__all__ = ["Change", "LmiContainer", "LmiSettings", "Remedies", "Remedy", "Verdict", "verdict"]

# Imported on first use: a verdict needs no pydantic.
_LATE = {
    "Change": "remedies",
    "LmiSettings": "settings",
    "Remedies": "remedies",
    "Remedy": "remedies",
}


def __getattr__(name: str) -> object:
    """Import the typed settings only when somebody asks for them."""
    if name in _LATE:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_LATE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
