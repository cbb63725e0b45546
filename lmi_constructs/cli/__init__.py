"""The `lmi` command: thin sub-commands over the pure parts, the runtime and the local AWS."""

from __future__ import annotations

import atexit
import errno
import io
import os
import signal
import sys

from lmi_constructs._extras import how_to_get, is_foreign

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells count: 128 and the number of SIGINT."""

NOT_READ_ON = 141
"""Exit status when nobody reads what is printed, as after `| head -1`: 128 and SIGPIPE."""


def main() -> None:
    """Run the command line; without the `cli` extra, say how to get it."""
    atexit.register(_end)
    _print_anything()
    try:
        from lmi_constructs.cli._group import lmi

        lmi()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        sys.exit(_incomplete(error))
    except ModuleNotFoundError as missing:
        if not is_foreign(missing):
            raise
        sys.exit(f"lmi: the command line {how_to_get(missing.name, 'cli')}")
    finally:
        _say_no_more()


def _print_anything() -> None:
    """Let a character that the terminal cannot show be printed as its escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _say_no_more() -> None:
    """Keep Python from printing a traceback or ending by a signal once a command has ended."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    try:
        sys.stdout.flush()
    except OSError as error:
        # What is left would be flushed once more when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            sys.exit(_incomplete(error))


def _incomplete(error: OSError) -> str:
    return f"lmi: not everything is written: {error.strerror}"


def _end() -> None:
    """Let the status stand that the command ended with: runs after everything else."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
