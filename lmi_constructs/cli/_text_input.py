"""Text that a command reads from a file, or from standard input where its name is `-`."""

from __future__ import annotations

import sys
from pathlib import Path

import click


def read_text(source: str, option: str | None = None, *, any_bytes: bool = False) -> str:
    """Return a text in UTF-8, without the mark that some editors put before it.

    Args:
        source: Name of a file; `-` for standard input.
        option: The option that names it, `None` for an argument.
        any_bytes: Whether what is no UTF-8 is replaced by a sign, as in a log of many programs,
            instead of refused.

    Raises:
        click.BadParameter: If it cannot be read, or is no text.
    """
    shown = "standard input" if source == "-" else source
    try:
        content = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
        return content.decode("utf-8-sig", "replace" if any_bytes else "strict")
    except UnicodeDecodeError as error:
        message = f"{shown} is not text in UTF-8 ({error.reason})"
        raise click.BadParameter(message, param_hint=option) from error
    except (OSError, ValueError) as error:  # such as a name with a NUL
        reason = getattr(error, "strerror", None) or error
        raise click.BadParameter(f"{shown} cannot be read: {reason}", param_hint=option) from error
