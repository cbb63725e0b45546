"""Reading the data files: lazily, once, and as plain JSON."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def load(name: str) -> Any:
    """Return the parsed data file `facts/data/<name>.json`."""
    return json.loads(files(__package__).joinpath("data", f"{name}.json").read_bytes())
