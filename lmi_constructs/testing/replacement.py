"""What CloudFormation would replace when one template follows another."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from lmi_constructs.testing.schemas import at, create_only, identifier, never_updated
from lmi_constructs.testing.stability import ASSET_HASH, METADATA_TYPE, stable
from lmi_constructs.testing.templates import source_of
from lmi_constructs.testing.written_out import SUBSTITUTED, condition, written_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lmi_constructs.checks.template import TemplateSource
    from lmi_constructs.testing.templates import Templated

__tracebackhide__ = True  # pytest shows the line of the test

_Resources: TypeAlias = Mapping[str, Mapping[str, Any]]

_CONDITION = ("Condition",)
_RETAINING = ("Retain", "RetainExceptOnCreate")
_OTHER_TYPE = "CloudFormation permits no other type under a logical id"
"""Source: aws/aws-sam-cli#6786, "Update of resource type is not permitted"."""
_SAME_NAME = "did not: what has a name of its own is replaced only under another name"
"""Source: AWS CloudFormation user guide, "Name type": "You can't perform an update that causes a
custom-named resource to be replaced. If you must replace the resource, specify a new name."
"""
_NO_PARAMETER = "the service's API has no parameter that changes it on what exists: give it another construct id"
_SAME_THING = (
    "in the account it is the same as {other} of the new template, and CloudFormation creates before it"
    " deletes: either the creation fails, or the deletion takes away what {other} has set up. Keep"
    " the logical id: override_logical_id({own!r}) on the resource of {other}"
)
"""Source: CloudFormation user guide, "Update behaviors of stack resources" and "Monitor the progress of
a stack update" (the old resource is deleted last); for scalable targets API_RegisterScalableTarget
("registers or updates", identified by resource, dimension and namespace) and
API_DeregisterScalableTarget (deletes the scaling policies too).
"""


@dataclass(frozen=True)
class Replacement:
    """A resource that does not live on in an update.

    Attributes:
        logical_id: Its logical id; in a nested stack after that of the nested stack and a slash.
        type: Its type, such as `AWS::SageMaker::Endpoint`.
        because: The changed properties that cannot be updated; empty if the resource is removed.
        refused: Why CloudFormation refuses the update instead; empty if it does not.
        retained: Whether a removed resource stays in the account, by its deletion policy.
        same_as: Logical id, in the new template alone, of what has the same identity in the account as
            a removed resource, such as the scalable target of the same endpoint and variant; empty if
            there is none.
    """

    logical_id: str
    type: str
    because: tuple[str, ...] = ()
    refused: str = ""
    retained: bool = False
    same_as: str = ""

    def __str__(self) -> str:
        """Return the replacement in words."""
        which = f"{self.logical_id} ({self.type})"
        if not self.because:
            fate = "left behind, in no stack" if self.retained else "deleted"
            if self.same_as:
                own = self.logical_id.rpartition("/")[2]
                return f"{which} would be {fate}; {_SAME_THING.format(other=self.same_as, own=own)}"
            return f"{which} would be {fate}: the new template lacks it"
        if self.because == _CONDITION:
            return f"{which} may be deleted: its condition changed"
        changed = f"{', '.join(self.because)} changed"
        if self.refused:
            return f"{which} cannot be updated: {changed}, and {self.refused}"
        return f"{which} would be replaced: {changed}"


def replacements(old: Templated, new: Templated) -> tuple[Replacement, ...]:
    """Return the resources of the old template that the new one replaces or deletes.

    Which properties cannot be updated is read from CloudFormation's own schemas, as cfn-lint ships
    them. A resource that refers to a replaced one by a property that cannot be updated is replaced
    too. So is one whose property changes by a mapping, a condition or the default of a parameter. Types
    without a schema, such as custom resources, are taken to be updated. Nested stacks are
    looked into where both templates are known: those of a stack, a `cdk.out` or a snapshot are.

    Args:
        old: Stack or template that is deployed, or the `Path` of a template file. In a snapshot the
            hashes of assets are not known, and taken to be the same.
        new: Stack, template or file that is to be deployed.

    Raises:
        TypeError: If something is neither a stack nor a template.
        UnreadableError: If a file holds no template that can be read.
    """
    return tuple(_of_sources(source_of(old), source_of(new)))


