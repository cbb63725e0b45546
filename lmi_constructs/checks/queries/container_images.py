"""The image of a container, and the LMI release that is in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from lmi_constructs.checks.values import UNKNOWN, String, join, literal, shown, split
from lmi_constructs.container.release import LmiContainer
from lmi_constructs.findings import LmiError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.resources import Container

_BUILD = re.compile(r"-v\d+(\.\d+)*\Z")
_CUDA = re.compile(r"(?:^|[-_.])cu(?:da)?(1[0-9])\.?([0-9])(?![0-9])")


@dataclass(frozen=True)
class Image:
    """An image in a private registry, its parts as far as they are known."""

    account: String
    region: String
    domain: String
    repository: String
    tag: String | None

    @property
    def cuda(self) -> tuple[int, int] | None:
        """CUDA version that the tag names."""
        match = _CUDA.search(literal(self.tag) or "")
        return (int(match[1]), int(match[2])) if match else None


def image(container: Container) -> Image | None:
    """Return the parts of a container's image, if it is in a private registry."""
    return _parts(container.image)


@lru_cache(maxsize=1024)
def _parts(uri: String | None) -> Image | None:
    fields = split(uri, "/")
    if fields is None or len(fields) < 2:
        return None
    host = split(fields[0], ".")
    if host is None or len(host) < 5 or host[1] != "dkr":
        return None
    name = split(_with_slashes(fields[1:]), "@") or ("",)
    address = split(name[0], ":") or (UNKNOWN,)
    return Image(
        account=host[0],
        region=host[3],
        domain=join(piece for field in host[4:] for piece in (".", field)),
        repository=address[0],
        tag=address[1] if len(address) == 2 else None,
    )


def _with_slashes(fields: Iterable[String]) -> String:
    parts = [piece for field in fields for piece in ("/", field)]
    return join(parts[1:])


def release(deployment: Deployment, container: Container) -> LmiContainer | None:
    """Return the LMI release that a container runs, `None` for a foreign or unknown image."""
    spoken = shown(container.image)
    for beginning, name in deployment.facts.images.items():
        if spoken.startswith(beginning):
            return _named(name)
    if container.behaves_like is not None:
        return _named(container.behaves_like)
    parts = image(container)
    if parts is None:
        return None
    repository, tag = literal(parts.repository), literal(parts.tag)
    if repository is None or tag is None:
        return None
    return _released(repository, tag)


def _named(name: str) -> LmiContainer | None:
    try:
        return LmiContainer.of(name)
    except LmiError:
        return None


@lru_cache(maxsize=1024)
def _released(repository: str, tag: str) -> LmiContainer | None:
    """Return the release of a repository and tag, in whatever registry they are.

    A build of a release may have its number behind the tag (djl-serving's notes of LMI 20: `-v1.0`).
    """
    released = _BUILD.sub("", tag)
    return LmiContainer.from_image_uri(
        f"000000000000.dkr.ecr.us-east-1.amazonaws.com/{repository}:{released}"
    )
