"""Running the rules over a deployment, a template or a cloud assembly."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lmi_constructs.checks.choices import findings_of_choices
from lmi_constructs.checks.deployment import Deployment, Facts
from lmi_constructs.checks.rules import all_rules
from lmi_constructs.checks.rules.base import with_severity
from lmi_constructs.checks.template import TemplateSource, read_deployment, read_path
from lmi_constructs.checks.template.parameters import with_parameters
from lmi_constructs.findings import Finding, raise_errors

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


@dataclass(frozen=True)
class CheckOptions:
    """How to check.

    Attributes:
        rules_off: Ids of rules not to report.
        raised: Ids of rules whose warnings count as errors.
        facts: What the user knows better than the library.

    Raises:
        LmiError: If there is no rule of a name (LMI010), which would otherwise do nothing.
    """

    rules_off: frozenset[str] = frozenset()
    raised: frozenset[str] = frozenset()
    facts: Facts = field(default_factory=Facts)

    def __post_init__(self) -> None:
        """Refuse ids that no rule has."""
        known = {rule.id for rule in all_rules()}
        raise_errors(
            Finding(
                rule="LMI010",
                message=f"there is no rule {id!r}",
                why="the option would do nothing, and say nothing",
                fix="give ids such as LMI043, as findings show them",
                where=option,
            )
            for option in ("rules_off", "raised")
            for id in sorted(set(getattr(self, option)) - known)
        )


def check(deployment: Deployment, options: CheckOptions | None = None) -> tuple[Finding, ...]:
    """Return everything that the rules find in a deployment, errors first.

    What they find with other values of its parameters than the defaults is said so, as in `with
    Env=prod: ...`, and is a warning.

    Args:
        deployment: What will be created.
        options: Rules off and severities raised; its facts are those of the deployment.
    """
    chosen = options or CheckOptions()
    rules = [rule for rule in all_rules() if rule.id not in chosen.rules_off]
    found = dict.fromkeys(finding for rule in rules for finding in rule.check(deployment))
    found.update(dict.fromkeys(findings_of_choices(deployment, found, rules)))
    raised = (
        with_severity(finding, "error") if finding.rule in chosen.raised else finding
        for finding in found
    )
    return tuple(sorted(raised, key=lambda finding: finding.severity))


def check_sources(
    sources: Iterable[TemplateSource], options: CheckOptions | None = None
) -> tuple[Finding, ...]:
    """Return everything that the rules find in templates that are deployed together."""
    chosen = options or CheckOptions()
    return check(read_deployment(sources, chosen.facts), chosen)


def check_template(
    template: Mapping[str, Any],
    *,
    region: str | None = None,
    account: str | None = None,
    parameters: Mapping[str, str] | None = None,
    options: CheckOptions | None = None,
) -> tuple[Finding, ...]:
    """Return everything that the rules find in one parsed template.

    Args:
        template: The template.
        region: Region it is deployed to, if known.
        account: Account it is deployed to, if known.
        parameters: Values for its parameters. Default: their defaults.
        options: Rules off, severities raised, facts that the user knows better.

    Raises:
        LmiError: If it has no such parameter, or does not allow the value (LMI010).
    """
    source = TemplateSource("template", template, region, account)
    return check_sources(with_parameters([source], parameters or {}), options)


def check_path(
    path: str | Path,
    *,
    region: str | None = None,
    parameters: Mapping[str, str] | None = None,
    options: CheckOptions | None = None,
) -> tuple[Finding, ...]:
    """Return everything that the rules find in a template file, `cdk.out` or folder.

    Args:
        path: Where the templates are.
        region: Region that templates go to which do not say it themselves.
        parameters: Values for their parameters. Default: their defaults.
        options: Rules off, severities raised, facts that the user knows better.

    Raises:
        UnreadableError: If there is nothing at the path that can be read.
        LmiError: If no template has such a parameter, or does not allow the value (LMI010).
    """
    return check_sources(with_parameters(read_path(path, region), parameters or {}), options)
