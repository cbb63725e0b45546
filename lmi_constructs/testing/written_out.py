"""Resources of a template with what mappings, conditions and parameters say written into them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

SUBSTITUTED = re.compile(r"\$\{([^!.}]+)")
"""The name of what `Fn::Sub` substitutes, without its attribute."""


def written_out(value: Any, template: Mapping[str, Any]) -> Any:
    """Return a part of a template so that two are equal only if their sections make them so.

    The value of a mapping stands in its place; a condition is followed by its definition, and a
    parameter by its default. The result is for comparing: CloudFormation would not accept it.

    Args:
        value: The part, such as the properties of a resource.
        template: The template it is in.
    """
    if isinstance(value, list):
        return [written_out(item, template) for item in value]
    if not isinstance(value, dict):
        return value
    inner = {key: written_out(item, template) for key, item in value.items()}
    if len(inner) != 1:
        return inner
    ((function, argument),) = inner.items()
    if function == "Ref":
        return {**inner, **_defaults([argument], template)}
    if function == "Fn::Sub":
        text = argument[0] if isinstance(argument, list) and argument else argument
        names = SUBSTITUTED.findall(text) if isinstance(text, str) else []
        return {**inner, **_defaults(names, template)}
    if function == "Fn::FindInMap" and isinstance(argument, list):
        return _mapped(inner, argument, template)
    if function in ("Fn::If", "Condition"):
        name = argument[0] if isinstance(argument, list) and argument else argument
        return {**inner, "Definition": condition(name, template)}
    return inner


def condition(name: object, template: Mapping[str, Any]) -> Any:
    """Return the definition of a condition, those that it names written out too."""
    conditions = template.get("Conditions") or {}
    if not isinstance(name, str) or name not in conditions:
        return name
    # Without itself: a circle of conditions is the template's fault, and no reason to hang.
    others = {key: item for key, item in conditions.items() if key != name}
    return written_out(conditions[name], {**template, "Conditions": others})


def _defaults(names: list[Any], template: Mapping[str, Any]) -> dict[str, Any]:
    parameters = template.get("Parameters") or {}
    found = {
        name: parameters[name].get("Default")
        for name in names
        if isinstance(name, str) and isinstance(parameters.get(name), dict)
    }
    return {"Defaults": found} if found else {}


def _mapped(call: dict[str, Any], argument: list[Any], template: Mapping[str, Any]) -> Any:
    """Return the value that is looked up or, where the keys are known only later, all that may be."""
    found: Any = template.get("Mappings") or {}
    for key in argument[:3]:
        if not isinstance(key, str):
            return {**call, "Mapping": found}
        found = found.get(key) if isinstance(found, dict) else None
    return call if found is None else found
