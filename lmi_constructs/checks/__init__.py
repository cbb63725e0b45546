"""What will fail: rules over a neutral description of a deployment."""

from typing import TYPE_CHECKING

from lmi_constructs._exports import lazy

if TYPE_CHECKING:
    from lmi_constructs.checks.deployment import Deployment, Facts
    from lmi_constructs.checks.run import (
        CheckOptions,
        check,
        check_path,
        check_sources,
        check_template,
    )
    from lmi_constructs.checks.template import TemplateSource, UnreadableError

__all__ = [
    "CheckOptions",
    "Deployment",
    "Facts",
    "TemplateSource",
    "UnreadableError",
    "check",
    "check_path",
    "check_sources",
    "check_template",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "CheckOptions": "lmi_constructs.checks.run",
        "Deployment": "lmi_constructs.checks.deployment",
        "Facts": "lmi_constructs.checks.deployment",
        "TemplateSource": "lmi_constructs.checks.template",
        "UnreadableError": "lmi_constructs.checks.template",
        "check": "lmi_constructs.checks.run",
        "check_path": "lmi_constructs.checks.run",
        "check_sources": "lmi_constructs.checks.run",
        "check_template": "lmi_constructs.checks.run",
    },
)
