"""The `lmi` command: thin sub-commands over the pure parts, the runtime and the local AWS."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from io import TextIOWrapper

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
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.startswith("lmi_constructs"):
            raise
        sys.exit(f"lmi: the command line needs {missing.name!r}: pip install 'lmi-constructs[cli]'")
    finally:
        _say_no_more()


def _print_anything() -> None:
    """Let a character that standard output cannot show be printed as its escape."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _say_no_more() -> None:
    """Keep Python from printing a traceback or ending by a signal once a command has ended."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # what is left would be flushed once more when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _end() -> None:
    """Let the status stand that the command ended with: runs after everything else."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
