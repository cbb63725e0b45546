"""Durations and sizes as the whole numbers that templates take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs.findings import LmiError
from lmi_constructs.hosting._kinds import wrong

if TYPE_CHECKING:
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
    try:
        return int(duration.to_seconds())
    except RuntimeError as error:
        fix = "give whole seconds: cdk.Duration.seconds(...)"
        raise LmiError(wrong(where, _said(where, error), fix)) from error


def whole_seconds(duration: cdk.Duration, where: str) -> int:
    """Return whole seconds of a duration that is there; see `seconds`."""
    found = seconds(duration, where)
    assert found is not None  # noqa: S101 - nothing is kept as nothing only
    return found


def mebibytes(size: cdk.Size | None, where: str) -> int | None:
    """Return whole MiB, keeping nothing as nothing and a token as a token.

    Raises:
        LmiError: If it is no whole number of MiB, or a token in another unit (LMI010).
    """
    if size is None:
        return None
    try:
        return int(size.to_mebibytes())
    except RuntimeError as error:
        fix = "give whole MiB: cdk.Size.mebibytes(...)"
        raise LmiError(wrong(where, _said(where, error), fix)) from error


def gibibytes(size: cdk.Size | None, where: str) -> int | None:
    """Return whole GiB, keeping nothing as nothing and a token as a token.

    Raises:
        LmiError: If it is no whole number of GiB, or a token in another unit (LMI010).
    """
    if size is None:
        return None
    try:
        return int(size.to_gibibytes())
    except RuntimeError as error:
        fix = "give whole GiB: cdk.Size.gibibytes(...)"
        raise LmiError(wrong(where, _said(where, error), fix)) from error


def _said(where: str, error: RuntimeError) -> str:
    """Return what the CDK says of a value that cannot be converted."""
    return f"{where} cannot be converted: {str(error).splitlines()[0]}"
