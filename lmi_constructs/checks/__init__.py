"""What will fail: rules over a neutral description of a deployment."""

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
