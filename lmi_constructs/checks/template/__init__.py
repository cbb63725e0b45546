"""Reading deployments out of CloudFormation templates of any style."""

from lmi_constructs.checks.template.discovery import (
    FoundTemplates,
    find_templates,
    read_path,
    with_own_names,
)
from lmi_constructs.checks.template.files import UnreadableError
from lmi_constructs.checks.template.parameters import with_parameters
from lmi_constructs.checks.template.read import TemplateSource, read_deployment, with_nested

__all__ = [
    "FoundTemplates",
    "TemplateSource",
    "UnreadableError",
    "find_templates",
    "read_deployment",
    "read_path",
    "with_nested",
    "with_own_names",
    "with_parameters",
]
