"""The rules at synth: as a policy-validation plugin for any CDK app, and for our own constructs.

The only module of this package that knows the CDK. The rules are loaded when an app is synthesized, so
that importing a construct stays cheap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import aws_cdk as cdk
import jsii

from lmi_constructs._version import __version__
from lmi_constructs.checks.acknowledged import PLUGIN, is_at
from lmi_constructs.checks.construct_keywords import keyword_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from constructs import IConstruct

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.rules import PlacedFinding
    from lmi_constructs.checks.run import CheckOptions
    from lmi_constructs.checks.template import TemplateSource
    from lmi_constructs.findings import Finding

_ATTACHED: Final = "_lmi_attached_checks"
"""Attribute of an app or root stage, of our constructs and of their parents, that holds the plugin."""

_CHECKED: Final = "_lmi_checked"
"""Attribute of our constructs, so that those inside another one are not attached twice."""


@jsii.implements(cdk.IPolicyValidationPlugin)
class LmiChecks:
    """All rules over the templates of an app, whoever wrote its constructs.

    An error makes `app.synth()` raise; a warning is printed. Either is acknowledged by its id:

    Example:
        ```python
        Validations.of(app).add_plugins(LmiChecks())
        Validations.of(endpoint).acknowledge(
            Acknowledgment(id="lmi::LMI043", reason="the key is demanded by our policy")
        )
        ```
    """

    def __init__(
        self,
        options: CheckOptions | None = None,
        *,
        only: Sequence[str] | Callable[[str], bool] | None = None,
    ) -> None:
        """Check with options.

        Args:
            options: Rules off, severities raised, facts that the user knows better.
            only: Construct paths to report below, or a function of a construct path; by default
                everything is reported. A path that nothing stands at is an error at synth (LMI010),
                and so is a function that takes no path of the app: a slip would turn everything off.
        """
        self._options = options
        self._only = only

    @property
    def name(self) -> str:
        """Name that findings are acknowledged under."""
        return PLUGIN

    @property
    def version(self) -> str:
        """Version of the rules."""
        return __version__

    @property
    def rule_ids(self) -> list[str]:
        """Ids of all rules."""
        from lmi_constructs.checks.rules import all_rules

        return [rule.id for rule in all_rules()]

    def validate(self, context: cdk.IPolicyValidationContext) -> cdk.PolicyValidationPluginReport:
        """Check the templates of one call.

        Args:
            context: The templates, as the CDK hands them over.
        """
        from lmi_constructs.checks.run import CheckOptions, check
        from lmi_constructs.checks.template import read_deployment
        from lmi_constructs.checks.template.files import read_stack

        sources = [
            read_stack(
                stack.template_path,
                name=stack.stack_construct_path,
                region=stack.region,
                account=stack.account_id,
            )
            for stack in context.stack_templates
        ]
        options = self._options or CheckOptions()
        deployment = read_deployment(sources, options.facts)
        chosen = self._chosen(check(deployment, options), context)
        return _report([*chosen, *self._besides(chosen, deployment, sources)], sources)

    def _besides(
        self,
        chosen: Iterable[PlacedFinding],
        deployment: Deployment,
        sources: Sequence[TemplateSource],
    ) -> Iterable[PlacedFinding]:
        """Yield what no rule finds: arguments of this plugin that do nothing in the app."""
        from lmi_constructs.checks.template import with_nested
        from lmi_constructs.checks.unused_options import mistyped_images, unmatched_paths

        paths = {path for one in with_nested(sources) for path in one.construct_paths.values()}
        yield from unmatched_paths(self._only, paths)
        yield from filter(self._reports, mistyped_images(deployment))

    def _chosen(
        self,
        findings: Iterable[Finding],
        context: cdk.IPolicyValidationContext,
    ) -> list[PlacedFinding]:
        from lmi_constructs.checks.rules import PlacedFinding

        found = [finding for finding in findings if isinstance(finding, PlacedFinding)]
        if not found:
            return found
        attached = getattr(context.app_construct, _ATTACHED, None)
        others = attached if isinstance(attached, LmiChecks) and attached is not self else None
        return [
            finding
            for finding in found
            if self._reports(finding) and not (others and others._reports(finding))
        ]

    def _reports(self, finding: PlacedFinding) -> bool:
        path = finding.construct_path or ""
        if self._only is None:
            return True
        if callable(self._only):
            return self._only(path)
        return any(is_at(path, one) for one in self._only)


class _OwnChecks(LmiChecks):
    """The checks of our own constructs: each finding names the keyword to change.

    What a construct itself has remarked is reported here too, so that there is one way to
    acknowledge, and once, if a rule finds the same in the template.
    """

    def __init__(self) -> None:
        self._constructs: list[IConstruct] = []
        self._paths: list[str] = []
        self._remarks: list[tuple[IConstruct, Finding]] = []
        self._at_synth: list[Callable[[], None]] = []
        super().__init__(only=self._is_below)

    def add(self, construct: IConstruct) -> None:
        """Check what stands below a construct."""
        self._constructs.append(construct)

    def remark(self, construct: IConstruct, findings: Iterable[Finding]) -> None:
        """Report at synth what a construct has found out about itself."""
        self._remarks += [(construct, finding) for finding in findings]

    def at_synth(self, action: Callable[[], None]) -> None:
        """Do something before the CDK looks what is acknowledged."""
        self._at_synth.append(action)

    def validate(self, context: cdk.IPolicyValidationContext) -> cdk.PolicyValidationPluginReport:
        """Check the templates of one call, after what was left for now.

        Args:
            context: The templates, as the CDK hands them over.
        """
        while self._at_synth:
            self._at_synth.pop()()
        return super().validate(context)

    def _is_below(self, path: str) -> bool:
        """Return whether a path stands below our constructs, asking for theirs only now."""
        self._paths += [item.node.path for item in self._constructs[len(self._paths) :]]
        return any(is_at(path, one) for one in self._paths)

    def _chosen(
        self, findings: Iterable[Finding], context: cdk.IPolicyValidationContext
    ) -> list[PlacedFinding]:
        return [_with_keyword(finding) for finding in super()._chosen(findings, context)]

    def _besides(
        self,
        chosen: Iterable[PlacedFinding],
        deployment: Deployment,
        sources: Sequence[TemplateSource],
    ) -> Iterable[PlacedFinding]:
        """Yield the remarks about constructs in these stacks that no rule repeats."""
        from lmi_constructs.checks.template import with_nested

        known = {(finding.rule, finding.construct_path or "") for finding in chosen}
        for construct, finding in self._remarks:
            path = construct.node.path
            stack = next((one.name for one in with_nested(sources) if is_at(path, one.name)), None)
            if stack is not None and not any(
                rule == finding.rule and is_at(place, path) for rule, place in known
            ):
                yield _placed(finding, path, stack)


def attach_to(construct: IConstruct, scope: object) -> None:
    """Check what stands below a construct at synth, without anybody adding a plugin.

    One plugin serves all constructs of an app. If the user adds [`LmiChecks`][] too, what is below
    is reported once, by this one.

    Args:
        construct: One of our constructs. Nothing happens if it is in no app.
        scope: Its parent. Nothing happens if that is checked already.
    """
    setattr(construct, _CHECKED, True)
    attached = getattr(scope, _ATTACHED, None) or _attached_to_root(construct)
    if attached is None:
        return
    setattr(construct, _ATTACHED, attached)
    if not getattr(scope, _CHECKED, False):
        setattr(scope, _ATTACHED, attached)
        attached.add(construct)


def at_synth(construct: IConstruct, action: Callable[[], None]) -> None:
    """Do something at synth, when the templates are written and nothing is reported yet.

    Args:
        construct: What it is about. Outside an app there is no such moment, and nothing is done.
        action: What to do.
    """
    attached = getattr(construct, _ATTACHED, None) or _attached_to_root(construct)
    if attached is not None:
        attached.at_synth(action)


def remark(construct: IConstruct, findings: Iterable[Finding]) -> None:
    """Report warnings of a construct at synth, together with those of the rules.

    Args:
        construct: What they are about. Outside an app they become annotations.
        findings: The warnings.
    """
    attached = _attached_to_root(construct)
    if attached is not None:
        attached.remark(construct, findings)
        return
    for finding in findings:
        cdk.Annotations.of(construct).add_warning_v2(finding.rule, str(finding))


def remarks_in(app: IConstruct) -> tuple[tuple[IConstruct, Finding], ...]:
    """Return the warnings that constructs of an app have about themselves, each with its construct."""
    attached = getattr(app, _ATTACHED, None)
    return tuple(attached._remarks) if isinstance(attached, _OwnChecks) else ()


def _attached_to_root(construct: IConstruct) -> _OwnChecks | None:
    root = construct.node.root
    if not isinstance(root, cdk.Stage):
        return None
    attached: _OwnChecks | None = getattr(root, _ATTACHED, None)
    if attached is None:
        attached = _OwnChecks()
        setattr(root, _ATTACHED, attached)
        cdk.Validations.of(root).add_plugins(attached)
    return attached


def _placed(finding: Finding, path: str, stack: str) -> PlacedFinding:
    from dataclasses import fields

    from lmi_constructs.checks.rules import PlacedFinding

    known = {field.name: getattr(finding, field.name) for field in fields(finding)}
    known |= {"resource": path.rpartition("/")[2], "construct_path": path, "template": stack}
    return PlacedFinding(**known)


def _with_keyword(finding: PlacedFinding) -> PlacedFinding:
    from dataclasses import replace

    keyword = finding.where or keyword_of(finding.path)
    return replace(finding, where=keyword) if keyword else finding


def _report(
    findings: Iterable[PlacedFinding], sources: Iterable[TemplateSource]
) -> cdk.PolicyValidationPluginReport:
    from lmi_constructs.checks.template import with_nested

    files = {source.name: source.file for source in with_nested(sources)}
    found = list(dict.fromkeys(findings))
    return cdk.PolicyValidationPluginReport(
        success=not any(finding.severity == "error" for finding in found),
        violations=[_violation(finding, files.get(finding.template or "")) for finding in found],
    )


def _violation(finding: PlacedFinding, file: str | None) -> cdk.PolicyViolation:
    keyword = f" (change {finding.where})" if finding.where else ""
    return cdk.PolicyViolation(
        rule_name=finding.rule,
        description=f"{finding.message}{keyword}: {finding.why}",
        fix=finding.fix,
        severity=finding.severity,
        rule_metadata={"source": finding.source} if finding.source else None,
        violating_resources=[
            cdk.PolicyViolatingResource(
                construct_path=finding.construct_path,
                resource_logical_id=finding.resource,
                template_path=file,
                locations=[f"Properties/{finding.path}" if finding.path else "Properties"],
            )
        ],
    )
