"""The checks have an answer to everything that can stand in a JSON document."""

import contextlib
import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lmi_constructs.checks import check_sources, check_template
from lmi_constructs.checks.examples import Example, good_templates
from lmi_constructs.checks.output_formats import as_json, as_junit, as_sarif
from lmi_constructs.checks.rules.network import S3OutOfReach
from lmi_constructs.checks.template import TemplateSource, UnreadableError, read_path

REFERENCES = st.sampled_from(
    [
        {"Ref": "Model"},
        {"Ref": "Config"},
        {"Ref": "AWS::NoValue"},
        {"Ref": "AWS::Region"},
        {"Ref": "Nothing"},
        {"Fn::GetAtt": ["Role", "Arn"]},
        {"Fn::GetAtt": "Endpoint.EndpointName"},
        {"Fn::GetAtt": []},
        {"Fn::Sub": "${Endpoint.EndpointName}/${!x}/${"},
        {"Fn::Sub": ["${a}${b}", {"a": {"Ref": "Role"}}]},
        {"Fn::If": ["Never", 1, 2]},
        {"Fn::Join": ["/", ["a", {"Ref": "Model"}, 3]]},
        {"Fn::Select": ["9", [1]]},
        {"Fn::Split": ["/", {"Ref": "Config"}]},
        {"Fn::FindInMap": ["A", {"Ref": "AWS::Region"}, "B"]},
        {"Fn::ImportValue": {"Fn::Sub": "${AWS::StackName}-x"}},
        {"Fn::ForEach::X": ["a", [1], {}]},
        "{{resolve:ssm:x}}",
        "${Token[TOKEN.12]}",
    ]
)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), REFERENCES
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=12), inner, max_size=4)
    ),
    max_leaves=12,
)
GOOD = {**good_templates(), "network": S3OutOfReach.passing.template()}
BASES = sorted(GOOD)
QUICK = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


def places(node, path=()):
    """Return the paths of all nodes of a document."""
    yield path
    children = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    for key, child in children:
        yield from places(child, (*path, key))


def replaced(template, path, value):
    result = copy.deepcopy(template)
    if not path:
        return value
    place = result
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    return result


PLACES = {name: list(places(GOOD[name])) for name in BASES}


@given(data=st.data())
@QUICK
def test_answers_when_any_node_is_replaced_by_any_json(data):
    base = data.draw(st.sampled_from(BASES))
    path = data.draw(st.sampled_from(PLACES[base]))
    template = replaced(GOOD[base], path, data.draw(JSON))
    if isinstance(template, dict):
        found = check_template(template, region="us-east-1")
        source = TemplateSource("t", template)
        for render in (as_sarif, as_junit):
            assert render(found, [source])
        assert json.loads(as_json(found))["findings"] is not None


@given(template=st.dictionaries(st.text(max_size=10), JSON, max_size=4), resources=JSON)
@QUICK
def test_answers_to_any_document(template, resources):
    check_template({**template, "Resources": resources})
    check_template({"Resources": {"X": resources}, "Conditions": template, "Outputs": resources})


@pytest.mark.parametrize("base", BASES)
def test_abstains_when_a_property_becomes_unknown(base):
    """A parameter without default in any single place makes no new error."""
    template = GOOD[base]
    wrong = {}
    for path in PLACES[base]:
        if "Properties" in path and path[-1] != "Properties":
            changed = replaced(template, path, {"Ref": "Unknown"})
            changed["Parameters"] = {"Unknown": {"Type": "String"}}
            errors = [
                str(one)
                for one in check_template(changed, region="us-east-1")
                if one.severity == "error"
            ]
            if errors:
                wrong["/".join(map(str, path))] = errors
    assert wrong == {}


def test_answers_to_cycles():
    template = Example(base="scaled").template()
    template["Conditions"] = {
        "A": {"Fn::Not": [{"Condition": "B"}]},
        "B": {"Fn::And": [{"Condition": "A"}, {"Condition": "B"}]},
    }
    template["Resources"]["Model"]["DependsOn"] = ["Endpoint", "Model"]
    template["Resources"]["Model"]["Condition"] = "A"
    template["Resources"]["Config"]["Properties"]["ProductionVariants"] = {
        "Fn::If": ["A", [{"Ref": "Config"}], {"Ref": "Config"}]
    }
    template["Outputs"] = {
        "X": {"Value": {"Fn::ImportValue": "x"}, "Export": {"Name": "x"}},
    }
    template["Resources"]["Bucket"] = {
        "Type": "AWS::S3::Bucket",
        "Properties": {"BucketName": {"Ref": "Bucket"}},
    }
    template["Resources"]["Role"]["Properties"]["RoleName"] = {"Fn::ImportValue": "x"}
    template["Resources"]["Endpoint"]["Properties"]["EndpointName"] = {"Ref": "Bucket"}
    check_template(template)


@pytest.mark.parametrize(
    "odd", [float("nan"), float("inf"), -float("inf"), 10**400, "1e999", "\ud800", "٣", True]
)
@pytest.mark.parametrize("base", BASES)
def test_answers_to_odd_values_everywhere(base, odd):
    for path in PLACES[base]:
        if path:
            template = replaced(GOOD[base], path, odd)
            assert as_sarif(check_template(template), []).encode()


def test_answers_to_deep_nesting():
    deep = {"Ref": "Model"}
    for _ in range(3000):
        deep = {"Fn::Join": ["", [deep]]}
    template = Example().template()
    template["Resources"]["Model"]["Properties"]["ModelName"] = deep
    template["Resources"]["Model"]["Properties"]["PrimaryContainer"]["Environment"]["A"] = deep
    template["Conditions"] = {"C": {"Fn::Not": [deep]}}
    check_template(template)


def test_answers_to_shared_nodes_that_multiply():
    bomb = ["x"]
    for _ in range(40):
        bomb = [bomb, bomb, bomb, bomb]
    template = Example().template()
    template["Resources"]["Model"]["Properties"]["PrimaryContainer"]["Environment"]["A"] = bomb
    check_template(template)


def test_answers_to_a_policy_of_many_stars():
    template = Example().template()
    statement = template["Resources"]["Role"]["Properties"]["Policies"][0]["PolicyDocument"]
    statement["Statement"][2]["Resource"] = "arn:aws:s3:::" + "*a" * 400 + "*"
    check_template(template)


def test_answers_to_a_template_with_thousands_of_resources():
    template = Example(base="scaled").template()
    for index in range(3000):
        template["Resources"][f"Topic{index}"] = {
            "Type": "AWS::SNS::Topic",
            "Properties": {"TopicName": {"Fn::Sub": "${AWS::StackName}-x"}},
        }
    assert check_template(template, region="us-east-1") == ()


def test_nested_stacks_that_contain_themselves_end(tmp_path):
    file = tmp_path / "self.json"
    file.write_text(
        json.dumps(
            {
                "Resources": {
                    "Again": {
                        "Type": "AWS::CloudFormation::Stack",
                        "Properties": {"TemplateURL": "self.json"},
                    }
                }
            }
        )
    )
    assert check_sources(read_path(file)) == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "hello: [",
        "a: !Sub {b: 1}\n? [x]\n: y",
        "[" * 100000,
        "a: &a [*a]",
        "\x00",
        "Resources: 3",
        "Resources: &r\n  X: *r",
    ],
)
@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_unreadable_files_are_said_to_be_so(tmp_path, text, suffix):
    file = tmp_path / f"template.{suffix}"
    file.write_text(text)
    with contextlib.suppress(UnreadableError):
        assert check_sources(read_path(file)) == ()
