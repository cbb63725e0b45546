"""Reading settings out of pasted text: JSON, Python, shell lines or a serving.properties."""

from __future__ import annotations

import json
import re
from typing import Final

_PAIR: Final = re.compile(
    r"""["'](?P<name>[A-Za-z_][A-Za-z0-9_]*)["']\s*:\s*
    (?P<value>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s,}#]+)""",
    re.VERBOSE,
)
_LINE: Final = re.compile(r"\s*(?:export\s+|ENV\s+|-e\s+)?(?P<name>[A-Z_][A-Z0-9_]*)=(?P<value>.*)")
_PROPERTY: Final = re.compile(r"^\s*(?:option\.[\w.]+|engine)\s*[=:]", re.MULTILINE)


def read_snippet(text: str) -> tuple[dict[str, str], str | None]:
    """Return the environment variables in a text, and its serving.properties if it is one.

    Braces may be missing, comments (`#`, `//`) may follow a line, and the text may be JSON, a Python
    dictionary, shell assignments, or the properties file itself.
    """
    environment = _whole_json(text)
    if environment is not None:
        return environment, None
    if _PROPERTY.search(text) and not _PAIR.search(text):
        return {}, text
    pairs = {match["name"]: _unquoted(match["value"]) for match in _PAIR.finditer(text)}
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        if match and match["name"] not in pairs:
            pairs[match["name"]] = _unquoted(match["value"].strip())
    return pairs, None


def _whole_json(text: str) -> dict[str, str] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    inner = value.get("Environment", value.get("env", value))
    inner = inner if isinstance(inner, dict) else value
    return {
        name: item if isinstance(item, str) else json.dumps(item) for name, item in inner.items()
    }


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] == '"':
        try:
            return str(json.loads(value))
        except ValueError:
            return value[1:-1]
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1]
    return value
