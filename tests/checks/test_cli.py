import json
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from lmi_constructs.checks.examples import REMOVED, Example, good_templates
from lmi_constructs.checks.rules import all_rules
from lmi_constructs.cli.check import check

VARIANT = "Config/Properties/ProductionVariants/0"
BAD = Example({f"{VARIANT}/VolumeSizeInGB": 256})
WARNED = Example({"Config/Properties/KmsKeyId": "alias/key"})


@pytest.fixture
def template(tmp_path):
    def write(example, name="template.json"):
        file = tmp_path / name
        file.write_text(json.dumps(example.template(), indent=1))
        return str(file)

    return write


def run(*arguments):
    return CliRunner().invoke(check, [*arguments, "--region", "us-east-1"])


def assembly(place, stacks, region="us-east-1"):
    """Write a cloud assembly with one template a stack."""
    place.mkdir(parents=True, exist_ok=True)
    artifacts = {}
    for name, template in stacks.items():
        (place / f"{name}.template.json").write_text(json.dumps(template))
        artifacts[name] = {
            "type": "aws:cloudformation:stack",
            "environment": f"aws://unknown-account/{region}",
            "properties": {"templateFile": f"{name}.template.json"},
            "metadata": {
                f"/{name}/Config/Resource": [{"type": "aws:cdk:logicalId", "data": "Config"}]
            },
        }
    (place / "manifest.json").write_text(json.dumps({"version": "50.0.0", "artifacts": artifacts}))
    return str(place)


def test_exits_0_when_nothing_is_found(template):
    result = run(template(Example()))
    assert result.exit_code == 0
    assert "0 errors, 0 warnings in 1 template" in result.output


def test_exits_1_on_errors_and_on_warnings_if_asked(template):
    assert run(template(BAD)).exit_code == 1
    assert run(template(WARNED)).exit_code == 0
    assert run(template(WARNED), "--fail-on", "warning").exit_code == 1
    assert run(template(WARNED), "--raise", "LMI043").exit_code == 1
    assert run(template(BAD), "--rule-off", "LMI042").exit_code == 0


def test_exits_2_with_a_message_when_a_path_cannot_be_read(tmp_path):
    (tmp_path / "a.json").write_text("[1]")
    for path in ("missing.json", str(tmp_path / "a.json"), str(tmp_path)):
        result = run(path)
        assert result.exit_code == 2
        assert path in result.output
        assert "Traceback" not in result.output


def test_says_everything_in_text(template):
    output = run(template(BAD)).output
    for part in ("Config", "error LMI042", f"at  {VARIANT[18:]}/VolumeSizeInGB", "why", "fix"):
        assert part in output


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


def test_takes_the_region_of_each_stack_from_the_manifest(tmp_path):
    place = assembly(tmp_path / "cdk.out", {"Stack": Example().template()}, region="eu-west-1")
    result = CliRunner().invoke(check, [place, "--format", "json"])
    (finding,) = json.loads(result.output)["findings"]
    assert (finding["rule"], finding["template"]) == ("LMI030", "Stack")


def test_names_the_construct_path_of_the_manifest(tmp_path):
    place = assembly(tmp_path / "cdk.out", {"Stack": BAD.template()})
    (finding,) = json.loads(run(place, "--format", "json").output)["findings"]
    assert finding["construct"] == "Stack/Config/Resource"


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
def test_honours_what_a_stack_acknowledges(tmp_path, path, entry, accepted):
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


