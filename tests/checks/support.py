"""What several tests of the checks need."""

from lmi_constructs.checks import CheckOptions, Facts, check_template
from lmi_constructs.checks.examples import REMOVED, Example

CONTAINER = "Model/Properties/PrimaryContainer"
IMAGE = f"{CONTAINER}/Image"
ENVIRONMENT = f"{CONTAINER}/Environment"
SOURCE = f"{CONTAINER}/ModelDataSource/S3DataSource"
VARIANT = "Config/Properties/ProductionVariants/0"
HOST_IMAGE = f"{VARIANT}/InferenceAmiVersion"
REGISTRY = "763104351884.dkr.ecr.us-east-1.amazonaws.com"
V27 = f"{REGISTRY}/djl-inference:0.36.0-lmi27.0.0-cu130"
WITHOUT_DATA = {
    f"{CONTAINER}/ModelDataSource": REMOVED,
    "Model/Properties/EnableNetworkIsolation": REMOVED,
}
"""Changes of the good template: places in it, releases, and a model without mounted data."""


def findings(example: Example):
    facts = Facts(model_configs={"Model": example.model_config} if example.model_config else {})
    return check_template(
        example.template(), region=example.region, options=CheckOptions(facts=facts)
    )


def rules(example: Example):
    return {finding.rule for finding in findings(example)}


def errors(found):
    return [str(finding) for finding in found if finding.severity == "error"]
