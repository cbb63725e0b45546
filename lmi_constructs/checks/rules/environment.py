"""Limits and traps of a container's environment that hold for every image."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from lmi_constructs.checks.examples import Example
from lmi_constructs.checks.queries.containers import containers, environment
from lmi_constructs.checks.rules.base import Rule, placed
from lmi_constructs.checks.values import literal
from lmi_constructs.container.environment_limits import (
    WHOLE,
    size_of,
    total_findings,
    variable_findings,
)
from lmi_constructs.facts.limits import limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.resources import Container, Resource
    from lmi_constructs.findings import Finding

_ENVIRONMENT: Final = "Model/Properties/PrimaryContainer/Environment"
_SECRET_VALUE = re.compile(
    r"(?<![A-Za-z0-9])(hf_[A-Za-z0-9]{20,}|AKIA[A-Z0-9]{16}|sk-[A-Za-z0-9_-]{20,})"
)
"""Tokens of the hub, of AWS and of OpenAI; not the end of a word such as `multi-task-...`."""

_SECRET_KEY = re.compile(
    r"((HF|HUB|FACE|API|ACCESS|AUTH|BEARER|GITHUB|SESSION|REFRESH)_?TOKEN"
    r"|SECRET(_KEY|_ACCESS_KEY)?|PASSWORD|API_KEY|ACCESS_KEY)\Z"
)
_HARMLESS_VALUE = re.compile(r"(?i)(|true|false|none|\d{1,6}|/.*|<.*>|\$.*|arn:.*|https?://.*)\Z")


class EnvironmentLimits(Rule):
    """LMI005."""

    id = "LMI005"
    title = "the environment breaks a limit of CreateModel"
    why = "CreateModel refuses the container definition, and the stack rolls back"
    fix = (
        "write each option as OPTION_<NAME>, keep values within 1024 bytes and the whole within"
        " 32 KB; put what is longer into serving.properties beside the weights"
    )
    source = "botocore 1.44.8 sagemaker 2017-07-24 ContainerDefinition.Environment"
    failing = Example({f"{_ENVIRONMENT}/option.dtype": "bf16"})
    passing = Example({f"{_ENVIRONMENT}/OPTION_DTYPE": "bf16"})

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield keys, values and sums that are too long, too many or illegal."""
        sizes: Counter[tuple[str, str]] = Counter()
        first: dict[tuple[str, str], tuple[Resource, Container]] = {}
        for resource, container in containers(deployment):
            known = environment(container)
            path = f"{container.path}/Environment"
            of_component = container.path.startswith("Specification")
            most = "component_environment_entries" if of_component else "environment_entries"
            for finding in variable_findings(known, limits()[most]):
                at = path if finding.where == WHOLE else f"{path}/{finding.where}"
                yield placed(finding, resource, at)
            sizes[resource.key] += size_of(known)
            first.setdefault(resource.key, (resource, container))
        for key, size in sizes.items():
            resource, container = first[key]
            for finding in total_findings(size):
                yield placed(finding, resource, f"{container.path}/Environment")


class PlainTextSecret(Rule):
    """LMI006."""

    id = "LMI006"
    title = "a secret stands in plain text"
    severity = "warning"
    why = (
        "it can be read in the template, in the stack's history and by everybody who may call"
        " DescribeModel"
    )
    fix = (
        "keep it in Secrets Manager and write '{{resolve:secretsmanager:<name>}}', or copy the"
        " model to S3 so that no token is needed"
    )
    source = "botocore 1.44.8 sagemaker 2017-07-24 ContainerDefinition.Environment"
    failing = Example({f"{_ENVIRONMENT}/HF_TOKEN": "hf_" + "x" * 34})
    passing = Example({f"{_ENVIRONMENT}/HF_TOKEN": "{{resolve:secretsmanager:hub-token}}"})

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield values that look like secrets."""
        for resource, container in containers(deployment):
            for key, value in environment(container).items():
                if _is_secret(key, literal(value)):
                    path = f"{container.path}/Environment/{key}"
                    yield self.found(resource, path, f"{key} holds a secret in plain text")


def _is_secret(key: str, value: str | None) -> bool:
    if value is None:
        return False
    if _SECRET_VALUE.search(value):
        return True
    return bool(_SECRET_KEY.search(key.upper())) and not _HARMLESS_VALUE.match(value)