def test_follows_exports_between_stacks_and_nested_stacks(tmp_path):
    resources = good_templates()["endpoint"]["Resources"]
    model = {
        "Resources": {"Model": resources["Model"], "Role": resources["Role"]},
        "Outputs": {
            "Name": {"Value": {"Fn::GetAtt": ["Model", "ModelName"]}, "Export": {"Name": "model"}}
        },
    }
    config = json.loads(json.dumps(resources["Config"]))
    config["Properties"]["ProductionVariants"][0] |= {
        "ModelName": {"Fn::ImportValue": "model"},
        "InstanceType": "ml.g5.2xlarge",
    }
    place = assembly(tmp_path / "cdk.out", {"A": model, "B": {"Resources": {"Config": config}}})
    findings = json.loads(run(place, "--format", "json").output)["findings"]
    assert [finding["rule"] for finding in findings] == ["LMI055"]

    child = {"Parameters": {"Type": {"Type": "String"}}, "Resources": dict(resources)}
    child["Resources"]["Config"] = json.loads(json.dumps(resources["Config"]))
    child["Resources"]["Config"]["Properties"]["ProductionVariants"][0]["InstanceType"] = {
        "Ref": "Type"
    }
    parent = {
        "Resources": {
            "Nested": {
                "Type": "AWS::CloudFormation::Stack",
                "Properties": {"Parameters": {"Type": "ml.g5.large"}},
                "Metadata": {"aws:asset:path": "child.nested.template.json"},
            }
        }
    }
    place = assembly(tmp_path / "nested", {"Parent": parent})
    (tmp_path / "nested" / "child.nested.template.json").write_text(json.dumps(child))
    findings = json.loads(run(place, "--format", "json").output)["findings"]
    assert [(finding["rule"], finding["template"]) for finding in findings] == [
        ("LMI040", "Parent/Nested")
    ]


def test_takes_an_empty_stack_of_an_assembly_for_what_it_is(tmp_path):
    place = assembly(tmp_path / "cdk.out", {"Empty": {"Rules": {}}, "Stack": BAD.template()})
    findings = json.loads(run(place, "--format", "json").output)["findings"]
    assert [(finding["rule"], finding["template"]) for finding in findings] == [("LMI042", "Stack")]
    assert run(str(tmp_path / "cdk.out" / "Empty.template.json")).exit_code == 0


def test_judges_a_nested_stack_in_a_folder_with_the_parameters_of_its_parent(tmp_path):
    child = Example({f"{VARIANT}/InstanceType": {"Ref": "Type"}}).template()
    child["Parameters"] = {"Type": {"Type": "String", "Default": "ml.g5.large"}}
    nested = {
        "Type": "AWS::CloudFormation::Stack",
        "Properties": {
            "TemplateURL": "./child.json",
            "Parameters": {"Type": "ml.g5.12xlarge"},
        },
    }
    (tmp_path / "child.json").write_text(json.dumps(child))
    assert run(str(tmp_path)).exit_code == 1
    (tmp_path / "parent.json").write_text(json.dumps({"Resources": {"Child": nested}}))
    result = run(str(tmp_path))
    assert (result.exit_code, result.output) == (0, "0 errors, 0 warnings in 2 templates\n")


def test_refuses_a_folder_with_a_broken_template_but_not_one_with_other_files(template, tmp_path):
    template(Example())
    (tmp_path / "chart.yaml").write_text("{{ values }}: [")
    (tmp_path / "package.json").write_text("{}")
    result = run(str(tmp_path))
    assert result.exit_code == 0
    assert result.stderr == (
        "passed over 2 files that are none: chart.yaml: it has no Resources; package.json: it has no"
        " Resources\n"
    )
    (tmp_path / "broken.json").write_text('{"Resources": {"Topic": {"Type": "AWS::SNS::Topic"},}}')
    result = run(str(tmp_path))
    assert result.exit_code == 2
    assert "broken.json" in result.output


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("broken.json", b'{"Resources": {'),
        ("broken.yaml", b"Resources:\n  A:\n\tType: x\n"),
        ("two.yaml", b"Resources: {}\n---\nResources: {}\n"),
        ("Stack.template.json", b""),
        ("no.template", b"AWSTemplateFormatVersion: 2010-09-09\n"),
        ("list.json", b'{"Resources": []}'),
        ("utf16.json", '{"Resources": {}}'.encode("utf-16")),
        ("inner/deep.yml", b"Resources: {a: ["),
    ],
)
def test_refuses_a_folder_with_what_looks_like_a_template(template, tmp_path, name, content):
    template(Example(), "good.json")
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)
    (tmp_path / "second.json").write_text('{"Resources": 3')
    result = run(str(tmp_path))
    assert result.exit_code == 2
    assert f"{name}: " in result.stderr
    assert "second.json: not JSON" in result.stderr


