"""Limits and traps of a container's environment that hold for every image."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lmi_constructs.checks.examples import Example
from lmi_constructs.checks.rules.base import Rule
from lmi_constructs.checks.rules.common import containers, environment
from lmi_constructs.checks.values import String, literal
from lmi_constructs.container.spelling import bytes_of
from lmi_constructs.facts.limits import limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.resources import Container, Resource
    from lmi_constructs.findings import Finding

_ENVIRONMENT: Final = "Model/Properties/PrimaryContainer/Environment"
_LEGAL_KEY = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*\Z")
_SECRET_VALUE = re.compile(r"hf_[A-Za-z0-9]{20,}|AKIA[A-Z0-9]{16}|sk-[A-Za-z0-9_-]{20,}")
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
        totals: dict[tuple[str, str], list[tuple[Resource, Container, int]]] = {}
        for resource, container in containers(deployment):
            yield from self._entries(resource, container)
            size = sum(map(_size, environment(container).items()))
            totals.setdefault(resource.key, []).append((resource, container, size))
        most = limits()["environment_total"]
        for rows in totals.values():
            size = sum(row[2] for row in rows)
            if not most.allows(size):
                resource, container, _ = rows[0]
                message = f"the environment takes {size} bytes, allowed are {most}"
                yield self.found(resource, f"{container.path}/Environment", message)

    def _entries(self, resource: Resource, container: Container) -> Iterator[Finding]:
        known = environment(container)
        path = f"{container.path}/Environment"
        of_component = container.path.startswith("Specification")
        most = limits()["component_environment_entries" if of_component else "environment_entries"]
        if not most.allows(len(known)):
            message = f"the environment has {len(known)} entries, allowed are {most}"
            yield self.found(resource, path, message, source=most.source)
        longest_key, longest = (
            limits()["environment_key_length"],
            limits()["environment_value_length"],
        )
        for key, value in known.items():
            if not _LEGAL_KEY.match(key):
                message = f"the name {key!r} is not allowed: letters, digits and _ only"
                yield self.found(resource, f"{path}/{key}", message, fix=_renamed(key))
            if not longest_key.allows(max(bytes_of(key), 1)):
                message = f"the name {key[:40]!r}... has {bytes_of(key)} bytes"
                yield self.found(resource, f"{path}/{key}", message)
            text = literal(value) or ""
            if not longest.allows(bytes_of(text)):
                message = f"the value of {key} has {bytes_of(text)} bytes, allowed are {longest}"
                certain = len(text) > (longest.maximum or 0)
                severity = "error" if certain else "warning"
                yield self.found(resource, f"{path}/{key}", message, severity=severity)  # type: ignore[arg-type]


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


def _renamed(key: str) -> str:
    bare = re.sub(r"[^a-zA-Z0-9]+", "_", key.removeprefix("option.")).strip("_").upper()
    return f"write OPTION_{bare}" if key.startswith("option.") else f"write {bare or 'a name'}"


def _size(entry: tuple[str, String]) -> int:
    key, value = entry
    return bytes_of(key) + bytes_of(literal(value) or "")
