"""What CloudFormation puts in place of a reference to a resource."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from lmi_constructs.facts._data import table

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class TemplateReference:
    """What references to resources of one type give.

    Attributes:
        type: CloudFormation's type.
        gives: `name`, `arn`, `id` or `other` by the attribute of `Fn::GetAtt`; `Ref` by that word.
        source: Public source of the row.
        as_of: ISO date of the research.
    """

    type: str
    gives: Mapping[str, str]
    source: str
    as_of: str

    def attribute_for(self, kind: str) -> str | None:
        """Return the attribute that gives a `name` or an `arn`, `Ref` if that does."""
        return next((name for name, given in self.gives.items() if given == kind), None)


@cache
def template_references() -> dict[str, TemplateReference]:
    """Return what references give, by CloudFormation's type."""
    return table(TemplateReference, "template_references", "type")