def test_says_which_files_of_a_folder_are_no_templates(template, tmp_path):
    template(BAD)
    for number in range(5):
        (tmp_path / f"{number}.json").write_text("[]")
    (tmp_path / "empty.yaml").write_text("")
    (tmp_path / "rules.yaml").write_text("Rules: [AWS::SNS::Topic]")
    (tmp_path / "README.md").write_text("no candidate")
    result = run(str(tmp_path), "--format", "json")
    assert (result.exit_code, len(json.loads(result.stdout)["findings"])) == (1, 1)
    assert result.stderr.startswith(
        "passed over 7 files that are none: 0.json: it has no Resources"
    )
    assert result.stderr.endswith("; and 2 more\n")
    for file in (*tmp_path.glob("[0-4].json"), tmp_path / "template.json"):
        file.unlink()
    result = run(str(tmp_path))
    assert result.exit_code == 2
    assert "empty.yaml: it is empty; rules.yaml: no CloudFormation template" in result.stderr


def test_enters_the_folders_of_a_folder_each_a_deployment_of_its_own(template, tmp_path):
    named = {**BAD.change, "Endpoint/Properties/EndpointName": "llama"}
    for stage in ("dev", "prod/eu"):
        (tmp_path / stage).mkdir(parents=True)
        template(Example(named), f"{stage}/llm.json")
    for other in (".hidden", "node_modules", "venv/lib", "asset.12ab"):
        (tmp_path / other).mkdir(parents=True)
        template(BAD, f"{other}/llm.json")
    (tmp_path / "venv" / "pyvenv.cfg").touch()
    assembly(tmp_path / "cdk.out", {"Stack": BAD.template()})
    (tmp_path / "cdk.out" / "Unused.template.json").write_text("{")
    findings = json.loads(run(str(tmp_path), "--format", "json").output)["findings"]
    assert {(finding["rule"], finding["template"]) for finding in findings} == {
        ("LMI042", "dev/llm.json"),
        ("LMI042", "prod/eu/llm.json"),
        ("LMI042", "Stack"),
    }


def test_tells_templates_of_the_same_name_apart(template, tmp_path):
    files = []
    for stage in ("dev", "prod"):
        (tmp_path / stage).mkdir()
        files.append(template(BAD, f"{stage}/llm.json"))
    output = run(*files, "--format", "sarif").output
    places = [one["locations"][0] for one in json.loads(output)["runs"][0]["results"]]
    assert [place["physicalLocation"]["artifactLocation"]["uri"] for place in places] == files
    assert f"Config  {files[1]}" in run(*files).output


@pytest.mark.parametrize("manifest", ["{}", "[]", '{"name": "a web app", "version": "1"}'])
def test_reads_the_templates_beside_a_manifest_of_something_else(template, tmp_path, manifest):
    template(BAD)
    (tmp_path / "manifest.json").write_text(manifest)
    result = run(str(tmp_path))
    assert result.exit_code == 1
    assert "LMI042" in result.output


def test_says_that_a_template_is_in_another_encoding(tmp_path):
    (tmp_path / "latin.yaml").write_bytes("Description: café\nResources: {}\n".encode("latin-1"))
    result = run(str(tmp_path / "latin.yaml"))
    assert result.exit_code == 2
    assert "latin.yaml: not in UTF-8 (byte 0xe9 at 16); save it in UTF-8" in result.output


