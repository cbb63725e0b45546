"""Reading JSON that somebody else wrote."""

from __future__ import annotations

import json
from typing import Any


def read_json(text: str | bytes) -> Any:
    """Return the value that a JSON text stands for.

    Raises:
        ValueError: If it is no JSON, or nested too deeply to be read.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
