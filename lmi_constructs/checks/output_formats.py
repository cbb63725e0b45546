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
from lmi_constructs.checks.run import reason_of
from lmi_constructs.checks.template import with_nested
from lmi_constructs.checks.template.line_numbers import Lines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

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
            "acknowledged": reason_of(finding),
        }
        for finding in findings
    ]
    return json.dumps({"findings": rows}, indent=2, ensure_ascii=False)


def as_sarif(findings: Sequence[Finding], sources: Iterable[TemplateSource]) -> str:
    """Return findings as SARIF 2.1.0, which code hosts show beside the changed lines."""
    lines = Lines({source.name: source.file for source in with_nested(sources)})
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
                        "rules": [_sarif_rule(id) for id in sorted({one.rule for one in findings})],
                    }
                },
                "results": [_sarif_result(finding, lines) for finding in findings],
            }
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def as_junit(
    findings: Sequence[Finding],
    sources: Iterable[TemplateSource],
    failing: Collection[str] = ("error",),
) -> str:
    """Return findings as JUnit XML: one case a finding, and one for each template without any.

    Args:
        findings: What was found. What is acknowledged is a skipped case.
        sources: The templates.
        failing: Severities that fail the run, and so the case.
    """
    suite = ElementTree.Element("testsuite", name="lmi check")
    counts = dict.fromkeys(("failures", "skipped"), 0)
    for finding in findings:
        name = f"{finding.rule} {finding.resource}"
        case = ElementTree.SubElement(
            suite, "testcase", name=_printable(name), classname=_printable(template_of(finding))
        )
        text, reason = _printable(str(finding)), reason_of(finding)
        message = _printable(finding.message)
        if reason is not None:
            counts["skipped"] += 1
            said = _printable(f"acknowledged: {reason}")
            ElementTree.SubElement(case, "skipped", message=said).text = text
        elif finding.severity in failing:
            counts["failures"] += 1
            failure = ElementTree.SubElement(
                case, "failure", message=message, type=finding.severity
            )
            failure.text = text
        else:
            ElementTree.SubElement(case, "system-out").text = text
    by_template = Counter(template_of(finding) for finding in findings)
    clean = [one.name for one in with_nested(sources) if not by_template[one.name]]
    for name in clean:
        ElementTree.SubElement(suite, "testcase", name="no finding", classname=_printable(name))
    suite.set("tests", str(len(suite)))
    for kind, count in counts.items():
        suite.set(kind, str(count))
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


def template_of(finding: Finding) -> str | None:
    """Return the name of the template that a finding is in."""
    return finding.template if isinstance(finding, PlacedFinding) else None


def construct_of(finding: Finding) -> str | None:
    """Return the construct path of the resource that a finding is on."""
    return finding.construct_path if isinstance(finding, PlacedFinding) else None


def _sarif_rule(id: str) -> dict[str, Any]:
    """Describe a rule in general: what it says of one resource stands in the results."""
    rule = next((rule for rule in all_rules() if rule.id == id), None)
    if rule is None:
        return {"id": id}
    page = f"docs/rules/{id}.md"
    markdown = f"**Why it fails.** {rule.why}\n\n**What to write instead.** {rule.fix}"
    return {
        "id": id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "help": {
            "text": f"{rule.why}\nFix: {rule.fix}\nSource: {rule.source}\nPage: {page}",
            "markdown": f"{markdown}\n\n**Source.** {rule.source}\n\n**Page.** `{page}`",
        },
        "defaultConfiguration": {"level": rule.severity},
        **({"helpUri": rule.source} if rule.source.startswith("https://") else {}),
    }


def _sarif_result(finding: Finding, lines: Lines) -> dict[str, Any]:
    template = template_of(finding)
    name = construct_of(finding) or finding.resource or ""
    reason = reason_of(finding)
    accepted = {"kind": "external", "status": "accepted", "justification": reason}
    return {
        "ruleId": finding.rule,
        "level": finding.severity,
        "message": {"text": f"{finding.message}: {finding.why}. Fix: {finding.fix}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(lines.file_of(template))},
                    "region": {"startLine": lines.line_of(template, finding)},
                },
                "logicalLocations": [
                    {"name": name, "fullyQualifiedName": f"{name}/{finding.path}"}
                ],
            }
        ],
        **({} if reason is None else {"suppressions": [accepted]}),
    }


def _uri(file: str) -> str:
    """Return the URI reference of a file, from the working directory if it lies below that."""
    path, here = Path(file), Path.cwd()
    below = path.relative_to(here) if path.is_relative_to(here) else path
    return quote(below.as_posix(), safe="/:", errors="surrogatepass")


def _printable(text: str | None) -> str:
    """Return a text without the control characters that XML cannot hold."""
    return "".join(sign if sign.isprintable() or sign in "\n\t" else "?" for sign in text or "")