def test_refuses_a_nested_stack_that_cannot_be_read(tmp_path):
    nested = {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": "child.json"}}
    (tmp_path / "parent.json").write_text(json.dumps({"Resources": {"Child": nested}}))
    (tmp_path / "child.json").write_text("{")
    result = run(str(tmp_path / "parent.json"))
    assert result.exit_code == 2
    assert "child.json" in result.output


def test_refuses_an_image_that_no_template_has(template):
    result = run(template(Example()), "--image", "111122223333.dkr.ecr/mistyped=v27")
    assert result.exit_code == 2
    assert "no image begins with '111122223333.dkr.ecr/mistyped'" in result.output
    assert "djl-inference:0.36.0-lmi22.0.0-cu129" in result.output


def test_takes_an_image_of_the_users_own_for_a_release(template):
    own = Example(
        {
            "Model/Properties/PrimaryContainer/Image": (
                "111122223333.dkr.ecr.us-east-1.amazonaws.com/own-lmi:7"
            ),
            "Role/Properties/Policies/0/PolicyDocument/Statement/1/Resource": "*",
            "Model/Properties/PrimaryContainer/Environment/OPTION_TENSOR_PARALLEL_DEGREE": "8",
        }
    )
    file = template(own)
    assert run(file).exit_code == 0
    image = "111122223333.dkr.ecr.us-east-1.amazonaws.com/own-lmi=v22"
    assert "LMI055" in run(file, "--image", image).output


def test_takes_an_instance_type_that_is_not_known(template):
    file = template(Example({f"{VARIANT}/InstanceType": "ml.g9.xlarge"}))
    assert run(file).exit_code == 1
    assert run(file, "--instance-type", "ml.g9.xlarge").exit_code == 0


def test_checks_a_hundred_endpoints_in_a_second(tmp_path):
    stacks = {f"Stack{index}": Example(base="scaled").template() for index in range(100)}
    place = assembly(tmp_path / "cdk.out", stacks)
    run(place)
    start = time.perf_counter()
    result = run(place)
    assert time.perf_counter() - start < 1.0
    assert "0 errors, 0 warnings in 100 templates" in result.output


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--region", "mars"], "'mars' is no name of a region"),
        (["--region", ""], "'' is no name of a region"),
        (["--rule-off", "LMI999"], "there is no rule 'LMI999'"),
        (["--raise", "LMI43"], "there is no rule 'LMI43'"),
        (["--image", "mine=v99"], "container release 'v99' is not known"),
        (["--model-config", "Nope=CONFIG"], "construct path 'Nope'; there is Model"),
    ],
)
def test_refuses_an_option_that_would_do_nothing(template, tmp_path, options, said):
    config = tmp_path / "config.json"
    config.write_text("{}")
    file = template(Example())
    given = [option.replace("CONFIG", str(config)) for option in options]
    result = CliRunner().invoke(check, [file, *given])
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_takes_a_model_config_by_any_name_of_its_model(template, tmp_path):
    config = tmp_path / "config.json"
    config.write_text("{}")
    assert run(template(Example()), "--model-config", f"Model={config}").exit_code == 0


def test_refuses_an_empty_path():
    result = run("")
    assert (result.exit_code, "the path is empty" in result.output) == (2, True)


def test_reads_no_more_of_a_path_than_a_template_can_have():
    result = run("/dev/zero")
    assert (result.exit_code, "larger than any template" in result.output) == (2, True)


def test_says_that_a_file_is_empty(tmp_path):
    for name in ("empty.json", "empty.yaml"):
        (tmp_path / name).write_text("\n")
        result = run(str(tmp_path / name))
        assert (result.exit_code, f"{name}: the file is empty" in result.output) == (2, True)


def test_takes_ids_of_rules_as_people_write_them(template):
    file = template(Example({**BAD.change, **WARNED.change}))
    assert run(file, "--rule-off", "lmi042, LMI043").output.startswith("0 errors, 0 warnings")
    assert run(file, "--rule-off", "lmi::LMI042", "--rule-off", "LMI043").exit_code == 0
    assert "2 errors" in run(file, "--raise", "LMI062,lmi043").output


def test_reads_a_template_from_standard_input(template):
    for text in (Path(template(BAD)).read_text(), "Resources: {}", "", "[]"):
        result = CliRunner().invoke(check, ["-", "--region", "us-east-1"], input=text)
        expected = {"{": (1, "Config  standard input"), "R": (0, "0 errors, 0 warnings")}
        told = expected.get(text[:1], (2, "standard input: "))
        assert (result.exit_code, told[1] in result.output) == (told[0], True)


def test_reads_a_template_from_a_pipe(template):
    file = template(BAD)
    code = "from lmi_constructs.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "check", "/dev/stdin", "--region", "us-east-1"],
        input=Path(file).read_bytes(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1
    assert b"LMI042" in done.stdout
