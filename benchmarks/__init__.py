"""How long things take; each figure is a median of processes of their own."""

from __future__ import annotations

import os

ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
} | {"JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": ",".join(map(str, range(14, 40)))}
"""Variables of a process that is measured: with compiled bytecode, as users have it."""
