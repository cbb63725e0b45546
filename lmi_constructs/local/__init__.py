"""A local AWS to try deployments on, and the CDK CLI run against it (extra `local`).

[`LocalAws`][] is moto plus what it lacks for LLM endpoints; [`CdkCli`][] runs the unmodified CDK
CLI against it. Both are imported when first used: moto takes seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs._exports import lazy

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
    "CdkCli": f"{__name__}.cdk",
    "CdkError": f"{__name__}.errors",
    "CdkResult": f"{__name__}.cdk",
    "Engine": f"{__name__}.engines",
    "ForwardingEngine": f"{__name__}.engines",
    "LocalAws": f"{__name__}.server",
    "LocalAwsError": f"{__name__}.errors",
    "StubEngine": f"{__name__}.engines",
}

__getattr__, __dir__ = lazy(__name__, _MODULES, "local")
