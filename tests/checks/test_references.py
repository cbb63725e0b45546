"""References: what they give, where they lead, and the loops that make resources."""

import copy
import time

import pytest

from lmi_constructs.checks import TemplateSource, check_sources, check_template
from lmi_constructs.checks.examples import REMOVED, Example, good_templates
from tests.checks.support import ENVIRONMENT, VARIANT, findings

ALARM = {
    "Type": "AWS::CloudWatch::Alarm",
    "Properties": {
        "Namespace": "AWS/SageMaker",
        "MetricName": "Invocation5XXErrors",
        "Dimensions": [
            {"Name": "EndpointName", "Value": {"Ref": "Endpoint"}},
            {"Name": "VariantName", "Value": "AllTraffic"},
        ],
        "ComparisonOperator": "GreaterThanThreshold",
        "EvaluationPeriods": 1,
        "Threshold": 1,
    },
}
WRONG_KINDS = {
    "the ARN of an endpoint in a scaling target": (
        Example(
            {
                "Target/Properties/ResourceId": {
                    "Fn::Sub": "endpoint/${Endpoint}/variant/AllTraffic"
                }
            },
            base="scaled",
        ),
        ("error", "Target", "ResourceId", "${Endpoint.EndpointName}"),
    ),
    "the ARN of a component in a scaling target": (
        Example(
            {"Target/Properties/ResourceId": {"Fn::Sub": "inference-component/${Component}"}},
            base="components",
        ),
        ("error", "Target", "ResourceId", "give Component a name of its own"),
    ),
    "the state of a component": (
        Example(
            {
                "Target/Properties/ResourceId": {
                    "Fn::Sub": "inference-component/${Component.InferenceComponentStatus}"
                }
            },
            base="components",
        ),
        ("error", "Target", "ResourceId", "give Component a name of its own"),
    ),
    "the ARN of an endpoint in a dimension": (
        Example({"Errors": ALARM}),
        ("error", "Errors", "Dimensions", "!GetAtt Endpoint.EndpointName"),
    ),
    "the name of a role": (
        Example({"Model/Properties/ExecutionRoleArn": {"Ref": "Role"}}),
        ("error", "Model", "ExecutionRoleArn", "!GetAtt Role.Arn"),
    ),
    "the id of a role": (
        Example({"Model/Properties/ExecutionRoleArn": {"Fn::GetAtt": ["Role", "RoleId"]}}),
        ("error", "Model", "ExecutionRoleArn", "!GetAtt Role.Arn"),
    ),
    "the literal name of a role": (
        Example({"Model/Properties/ExecutionRoleArn": "serving"}),
        ("error", "Model", "ExecutionRoleArn", "Fn::GetAtt"),
    ),
    "the ARN of a configuration": (
        Example({"Endpoint/Properties/EndpointConfigName": {"Ref": "Config"}}),
        ("warning", "Endpoint", "EndpointConfigName", "!GetAtt Config.EndpointConfigName"),
    ),
    "the ARN of a model": (
        Example({f"{VARIANT}/ModelName": {"Ref": "Model"}}),
        ("warning", "Config", "ProductionVariants/0/ModelName", "!GetAtt Model.ModelName"),
    ),
    "the ARN of an endpoint for a component": (
        Example({"Component/Properties/EndpointName": {"Ref": "Endpoint"}}, base="components"),
        ("warning", "Component", "EndpointName", "!GetAtt Endpoint.EndpointName"),
    ),
    "an attribute that an endpoint lacks": (
        Example(
            {"Target/Properties/ResourceId": {"Fn::Sub": "endpoint/${Endpoint.Name}/variant/All"}},
            base="scaled",
        ),
        ("warning", "Target", "ResourceId", "!GetAtt Endpoint.EndpointName"),
    ),
    "the name that no attribute of a component gives": (
        Example(
            {
                "Target/Properties/ResourceId": {
                    "Fn::Sub": "inference-component/${Component.InferenceComponentName}"
                }
            },
            base="components",
        ),
        ("warning", "Target", "ResourceId", "give Component a name of its own"),
    ),
    "the ARN of an alarm": (
        Example(
            {
                "Errors": copy.deepcopy(ALARM)
                | {"Properties": ALARM["Properties"] | {"Dimensions": []}},
                "Endpoint/Properties/DeploymentConfig": {
                    "AutoRollbackConfiguration": {
                        "Alarms": [{"AlarmName": {"Fn::GetAtt": ["Errors", "Arn"]}}]
                    }
                },
            }
        ),
        (
            "warning",
            "Endpoint",
            "DeploymentConfig/AutoRollbackConfiguration/Alarms/0/AlarmName",
            "!Ref Errors",
        ),
    ),
}


def of(rule, found):
    return [one for one in found if one.rule == rule]


