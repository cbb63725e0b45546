"""What people deploy and is right: each kind of false alarm that public templates once raised."""

import pytest

from lmi_constructs.checks import check_template
from lmi_constructs.checks.examples import REMOVED, Example
from tests.checks.support import ENVIRONMENT, IMAGE, REGISTRY, VARIANT, findings

GPU = "Gpu/Properties"
LATENCY = "Latency/Properties"
METRICS_CONFIG = "Config/Properties/MetricsConfig"
OF_THE_INSTANCE = {"Name": "InstanceId", "Value": "i-0"}
OF_THE_ACCELERATOR = {"Name": "AcceleratorId", "Value": "0"}
ENHANCED = {"EnableEnhancedMetrics": True}


def of(rule, change, **arguments):
    return [one for one in findings(Example(change, **arguments)) if one.rule == rule]


def found(change, parameters, *, conditions=None, region="us-east-1", **arguments):
    body = {"Parameters": parameters, **Example(change, **arguments).template()}
    if conditions:
        body["Conditions"] = conditions
    return check_template(body, region=region)


def dimensions(path, *more):
    own = Example(base="scaled").template()["Resources"][path.split("/")[0]]["Properties"]
    return {f"{path}/Dimensions": [*own["Dimensions"], *more]}


@pytest.mark.parametrize(
    "tag",
    [
        "0.21.0-deepspeed0.8.3-cu117",
        "0.24.0-fastertransformer5.3.0-cu118",
        "0.26.0-tensorrtllm0.7.1-cu122",
        "0.25.0-neuronx-sdk2.15.0",
        "0.22.1-cpu-full",
        "0.36.0-cpu-full",
        "0.33.0-lmi15.0.0-cu128-v1.3-soci",
    ],
)
def test_images_may_be_published_that_no_release_lists(tag):
    assert of("LMI107", {IMAGE: f"{REGISTRY}/djl-inference:{tag}"}) == []


def test_a_tag_without_its_release_is_still_asked_after():
    (finding,) = of("LMI107", {IMAGE: f"{REGISTRY}/djl-inference:0.28.0-lmi"})
    assert "'0.28.0-lmi'" in finding.message


def test_enhanced_metrics_have_more_dimensions():
    change = dimensions(GPU, OF_THE_INSTANCE, OF_THE_ACCELERATOR)
    assert of("LMI085", {**change, METRICS_CONFIG: ENHANCED}, base="scaled") == []
    unsure = {"EnableEnhancedMetrics": {"Ref": "AWS::NotificationARNs"}}
    assert of("LMI085", {**change, METRICS_CONFIG: unsure}, base="scaled") == []


def test_without_enhanced_metrics_the_dimensions_are_named():
    (finding,) = of("LMI085", dimensions(LATENCY, OF_THE_INSTANCE), base="scaled")
    assert finding.severity == "warning"
    assert finding.message.startswith("InstanceId is a dimension of enhanced metrics")
    assert "EnableEnhancedMetrics" in finding.fix


def test_a_percentage_of_one_accelerator_is_not_summed():
    alone = {f"{GPU}/Threshold": 90}
    several = {f"{VARIANT}/InstanceType": "ml.g6e.12xlarge"}
    assert len(of("LMI087", {**alone, **several}, base="scaled")) == 1
    one = dimensions(GPU, OF_THE_INSTANCE, OF_THE_ACCELERATOR)
    assert of("LMI087", {**alone, **several, **one}, base="scaled") == []


@pytest.mark.parametrize("statistic", ["Sum", "SampleCount", "tc99", "TS(1%:99%)", "PR(:300)"])
def test_a_sum_a_count_and_a_share_are_not_measured_in_the_unit_of_the_metric(statistic):
    simple = statistic in ("Sum", "SampleCount")
    for path, threshold, rules in (
        (LATENCY, 100, {"LMI086"}),
        (GPU, 90, {"LMI087"}),
        (GPU, 5000, {"LMI088"}),
    ):
        change = {
            f"{VARIANT}/InstanceType": "ml.g6e.12xlarge",
            f"{path}/Threshold": threshold,
            f"{path}/Statistic": statistic if simple else REMOVED,
            f"{path}/ExtendedStatistic": REMOVED if simple else statistic,
        }
        found = {one.rule for one in findings(Example(change, base="scaled"))}
        assert not found & rules
        change |= {f"{path}/Statistic": "Maximum", f"{path}/ExtendedStatistic": REMOVED}
        assert {one.rule for one in findings(Example(change, base="scaled"))} & rules == rules


def test_metrics_of_something_else_are_left_alone():
    notebook = {
        f"{LATENCY}/MetricName": "CPUUtilization",
        f"{LATENCY}/Dimensions": [{"Name": "NotebookInstanceName", "Value": "study"}],
    }
    assert of("LMI085", notebook, base="scaled") == []


