import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from lmi_constructs.checks.template import read_deployment, read_path
from lmi_constructs.report import view
from tests.checks.command import BAD, assembly, run

ACKNOWLEDGED = {"type": "aws:cdk:acknowledged-rules", "data": {"lmi::LMI042": "tried it"}}


def acknowledge(place, path, entry=ACKNOWLEDGED):
    manifest = Path(place) / "manifest.json"
    body = json.loads(manifest.read_text())
    for name, artifact in body["artifacts"].items():
        artifact["displayName"] = name
    body["artifacts"]["Stack"]["metadata"].setdefault(path, []).append(entry)
    manifest.write_text(json.dumps(body))


@pytest.mark.parametrize(
    ("path", "entry", "accepted"),
    [
        ("/Stack/Config/Resource", ACKNOWLEDGED, True),
        ("/Stack", ACKNOWLEDGED, True),
        ("/Stack/Conf", ACKNOWLEDGED, False),
        ("/Stack/Config/Resource/Below", ACKNOWLEDGED, False),
        ("/Stack", {**ACKNOWLEDGED, "data": {"lmi::LMI043": "another"}}, False),
        ("/Stack", {**ACKNOWLEDGED, "data": {"other::LMI042": "another's"}}, False),
        ("/Stack", {**ACKNOWLEDGED, "data": ["odd"]}, False),
    ],
)
def test_honors_what_a_stack_acknowledges(tmp_path, path, entry, accepted):
    place = assembly(tmp_path / "cdk.out", {"Stack": BAD.template()})
    acknowledge(place, path, entry)
    result = run(place)
    assert result.exit_code == (0 if accepted else 1)
    assert ("0 errors, 0 warnings, 1 acknowledged" in result.output) == accepted
    assert run(f"{place}/Stack.template.json").exit_code == result.exit_code


def test_shows_what_is_acknowledged_if_asked(tmp_path):
    place = assembly(tmp_path / "cdk.out", {"Stack": BAD.template()})
    acknowledge(place, "/Stack")
    assert json.loads(run(place, "--format", "json").output)["findings"] == []
    result = run(place, "--acknowledged")
    assert result.exit_code == 0
    assert "LMI042" in result.output
    assert "ack tried it" in result.output
    (finding,) = json.loads(run(place, "--acknowledged", "--format", "json").output)["findings"]
    assert (finding["rule"], finding["acknowledged"]) == ("LMI042", "tried it")
    output = run(place, "--acknowledged", "--format", "sarif").output
    (suppression,) = json.loads(output)["runs"][0]["results"][0]["suppressions"]
    assert suppression["justification"] == "tried it"
    suite = ElementTree.fromstring(run(place, "--acknowledged", "--format", "junit").output)
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")


def test_takes_from_the_report_only_what_is_acknowledged_above_the_stacks(tmp_path):
    place = assembly(tmp_path / "cdk.out", {"Stack": BAD.template()})
    acknowledge(place, "/Stack", {"type": "other", "data": {}})
    for scope, accepted in (({}, True), ({"acknowledgedAt": "Stack/Config"}, False)):
        old = {"ruleName": "LMI042", "acknowledgedId": "lmi::LMI042", "reason": "old", **scope}
        report = {"pluginReports": [{"pluginName": "lmi", "suppressedViolations": [old]}]}
        (tmp_path / "cdk.out" / "validation-report.json").write_text(json.dumps(report))
        assert run(place).exit_code == (0 if accepted else 1)


@pytest.mark.parametrize(
    "report",
    [
        [],
        {},
        {"pluginReports": 3},
        {
            "pluginReports": [
                None,
                {"suppressedViolations": [1, {"acknowledgedId": ["lmi::LMI042"]}]},
            ]
        },
    ],
)
def test_an_odd_report_acknowledges_nothing(tmp_path, report):
    place = assembly(tmp_path / "cdk.out", {"Stack": BAD.template()})
    acknowledge(place, "/Stack", "odd")
    (tmp_path / "cdk.out" / "validation-report.json").write_text(json.dumps(report))
    assert run(place).exit_code == 1


def test_a_report_that_cannot_be_read_is_no_all_clear(tmp_path):
    place = assembly(tmp_path / "cdk.out", {"Stack": BAD.template()})
    (tmp_path / "cdk.out" / "validation-report.json").write_text('{"pluginReports": [')
    result = run(place)
    assert (result.exit_code, "validation-report.json: not JSON" in result.output) == (2, True)


def test_a_report_beside_a_template_of_no_assembly_is_none_of_ours(template, tmp_path):
    (tmp_path / "validation-report.json").write_text("{")
    assert run(template(BAD)).exit_code == 1


def test_the_page_about_an_assembly_leaves_out_what_is_acknowledged(tmp_path):
    place = assembly(tmp_path / "cdk.out", {"Stack": BAD.template()})
    for known in (True, False):
        (endpoint,) = view(read_deployment(read_path(place, "us-east-1")))
        assert ("LMI042" in [finding.rule for finding in endpoint.findings]) == known
        acknowledge(place, "/Stack")
