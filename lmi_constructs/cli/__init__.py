"""The `lmi` command: thin sub-commands over the pure parts, the runtime and the local AWS."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; without the `cli` extra, say how to get it."""
    try:
        from lmi_constructs.cli._group import lmi
    except KeyboardInterrupt:
        sys.exit(130)
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.startswith("lmi_constructs"):
            raise
        sys.exit(f"lmi: the command line needs {missing.name!r}: pip install 'lmi-constructs[cli]'")
    lmi()
