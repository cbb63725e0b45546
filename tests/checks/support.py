"""What several tests of the checks need."""

from lmi_constructs.checks import CheckOptions, Facts, check_template
from lmi_constructs.checks.examples import Example


def findings(example: Example):
    facts = Facts(model_configs={"Model": example.model_config} if example.model_config else {})
    return check_template(
        example.template(), region=example.region, options=CheckOptions(facts=facts)
    )


def errors(found):
    return [str(finding) for finding in found if finding.severity == "error"]