@pytest.mark.parametrize(("example", "expected"), WRONG_KINDS.values(), ids=WRONG_KINDS)
def test_tells_a_name_from_an_arn(example, expected):
    (finding,) = of("LMI104", findings(example))
    severity, resource, path, fix = expected
    assert (finding.severity, finding.resource, finding.path) == (severity, resource, path)
    assert fix in finding.fix


def test_says_who_refuses_an_attribute_that_is_not_there():
    example, _ = WRONG_KINDS["an attribute that an endpoint lacks"]
    (finding,) = of("LMI104", findings(example))
    assert finding.message.startswith("AWS::SageMaker::Endpoint has no attribute 'Name'")
    assert finding.why.startswith("CloudFormation refuses Fn::GetAtt")


@pytest.mark.parametrize(
    "change",
    [
        {"Model/Properties/ExecutionRoleArn": "arn:aws:iam::111122223333:role/serving"},
        {"Model/Properties/ExecutionRoleArn": {"Fn::ImportValue": "role"}},
        {"Model/Properties/ExecutionRoleArn": {"Ref": "Given"}},
        {"Model/Properties/ExecutionRoleArn": {"Fn::Sub": "${Given}"}},
        {f"{VARIANT}/ModelName": "llama"},
        {f"{VARIANT}/ModelName": {"Ref": "Given"}},
    ],
)
def test_abstains_from_what_may_be_right(change):
    template = {"Parameters": {"Given": {"Type": "String"}}, **Example(change).template()}
    assert of("LMI104", check_template(template, region="us-east-1")) == []


def test_names_the_template_whose_export_is_of_the_wrong_kind():
    whole = Example().template()["Resources"]
    endpoint = whole.pop("Endpoint")
    endpoint["Properties"]["EndpointConfigName"] = {"Fn::ImportValue": "config"}
    export = {"Config": {"Value": {"Ref": "Config"}, "Export": {"Name": "config"}}}
    base = TemplateSource("Base", {"Resources": whole, "Outputs": export}, "us-east-1")
    top = TemplateSource("Top", {"Resources": {"Endpoint": endpoint}}, "us-east-1")
    (finding,) = of("LMI104", check_sources([base, top]))
    assert (finding.template, finding.resource) == ("Top", "Endpoint")
    assert finding.fix == "export the name from Base instead"


def test_takes_the_arn_of_an_endpoint_where_a_component_wants_it():
    change = {
        "Component/Properties/EndpointName": REMOVED,
        "Component/Properties/EndpointArn": {"Ref": "Endpoint"},
    }
    assert of("LMI104", findings(Example(change, base="components"))) == []
    change["Component/Properties/EndpointArn"] = {"Fn::GetAtt": ["Endpoint", "EndpointName"]}
    (finding,) = of("LMI104", findings(Example(change, base="components")))
    assert finding.path == "EndpointArn"


@pytest.mark.parametrize(
    ("change", "path", "near"),
    [
        ({f"{VARIANT}/ModelName": {"Fn::GetAtt": ["Modell", "ModelName"]}}, "ModelName", "Model?"),
        ({f"{VARIANT}/ModelName": {"Fn::GetAtt": "Modell.ModelName"}}, "ModelName", "Model?"),
        ({"Endpoint/Properties/EndpointConfigName": {"Ref": "Confg"}}, "ConfigName", "Config?"),
        ({f"{ENVIRONMENT}/A": {"Fn::Sub": "x-${Rol.Arn}"}}, "Environment/A", "Role?"),
        ({"Endpoint/DependsOn": "Confg"}, "DependsOn", "Config?"),
    ],
)
def test_finds_references_to_nothing_with_what_was_meant(change, path, near):
    (finding,) = of("LMI105", findings(Example(change)))
    assert finding.severity == "error"
    assert finding.path.endswith(path)
    assert near in finding.fix


@pytest.mark.parametrize(
    "value",
    [
        {"Fn::Sub": "${!Literal} ${AWS::Region} ${aws:username}"},
        {"Fn::Sub": ["${Own}", {"Own": "x"}]},
        {"Ref": "AWS::NoValue"},
        {"Ref": "Given"},
    ],
)
def test_takes_what_is_declared_or_no_reference(value):
    template = Example({f"{ENVIRONMENT}/A": value}).template()
    template["Parameters"] = {"Given": {"Type": "String"}}
    assert of("LMI105", check_template(template)) == []


@pytest.mark.parametrize("transform", ["AWS::Serverless-2016-10-31", ["AWS::Include", "Own"]])
def test_abstains_where_a_transform_may_declare_it(transform):
    template = {"Transform": transform, **Example({f"{ENVIRONMENT}/A": {"Ref": "X"}}).template()}
    assert of("LMI105", check_template(template)) == []


