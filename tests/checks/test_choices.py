"""Parameters: values that are given, and what is found with others than the defaults."""

import pytest

from lmi_constructs.checks import CheckOptions, check_path, check_template
from lmi_constructs.checks.examples import Example
from lmi_constructs.findings import LmiError
from tests.checks.support import ENVIRONMENT, VARIANT

DTYPE = {f"{ENVIRONMENT}/OPTION_DTYPE": {"Fn::If": ["IsProd", "fp8", "bf16"]}}
IS_PROD = {"IsProd": {"Fn::Equals": [{"Ref": "Env"}, "prod"]}}
ENV = {"Type": "String", "Default": "dev", "AllowedValues": ["dev", "test", "prod"]}


def template(change, parameters, conditions=None):
    body = {"Parameters": parameters, **Example(change).template()}
    return {"Conditions": conditions, **body} if conditions else body


def found(body, **arguments):
    return check_template(body, region="us-east-1", **arguments)


def test_a_fault_of_another_value_is_a_warning_that_names_it():
    (finding,) = found(template(DTYPE, {"Env": ENV}, IS_PROD))
    assert (finding.rule, finding.severity) == ("LMI001", "warning")
    assert finding.message.startswith("with Env=prod: OPTION_DTYPE=fp8 ")
    assert finding.path == "PrimaryContainer/Environment/OPTION_DTYPE"


def test_values_that_a_condition_compares_with_are_tried_too():
    env = {"Type": "String", "Default": "dev"}
    (finding,) = found(template(DTYPE, {"Env": env}, IS_PROD))
    assert finding.message.startswith("with Env=prod: ")


def test_a_fault_of_several_values_is_said_once():
    either = {
        "IsProd": {
            "Fn::Or": [
                {"Fn::Equals": [{"Ref": "Env"}, "prod"]},
                {"Fn::Equals": [{"Ref": "Env"}, "test"]},
            ]
        }
    }
    (finding,) = found(template(DTYPE, {"Env": ENV}, either))
    assert finding.message.startswith("with Env=test or prod: ")


def test_a_fault_of_the_default_is_not_said_again():
    broken = {**DTYPE, f"{ENVIRONMENT}/OPTION_GPU_MEMORY_UTILIZATION": "1.5"}
    errors = [one for one in found(template(broken, {"Env": ENV}, IS_PROD)) if one.rule == "LMI004"]
    assert [one.severity for one in errors] == ["error"]
    assert "with" not in errors[0].message.split(":")[0]


@pytest.mark.parametrize(
    ("allowed", "severities"),
    [(["fp8", "int8"], {"error"}), (["fp8", "bf16"], {"warning"}), (["bf16", "fp16"], set())],
)
def test_a_fault_of_all_values_without_a_default_is_sure(allowed, severities):
    change = {f"{ENVIRONMENT}/OPTION_DTYPE": {"Ref": "Dtype"}}
    dtype = {"Type": "String", "AllowedValues": allowed}
    assert {one.severity for one in found(template(change, {"Dtype": dtype}))} == severities


def test_what_is_given_is_judged_as_it_is_deployed():
    body = template(DTYPE, {"Env": ENV}, IS_PROD)
    (finding,) = found(body, parameters={"Env": "prod"})
    assert (finding.rule, finding.severity) == ("LMI001", "error")
    assert finding.message.startswith("OPTION_DTYPE=fp8 ")
    assert found(body, parameters={"Env": "dev"}) == ()


def test_a_list_is_given_with_commas():
    names = {"Type": "CommaDelimitedList"}
    change = {f"{VARIANT}/InstanceType": {"Fn::Select": [1, {"Ref": "Types"}]}}
    body = template(change, {"Types": names})
    (finding,) = found(body, parameters={"Types": "ml.g6e.xlarge, ml.g9.xlarge"})
    assert finding.rule == "LMI040"


@pytest.mark.parametrize(
    ("given", "fix"),
    [({"Evn": "prod"}, "did you mean Env"), ({"Env": "prd"}, "dev, test, prod")],
)
def test_refuses_what_would_change_nothing(given, fix):
    with pytest.raises(LmiError, match="LMI010") as raised:
        found(template(DTYPE, {"Env": ENV}, IS_PROD), parameters=given)
    assert fix in raised.value.findings[0].fix


def test_secrets_and_parameters_of_the_parameter_store_stay_unknown():
    change = {f"{ENVIRONMENT}/HF_TOKEN": {"Ref": "Token"}, f"{ENVIRONMENT}/A": {"Ref": "Stored"}}
    parameters = {
        "Token": {"Type": "String", "NoEcho": True, "AllowedValues": ["hf_" + "x" * 34]},
        "Stored": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/a"},
    }
    given = {"Token": "hf_" + "x" * 34, "Stored": "hf_" + "x" * 34}
    assert found(template(change, parameters)) == ()
    assert found(template(change, parameters), parameters=given) == ()


def test_rules_that_are_off_or_raised_are_so_with_other_values():
    body = template(DTYPE, {"Env": ENV}, IS_PROD)
    assert found(body, options=CheckOptions(rules_off=frozenset({"LMI001"}))) == ()
    (finding,) = found(body, options=CheckOptions(raised=frozenset({"LMI001"})))
    assert finding.severity == "error"


def test_a_large_template_is_not_read_for_each_of_many_values():
    many = {"Type": "String", "Default": "0", "AllowedValues": [str(one) for one in range(5000)]}
    resources = {f"Bucket{one}": {"Type": "AWS::S3::Bucket"} for one in range(1990)}
    body = template(DTYPE, {"Many": many, "Env": ENV}, IS_PROD)
    body["Resources"] |= resources
    assert found(body) == ()


def test_check_path_takes_parameters(tmp_path):
    (tmp_path / "a.yaml").write_text(
        "Parameters: {Size: {Type: String, Default: ml.g6e.xlarge}}\n"
        "Resources:\n"
        "  Config:\n"
        "    Type: AWS::SageMaker::EndpointConfig\n"
        "    Properties: {ProductionVariants: [{InstanceType: !Ref Size}]}\n"
    )
    (finding,) = [
        one
        for one in check_path(tmp_path / "a.yaml", parameters={"Size": "ml.g9.xlarge"})
        if one.rule == "LMI040"
    ]
    assert "ml.g9.xlarge" in finding.message
