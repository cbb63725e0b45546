"""What CloudFormation would replace when one template follows another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lmi_constructs._extras import needed
from lmi_constructs.testing.templates import template_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lmi_constructs.testing.templates import Templated

_SCHEMA_REGION = "us-east-1"


@dataclass(frozen=True)
class Replacement:
    """A resource that does not live on in an update.

    Attributes:
        logical_id: Its logical id.
        type: Its type, such as `AWS::SageMaker::Endpoint`.
        because: The changed properties that cannot be updated; empty if the resource is removed.
    """

    logical_id: str
    type: str
    because: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the replacement in words."""
        if not self.because:
            return f"{self.logical_id} ({self.type}) would be deleted: the new template lacks it"
        return (
            f"{self.logical_id} ({self.type}) would be replaced: {', '.join(self.because)} changed"
        )


def replacements(old: Templated, new: Templated) -> tuple[Replacement, ...]:
    """Return the resources of the old template that the new one replaces or deletes.

    Which properties cannot be updated is read from CloudFormation's own schemas, as cfn-lint ships
    them. A resource that refers to a replaced one by a property that cannot be updated is replaced
    too. Types without a schema, such as custom resources, are taken to be updated.

    Args:
        old: Stack or template that is deployed, or the `Path` of a template file.
        new: Stack, template or file that is to be deployed.
    """
    before, after = _resources(old), _resources(new)
    found: dict[str, Replacement] = {}
    pending = True
    while pending:
        pending = False
        for logical_id, resource in before.items():
            replacement = _replacement(logical_id, resource, after.get(logical_id), found)
            if replacement is not None and logical_id not in found:
                found[logical_id] = replacement
                pending = True
    return tuple(found.values())


def _replacement(
    logical_id: str,
    old: Mapping[str, Any],
    new: Mapping[str, Any] | None,
    replaced: Mapping[str, Replacement],
) -> Replacement | None:
    kind = str(old.get("Type"))
    if new is None:
        return Replacement(logical_id, kind)
    if new.get("Type") != kind:
        return Replacement(logical_id, kind, ("Type",))
    before, after = old.get("Properties") or {}, new.get("Properties") or {}
    changed = tuple(
        "/".join(path)
        for path in _create_only(kind)
        if _at(before, path) != _at(after, path) or _refers(_at(after, path), replaced)
    )
    return Replacement(logical_id, kind, changed) if changed else None


def _resources(stack: Templated) -> Mapping[str, Mapping[str, Any]]:
    resources: Mapping[str, Mapping[str, Any]] = template_of(stack).get("Resources", {})
    return resources


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
    for name in path:
        properties = properties.get(name) if isinstance(properties, dict) else None
    return properties


def _refers(value: Any, logical_ids: Mapping[str, Replacement]) -> bool:
    """Tell whether a value holds a reference to one of the resources."""
    if isinstance(value, list):
        return any(_refers(item, logical_ids) for item in value)
    if not isinstance(value, dict):
        return False
    if value.get("Ref") in logical_ids:
        return True
    attribute = value.get("Fn::GetAtt")
    if isinstance(attribute, list) and attribute and attribute[0] in logical_ids:
        return True
    return any(_refers(item, logical_ids) for item in value.values())
