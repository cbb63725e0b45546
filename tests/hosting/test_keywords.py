"""A value of the wrong kind is refused with what to write, before anything is done with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest

from lmi_constructs import (
    ContainerImage,
    LmiContainer,
    LmiEndpoint,
    LmiError,
    LmiModel,
    LmiSettings,
    ModelData,
    presets,
)
from lmi_constructs.hosting import LmiEndpointConfig, LmiFleet, LmiSmokeTest, LmiVariant

if TYPE_CHECKING:
    from collections.abc import Callable

    from lmi_constructs.hosting import ScalableInstanceCount

DATA = ModelData.s3_prefix("my-models", "m/")


@pytest.mark.parametrize(
    ("keyword", "value", "fix"),
    [
        ("model_data", "s3://my-models/m/", "ModelData.s3_prefix(bucket, prefix)"),
        ("settings", {"max_model_len": 8192}, "LmiSettings("),
        ("container", "v27", 'LmiContainer.of("v27")'),
        ("environment", "A=1", '{"NAME": "1"}'),
        ("environment", {"A": 1}, "write it as text"),
        ("instance_type", 3, '"ml.g6.48xlarge"'),
        ("initial_instance_count", "2", "a whole number"),
        ("initial_instance_count", 1.5, "a whole number"),
        ("initial_instance_count", True, "a whole number"),
        ("initial_instance_count", None, "a whole number"),
        ("variant_name", None, '"AllTraffic"'),
        ("endpoint_name", 5, '"chat"'),
        ("host_image", 4, "al2023-ami"),
        ("startup_timeout", 1800, "cdk.Duration.seconds(1800)"),
        ("download_timeout", "1h", "cdk.Duration.seconds(1800)"),
        ("instance_provision_timeout", 600, "cdk.Duration.seconds(1800)"),
        ("volume_size", 500, "cdk.Size.gibibytes(500)"),
        ("routing", "RANDOM", "Routing."),
        ("capacity_reservation", "arn:aws:x", "CapacityReservation(arn)"),
        ("instance_pools", ["ml.g6.48xlarge"], "InstancePool("),
        ("instance_pools", "ml.g6.48xlarge", "InstancePool("),
        ("core_dump", True, "CoreDump(bucket, prefix)"),
        ("enable_ssm_access", "yes", "True or False"),
        ("network_isolation", "yes", "True or False"),
        ("retain_deployment", 1, "True or False"),
        ("role", "arn:aws:iam::123456789012:role/R", "iam.Role.from_role_arn"),
        ("vpc", "vpc-1", "ec2.Vpc.from_lookup"),
        ("security_groups", "sg-1", "from_security_group_id"),
        ("security_groups", ["sg-1"], "from_security_group_id"),
        ("encryption_key", "arn:aws:kms:x", "kms.Key.from_key_arn"),
        ("data_capture", True, "DataCapture(bucket=..., prefix=...)"),
        ("async_inference", True, "AsyncInference(bucket=..., output_prefix=...)"),
        ("metrics", True, "EndpointMetrics("),
        ("deployment", {}, "DeploymentConfigProperty"),
        ("endpoint_config", "my-config", "LmiEndpointConfig("),
    ],
)
def test_refuses_a_value_of_another_kind_and_says_what_to_write(
    stack: cdk.Stack, keyword: str, value: Any, fix: str
) -> None:
    keywords: dict[str, Any] = {"model_data": DATA, keyword: value}
    for construct in (LmiEndpoint, presets.GptOss120B):
        with pytest.raises(LmiError) as raised:
            construct(stack, f"Of{construct.__name__}", **keywords)
        (finding,) = raised.value.findings
        assert (finding.rule, finding.where) == ("LMI010", keyword)
        assert fix in finding.fix


def test_says_of_all_keywords_at_once(stack: cdk.Stack) -> None:
    wrong: Any = {"model_data": "m", "instance_type": 3, "startup_timeout": 60, "vpc": "vpc-1"}
    with pytest.raises(LmiError) as raised:
        LmiEndpoint(stack, "Chat", **wrong)
    assert {finding.where for finding in raised.value.findings} == set(wrong)


def test_refuses_them_in_the_parts_too(stack: cdk.Stack) -> None:
    wrong: Any = "v27"
    with pytest.raises(LmiError, match=r"LMI010 \S+ container"):
        LmiModel(stack, "Wrong", model_data=DATA, container=wrong)
    model = LmiModel(stack, "Model", model_data=DATA)
    variant = LmiVariant(model=model, instance_type="ml.g6.12xlarge", startup_timeout=wrong)
    with pytest.raises(LmiError, match="LMI010 startup_timeout"):
        LmiEndpointConfig(stack, "Config", variants=[variant])


def test_names_the_keyword_that_was_written_and_not_its_like(stack: cdk.Stack) -> None:
    fleet = LmiVariant(model=None, instance_type="ml.g6.12xlarge")
    endpoint = LmiEndpoint(stack, "Chat", model_data=DATA, instance_type="ml.g6.12xlarge")
    wrong: Any = "wrong"
    calls: dict[str, Callable[[], object]] = {
        "execution_role": lambda: LmiEndpointConfig(
            stack, "Role", variants=[fleet], execution_role=wrong
        ),
        "shadow_variants": lambda: LmiEndpointConfig(
            stack, "Shadows", variants=[fleet], shadow_variants=wrong
        ),
        "endpoint": lambda: LmiSmokeTest(stack, "Endpoint", endpoint=wrong),
        "inference_component_name": lambda: LmiSmokeTest(
            stack,
            "Name",
            endpoint=endpoint,
            inference_component_name=5,  # type: ignore[arg-type]
        ),
    }
    for keyword, call in calls.items():
        with pytest.raises(LmiError) as raised:
            call()
        assert [(one.rule, one.where) for one in raised.value.findings] == [("LMI010", keyword)]


def test_says_of_all_keywords_of_a_fleet_at_once(stack: cdk.Stack) -> None:
    image = ContainerImage.from_uri(LmiContainer.V27.image_uri("us-west-2"))
    wrong: Any = {"instance_type": 5, "container": image, "routing": "RANDOM", "role": "r"}
    with pytest.raises(LmiError) as raised:
        LmiFleet(stack, "Fleet", **wrong)
    assert {finding.where for finding in raised.value.findings} == set(wrong)


def test_refuses_an_app_or_a_stage_as_parent() -> None:
    app = cdk.App()
    for scope in (app, cdk.Stage(app, "Production")):
        with pytest.raises(LmiError) as raised:
            LmiEndpoint(scope, "Chat", model_data=DATA, instance_type="ml.g6.12xlarge")
        (finding,) = raised.value.findings
        assert (finding.rule, finding.where) == ("LMI010", "scope")


@pytest.mark.parametrize(
    "variable", ["HF_MODEL_ID", "SAGEMAKER_STARTUP_TIMEOUT", "OPTION_MODEL_LOADING_TIMEOUT"]
)
def test_takes_a_variable_that_the_cdk_resolves(
    stack: cdk.Stack, resources: Any, variable: str
) -> None:
    value: Any = cdk.Token.as_any({"Ref": "AWS::StackName"})
    LmiEndpoint(
        stack,
        "Chat",
        model_data=DATA,
        instance_type="ml.g6.12xlarge",
        environment={variable: value},
    )
    (model,) = resources(stack, "AWS::SageMaker::Model")
    assert model["PrimaryContainer"]["Environment"] == {variable: {"Ref": "AWS::StackName"}}


def test_takes_what_is_known_at_deploy_time_only(stack: cdk.Stack, resources: Any) -> None:
    number = cdk.CfnParameter(stack, "Number", type="Number").value_as_number
    text = cdk.CfnParameter(stack, "Text").value_as_string
    seconds = cdk.Duration.seconds(number)
    endpoint = presets.GptOss120B(
        stack,
        "Chat",
        model_data=DATA,
        settings=LmiSettings(max_model_len=number),  # type: ignore[arg-type]
        instance_type=text,
        initial_instance_count=number,  # type: ignore[arg-type]
        endpoint_name=text,
        environment={"OPTION_SEED": text},
        startup_timeout=seconds,
        download_timeout=seconds,
        instance_provision_timeout=seconds,
        volume_size=cdk.Size.gibibytes(number),
    )
    endpoint.auto_scale_instance_count(max_capacity=number).scale_on_concurrency(  # type: ignore[arg-type]
        "Concurrency", target=number, scale_in_cooldown=seconds
    )
    (config,) = resources(stack, "AWS::SageMaker::EndpointConfig")
    (variant,) = config["ProductionVariants"]
    unknown = {"Ref": "Number"}
    assert variant["InitialInstanceCount"] == unknown
    assert variant["VolumeSizeInGB"] == unknown
    assert variant["ContainerStartupHealthCheckTimeoutInSeconds"] == unknown
    assert variant["ModelDataDownloadTimeoutInSeconds"] == unknown
    assert variant["VariantInstanceProvisionTimeoutInSeconds"] == unknown


@pytest.fixture
def scaling(stack: cdk.Stack) -> ScalableInstanceCount:
    endpoint = presets.GptOss120B(stack, "Chat", model_data=DATA)
    return endpoint.auto_scale_instance_count(max_capacity=2)


@pytest.mark.parametrize(
    "wrong", [{"target": "5"}, {"scale_in_cooldown": 300}, {"scale_out_cooldown": "5 min"}]
)
def test_refuses_policies_with_values_of_another_kind(
    scaling: ScalableInstanceCount, wrong: dict[str, Any]
) -> None:
    with pytest.raises(LmiError, match=f"LMI010 .*{next(iter(wrong))}"):
        scaling.scale_on_concurrency("Concurrency", **wrong)


@pytest.mark.parametrize("wrong", ["2", 2.5, None])
def test_refuses_a_capacity_that_is_no_number(stack: cdk.Stack, wrong: Any) -> None:
    endpoint = presets.GptOss120B(stack, "Chat", model_data=DATA)
    with pytest.raises(LmiError, match=r"LMI010 .*max_capacity"):
        endpoint.auto_scale_instance_count(max_capacity=wrong)


@pytest.mark.parametrize(
    ("keyword", "value", "fix"),
    [
        ("p99_latency", 30, "cdk.Duration"),
        ("error_rate", "1%", "a number"),
        ("topic", "arn:aws:sns:us-east-1:123456789012:t", "sns.Topic.from_topic_arn"),
    ],
)
def test_refuses_alarms_with_values_of_another_kind(
    stack: cdk.Stack, keyword: str, value: Any, fix: str
) -> None:
    wrong: Any = {keyword: value}
    with pytest.raises(LmiError) as raised:
        presets.GptOss120B(stack, "Chat", model_data=DATA).add_alarms(**wrong)
    (finding,) = raised.value.findings
    assert (finding.rule, finding.where) == ("LMI010", keyword)
    assert fix in finding.fix


@pytest.mark.parametrize(
    ("make", "where"),
    [
        (ModelData.hub, "model_id"),
        (lambda value: ModelData.hub("Qwen/Qwen3-8B", revision=value), "revision"),
        (lambda value: ModelData.hub("Qwen/Qwen3-8B", token=value), "token"),
        (lambda value: ModelData.s3_prefix("my-models", "m/", architecture=value), "architecture"),
        (
            lambda value: ModelData.s3_prefix("my-models", "m/", serving_properties=value),
            "serving_properties",
        ),
        (ModelData.from_asset, "path"),
        (ContainerImage.from_uri, "uri"),
        (ContainerImage.from_lmi, "container"),
        (lambda value: ContainerImage.from_ecr_repository(value, "v27"), "repository"),
    ],
)
def test_refuses_data_and_images_of_another_kind(make: Callable[[Any], Any], where: str) -> None:
    for value in (5, True, float("nan"), ["x"], object(), b"x"):
        with pytest.raises(LmiError) as raised:
            make(value)
        (finding,) = raised.value.findings
        assert (finding.rule, finding.where) == ("LMI010", where)


def test_refuses_variants_that_are_none(stack: cdk.Stack) -> None:
    wrong: tuple[Any, ...] = (None, 5, "AllTraffic", [{"instance_type": "ml.g6.12xlarge"}])
    for number, variants in enumerate(wrong):
        with pytest.raises(LmiError, match="LmiVariant"):
            LmiEndpointConfig(stack, f"Config{number}", variants=variants)


def test_says_which_releases_there_are_whatever_was_asked_for() -> None:
    wrong: Any
    for wrong in (None, 27, ["v27"]):
        with pytest.raises(LmiError, match="LMI016"):
            LmiContainer.of(wrong)
