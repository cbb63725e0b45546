"""Reading deployments out of CloudFormation templates of any style."""

from lmi_constructs.checks.template.files import UnreadableError, read_path
from lmi_constructs.checks.template.parameters import with_parameters
from lmi_constructs.checks.template.read import TemplateSource, read_deployment, with_nested

__all__ = [
    "TemplateSource",
    "UnreadableError",
    "read_deployment",
    "read_path",
    "with_nested",
    "with_parameters",
]
