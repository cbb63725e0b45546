import re
from pathlib import Path

import pytest

from lmi_constructs import container
from lmi_constructs.checks.examples import Example, good_templates
from lmi_constructs.checks.rules import Rule, all_rules
from tests.checks.support import findings

RULES = all_rules()


@pytest.mark.parametrize("name", good_templates())
def test_finds_nothing_in_the_good_templates(name):
    assert findings(Example(base=name)) == ()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_finds_the_failing_example(rule: Rule):
    found = [finding for finding in findings(rule.failing) if finding.rule == rule.id]
    assert found
    assert found[0].severity == rule.severity
    assert found[0].path is not None
    assert found[0].resource in rule.failing.template()["Resources"]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_finds_one_fault_once_and_under_one_id(rule: Rule):
    errors = {finding.rule for finding in findings(rule.failing) if finding.severity == "error"}
    assert errors <= {rule.id}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_finds_nothing_in_the_passing_example(rule: Rule):
    assert [str(finding) for finding in findings(rule.passing) if finding.rule == rule.id] == []
    assert [str(one) for one in findings(rule.passing) if one.severity == "error"] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_says_why_and_what_to_write(rule: Rule):
    for finding in findings(rule.failing):
        assert finding.message
        assert finding.why
        assert finding.fix
        assert finding.source


def test_gives_each_fault_its_own_id():
    ids = [rule.id for rule in all_rules()]
    assert len(ids) == len(set(ids))
    assert ids == sorted(ids)


def test_passes_on_everything_that_the_package_container_finds():
    """What is left out here is found by a rule, or never on a template."""
    folder = Path(container.__file__).parent
    ids = {one for file in folder.glob("*.py") for one in re.findall(r"LMI\d{3}", file.read_text())}
    of_settings = {"LMI010", "LMI011", "LMI030"}
    assert ids - of_settings <= {rule.id for rule in all_rules()}


@pytest.mark.parametrize(
    "token",
    [
        {"Fn::Join": ["", ["{{resolve:secretsmanager:", {"Ref": "AWS::Region"}, ":hub}}"]]},
        {
            "Fn::Join": [
                "",
                ["{{resolve:secretsmanager:arn:", {"Ref": "AWS::Partition"}, ":secret:hub::}}"],
            ]
        },
        {"Fn::Sub": "{{resolve:secretsmanager:arn:${AWS::Partition}:secret:hub::}}"},
        {"Fn::Sub": "{{resolve:ssm-secure:/hub/${AWS::Region}}}"},
        "{{resolve:ssm-secure:/hub/token:1}}",
    ],
)
def test_a_reference_to_a_secret_is_no_secret_however_it_is_put_together(token):
    example = Example({"Model/Properties/PrimaryContainer/Environment/HF_TOKEN": token})
    assert "LMI006" not in {finding.rule for finding in findings(example)}


def test_every_rule_that_is_written_is_run():
    def below(kind: type[Rule]) -> set[type[Rule]]:
        return {kind, *(one for child in kind.__subclasses__() for one in below(child))}

    written = {kind for kind in below(Rule) if "id" in vars(kind)}
    own = {kind for kind in written if kind.__module__.startswith("lmi_constructs.")}
    assert own == {type(rule) for rule in RULES}


@pytest.mark.parametrize(
    "value",
    ["our-org/multi-task-instruction-tuned-llama", "s3://risk-assessment-models-of-today/a/"],
)
def test_a_word_that_ends_like_the_beginning_of_a_key_is_no_secret(value):
    example = Example({"Model/Properties/PrimaryContainer/Environment/HF_MODEL_ID": value})
    assert "LMI006" not in {finding.rule for finding in findings(example)}
