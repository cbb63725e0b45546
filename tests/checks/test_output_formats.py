import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from lmi_constructs.checks.examples import REMOVED, Example
from lmi_constructs.checks.rules import all_rules
from tests.checks.command import BAD, WARNED, run
from tests.checks.support import VARIANT


def test_writes_json(template):
    result = run(template(BAD), "--format", "json")
    (finding,) = json.loads(result.output)["findings"]
    assert finding["rule"] == "LMI042"
    assert finding["severity"] == "error"
    assert finding["resource"] == "Config"
    assert finding["path"] == "ProductionVariants/0/VolumeSizeInGB"
    assert finding["message"]
    assert finding["fix"]
    assert finding["source"].startswith("https://")


def test_writes_sarif_with_the_line_of_the_property(template):
    file = template(BAD)
    document = json.loads(run(file, "--format", "sarif").output)
    (run_,) = document["runs"]
    (result,) = run_["results"]
    assert document["version"] == "2.1.0"
    assert result["ruleId"] == run_["tool"]["driver"]["rules"][0]["id"] == "LMI042"
    assert result["level"] == "error"
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == file
    with Path(file).open() as text:
        lines = text.read().splitlines()
    assert '"VolumeSizeInGB": 256' in lines[location["region"]["startLine"] - 1]


def sarif_line(file, rule):
    results = json.loads(run(str(file), "--format", "sarif").output)["runs"][0]["results"]
    (result,) = (result for result in results if result["ruleId"] == rule)
    return result["locations"][0]["physicalLocation"]["region"]["startLine"]


CONFIG_IN_YAML = """\
Conditions: {Never: !Equals [a, b]}
Resources:
  Config:
    Type: AWS::SageMaker::EndpointConfig
    Properties:
      ProductionVariants:
"""


@pytest.mark.parametrize(
    "variants",
    [
        "      - InstanceType: ml.g5.12xlarge\n        VolumeSizeInGB: 256 # here\n",
        "      - {InstanceType: ml.g5.12xlarge,\n         'VolumeSizeInGB': 256} # here\n",
        "        - VolumeSizeInGB: 256 # here\n          InstanceType: ml.g5.12xlarge\n",
        "      - !If # here\n        - Never\n        - {}\n"
        "        - {InstanceType: ml.g5.12xlarge, VolumeSizeInGB: 256}\n",
    ],
)
def test_writes_sarif_with_the_line_of_the_property_in_yaml_of_any_style(tmp_path, variants):
    file = tmp_path / "template.yaml"
    file.write_text(CONFIG_IN_YAML + variants)
    assert "# here" in file.read_text().splitlines()[sarif_line(file, "LMI042") - 1]


def test_writes_sarif_with_the_line_of_the_resource_if_the_property_is_missing(tmp_path):
    file = tmp_path / "template.json"
    missing = Example(
        {"Model/Properties/PrimaryContainer/ModelDataSource/S3DataSource/S3DataType": REMOVED}
    )
    file.write_text(json.dumps(missing.template(), indent=1))
    assert '"S3DataSource": {' in file.read_text().splitlines()[sarif_line(file, "LMI025") - 1]


def test_writes_sarif_with_lines_of_json_that_is_not_quite_yaml(tmp_path):
    body = {"Description": "\U0001f600", **BAD.template()}
    file = tmp_path / "template.json"
    file.write_text(json.dumps(body, indent="\t"))
    assert "VolumeSizeInGB" in file.read_text().splitlines()[sarif_line(file, "LMI042") - 1]


def test_writes_sarif_with_what_is_true_of_every_finding_of_a_rule(template):
    odd = Example({f"{VARIANT}/InstanceType": "ml.g5.12xlrge"})
    other = template(Example({f"{VARIANT}/InstanceType": "g5.12xlarge"}), "other.json")
    output = run(template(odd), other, "--format", "sarif").output
    run_ = json.loads(output)["runs"][0]
    first, second = (one["message"]["text"] for one in run_["results"])
    (rule,) = run_["tool"]["driver"]["rules"]
    kind = next(kind for kind in all_rules() if kind.id == "LMI040")
    assert first != second
    assert rule["shortDescription"]["text"] == kind.title
    assert f"{kind.why}\nFix: {kind.fix}\n" in rule["help"]["text"]
    assert "docs/rules/LMI040.md" in rule["help"]["text"]


def test_writes_sarif_with_a_uri_from_the_working_directory(template, tmp_path, monkeypatch):
    file = template(BAD, "my template #1.json")
    monkeypatch.chdir(tmp_path)
    for given in (file, "my template #1.json"):
        (result,) = json.loads(run(given, "--format", "sarif").output)["runs"][0]["results"]
        location = result["locations"][0]["physicalLocation"]
        assert location["artifactLocation"]["uri"] == "my%20template%20%231.json"
        assert location["region"]["startLine"] > 1


def test_writes_sarif_with_the_line_of_the_resource_and_not_of_a_namesake(tmp_path):
    body = json.dumps({"Mappings": {"Config": {"a": {"b": 1}}}, **BAD.template()}, indent=1)
    file = tmp_path / "template.json"
    file.write_text(body, encoding="utf-8-sig")
    (result,) = json.loads(run(str(file), "--format", "sarif").output)["runs"][0]["results"]
    lines = body.splitlines()
    line = result["locations"][0]["physicalLocation"]["region"]["startLine"]
    assert lines.index(' "Resources": {') < line - 1
    assert "VolumeSizeInGB" in lines[line - 1]


def test_writes_junit(template):
    suite = ElementTree.fromstring(run(template(BAD), "--format", "junit").output)
    assert suite.get("failures") == "1"
    assert suite.find("testcase/failure") is not None


def test_writes_junit_whose_failures_are_what_the_run_fails_for(template):
    file = template(Example({**BAD.change, **WARNED.change}))
    for options, expected in (([], ["error"]), (["--fail-on", "warning"], ["error", "warning"])):
        result = run(file, "--format", "junit", *options)
        suite = ElementTree.fromstring(result.output)
        kinds = [one.get("type") for one in suite.findall("testcase/failure")]
        assert (kinds, suite.get("failures")) == (expected, str(len(expected)))
    result = run(template(WARNED), "--format", "junit", "--fail-on", "warning")
    assert (result.exit_code, ElementTree.fromstring(result.output).get("failures")) == (1, "1")
