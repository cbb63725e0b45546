import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from lmi_constructs.checks.examples import Example, good_templates
from lmi_constructs.cli.check import check
from tests.checks.command import BAD, assembly, run
from tests.checks.support import VARIANT


def test_takes_the_region_of_each_stack_from_the_manifest(tmp_path):
    place = assembly(tmp_path / "cdk.out", {"Stack": Example().template()}, region="eu-west-1")
    result = CliRunner().invoke(check, [place, "--format", "json"])
    (finding,) = json.loads(result.output)["findings"]
    assert (finding["rule"], finding["template"]) == ("LMI030", "Stack")


def test_names_the_construct_path_of_the_manifest(tmp_path):
    place = assembly(tmp_path / "cdk.out", {"Stack": BAD.template()})
    (finding,) = json.loads(run(place, "--format", "json").output)["findings"]
    assert finding["construct"] == "Stack/Config/Resource"


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
