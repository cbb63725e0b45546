"""What was given to the checks and applies to nothing in an app, so that it may be a typing error."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lmi_constructs._near_names import SUSPECT, meant, near_names, nearest
from lmi_constructs.checks.acknowledged import is_at
from lmi_constructs.checks.queries.container_images import release
from lmi_constructs.checks.queries.containers import containers
from lmi_constructs.checks.rules import PlacedFinding
from lmi_constructs.checks.values import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from lmi_constructs.checks.deployment import Deployment

_RULE = "LMI010"


def unmatched_paths(
    only: Sequence[str] | Callable[[str], bool] | None, paths: Collection[str]
) -> Iterator[PlacedFinding]:
    """Yield an error for each place to report below that nothing stands at.

    Such a place turns everything off, and what is turned off cannot say so.

    Args:
        only: Construct paths, or a function of one; with `None` there is nothing to say.
        paths: Construct paths of all resources; if none is known, nothing is said.
    """
    if only is None or not paths:
        return
    if callable(only):
        if not any(map(only, paths)):
            yield _nothing_at("what the function takes", paths, ())
        return
    above = {path.rsplit("/", depth)[0] for path in paths for depth in range(path.count("/") + 1)}
    for place in only:
        if not any(is_at(path, place) for path in paths):
            yield _nothing_at(repr(place), above, near_names(place, above, most=2))


def _nothing_at(place: str, known: Iterable[str], near: Iterable[str]) -> PlacedFinding:
    return PlacedFinding(
        rule=_RULE,
        message=f"no resource of the app stands at or below {place}",
        why="nothing is reported, as if all were well",
        fix=meant(map(repr, near), f"give construct paths of this app, such as {min(known)!r}"),
        where="only",
        construct_path="",
    )


def unused_images(deployments: Iterable[Deployment]) -> dict[str, list[str]]:
    """Return the given beginnings of images that no image has, and the images that there are."""
    found: dict[str, list[str]] = {}
    together = list(deployments)
    images = sorted({image for one in together for image in _images(one)})
    for beginning in {beginning for one in together for beginning in one.facts.images}:
        if not any(image.startswith(beginning) for image in images):
            found[beginning] = images
    return found


def mistyped_images(deployment: Deployment) -> Iterator[PlacedFinding]:
    """Yield a warning for each image of no known release that a given beginning all but fits.

    A beginning that fits nothing is no slip by itself: several apps may share what they give.
    """
    given = {beginning: _named(beginning) for beginning in unused_images([deployment])}
    foreign = (
        (resource, shown(container.image))
        for resource, container in containers(deployment)
        if container.image is not None and release(deployment, container) is None
    )
    for resource, image in foreign if given else ():
        own = _named(image)
        near = [beginning for beginning, name in given.items() if name.resembles(own)]
        if near:
            yield PlacedFinding(
                rule=_RULE,
                message=f"facts.images knows {near[0]!r}, which {image!r} does not begin with",
                why="the image stays unknown, so that most rules say nothing of it",
                fix="give the beginning of the image as it is written in the app",
                severity="warning",
                where="facts.images",
                resource=resource.logical_id,
                path="",
                template=resource.template,
                construct_path=resource.construct_path,
            )


class _Named(NamedTuple):
    """Registry and repository of an image."""

    registry: str
    repository: str

    def resembles(self, other: _Named) -> bool:
        """Tell whether one may be a slip of the other."""
        if not self.repository or not other.repository:
            return False
        if self.registry == other.registry:
            return nearest(self.repository, [other.repository], likeness=SUSPECT) is not None
        return self.repository == other.repository


def _named(image: str) -> _Named:
    registry, _, rest = image.partition("/")
    return _Named(registry, rest.partition("@")[0].partition(":")[0])


def _images(deployment: Deployment) -> set[str]:
    found = (container.image for _, container in containers(deployment))
    return {shown(image) for image in found if image is not None}
