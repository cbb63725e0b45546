"""Running the rules over a deployment, a template or a cloud assembly."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lmi_constructs._near_names import did_you_mean
from lmi_constructs.checks.acknowledged import reason_for
from lmi_constructs.checks.choices import findings_of_choices
from lmi_constructs.checks.deployment import Deployment, Facts
from lmi_constructs.checks.rules import PlacedFinding, all_rules
from lmi_constructs.checks.rules.base import with_severity
from lmi_constructs.checks.template import TemplateSource, find_templates, read_deployment
from lmi_constructs.checks.template.parameters import with_parameters, with_parameters_by_group
from lmi_constructs.findings import Finding, raise_errors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class CheckOptions:
    """How to check.

    Attributes:
        rules_off: Ids of rules not to report.
        raised: Ids of rules whose warnings count as errors.
        facts: What the user knows better than the library.
        acknowledged: Whether to return findings that the app acknowledges, too. They then say the
            reason, and are no less severe.

    Raises:
        LmiError: If there is no rule of a name (LMI010), which would otherwise do nothing.
    """

    rules_off: frozenset[str] = frozenset()
    raised: frozenset[str] = frozenset()
    facts: Facts = field(default_factory=Facts)
    acknowledged: bool = False

    def __post_init__(self) -> None:
        """Refuse ids that no rule has."""
        raise_errors(
            finding
            for option in ("rules_off", "raised")
            for finding in unknown_rules(getattr(self, option), option)
        )


def unknown_rules(ids: Iterable[str], where: str) -> Iterator[Finding]:
    """Yield an error for each id that no rule has (LMI010), with the rules that may be meant.

    Args:
        ids: Ids that somebody wrote.
        where: Name of the option that they were given for.
    """
    known = [rule.id for rule in all_rules()]
    for id in sorted(set(ids) - set(known)):
        yield Finding(
            rule="LMI010",
            message=f"there is no rule {id!r}",
            why="the option would do nothing, and say nothing",
            fix=_nearest_rule(id, known),
            where=where,
        )


def _nearest_rule(written: str, known: Sequence[str]) -> str:
    """Return how to write the ids of rules that somebody wrote in another way."""
    ids = [id for id in re.split(r"[\s,;]+", written.upper().replace("LMI::", "")) if id]
    if ids and set(ids) <= set(known):
        return f"write {' and '.join(ids)}" + (", each as an id of its own" if ids[1:] else "")
    return did_you_mean(written, known, "give ids such as LMI043, as findings show them", most=2)


def check(deployment: Deployment, options: CheckOptions | None = None) -> tuple[Finding, ...]:
    """Return everything that the rules find in a deployment, errors first.

    What they find with other values of its parameters than the defaults is said so, as in `with
    Env=prod: ...`, and is a warning. What the app acknowledges is left out, as it is at synth, unless
    the options ask for it.

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
    told = (_with_reason(finding, deployment) for finding in raised)
    return tuple(
        sorted(
            (one for one in told if chosen.acknowledged or reason_of(one) is None),
            key=lambda finding: finding.severity,
        )
    )


def reason_of(finding: Finding) -> str | None:
    """Return the reason that the app accepts a finding with; `None` if it does not."""
    return finding.acknowledged if isinstance(finding, PlacedFinding) else None


def _with_reason(finding: Finding, deployment: Deployment) -> Finding:
    if not deployment.acknowledgments or not isinstance(finding, PlacedFinding):
        return finding
    reason = reason_for(deployment.acknowledgments, finding.rule, finding.construct_path)
    return finding if reason is None else replace(finding, acknowledged=reason)


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

    Templates of one folder are taken to be deployed together, those of several are not.

    Args:
        path: Where the templates are.
        region: Region that templates go to which do not say it themselves.
        parameters: Values for their parameters. Default: their defaults.
        options: Rules off, severities raised, facts that the user knows better.

    Raises:
        UnreadableError: If there is nothing at the path that can be read.
        LmiError: If no template has such a parameter, or does not allow the value (LMI010).
    """
    groups = find_templates(path, region).groups
    given = with_parameters_by_group(groups, parameters or {})
    found = (finding for group in given for finding in check_sources(group, options))
    return tuple(sorted(found, key=lambda finding: finding.severity))