@pytest.mark.parametrize(
    "value",
    [
        "{{resolve:ssm-secure:/hub/token}}",
        {"Fn::Sub": "{{resolve:ssm-secure:/hub/${AWS::Region}:1}}"},
        {"Fn::Join": ["", ["{{resolve:ssm-secure:", "x", "}}"]]},
    ],
)
def test_finds_secure_strings_where_they_are_not_resolved(value):
    (finding,) = of("LMI106", findings(Example({f"{ENVIRONMENT}/HF_TOKEN": value})))
    assert finding.path == "PrimaryContainer/Environment/HF_TOKEN"
    assert "secretsmanager" in finding.fix


def test_takes_plain_parameters_and_secrets():
    values = {
        f"{ENVIRONMENT}/A": "{{resolve:ssm:/plain}}",
        f"{ENVIRONMENT}/HF_TOKEN": "{{resolve:secretsmanager:hub}}",
    }
    assert of("LMI106", findings(Example(values))) == []


def looped(collection, **parameters):
    """Return the good template with its model made by a loop."""
    template = copy.deepcopy(good_templates()["endpoint"])
    resources = template["Resources"]
    model = resources.pop("Model")
    model["Properties"]["PrimaryContainer"]["Environment"] = {
        "OPTION_DTYPE": "fp8",
        "NAME": {"Fn::Sub": "${Name}"},
    }
    resources["Fn::ForEach::Models"] = ["Name", collection, {"Model${Name}": model}]
    variant = resources["Config"]["Properties"]["ProductionVariants"][0]
    variant["ModelName"] = {"Fn::GetAtt": ["ModelA", "ModelName"]}
    return {"Transform": "AWS::LanguageExtensions", "Parameters": parameters, **template}


@pytest.mark.parametrize("collection", [["A", "B"], {"Ref": "Names"}])
def test_checks_what_loops_make(collection):
    names = {"Type": "CommaDelimitedList", "Default": "A,B"}
    found = check_template(looped(collection, Names=names), region="us-east-1")
    assert {one.resource for one in of("LMI001", found)} == {"ModelA", "ModelB"}
    assert of("LMI105", found) == of("LMI109", found) == []


def test_says_that_a_loop_over_something_unknown_is_not_checked():
    found = check_template(looped({"Ref": "Names"}, Names={"Type": "CommaDelimitedList"}))
    (finding,) = of("LMI109", found)
    assert (finding.severity, finding.resource) == ("warning", "Fn::ForEach::Models")
    assert of("LMI105", found) == []  # what the loop makes may be what is referred to


def test_writes_out_loops_within_loops_and_among_properties():
    template = looped(["A"])
    container = template["Resources"]["Fn::ForEach::Models"][2]["Model${Name}"]["Properties"]
    container["PrimaryContainer"]["Environment"] = {
        "Fn::ForEach::Settings": ["Key", ["DTYPE", "d-type"], {"OPTION_&{Key}": {"Ref": "Key"}}]
    }
    (finding,) = of("LMI001", check_template(template, region="us-east-1"))
    assert "OPTION_DTYPE=DTYPE" in finding.message


@pytest.mark.parametrize("loop", [None, [], ["Name"], [1, ["A"], {}], ["Name", ["A"], "x"]])
def test_survives_loops_that_are_none(loop):
    template = looped(["A"])
    template["Resources"]["Fn::ForEach::Models"] = loop
    assert all(one.rule != "LMI001" for one in check_template(template))


def test_stops_loops_that_never_end():
    names = [str(number) for number in range(400)]
    template = looped(names)
    template["Resources"]["Fn::ForEach::Others"] = [
        "X",
        names,
        {"Fn::ForEach::Y": ["Y", names, {"A${X}B${Y}": {"Type": "AWS::S3::Bucket"}}]},
    ]
    assert of("LMI109", check_template(template))


def test_ends_soon_however_much_a_loop_would_make():
    fragment = {f"A{number}${{X}}": {"Type": "AWS::S3::Bucket"} for number in range(2000)}
    template = looped(["A"])
    names = [f"N{number}" for number in range(450)]
    template["Resources"]["Fn::ForEach::Many"] = ["X", names, fragment]
    start = time.perf_counter()
    assert of("LMI109", check_template(template))
    assert time.perf_counter() - start < 10


def test_takes_a_parameter_that_also_names_the_resource_for_the_name():
    change = {
        "Component/Properties/InferenceComponentName": {"Ref": "Name"},
        "Target/Properties/ResourceId": {"Fn::Sub": "inference-component/${Name}"},
        "Target/DependsOn": "Component",
    }
    template = {
        "Parameters": {"Name": {"Type": "String"}},
        **Example(change, base="components").template(),
    }
    assert of("LMI104", check_template(template, region="us-east-1")) == []
