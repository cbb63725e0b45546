"""A container release as a value: what is in the image, and where the image is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from lmi_constructs.container.engine_versions import version_numbers
from lmi_constructs.facts import (
    ContainerRelease,
    container_releases,
    default_release_name,
    registries,
)
from lmi_constructs.findings import Finding, LmiError

_IMAGE_URI = re.compile(
    r"^(?P<account>\d{12})\.dkr\.ecr(?:-fips)?\.(?P<region>[a-z0-9-]+)\.(?P<domain>[a-z0-9.-]+)"
    r"/(?P<repository>[^:@]+):(?P<tag>[^@]+)(?:@sha256:[0-9a-f]+)?$"
)


@dataclass(frozen=True, slots=True, repr=False)
class LmiContainer:
    """One released LMI container.

    Use the constants (`LmiContainer.V27`), or [`of`][] with a tag or name. The default of the
    library is `LmiContainer.default()`: the newest release whose behavior has been verified by
    running its code, never "latest".

    Attributes:
        release: The facts of this release.
    """

    release: ContainerRelease

    V9: ClassVar[LmiContainer]
    V10: ClassVar[LmiContainer]
    V11: ClassVar[LmiContainer]
    V12: ClassVar[LmiContainer]
    V13: ClassVar[LmiContainer]
    V14: ClassVar[LmiContainer]
    V15: ClassVar[LmiContainer]
    V16: ClassVar[LmiContainer]
    V17: ClassVar[LmiContainer]
    V18: ClassVar[LmiContainer]
    V19: ClassVar[LmiContainer]
    V20: ClassVar[LmiContainer]
    V21: ClassVar[LmiContainer]
    V22: ClassVar[LmiContainer]
    V23: ClassVar[LmiContainer]
    V24: ClassVar[LmiContainer]
    V25: ClassVar[LmiContainer]
    V26: ClassVar[LmiContainer]
    V27: ClassVar[LmiContainer]
    V28: ClassVar[LmiContainer]
    V29: ClassVar[LmiContainer]
    TRTLLM: ClassVar[LmiContainer]
    NEURONX: ClassVar[LmiContainer]

    @classmethod
    def default(cls) -> LmiContainer:
        """Return the newest release whose behavior has been verified by running its code."""
        return cls(container_releases()[default_release_name()])

    @classmethod
    def all(cls) -> tuple[LmiContainer, ...]:
        """Return all known releases, LMI releases first, oldest first."""
        return tuple(cls(release) for release in container_releases().values())

    @classmethod
    def of(cls, name: str) -> LmiContainer:
        """Return a release by name (`v27`, `27`) or by full image tag.

        The name of another family (`trtllm`, `neuronx`) stands for its newest release.

        Raises:
            LmiError: If no known release has this name or tag (LMI016).
        """
        wanted = name.strip().lower() if isinstance(name, str) else ""
        for release in container_releases().values():
            number = "" if release.lmi is None else str(release.lmi)
            if wanted and wanted in (release.name, release.tag.lower(), number):
                return cls(release)
        family = [r for name, r in container_releases().items() if name.startswith(f"{wanted}-")]
        if family:
            return cls(family[-1])
        raise LmiError(
            Finding(
                rule="LMI016",
                message=f"container release {name!r} is not known",
                why="what this image does with settings and which host image it needs is unknown",
                fix="use one of " + ", ".join(container_releases()) + ", a full image tag of these,"
                " or ContainerImage.from_uri(..., behaves_like=...) for an image of your own",
                where="container",
            )
        )

    @classmethod
    def from_image_uri(cls, uri: str) -> LmiContainer | None:
        """Return the release of an image URI, or `None` if it is not one of the known images."""
        match = _IMAGE_URI.match(uri)
        if match is None:
            return None
        for release in container_releases().values():
            if (release.repository, release.tag) == (match["repository"], match["tag"]):
                return cls(release)
        return None

    @property
    def name(self) -> str:
        """Short name, such as `v27`."""
        return self.release.name

    @property
    def tag(self) -> str:
        """Full image tag."""
        return self.release.tag

    @property
    def engine_version(self) -> tuple[int, ...] | None:
        """Version of the engine as numbers, if known."""
        text = self.release.engine_version
        return None if text is None else version_numbers(text)

    def image_uri(self, region: str) -> str:
        """Return the image URI in a region.

        Raises:
            LmiError: If no registry is known for the region (LMI030).
        """
        registry = registries().get(region)
        if registry is None:
            raise LmiError(
                Finding(
                    rule="LMI030",
                    message=f"no registry of {self.release.repository} is known in {region!r}",
                    why="the image could not be pulled",
                    fix="deploy to one of " + ", ".join(registries()) + ", or mirror the image and"
                    " use ContainerImage.from_ecr_repository(...)",
                    where="container",
                )
            )
        return f"{registry.host}/{self.release.repository}:{self.tag}"

    def __repr__(self) -> str:
        """Return a short form that can be typed back."""
        return f"LmiContainer.of({self.name!r})"


def first_release_with(engine_version: tuple[int, ...]) -> LmiContainer | None:
    """Return the oldest LMI release whose vLLM is that new, `None` if there is none yet.

    Args:
        engine_version: Version of vLLM, such as `(0, 16, 0)`.
    """
    return next(
        (
            container
            for container in LmiContainer.all()
            if container.release.lmi is not None
            and (container.engine_version or ()) >= engine_version
        ),
        None,
    )


for _container in LmiContainer.all():
    if _container.release.lmi is not None:
        setattr(LmiContainer, f"V{_container.release.lmi}", _container)
LmiContainer.TRTLLM = LmiContainer.of("trtllm-0.33.0")
LmiContainer.NEURONX = LmiContainer.of("neuronx-0.30.0")
