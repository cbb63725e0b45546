"""What CloudFormation would replace when one template follows another."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from lmi_constructs._extras import needed
from lmi_constructs.testing.stability import ASSET_HASH, METADATA_TYPE, stable
from lmi_constructs.testing.templates import source_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lmi_constructs.checks.template import TemplateSource
    from lmi_constructs.testing.templates import Templated

_Resources: TypeAlias = Mapping[str, Mapping[str, Any]]

_SCHEMA_REGION = "us-east-1"
_RETAINING = ("Retain", "RetainExceptOnCreate")
_SUBSTITUTED = re.compile(r"\$\{([^!.}]+)")
_OTHER_TYPE = "CloudFormation permits no other type under a logical id"
"""Source: aws/aws-sam-cli#6786, "Update of resource type is not permitted"."""
_SAME_NAME = "did not: what has a name of its own is replaced only under another name"
"""Source: AWS CloudFormation user guide, "Name type": "You can't perform an update that causes a
custom-named resource to be replaced. If you must replace the resource, specify a new name."
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
    """

    logical_id: str
    type: str
    because: tuple[str, ...] = ()
    refused: str = ""
    retained: bool = False

    def __str__(self) -> str:
        """Return the replacement in words."""
        which = f"{self.logical_id} ({self.type})"
        if not self.because:
            fate = "left behind, in no stack" if self.retained else "deleted"
            return f"{which} would be {fate}: the new template lacks it"
        changed = f"{', '.join(self.because)} changed"
        if self.refused:
            return f"{which} cannot be updated: {changed}, and {self.refused}"
        return f"{which} would be replaced: {changed}"


def replacements(old: Templated, new: Templated) -> tuple[Replacement, ...]:
    """Return the resources of the old template that the new one replaces or deletes.

    Which properties cannot be updated is read from CloudFormation's own schemas, as cfn-lint ships
    them. A resource that refers to a replaced one by a property that cannot be updated is replaced
    too. Types without a schema, such as custom resources, are taken to be updated. Nested stacks are
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
    return found.values()


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
    before, after = old.get("Properties") or {}, new.get("Properties") or {}
    changed = tuple(
        "/".join(path)
        for path in _create_only(kind)
        if _at(before, path) != _at(after, path) or _refers(_at(after, path), replaced)
    )
    if not changed:
        return None
    name = f"{kind.rpartition('::')[2]}Name"
    kept = name not in changed and after.get(name)
    return Replacement(logical_id, kind, changed, f"{name} {_SAME_NAME}" if kept else "")


def _resources(source: TemplateSource) -> _Resources:
    """Return the resources of a template, without the one that the CDK CLI alone adds."""
    return {
        logical_id: resource
        for logical_id, resource in source.body.get("Resources", {}).items()
        if isinstance(resource, dict) and resource.get("Type") != METADATA_TYPE
    }


def _create_only(kind: str) -> Iterator[tuple[str, ...]]:
    """Return the paths of the properties that cannot be updated."""
    with needed("lmi_constructs.testing", "testing"):
        from cfnlint.schema import PROVIDER_SCHEMA_MANAGER, ResourceNotFoundError

    try:
        schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema(_SCHEMA_REGION, kind).schema
    except ResourceNotFoundError:
        return
    for pointer in schema.get("createOnlyProperties", ()):
        yield tuple(pointer.removeprefix("/properties/").split("/"))


def _at(properties: Any, path: tuple[str, ...]) -> Any:
    """Return the value at a path, in which `*` stands for each item of a list."""
    for place, name in enumerate(path):
        if name == "*" and isinstance(properties, list):
            return [_at(item, path[place + 1 :]) for item in properties]
        properties = properties.get(name) if isinstance(properties, dict) else None
    return properties


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
    if isinstance(text, str) and any(name in logical_ids for name in _SUBSTITUTED.findall(text)):
        return True
    return any(_refers(item, logical_ids) for item in value.values())


def _got(attribute: Any) -> str | None:
    """Return whose attribute is got, in either way of writing it."""
    if isinstance(attribute, str):
        return attribute.partition(".")[0]
    return str(attribute[0]) if isinstance(attribute, list) and attribute else None
