"""Reading deployments out of CloudFormation templates of any style."""

from lmi_constructs.checks.template.files import UnreadableError
from lmi_constructs.checks.template.parameters import with_parameters
from lmi_constructs.checks.template.places import Places, read_path, read_places, with_own_names
from lmi_constructs.checks.template.read import TemplateSource, read_deployment, with_nested

__all__ = [
    "Places",
    "TemplateSource",
    "UnreadableError",
    "read_deployment",
    "read_path",
    "read_places",
    "with_nested",
    "with_own_names",
    "with_parameters",
]
