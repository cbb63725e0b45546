"""A local AWS to try deployments on, and the CDK CLI run against it (extra `local`).

[`LocalAws`][] is moto plus what it lacks for LLM endpoints; [`CdkCli`][] runs the unmodified CDK
CLI against it. Both are imported when first used: moto takes seconds.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from lmi_constructs._extras import needed

if TYPE_CHECKING:
    from lmi_constructs.local.cdk import CdkCli, CdkResult
    from lmi_constructs.local.engines import Engine, ForwardingEngine, StubEngine
    from lmi_constructs.local.errors import CdkError, LocalAwsError
    from lmi_constructs.local.server import LocalAws

__all__ = [
    "CdkCli",
    "CdkError",
    "CdkResult",
    "Engine",
    "ForwardingEngine",
    "LocalAws",
    "LocalAwsError",
    "StubEngine",
]

_MODULES = {
    "CdkCli": "cdk",
    "CdkError": "errors",
    "CdkResult": "cdk",
    "Engine": "engines",
    "ForwardingEngine": "engines",
    "LocalAws": "server",
    "LocalAwsError": "errors",
    "StubEngine": "engines",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with needed(__name__, "local"):
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
