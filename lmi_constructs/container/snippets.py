"""Reading settings out of pasted text: JSON, Python, shell lines or a serving.properties."""

from __future__ import annotations

import ast
import json
import re
import shlex
import textwrap
from typing import Final

from lmi_constructs.container.serving_properties import UNKNOWN

_PAIR: Final = re.compile(
    r"""["'](?P<name>[A-Za-z_][A-Za-z0-9_]*)["']\s*:\s*
    (?P<value>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s,}#]+)""",
    re.VERBOSE,
)
_LINE: Final = re.compile(r"\s*(?:export\s+|ENV\s+|-e\s+)?(?P<name>[A-Z_][A-Z0-9_]*)=(?P<value>.*)")
_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9_]*")
_PROPERTY: Final = re.compile(r"^\s*(?:option\.[\w.]+|engine)\s*[=:]", re.MULTILINE)


def read_snippet(text: str) -> tuple[dict[str, object], str | None]:
    """Return the environment variables in a text, and its serving.properties if it is one.

    Braces may be missing, comments (`#`, `//`) may follow a line, and the text may be JSON, Python
    code with a dictionary, shell assignments, or the properties file itself. A value that Python
    code computes is [`UNKNOWN`][lmi_constructs.container.serving_properties.UNKNOWN].
    """
    environment = _whole_json(text) or _python(text)
    if environment:
        return environment, None
    found: dict[str, object] = {}
    rest = []
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        if match:
            found[match["name"]] = _shell_value(match["value"].strip())
        elif not _PROPERTY.match(line):
            rest.append(line)
    if _PROPERTY.search(text) and not _PAIR.search("\n".join(rest)):
        return {}, text
    for match in _PAIR.finditer("\n".join(rest)):
        found[match["name"]] = _unquoted(match["value"])
    return found, None


def _python(text: str) -> dict[str, object]:
    """Read the dictionaries of variables in Python code."""
    try:
        tree = ast.parse(textwrap.dedent(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    found: dict[str, object] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            names = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
            if any(isinstance(name, str) and _VARIABLE.fullmatch(name) for name in names):
                pairs = zip(names, node.values, strict=True)
                found.update({str(name): _python_value(value) for name, value in pairs if name})
    return found


def _python_value(node: ast.expr) -> object:
    dumped = isinstance(node, ast.Call) and ast.unparse(node.func).endswith("dumps") and node.args
    try:
        value = ast.literal_eval(node.args[0] if dumped else node)  # type: ignore[attr-defined]
    except (ValueError, TypeError, RecursionError, MemoryError):
        return UNKNOWN
    return json.dumps(value) if dumped or isinstance(value, dict | list | tuple) else value


def _shell_value(value: str) -> str:
    """Return a value without the quotes, comment and line continuation of a shell."""
    try:
        words = shlex.split(value.removesuffix("\\"), comments=True)
    except ValueError:
        return value
    return words[0] if words and (len(words) == 1 or value[0] in "\"'") else value


def _whole_json(text: str) -> dict[str, object] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
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
