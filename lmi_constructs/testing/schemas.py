"""What CloudFormation's schemas say of a type: what identifies a resource, and what an update keeps."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from lmi_constructs._extras import needed

if TYPE_CHECKING:
    from collections.abc import Mapping

Path: TypeAlias = tuple[str, ...]
"""Place of a property in its resource's properties; `*` stands for each item of a list."""

_REGION = "us-east-1"
_NO_PARAMETER: Mapping[str, tuple[Path, ...]] = {
    "AWS::SageMaker::InferenceComponent": (
        ("EndpointName",),
        ("EndpointArn",),
        ("InferenceComponentName",),
        ("VariantName",),
    )
}
"""Properties without `createOnlyProperties` in the schema that the service's API cannot change.

Source: API_UpdateInferenceComponent, whose parameters are the name of the component that is updated,
its specification, its runtime and its deployment configuration.
"""


def create_only(kind: str) -> tuple[Path, ...]:
    """Return the properties whose change makes CloudFormation replace a resource."""
    return tuple(_path(pointer) for pointer in _schema(kind).get("createOnlyProperties", ()))


def never_updated(kind: str) -> tuple[Path, ...]:
    """Return the properties that are updated by the schema, and that no API call can change."""
    return _NO_PARAMETER.get(kind, ())


def identifier(kind: str) -> tuple[Path, ...]:
    """Return the properties that together name a resource of a type in an account and region."""
    return tuple(_path(pointer) for pointer in _schema(kind).get("primaryIdentifier", ()))


def at(properties: Any, path: Path) -> Any:
    """Return the value at a path, or nothing."""
    for place, name in enumerate(path):
        if name == "*" and isinstance(properties, list):
            return [at(item, path[place + 1 :]) for item in properties]
        properties = properties.get(name) if isinstance(properties, dict) else None
    return properties


def _path(pointer: str) -> Path:
    return tuple(pointer.removeprefix("/properties/").split("/"))


@cache
def _schema(kind: str) -> Mapping[str, Any]:
    with needed("lmi_constructs.testing", "testing"):
        from cfnlint.schema import PROVIDER_SCHEMA_MANAGER, ResourceNotFoundError

    try:
        schema: Mapping[str, Any] = PROVIDER_SCHEMA_MANAGER.get_resource_schema(
            _REGION, kind
        ).schema
    except ResourceNotFoundError:
        return {}
    return schema
