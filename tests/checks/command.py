"""`lmi check` and what the tests of it run it on."""

import json

from click.testing import CliRunner

from lmi_constructs.checks.examples import Example
from lmi_constructs.cli.check import check
from tests.checks.support import VARIANT

BAD = Example({f"{VARIANT}/VolumeSizeInGB": 256})
WARNED = Example({"Config/Properties/KmsKeyId": "alias/key"})


def run(*arguments):
    return CliRunner().invoke(check, [*arguments, "--region", "us-east-1"])


def assembly(place, stacks, region="us-east-1"):
    """Write a cloud assembly with one template a stack."""
    place.mkdir(parents=True, exist_ok=True)
    artifacts = {}
    for name, template in stacks.items():
        (place / f"{name}.template.json").write_text(json.dumps(template))
        artifacts[name] = {
            "type": "aws:cloudformation:stack",
            "environment": f"aws://unknown-account/{region}",
            "properties": {"templateFile": f"{name}.template.json"},
            "metadata": {
                f"/{name}/Config/Resource": [{"type": "aws:cdk:logicalId", "data": "Config"}]
            },
        }
    (place / "manifest.json").write_text(json.dumps({"version": "50.0.0", "artifacts": artifacts}))
    return str(place)
