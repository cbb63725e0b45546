"""Findings in the formats that other tools read."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote
from xml.etree import ElementTree

from lmi_constructs._version import __version__
from lmi_constructs.checks.rules import PlacedFinding, all_rules
from lmi_constructs.checks.template import with_nested

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lmi_constructs.checks.template import TemplateSource
    from lmi_constructs.findings import Finding

_SARIF_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_HOME: Final = "https://docs.aws.amazon.com/sagemaker/latest/dg/large-model-inference.html"


def as_json(findings: Iterable[Finding]) -> str:
    """Return findings as a JSON document with one object a finding."""
    rows = [
        {
            "rule": finding.rule,
            "severity": finding.severity,
            "resource": finding.resource,
            "path": finding.path,
            "message": finding.message,
            "fix": finding.fix,
            "source": finding.source,
            "why": finding.why,
            "template": template_of(finding),
            "construct": construct_of(finding),
        }
        for finding in findings
    ]
    return json.dumps({"findings": rows}, indent=2, ensure_ascii=False)


def as_sarif(findings: Sequence[Finding], sources: Iterable[TemplateSource]) -> str:
    """Return findings as SARIF 2.1.0, which code hosts show beside the changed lines."""
    files = {source.name: source.file for source in with_nested(sources)}
    document = {
        "$schema": _SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "lmi",
                        "version": __version__,
                        "informationUri": _HOME,
                        "rules": [_sarif_rule(rule) for rule in _named(findings)],
                    }
                },
                "results": [_sarif_result(finding, files) for finding in findings],
            }
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def as_junit(findings: Sequence[Finding], sources: Iterable[TemplateSource]) -> str:
    """Return findings as JUnit XML: one case a finding, and one for each template without any."""
    suite = ElementTree.Element("testsuite", name="lmi check")
    failures = Counter(finding.severity for finding in findings)
    by_template = Counter(template_of(finding) for finding in findings)
    for finding in findings:
        name = f"{finding.rule} {finding.resource}"
        case = ElementTree.SubElement(
            suite, "testcase", name=_printable(name), classname=_printable(template_of(finding))
        )
        text = _printable(str(finding))
        if finding.severity == "error":
            message = _printable(finding.message)
            ElementTree.SubElement(case, "failure", message=message, type="error").text = text
        else:
            ElementTree.SubElement(case, "system-out").text = text
    clean = [one.name for one in with_nested(sources) if not by_template[one.name]]
    for name in clean:
        ElementTree.SubElement(suite, "testcase", name="no finding", classname=_printable(name))
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(failures["error"]))
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


def template_of(finding: Finding) -> str | None:
    """Return the name of the template that a finding is in."""
    return finding.template if isinstance(finding, PlacedFinding) else None


def construct_of(finding: Finding) -> str | None:
    """Return the construct path of the resource that a finding is on."""
    return finding.construct_path if isinstance(finding, PlacedFinding) else None


def _named(findings: Iterable[Finding]) -> list[Finding]:
    first: dict[str, Finding] = {}
    for finding in findings:
        first.setdefault(finding.rule, finding)
    return sorted(first.values(), key=lambda finding: finding.rule)


def _sarif_rule(finding: Finding) -> dict[str, Any]:
    titles = {rule.id: rule.title for rule in all_rules()}
    source = finding.source or ""
    return {
        "id": finding.rule,
        "shortDescription": {"text": titles.get(finding.rule, finding.rule)},
        "fullDescription": {"text": finding.why},
        "help": {"text": f"{finding.fix}\n{source}".strip()},
        **({"helpUri": source} if source.startswith("https://") else {}),
    }


def _sarif_result(finding: Finding, files: Mapping[str, str | None]) -> dict[str, Any]:
    file = files.get(template_of(finding) or "") or template_of(finding) or "template"
    name = construct_of(finding) or finding.resource or ""
    return {
        "ruleId": finding.rule,
        "level": finding.severity,
        "message": {"text": f"{finding.message}: {finding.why}. Fix: {finding.fix}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(file)},
                    "region": {"startLine": _line(file, finding.resource)},
                },
                "logicalLocations": [
                    {"name": name, "fullyQualifiedName": f"{name}/{finding.path}"}
                ],
            }
        ],
    }


def _uri(file: str) -> str:
    """Return the URI reference of a file, from the working directory if it lies below that."""
    path, here = Path(file), Path.cwd()
    below = path.relative_to(here) if path.is_relative_to(here) else path
    return quote(below.as_posix(), safe="/:", errors="surrogatepass")


def _line(file: str, logical_id: str | None) -> int:
    """Return the line that declares a resource, the first of the file if it is not found."""
    sought = "Resources:"
    try:
        with open(file, encoding="utf-8-sig") as text:  # noqa: PTH123 -- a name, no path yet
            for number, line in enumerate(text, 1):
                if not line.strip().replace('"', "").startswith(sought):
                    continue
                if sought == f"{logical_id}:":
                    return number
                sought = f"{logical_id}:"
    except (OSError, ValueError):
        return 1
    return 1


def _printable(text: str | None) -> str:
    """Return a text without the control characters that XML cannot hold."""
    return "".join(sign if sign.isprintable() or sign in "\n\t" else "?" for sign in text or "")
