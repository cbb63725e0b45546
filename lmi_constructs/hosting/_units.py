"""Durations and sizes as the whole numbers that templates take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs.findings import LmiError
from lmi_constructs.hosting._kinds import wrong
from lmi_constructs.readable import said_by

if TYPE_CHECKING:
    from collections.abc import Callable

    import aws_cdk as cdk


def seconds(duration: cdk.Duration | None, where: str) -> int | None:
    """Return whole seconds, keeping nothing as nothing and a token as a token.

    Args:
        duration: The duration.
        where: Keyword that it was given by.

    Raises:
        LmiError: If it is no whole number of seconds, or a token in another unit (LMI010).
    """
    if duration is None:
        return None
    return _whole(duration.to_seconds, where, "give whole seconds: cdk.Duration.seconds(...)")


def whole_seconds(duration: cdk.Duration, where: str) -> int:
    """Return whole seconds of a duration that is there; see `seconds`."""
    found = seconds(duration, where)
    assert found is not None  # noqa: S101 - nothing is kept as nothing only
    return found


def exact_seconds(duration: cdk.Duration | None, where: str) -> float | None:
    """Return seconds with their fractions, keeping nothing as nothing and a token as a token.

    Raises:
        LmiError: If it is a token in another unit (LMI010).
    """
    if duration is None:
        return None
    fix = "give seconds: cdk.Duration.seconds(...)"
    return _converted(lambda: duration.to_seconds(integral=False), where, fix)


def mebibytes(size: cdk.Size | None, where: str) -> int | None:
    """Return whole MiB, keeping nothing as nothing and a token as a token.

    Raises:
        LmiError: If it is no whole number of MiB, or a token in another unit (LMI010).
    """
    if size is None:
        return None
    return _whole(size.to_mebibytes, where, "give whole MiB: cdk.Size.mebibytes(...)")


def gibibytes(size: cdk.Size | None, where: str) -> int | None:
    """Return whole GiB, keeping nothing as nothing and a token as a token.

    Raises:
        LmiError: If it is no whole number of GiB, or a token in another unit (LMI010).
    """
    if size is None:
        return None
    return _whole(size.to_gibibytes, where, "give whole GiB: cdk.Size.gibibytes(...)")


def _whole(convert: Callable[[], float], where: str, fix: str) -> int:
    return int(_converted(convert, where, fix))


def _converted(convert: Callable[[], float], where: str, fix: str) -> float:
    """Return what the CDK converts a value to, or say what it says of one that it cannot."""
    try:
        return convert()
    except RuntimeError as error:
        said = f"{where} cannot be converted: {said_by(error)}"
        raise LmiError(wrong(where, said, fix)) from error
