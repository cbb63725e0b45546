"""What an operator does around a deployment: staging the model's files where it mounts them.

A function returns what was done, and the command `lmi stage` prints it. It needs boto3 (extra
`runtime`) and no CDK.
"""

from typing import TYPE_CHECKING

from lmi_constructs._exports import lazy

if TYPE_CHECKING:
    from lmi_constructs.operations.completeness import ModelFiles, check_files
    from lmi_constructs.operations.staging.run import StagingReport, stage
    from lmi_constructs.operations.staging.source import UnusableArgumentError

_ROOM = "lmi_constructs.operations"
_MODULES = {
    "ModelFiles": f"{_ROOM}.completeness",
    "StagingReport": f"{_ROOM}.staging.run",
    "UnusableArgumentError": f"{_ROOM}.staging.source",
    "check_files": f"{_ROOM}.completeness",
    "stage": f"{_ROOM}.staging.run",
}

__all__ = [
    "ModelFiles",
    "StagingReport",
    "UnusableArgumentError",
    "check_files",
    "stage",
]

__getattr__, __dir__ = lazy(__name__, _MODULES, "runtime")
