"""Write the real output of `lmi` commands below them, in every console block of the documentation.

Run `python -m tools.shown_outputs` after a change of what a command prints; a test compares.
Commands that need an endpoint, or a file that is not there, are left as they are; so is a command
without any output below it.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from click.testing import CliRunner

from lmi_constructs.cli._group import lmi

ROOT = Path(__file__).parent.parent
WIDTH = 88

_GENERATED = {"presets", "rules"}
_USAGE = 2
_PURE = {"check", "options", "plan", "presets", "verdict"}
_PLACEHOLDER = re.compile(r"\b(NAME|BUCKET|FILE|FOLDER)\b|cdk\.out|\.\.\.")
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(
    r"^\$ (?P<command>.*(?:(?<=\\)\n.*)*)\n(?P<shown>(?:(?!\$ ).*\n)*)", re.MULTILINE
)


def pages() -> list[Path]:
    """Return every page that is written by hand."""
    found = [*ROOT.glob("README*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*/*.md")]
    return [page for page in found if page.parent.name not in _GENERATED]


def with_real_outputs(text: str) -> str:
    """Return a page with what its commands print, run from the repository's folder.

    Raises:
        ValueError: If a command cannot be run as it is written.
    """
    return _BLOCK.sub(lambda block: f"```console\n{_COMMAND.sub(_real, block[1])}```", text)


def _real(match: re.Match[str]) -> str:
    command = match["command"].partition("  #")[0].replace("\\\n", " ")
    words = shlex.split(command)
    if words[0] != "lmi" or len(words) < 2 or words[1] not in _PURE or _PLACEHOLDER.search(command):
        return match[0]
    done = CliRunner().invoke(lmi, words[1:], env={"COLUMNS": str(WIDTH)})
    if done.exit_code == _USAGE and "does not exist" in done.output:
        return match[0]
    if done.exit_code not in (0, 1) or "Traceback" in done.output:
        raise ValueError(f"{command} cannot be run:\n{done.output}")
    if not match["shown"].strip():
        return match[0]
    printed = "\n".join(line.rstrip() for line in done.output.rstrip().splitlines())
    space = match["shown"][len(match["shown"].rstrip("\n")) :]
    return f"$ {match['command']}\n{printed}{space}"


def main() -> None:
    """Rewrite the pages."""
    for page in pages():
        text = page.read_text("utf-8")
        page.write_text(with_real_outputs(text), "utf-8")


if __name__ == "__main__":
    main()