def _of_sources(old: TemplateSource, new: TemplateSource, place: str = "") -> Iterator[Replacement]:
    before, after = _resources(old), _resources(new)
    if ASSET_HASH in json.dumps([before, after], default=str):
        before, after = stable(before), stable(after)
    for item in _of_resources(before, after):
        yield replace(item, logical_id=f"{place}{item.logical_id}")
    for logical_id, inner in old.nested.items():
        if logical_id in new.nested:
            yield from _of_sources(inner, new.nested[logical_id], f"{place}{logical_id}/")


def _of_resources(before: _Resources, after: _Resources) -> Iterable[Replacement]:
    found: dict[str, Replacement] = {}
    pending = True
    while pending:
        pending = False
        for logical_id, resource in before.items():
            replacement = _replacement(logical_id, resource, after.get(logical_id), found)
            if replacement is not None and logical_id not in found:
                found[logical_id] = replacement
                pending = True
    added = {logical_id: after[logical_id] for logical_id in after.keys() - before.keys()}
    for logical_id, item in found.items():
        if not item.because:
            yield replace(item, same_as=_same_as(before[logical_id], added, found))
        else:
            yield item


def _replacement(
    logical_id: str,
    old: Mapping[str, Any],
    new: Mapping[str, Any] | None,
    replaced: Mapping[str, Replacement],
) -> Replacement | None:
    kind = str(old.get("Type"))
    if new is None:
        return Replacement(logical_id, kind, retained=old.get("DeletionPolicy") in _RETAINING)
    if new.get("Type") != kind:
        return Replacement(logical_id, kind, ("Type",), _OTHER_TYPE)
    before, after = _properties(old), _properties(new)

    def changed(paths: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
        return tuple(
            "/".join(path)
            for path in paths
            if at(before, path) != at(after, path) or _refers(at(after, path), replaced)
        )

    if fixed := changed(never_updated(kind)):
        return Replacement(logical_id, kind, fixed, _NO_PARAMETER)
    if because := changed(create_only(kind)):
        name = f"{kind.rpartition('::')[2]}Name"
        kept = name not in because and after.get(name)
        return Replacement(logical_id, kind, because, f"{name} {_SAME_NAME}" if kept else "")
    if new.get("Condition") not in (None, old.get("Condition")):
        return Replacement(logical_id, kind, _CONDITION)
    return None


def _same_as(old: Mapping[str, Any], added: _Resources, replaced: Mapping[str, Replacement]) -> str:
    """Return which added resource has the identity of a removed one, if one has."""
    kind = str(old.get("Type"))
    paths = identifier(kind)
    identity = [at(_properties(old), path) for path in paths]
    if not identity or None in identity or _refers(identity, replaced):
        return ""
    same = (
        logical_id
        for logical_id, new in sorted(added.items())
        if new.get("Type") == kind and [at(_properties(new), path) for path in paths] == identity
    )
    return next(same, "")


def _properties(resource: Mapping[str, Any]) -> Mapping[str, Any]:
    return resource.get("Properties") or {}


def _resources(source: TemplateSource) -> _Resources:
    """Return the resources of a template, written out, without the one that the CDK CLI adds."""
    return {
        logical_id: {
            **resource,
            "Properties": written_out(resource.get("Properties"), source.body),
            "Condition": condition(resource.get("Condition"), source.body),
        }
        for logical_id, resource in source.body.get("Resources", {}).items()
        if isinstance(resource, dict) and resource.get("Type") != METADATA_TYPE
    }


def _refers(value: Any, logical_ids: Mapping[str, Replacement]) -> bool:
    """Tell whether a value holds a reference to one of the resources."""
    if isinstance(value, list):
        return any(_refers(item, logical_ids) for item in value)
    if not isinstance(value, dict):
        return False
    if value.get("Ref") in logical_ids or _got(value.get("Fn::GetAtt")) in logical_ids:
        return True
    text = value.get("Fn::Sub")
    text = text[0] if isinstance(text, list) and text else text
    if isinstance(text, str) and any(name in logical_ids for name in SUBSTITUTED.findall(text)):
        return True
    return any(_refers(item, logical_ids) for item in value.values())


def _got(attribute: Any) -> str | None:
    """Return whose attribute is got, in either way of writing it."""
    if isinstance(attribute, str):
        return attribute.partition(".")[0]
    return str(attribute[0]) if isinstance(attribute, list) and attribute else None
