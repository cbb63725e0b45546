"""AWS accounts that publish the container images, by region."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from lmi_constructs.facts._data import table


@dataclass(frozen=True, slots=True)
class Registry:
    """The registry of AWS's deep learning containers in one region.

    Attributes:
        region: Region name.
        partition: AWS partition of the region.
        account: Account that owns the registry.
        domain: DNS suffix of the partition.
        source: Public source of the row.
        as_of: ISO date of the research.
    """

    region: str
    partition: str
    account: str
    domain: str
    source: str
    as_of: str

    @property
    def host(self) -> str:
        """Host name of the registry, as it stands in front of an image's repository name."""
        return f"{self.account}.dkr.ecr.{self.region}.{self.domain}"


@cache
def registries() -> dict[str, Registry]:
    """Return the registries of `djl-inference` by region."""
    return table(Registry, "registries", "region")
