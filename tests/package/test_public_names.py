"""Every public name with its signature: a change of one is deliberate, or it is a fault."""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

PACKAGES = (
    "lmi_constructs",
    "lmi_constructs.checks",
    "lmi_constructs.container",
    "lmi_constructs.facts",
    "lmi_constructs.hosting",
    "lmi_constructs.local",
    "lmi_constructs.monitoring",
    "lmi_constructs.operations",
    "lmi_constructs.planner",
    "lmi_constructs.preflight",
    "lmi_constructs.presets",
    "lmi_constructs.report",
    "lmi_constructs.runtime",
    "lmi_constructs.testing",
)


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_are_those_that_were_promised(
    package: str, snapshot: SnapshotAssertion
) -> None:
    module = importlib.import_module(package)
    assert [described(name, getattr(module, name)) for name in module.__all__] == snapshot


def described(name: str, value: object) -> str:
    """Return a name with its parameters, and a class with its public members."""
    if inspect.isclass(value):
        members = sorted(member for member in dir(value) if not member.startswith("_"))
        own = [member for member in members if member not in dir(object)]
        return f"class {name}{parameters(value)}: {', '.join(own)}"
    if inspect.isroutine(value):
        return f"def {name}{parameters(value)}"
    return f"{name}: {type(value).__name__}"


def parameters(value: object) -> str:
    try:
        signature = inspect.signature(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""
    return f"({', '.join(signature.parameters)})"
