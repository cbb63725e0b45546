"""Names of Application Auto Scaling and CloudWatch that are nearly right."""

import pytest

from lmi_constructs.checks.examples import Example
from tests.checks.support import findings

METRIC = (
    "Policy/Properties/TargetTrackingScalingPolicyConfiguration/PredefinedMetricSpecification"
    "/PredefinedMetricType"
)
POLICY = "Endpoint/Properties/DeploymentConfig/BlueGreenUpdatePolicy/TrafficRoutingConfiguration"
FOUR = {"Config/Properties/ProductionVariants/0/InitialInstanceCount": 4}


def of(rule, change, base="scaled"):
    return [one for one in findings(Example(change, base=base)) if one.rule == rule]


@pytest.mark.parametrize(
    ("change", "path", "fix"),
    [
        (
            {"Target/Properties/ScalableDimension": "sagemaker:variant:DesiredCapacity"},
            "ScalableDimension",
            "sagemaker:variant:DesiredInstanceCount",
        ),
        (
            {"Target/Properties/ScalableDimension": "sagemaker:variant:desiredInstanceCount"},
            "ScalableDimension",
            "did you mean sagemaker:variant:DesiredInstanceCount?",
        ),
        (
            {METRIC: "SageMakerVariantInvocationPerInstance"},
            METRIC.removeprefix("Policy/Properties/"),
            "did you mean SageMakerVariantInvocationsPerInstance?",
        ),
        (
            {"Target/Properties/ServiceNamespace": "SageMaker"},
            "ServiceNamespace",
            "write sagemaker",
        ),
    ],
)
def test_finds_names_that_application_auto_scaling_refuses(change, path, fix):
    (finding,) = of("LMI108", change)
    assert (finding.severity, finding.path) == ("error", path)
    assert fix in finding.fix


def test_doubts_a_metric_of_sagemaker_that_only_a_newer_list_could_hold():
    (finding,) = of("LMI108", {METRIC: "SageMakerVariantQueueDepth"})
    assert (finding.severity, "'SageMakerVariantQueueDepth'" in finding.message) == (
        "warning",
        True,
    )
    assert "SageMakerVariantInvocationsPerInstance" in finding.fix


@pytest.mark.parametrize(
    "change",
    [
        {METRIC: "ECSServiceAverageCPUUtilization"},
        {"Target/Properties/ScalableDimension": {"Ref": "AWS::StackName"}},
        {
            "Target/Properties/ScalableDimension": "ecs:service:DesiredCount",
            "Target/Properties/ServiceNamespace": "ecs",
        },
    ],
)
def test_leaves_names_of_others_alone(change):
    assert of("LMI108", change) == []


def alarm(namespace, metric, *dimensions):
    return {
        "Errors": {
            "Type": "AWS::CloudWatch::Alarm",
            "Properties": {
                "Namespace": namespace,
                "MetricName": metric,
                "Dimensions": [
                    {"Name": name, "Value": {"Fn::GetAtt": ["Endpoint", "EndpointName"]}}
                    for name in dimensions or ("EndpointName",)
                ],
                "ComparisonOperator": "GreaterThanThreshold",
                "EvaluationPeriods": 1,
                "Threshold": 1,
            },
        }
    }


@pytest.mark.parametrize(
    ("namespace", "metric", "path", "meant"),
    [
        ("AWS/Sagemaker", "Invocation5XXErrors", "Namespace", "AWS/SageMaker"),
        ("AWS/SageMker", "Invocation5XXErrors", "Namespace", "AWS/SageMaker"),
        ("/AWS/SageMaker/Endpoints", "GPUUtilization", "Namespace", "/aws/sagemaker/Endpoints"),
        ("AWS/SageMaker/InferenceComponents", "Invocation5XXErrors", "Namespace", "AWS/SageMaker"),
        (
            "AWS/SageMaker/InferenceComponents",
            "GPUUtilizationNormalized",
            "Namespace",
            "/aws/sagemaker/InferenceComponents",
        ),
        ("AWS/SageMaker", "Invocations5XXErrors", "MetricName", "Invocation5XXErrors"),
        ("AWS/SageMaker", "Invocation5xxErrors", "MetricName", "Invocation5XXErrors"),
        ("/aws/sagemaker/Endpoints", "GPUUtilisation", "MetricName", "GPUUtilization"),
    ],
)
def test_asks_after_the_metric_that_was_meant(namespace, metric, path, meant):
    (finding,) = of("LMI085", alarm(namespace, metric))
    assert (finding.severity, finding.path, finding.fix) == (
        "error",
        path,
        f"did you mean {meant}?",
    )


@pytest.mark.parametrize(
    ("dimension", "found"), [("Variant", 1), ("Endpoint", 1), ("DomainName", 0), ("Host", 0)]
)
def test_a_dimension_that_is_nearly_an_endpoints_is_judged(dimension, found):
    assert len(of("LMI085", alarm("AWS/SageMaker", "Invocation5XXErrors", dimension))) == found


@pytest.mark.parametrize(
    ("namespace", "metric"),
    [
        ("Own/SageMaker", "Invocation5xxErrors"),
        ("Own", "Invocations5XXErrors"),
        ("AWS/SageMaker", "LoadedModelCount"),
        ("AWS/SageMaker", "ModelLoadingWaitTime"),
        ("/aws/sagemaker/TrainingJobs", "train:loss"),
        ("/aws/sagemaker/TransformJobs", "GPUUtilization"),
    ],
)
def test_leaves_metrics_of_others_alone(namespace, metric):
    assert of("LMI085", alarm(namespace, metric)) == []


def test_says_once_that_the_dimension_is_of_another_kind():
    wrong = {
        "Target/Properties/ScalableDimension": "sagemaker:inference-component:DesiredCopyCount"
    }
    (finding,) = of("LMI080", wrong)
    assert (finding.resource, finding.path) == ("Target", "ScalableDimension")
    assert "sagemaker:variant:DesiredInstanceCount" in finding.fix


@pytest.mark.parametrize(
    ("least", "most", "fix"), [(1, 0, "set MaxCapacity to 1 or more"), (4, 2, "swap the two")]
)
def test_advises_bounds_that_it_takes_itself(least, most, fix):
    bounds = {"Target/Properties/MinCapacity": least, "Target/Properties/MaxCapacity": most}
    (finding,) = of("LMI083", bounds)
    assert finding.fix == fix


@pytest.mark.parametrize(("kind", "name"), [("CANARY", "CanarySize"), ("LINEAR", "LinearStepSize")])
def test_finds_a_shift_in_steps_of_no_size(kind, name):
    routing = {"Type": kind, "WaitIntervalInSeconds": 300}
    (finding,) = of("LMI071", {**FOUR, POLICY: routing})
    assert (finding.severity, finding.path.rpartition("/")[2]) == ("warning", name)
    sized = {**routing, name: {"Type": "CAPACITY_PERCENT", "Value": 25}}
    assert of("LMI071", {**FOUR, POLICY: sized}) == []
    unknown = {**routing, name: {"Fn::ImportValue": "size"}}
    assert of("LMI071", {**FOUR, POLICY: unknown}) == []
    assert of("LMI071", {**FOUR, POLICY: {"Type": "ALL_AT_ONCE"}}) == []
