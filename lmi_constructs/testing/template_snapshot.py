"""Templates as snapshot files: one readable JSON file each, compared line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from syrupy.extensions.json import JSONSnapshotExtension

from lmi_constructs.testing.stability import stable_template
from lmi_constructs.testing.templates import template_of

if TYPE_CHECKING:
    from syrupy.types import (
        PropertyFilter,
        PropertyMatcher,
        SerializableData,
        SerializedData,
    )


class TemplateSnapshotExtension(JSONSnapshotExtension):
    """Keeps the stable form of a stack's template in a JSON file."""

    file_extension = "template.json"

    def serialize(
        self,
        data: SerializableData,
        *,
        exclude: PropertyFilter | None = None,
        include: PropertyFilter | None = None,
        matcher: PropertyMatcher | None = None,
    ) -> SerializedData:
        """Return the text of a stack's template, or of a template."""
        template: Any = stable_template(template_of(data))
        return super().serialize(template, exclude=exclude, include=include, matcher=matcher)
