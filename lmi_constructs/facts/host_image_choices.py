"""Which host image a container image needs on an instance family."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from lmi_constructs.facts._data import load, row

if TYPE_CHECKING:
    from lmi_constructs.facts.containers import ContainerRelease


@dataclass(frozen=True, slots=True)
class HostImageChoice:
    """One combination that is known to belong together.

    Attributes:
        engines: Engines of the container image.
        cuda_major: Major CUDA version of the container image, `None` without CUDA.
        families: Instance families.
        host_image: Value of `InferenceAmiVersion`.
        source: Public source of the row.
        as_of: ISO date of the research.
    """

    engines: frozenset[str]
    cuda_major: int | None
    families: frozenset[str]
    host_image: str
    source: str
    as_of: str


@cache
def host_image_choices() -> tuple[HostImageChoice, ...]:
    """Return all known combinations."""
    file = "host_image_choices"
    return tuple(row(HostImageChoice, values, file) for values in load(file)["rows"])


def choose_host_image(release: ContainerRelease, family: str) -> HostImageChoice | None:
    """Return the host image a release needs on an instance family, `None` if it is not known."""
    cuda_major = None if release.cuda is None else int(release.cuda.split(".")[0])
    for choice in host_image_choices():
        if (
            release.engine in choice.engines
            and cuda_major == choice.cuda_major
            and family in choice.families
        ):
            return choice
    return None
