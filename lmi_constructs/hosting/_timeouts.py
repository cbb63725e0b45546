"""Start-up and download time-outs: defaults from the model's size, and their limits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lmi_constructs.findings import Finding
from lmi_constructs.hosting._cdk_tokens import is_token

if TYPE_CHECKING:
    from lmi_constructs.planner import Plan

SHORTEST_SECONDS = 60
LONGEST_SECONDS = 3600
"""Range of both time-outs (botocore 1.44.8: ProductionVariant...TimeoutInSeconds)."""

_ASSUMED_BYTES_PER_SECOND = 62_500_000
"""Half a gigabit a second: an assumption far below what the instances do. A time-out that is too
long costs nothing but a later report of a failure, one that is too short costs the deployment."""

_LEAST_DOWNLOAD_SECONDS = 900
_LEAST_STARTUP_SECONDS = 1800
"""Thirty minutes, which LMI's own guide gives large models to load."""


def download_timeout_seconds(plan: Plan | None) -> int:
    """Return how long SageMaker may take to fetch the data: the longest it allows, if unknown."""
    transfer = _transfer_seconds(plan)
    if transfer is None:
        return LONGEST_SECONDS
    return _within_range(max(_LEAST_DOWNLOAD_SECONDS, transfer))


def startup_timeout_seconds(
    plan: Plan | None, loading_timeout_seconds: int | None, *, container_downloads: bool
) -> int:
    """Return how long the container may take: the longest SageMaker allows, if unknown.

    Never shorter than the container's own limit for loading the model, which would otherwise never
    be reached.
    """
    transfer = _transfer_seconds(plan)
    if transfer is None:
        return LONGEST_SECONDS
    reading = transfer * (2 if container_downloads else 1)
    wanted = max(_LEAST_STARTUP_SECONDS, reading, loading_timeout_seconds or 0)
    return _within_range(wanted)


def longest_start_seconds(
    startup_seconds: int | None, loading_seconds: int | None, *, is_assumed: bool
) -> int | None:
    """Return how long a model may take to start, for pauses between scaling steps.

    The start-up time-out, if somebody gave it or it follows from the model's size. Of an unknown
    model it is the longest SageMaker allows and says nothing of the model; then the container's own
    limit for loading counts, after which it gives up by itself.

    Args:
        startup_seconds: The start-up time-out.
        loading_seconds: The container's limit for loading, `None` if it is not known.
        is_assumed: Whether the time-out is only what SageMaker allows.
    """
    if startup_seconds is None or loading_seconds is None or not is_assumed:
        return startup_seconds
    return startup_seconds if is_token(startup_seconds) else min(startup_seconds, loading_seconds)


def check_range(seconds: int | None, where: str, rule: str, shortest: int) -> list[Finding]:
    """Check a time-out against SageMaker's range."""
    if seconds is None or is_token(seconds) or shortest <= seconds <= LONGEST_SECONDS:
        return []
    return [
        Finding(
            rule=rule,
            message=f"{where} is {seconds} seconds",
            why=f"SageMaker takes {shortest} to {LONGEST_SECONDS} seconds",
            fix=f"give a duration of {shortest} to {LONGEST_SECONDS} seconds; a model that takes"
            " longer to start needs faster storage or a smaller, quantized copy",
            where=where,
            source="botocore 1.44.8 sagemaker 2017-07-24 ProductionVariant",
        )
    ]


def check_against_loading(
    startup_seconds: int | None, loading_seconds: int | None
) -> list[Finding]:
    """Check that SageMaker waits at least as long as the container does."""
    if startup_seconds is None or loading_seconds is None or is_token(startup_seconds):
        return []
    if startup_seconds >= loading_seconds:
        return []
    return [
        Finding(
            rule="LMI062",
            message=f"startup_timeout is {startup_seconds} seconds, but the container gives its"
            f" model {loading_seconds} seconds to load",
            why="SageMaker stops the container while the model is still allowed to load",
            fix=f"give startup_timeout at least {loading_seconds} seconds, or a shorter"
            " model_loading_timeout in the settings",
            severity="warning",
            where="startup_timeout",
            source="deepjavalibrary/djl-serving@d21927c4:serving/docs/lmi/deployment_guide",
        )
    ]


def _transfer_seconds(plan: Plan | None) -> float | None:
    size = None if plan is None else plan.repository_bytes
    return None if size is None else size / _ASSUMED_BYTES_PER_SECOND


def _within_range(seconds: float) -> int:
    """Return whole minutes within SageMaker's range."""
    return min(LONGEST_SECONDS, math.ceil(seconds / 60) * 60)
