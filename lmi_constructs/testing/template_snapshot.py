"""Templates as snapshot files: one readable JSON file each, compared line by line."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from syrupy.extensions.json import JSONSnapshotExtension

from lmi_constructs.testing.stability import stable_template
from lmi_constructs.testing.templates import template_of

if TYPE_CHECKING:
    from syrupy.location import PyTestLocation
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

    @classmethod
    def write_snapshot(cls, *, snapshot_location: str, **keywords: Any) -> None:
        """Write a file; one that cannot be written ends the run with a sentence.

        syrupy 5, the last for Python 3.10, does not ask `matches_test_location` before it warns of a
        name that a file's cannot be.
        """
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings(
                    "ignore", r"\s*Can not relate snapshot location", UserWarning
                )
                super().write_snapshot(snapshot_location=snapshot_location, **keywords)
        except OSError as error:
            words = f"cannot write the snapshot {snapshot_location}: {error.strerror or error}"
            raise pytest.exit.Exception(words, returncode=1) from None

    @classmethod
    def matches_test_location(
        cls, *, test_location: PyTestLocation, snapshot_location: str
    ) -> bool:
        """Tell whether a file is of a test, whose name may hold what a file's cannot.

        Such as the slash of a hub id; syrupy 7 compares the file with the name as it is written in
        the test, and warns.
        """
        own = cls.get_location(test_location=test_location, index=0)
        stem = own.removesuffix(f".{cls.file_extension}")
        rest = snapshot_location.removeprefix(stem)
        return Path(snapshot_location).parent == Path(own).parent and rest[:1] in (".", "[")