@pytest.mark.parametrize(
    "more",
    [
        {"Access": {"Type": "Example::Ml::Access::MODULE", "Properties": {}}},
        {"Fn::Transform": {"Name": "AWS::Include", "Parameters": {"Location": "s3://a/b.yaml"}}},
    ],
    ids=["module", "include"],
)
def test_a_module_and_an_include_may_declare_what_is_referred_to(more):
    role = {"Model/Properties/ExecutionRoleArn": {"Fn::GetAtt": ["AccessRole", "Arn"]}}
    body = Example(role).template()
    assert [one.rule for one in check_template(body) if one.rule == "LMI105"] == ["LMI105"]
    body["Resources"] |= more
    assert [one for one in check_template(body) if one.rule == "LMI105"] == []


def test_a_name_with_a_version_is_another_at_every_update():
    version = {"Version": {"Type": "String", "Default": "v1"}}
    name = {"Config/Properties/EndpointConfigName": {"Fn::Sub": "llama-${Version}"}}
    assert found(name, version) == ()
    of_endpoint = {"Endpoint/Properties/EndpointName": {"Ref": "Version"}}
    assert [one.rule for one in found({**name, **of_endpoint}, version)] == ["LMI066"]


def test_a_cut_ending_of_an_archive_is_no_error():
    url = "https://s3.us-east-1.amazonaws.com/example-models/0f1e2d3c.gz"
    archive = {"Model/Properties/PrimaryContainer/ModelDataUrl": url}
    assert [one.severity for one in of("LMI024", archive)] == ["warning"]


def test_what_is_lacking_names_the_prefix_and_no_made_up_file():
    address = "Model/Properties/PrimaryContainer/ModelDataSource/S3DataSource/S3Uri"
    (finding,) = of("LMI091", {address: "s3://other-bucket/llama/"})
    assert "arn:aws:s3:::other-bucket/llama/*" in finding.message
    assert "model.safetensors" not in finding.message


MACHINES = ["ml.g6e.xlarge", "ml.g6e.12xlarge"]
MACHINE = {"Type": "String", "Default": MACHINES[0], "AllowedValues": MACHINES}
DEGREE = {"Type": "String", "Default": "1", "AllowedValues": ["1", "4"]}
BOTH = {
    f"{VARIANT}/InstanceType": {"Ref": "Machine"},
    f"{ENVIRONMENT}/OPTION_TENSOR_PARALLEL_DEGREE": {"Ref": "Degree"},
}


def test_what_another_parameter_mends_is_chosen_with_it():
    assert found(BOTH, {"Machine": MACHINE, "Degree": DEGREE}) == ()


def test_what_no_other_parameter_mends_is_said():
    small = {**MACHINE, "AllowedValues": ["ml.g6e.xlarge", "ml.g6e.2xlarge"]}
    (finding,) = found(BOTH, {"Machine": small, "Degree": DEGREE})
    assert finding.message.startswith("with Degree=4: ")


def test_a_parameter_that_takes_the_resource_away_mends_nothing():
    switch = {"Type": "String", "Default": "yes", "AllowedValues": ["yes", "no"]}
    wanted = {"Wanted": {"Fn::Equals": [{"Ref": "Switch"}, "yes"]}}
    change = {
        f"{VARIANT}/InstanceType": "ml.g6e.xlarge",
        f"{ENVIRONMENT}/OPTION_TENSOR_PARALLEL_DEGREE": {"Ref": "Degree"},
        **{f"{name}/Condition": "Wanted" for name in ("Model", "Config", "Endpoint")},
    }
    parameters = {"Switch": switch, "Degree": DEGREE}
    (finding,) = found(change, parameters, conditions=wanted)
    assert finding.message.startswith("with Degree=4: ")


def test_a_list_of_instance_types_may_hold_what_the_region_lacks():
    types = {**MACHINE, "AllowedValues": ["ml.g6e.xlarge", "ml.inf2.xlarge"]}
    change = {f"{VARIANT}/InstanceType": {"Ref": "Machine"}}
    menu = found(change, {"Machine": types}, region="eu-west-3")
    assert [one for one in menu if one.rule == "LMI041" and "with Machine" in one.message] == []


def test_a_region_to_choose_is_the_one_of_the_stack():
    regions = {
        "Type": "String",
        "Default": "us-east-1",
        "AllowedValues": ["us-east-1", "eu-west-1"],
    }
    image = "763104351884.dkr.ecr.${Place}.amazonaws.com/djl-inference:0.36.0-lmi20.0.0-cu128"
    assert found({IMAGE: {"Fn::Sub": image}}, {"Place": regions}) == ()


@pytest.mark.parametrize("depends", [[["Gone"]], [{"Gone": 1}, "Gone"], [None, "Gone"]])
def test_a_malformed_dependency_stops_nothing(depends):
    lost = {"Endpoint/DependsOn": depends, "Endpoint/Properties/EndpointName": {"Ref": "Lost"}}
    messages = [one.message for one in of("LMI105", lost)]
    assert "the template declares no 'Lost'" in messages
