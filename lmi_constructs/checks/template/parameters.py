"""Values that parameters of a template may have: given by the user, or allowed besides the default."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs._near_names import did_you_mean
from lmi_constructs.checks.choices import Choice
from lmi_constructs.checks.template.nodes import nodes
from lmi_constructs.checks.values import as_mapping, as_sequence, as_string, legible, literal
from lmi_constructs.findings import Finding, raise_errors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lmi_constructs.checks.template.read import TemplateSource

_MOST_NODES: Final = 10_000
_REGION: Final = re.compile(r"[a-z]{2,4}(-[a-z]+){1,2}-\d\Z")


def with_parameters(
    sources: Iterable[TemplateSource], given: Mapping[str, str]
) -> list[TemplateSource]:
    """Return templates with values for their parameters; nested stacks get theirs from parents.

    Args:
        sources: The templates. A value goes to each that declares the parameter.
        given: Values by name of the parameter; those of lists with commas.

    Raises:
        LmiError: If no template declares a parameter, or one does not allow the value (LMI010).
    """
    known = list(sources)
    raise_errors(_refused(known, given))
    return [_given(source, given) for source in known]


def with_parameters_by_group(
    groups: Iterable[Sequence[TemplateSource]], given: Mapping[str, str]
) -> list[list[TemplateSource]]:
    """Return templates by what is deployed together, with values for their parameters.

    Args:
        groups: The templates. A value goes to each that declares the parameter, in any group.
        given: Values by name of the parameter; those of lists with commas.

    Raises:
        LmiError: If no template declares a parameter, or one does not allow the value (LMI010).
    """
    known = list(groups)
    changed = iter(with_parameters([one for group in known for one in group], given))
    return [[next(changed) for _ in group] for group in known]


def _given(source: TemplateSource, given: Mapping[str, str]) -> TemplateSource:
    declared = as_mapping(source.body.get("Parameters"))
    own = {name: value for name, value in given.items() if name in declared}
    return replace(source, parameters={**source.parameters, **own}) if own else source


def _refused(sources: Sequence[TemplateSource], given: Mapping[str, str]) -> Iterator[Finding]:
    for name, value in given.items():
        declared = [
            as_mapping(as_mapping(source.body.get("Parameters"))[name])
            for source in sources
            if name in as_mapping(source.body.get("Parameters"))
        ]
        names = {
            str(one) for source in sources for one in as_mapping(source.body.get("Parameters"))
        }
        if not declared:
            yield Finding(
                rule="LMI010",
                message=f"no template has a parameter {name!r}",
                why="the value would change nothing",
                fix=did_you_mean(name, names, "give a parameter of the templates"),
                where="parameter",
            )
        for one in declared:
            allowed = _allowed(one)
            if allowed and value not in allowed:
                yield Finding(
                    rule="LMI010",
                    message=f"{value!r} is not an allowed value of the parameter {name}",
                    why="CloudFormation refuses the value",
                    fix="give one of " + ", ".join(allowed),
                    where="parameter",
                )


def choices(sources: Iterable[TemplateSource]) -> list[Choice]:
    """Return the other values that parameters may have, as far as the templates tell.

    These are the allowed values, or else those that a condition compares a parameter with. Regions
    are left out: the stack would be deployed to them.
    """
    found: dict[Choice, None] = {}
    for source in sources:
        compared: dict[str, list[str]] | None = None
        for name, declared in as_mapping(source.body.get("Parameters")).items():
            one = as_mapping(declared)
            if name in source.parameters or not _is_plain(one):
                continue
            compared = _compared(source.body) if compared is None else compared
            default = as_string(one.get("Default"))
            allowed = _allowed(one)
            others = [
                value
                for value in allowed or compared.get(name, [])
                if value != default and not _REGION.match(value)
            ]
            of_all = len(allowed) if allowed and default is None else None
            found.update(dict.fromkeys(Choice(str(name), value, of_all) for value in others))
    return list(found)


def chosen(sources: Iterable[TemplateSource], choice: Choice) -> list[TemplateSource]:
    """Return templates with another value in each that may have it."""
    given = {choice.parameter: choice.value}
    return [
        _given(source, given) if choice.parameter not in source.parameters else source
        for source in sources
    ]


def _is_plain(declared: Mapping[str, Any]) -> bool:
    hidden = str(declared.get("NoEcho", "")).lower() == "true"
    return not hidden and declared.get("Type") in ("String", "Number")


def _allowed(declared: Mapping[str, Any]) -> list[str]:
    values = map(as_string, as_sequence(declared.get("AllowedValues")))
    return [legible(value) for value in values if isinstance(value, str)]


def _compared(body: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the texts that conditions compare parameters with; an empty one asks for any at all."""
    found: dict[str, list[str]] = {}
    for node in nodes(body.get("Conditions"), _MOST_NODES):
        sides = as_sequence(node.get("Fn::Equals")) if isinstance(node, dict) else ()
        names = [literal(as_mapping(side).get("Ref")) for side in sides]
        texts = [as_string(side) for side in sides]
        for name in names:
            if name is not None and len(sides) == 2:
                known = found.setdefault(name, [])
                known += [one for one in texts if isinstance(one, str) and one]
    return found
