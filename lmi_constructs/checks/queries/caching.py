"""Remembering what several rules ask of the same deployment."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lmi_constructs.checks.deployment import Deployment

Answer = TypeVar("Answer")


def cached_per_deployment(
    function: Callable[[Deployment], Iterator[Answer]],
) -> Callable[[Deployment], list[Answer]]:
    """Ask a deployment once, since many rules ask the same."""
    answers: WeakKeyDictionary[Deployment, list[Answer]] = WeakKeyDictionary()

    @wraps(function)
    def remembered(deployment: Deployment) -> list[Answer]:
        found = answers.get(deployment)
        if found is None:
            found = answers[deployment] = list(function(deployment))
        return found

    return remembered
