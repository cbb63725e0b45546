"""The lines of a template that findings are on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lmi_constructs._extras import needed

with needed("lmi_constructs.checks", "cli"):
    import yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lmi_constructs.findings import Finding

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
"""Half a sign of JSON, which YAML does not take."""


class Lines:
    """Where findings stand in the files of templates, each file read but once.

    JSON is read as the YAML that it is, for its parser knows of lines.
    """

    def __init__(self, files: Mapping[str, str | None]) -> None:
        """Take the files by the names of their templates."""
        self._files = files
        self._roots: dict[str, yaml.Node | None] = {}

    def file_of(self, template: str | None) -> str:
        """Return the file of a template, its name if it has none."""
        return self._files.get(template or "") or template or "template"

    def line_of(self, template: str | None, finding: Finding) -> int:
        """Return the line of the value that a finding is about.

        Where that is not written in the file (it is missing, or an intrinsic function makes it),
        it is the line of the nearest thing around it; the first line if nothing is found.
        """
        file = self._files.get(template or "")
        if file is None:
            return 1
        if file not in self._roots:
            self._roots[file] = _parsed(file)
        inside = ("Properties", *finding.path.split("/")) if finding.path else ()
        return _line(self._roots[file], ("Resources", finding.resource or "", *inside))


def _parsed(file: str) -> yaml.Node | None:
    try:
        with open(file, encoding="utf-8-sig") as text:  # noqa: PTH123 -- a name, no path yet
            legible = _SURROGATE.sub(r"\\u003f", text.read())
        root: yaml.Node | None = yaml.compose(legible, Loader=_Loader)
    except (OSError, ValueError, RecursionError, yaml.YAMLError):  # JSON that is not quite YAML
        return None
    return root


def _line(node: yaml.Node | None, path: Iterable[str]) -> int:
    """Return the line of the last step of a path that is there."""
    line = 1
    for step in path:
        if isinstance(node, yaml.MappingNode):
            found = next((pair for pair in node.value if pair[0].value == step), None)
            if found is None:
                break
            line, node = found[0].start_mark.line + 1, found[1]
        elif isinstance(node, yaml.SequenceNode) and step.isdigit() and int(step) < len(node.value):
            node = node.value[int(step)]
            line = node.start_mark.line + 1
        else:
            break
    return line
