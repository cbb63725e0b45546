"""Endpoints: ids, grants, features, composition, imported endpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sagemaker as sagemaker
from aws_cdk import aws_sns as sns

from lmi_constructs import (
    AsyncInference,
    DataCapture,
    EndpointMetrics,
    LmiContainer,
    LmiEndpoint,
    LmiEndpointConfig,
    LmiError,
    LmiModel,
    LmiSettings,
    LmiVariant,
    ModelData,
    S3Location,
)
from tests.hosting.support import actions_of

if TYPE_CHECKING:
    from collections.abc import Callable


DATA = ModelData.s3_prefix("my-models", "m/")


@pytest.fixture
def endpoint(stack: cdk.Stack) -> LmiEndpoint:
    return LmiEndpoint(stack, "Chat", model_data=DATA, instance_type="ml.g6.12xlarge")


def config_of(resources: Any, stack: cdk.Stack) -> dict[str, Any]:
    (config,) = resources(stack, "AWS::SageMaker::EndpointConfig")
    return dict(config)


def test_keeps_its_construct_ids(endpoint: LmiEndpoint, stack: cdk.Stack) -> None:
    endpoint.auto_scale_instance_count(max_capacity=2).scale_on_invocations(
        "Invocations", target_invocations_per_minute=10
    )
    endpoint.add_alarms()
    paths = [
        child.node.path
        for child in endpoint.node.find_all()
        if cdk.CfnResource.is_cfn_resource(child)
    ]
    assert sorted(paths) == [
        "Stack/Chat/Alarms/ConcurrentRequests/Resource",
        "Stack/Chat/Alarms/DiskUtilization/Resource",
        "Stack/Chat/Alarms/ErrorRate/Resource",
        "Stack/Chat/Alarms/MemoryUtilization/Resource",
        "Stack/Chat/Config/Resource",
        "Stack/Chat/Model/Resource",
        "Stack/Chat/Model/Role/Resource",
        "Stack/Chat/Resource",
        "Stack/Chat/Scaling/Invocations",
        "Stack/Chat/Scaling/Resource",
    ]


def test_keeps_its_logical_ids(
    endpoint: LmiEndpoint, stack: cdk.Stack, template: Callable[[cdk.Stack], dict[str, Any]]
) -> None:
    assert sorted(template(stack)["Resources"]) == [
        "Chat26DEB33F",
        "ChatConfigAC7DC96D",
        "ChatModelBAC3C5BD",
        "ChatModelRole0FE53B82",
    ]


def test_names_neither_configuration_nor_endpoint(
    endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any
) -> None:
    assert "EndpointConfigName" not in config_of(resources, stack)
    (rendered,) = resources(stack, "AWS::SageMaker::Endpoint")
    assert "EndpointName" not in rendered


def test_takes_a_name_for_the_endpoint_only(stack: cdk.Stack, resources: Any) -> None:
    LmiEndpoint(
        stack, "Chat", model_data=DATA, instance_type="ml.g6.12xlarge", endpoint_name="chat"
    )
    (rendered,) = resources(stack, "AWS::SageMaker::Endpoint")
    assert rendered["EndpointName"] == "chat"


@pytest.mark.parametrize("name", ["my_endpoint", "-chat", "x" * 64, ""])
def test_refuses_a_name_that_sagemaker_refuses(stack: cdk.Stack, name: str) -> None:
    with pytest.raises(LmiError, match="LMI065"):
        LmiEndpoint(
            stack, "Chat", model_data=DATA, instance_type="ml.g6.12xlarge", endpoint_name=name
        )


def test_shows_what_it_is_made_of(endpoint: LmiEndpoint) -> None:
    assert endpoint.container == LmiContainer.default()
    assert isinstance(endpoint.model, LmiModel)
    assert isinstance(endpoint.resource, sagemaker.CfnEndpoint)
    assert isinstance(endpoint.endpoint_config.resource, sagemaker.CfnEndpointConfig)
    assert endpoint.settings == LmiSettings()
    assert endpoint.role is endpoint.model.role
    assert endpoint.plan is None


def test_plans_a_model_it_knows(stack: cdk.Stack) -> None:
    data = ModelData.s3_prefix("my-models", "m/", architecture="Qwen/Qwen3-8B")
    endpoint = LmiEndpoint(stack, "Chat", model_data=data, instance_type="ml.g6.12xlarge")
    assert endpoint.plan is not None
    assert endpoint.plan.grade == "fits"


def test_composes_variants_by_hand(stack: cdk.Stack, resources: Any) -> None:
    small = LmiModel(stack, "Small", model_data=DATA)
    large = LmiModel(stack, "Large", model_data=DATA)
    config = LmiEndpointConfig(
        stack,
        "Config",
        variants=[
            LmiVariant(model=small, instance_type="ml.g6.12xlarge", variant_name="S", weight=3),
            LmiVariant(model=large, instance_type="ml.g6.48xlarge", variant_name="L", weight=1),
        ],
    )
    endpoint = LmiEndpoint(stack, "Chat", endpoint_config=config)
    rendered = config_of(resources, stack)["ProductionVariants"]
    assert [(item["VariantName"], item["InitialVariantWeight"]) for item in rendered] == [
        ("S", 3),
        ("L", 1),
    ]
    with pytest.raises(LmiError, match=r"LMI069.*which of 'S', 'L'"):
        endpoint.metric_invocations()
    assert endpoint.metric("Invocations", variant_name="L").dimensions is not None


def test_scales_and_watches_every_variant_by_itself(stack: cdk.Stack, resources: Any) -> None:
    model = LmiModel(stack, "Model", model_data=DATA)
    variants = [
        LmiVariant(model=model, instance_type="ml.g6.12xlarge", variant_name=name)
        for name in ("Blue", "Green")
    ]
    config = LmiEndpointConfig(stack, "Config", variants=variants)
    endpoint = LmiEndpoint(stack, "Chat", endpoint_config=config)
    for name in ("Blue", "Green"):
        endpoint.auto_scale_instance_count(max_capacity=2, variant_name=name)
        endpoint.add_alarms(
            variant_name=name,
            concurrent_requests=None,
            disk_utilization=None,
            memory_utilization=None,
        )
    targets = resources(stack, "AWS::ApplicationAutoScaling::ScalableTarget")
    assert [target["ResourceId"]["Fn::Join"][1][-1] for target in targets] == [
        "/variant/Blue",
        "/variant/Green",
    ]
    alarms = resources(stack, "AWS::CloudWatch::Alarm")
    assert [alarm["Dimensions"][1]["Value"] for alarm in alarms] == ["Blue", "Green"]


def test_refuses_keywords_that_a_given_configuration_would_ignore(stack: cdk.Stack) -> None:
    model = LmiModel(stack, "Model", model_data=DATA)
    variant = LmiVariant(model=model, instance_type="ml.g6.12xlarge")
    config = LmiEndpointConfig(stack, "Config", variants=[variant])
    with pytest.raises(LmiError, match=r"LMI068.*instance_type"):
        LmiEndpoint(stack, "Chat", endpoint_config=config, instance_type="ml.g5.12xlarge")


def test_refuses_an_endpoint_of_nothing(stack: cdk.Stack) -> None:
    with pytest.raises(LmiError, match="LMI068"):
        LmiEndpoint(stack, "Chat", instance_type="ml.g6.12xlarge")


@pytest.mark.parametrize(
    ("environment", "fix"),
    [
        ({"HF_MODEL_ID": "Qwen/Qwen3-8B"}, 'model_data=ModelData.hub("Qwen/Qwen3-8B") and remove'),
        ({"OPTION_MODEL_ID": "Qwen/Qwen3-8B"}, 'ModelData.hub("Qwen/Qwen3-8B") and remove OPTION_'),
        ({"HF_MODEL_ID": "s3://models/a/b"}, 'ModelData.s3_prefix("models", "a/b/")'),
        ({"HF_MODEL_ID": "/opt/ml/model"}, "ModelData.s3_prefix(...)"),
        ({"HF_MODEL_ID": "${Token[TOKEN.12]}"}, "ModelData.hub(...)"),
        ({"NCCL_DEBUG": "INFO"}, "give one of the two"),
    ],
)
def test_says_which_model_data_is_meant_by_the_environment(
    stack: cdk.Stack, environment: dict[str, str], fix: str
) -> None:
    with pytest.raises(LmiError) as refused:
        LmiEndpoint(stack, "Chat", environment=environment, instance_type="ml.g6.12xlarge")
    (finding,) = refused.value.findings
    assert (finding.rule, fix in finding.fix) == ("LMI068", True), finding.fix


def test_mirrors_traffic_to_a_shadow_variant(stack: cdk.Stack, resources: Any) -> None:
    model = LmiModel(stack, "Model", model_data=DATA)
    LmiEndpointConfig(
        stack,
        "Config",
        variants=[LmiVariant(model=model, instance_type="ml.g6.12xlarge", variant_name="Now")],
        shadow_variants=[
            LmiVariant(model=model, instance_type="ml.g6.12xlarge", variant_name="Next")
        ],
    )
    rendered = config_of(resources, stack)
    assert [item["VariantName"] for item in rendered["ShadowProductionVariants"]] == ["Next"]


def test_records_requests_and_lets_the_role_write_them(stack: cdk.Stack, resources: Any) -> None:
    key = kms.Key(stack, "Key")
    LmiEndpoint(
        stack,
        "Chat",
        model_data=DATA,
        instance_type="ml.g6.12xlarge",
        data_capture=DataCapture(
            bucket="my-records", prefix="chat/", sampling_percentage=20, encryption_key=key
        ),
    )
    capture = config_of(resources, stack)["DataCaptureConfig"]
    assert capture["DestinationS3Uri"] == "s3://my-records/chat/"
    assert capture["InitialSamplingPercentage"] == 20
    assert capture["CaptureOptions"] == [{"CaptureMode": "Input"}, {"CaptureMode": "Output"}]
    actions = actions_of(resources, stack)
    assert actions["s3:PutObject"] == "arn:aws:s3:::my-records/chat/*"
    assert "kms:GenerateDataKey" in actions


def test_lets_the_role_write_before_the_configuration_is_made(
    stack: cdk.Stack, template: Callable[[cdk.Stack], dict[str, Any]]
) -> None:
    LmiEndpoint(
        stack,
        "Chat",
        model_data=DATA,
        instance_type="ml.g6.12xlarge",
        data_capture=DataCapture(bucket="my-records"),
    )
    found = template(stack)["Resources"]
    (policy,) = [name for name, item in found.items() if item["Type"] == "AWS::IAM::Policy"]
    assert policy in found["ChatConfigAC7DC96D"]["DependsOn"]


def test_answers_asynchronously(stack: cdk.Stack, resources: Any) -> None:
    topic = sns.Topic(stack, "Done")
    endpoint = LmiEndpoint(
        stack,
        "Chat",
        model_data=DATA,
        instance_type="ml.g6.12xlarge",
        async_inference=AsyncInference(
            bucket="my-answers",
            output_prefix="ok/",
            failure_prefix="failed/",
            success_topic=topic,
            include_response_in=["SUCCESS_NOTIFICATION_TOPIC"],
            max_concurrent_invocations_per_instance=4,
        ),
    )
    rendered = config_of(resources, stack)
    assert rendered["AsyncInferenceConfig"] == {
        "ClientConfig": {"MaxConcurrentInvocationsPerInstance": 4},
        "OutputConfig": {
            "S3OutputPath": "s3://my-answers/ok/",
            "S3FailurePath": "s3://my-answers/failed/",
            "NotificationConfig": {
                "SuccessTopic": stack.resolve(topic.topic_arn),
                "IncludeInferenceResponseIn": ["SUCCESS_NOTIFICATION_TOPIC"],
            },
        },
    }
    assert "RoutingConfig" not in rendered["ProductionVariants"][0]
    assert endpoint.endpoint_config.is_async
    assert "sns:Publish" in actions_of(resources, stack)


def test_chooses_how_finely_metrics_are_published(stack: cdk.Stack, resources: Any) -> None:
    LmiEndpoint(
        stack,
        "Chat",
        model_data=DATA,
        instance_type="ml.g6.12xlarge",
        metrics=EndpointMetrics(
            enhanced=True, detailed_observability=False, publish_frequency=cdk.Duration.seconds(10)
        ),
    )
    assert config_of(resources, stack)["MetricsConfig"] == {
        "EnableEnhancedMetrics": True,
        "EnableDetailedObservability": False,
        "MetricPublishFrequencyInSeconds": 10,
    }


def test_encrypts_volumes_and_says_once_what_a_key_cannot_do(
    stack: cdk.Stack, resources: Any, reported: Any
) -> None:
    key = kms.Key(stack, "Key")
    LmiEndpoint(stack, "Chat", model_data=DATA, instance_type="ml.g6.12xlarge", encryption_key=key)
    assert config_of(resources, stack)["KmsKeyId"] == stack.resolve(key.key_arn)
    assert [found for found in reported(stack) if found[0] == "LMI043"] == [
        ("LMI043", "Stack/Chat/Config/Resource")
    ]


def test_moves_to_a_new_configuration_as_it_is_told(stack: cdk.Stack, resources: Any) -> None:
    rolling = sagemaker.CfnEndpoint.RollingUpdatePolicyProperty(
        maximum_batch_size=sagemaker.CfnEndpoint.CapacitySizeProperty(
            type="INSTANCE_COUNT", value=1
        ),
        wait_interval_in_seconds=60,
    )
    LmiEndpoint(
        stack,
        "Chat",
        model_data=DATA,
        instance_type="ml.g6.12xlarge",
        deployment=sagemaker.CfnEndpoint.DeploymentConfigProperty(rolling_update_policy=rolling),
        retain_deployment=True,
    )
    (rendered,) = resources(stack, "AWS::SageMaker::Endpoint")
    assert rendered["RetainDeploymentConfig"] is True
    assert rendered["DeploymentConfig"]["RollingUpdatePolicy"]["WaitIntervalInSeconds"] == 60


def test_lets_the_role_watch_the_alarms_that_roll_an_update_back(
    stack: cdk.Stack, resources: Any
) -> None:
    rollback = sagemaker.CfnEndpoint.AutoRollbackConfigProperty(
        alarms=[sagemaker.CfnEndpoint.AlarmProperty(alarm_name="chat-errors")]
    )
    LmiEndpoint(
        stack,
        "Chat",
        model_data=DATA,
        instance_type="ml.g6.12xlarge",
        deployment=sagemaker.CfnEndpoint.DeploymentConfigProperty(
            auto_rollback_configuration=rollback
        ),
    )
    assert actions_of(resources, stack) == {
        "cloudwatch:DescribeAlarms": "arn:aws:cloudwatch:us-west-2:111122223333:alarm:*"
    }


def test_leaves_every_property_open_to_overrides(
    endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any
) -> None:
    assert endpoint.model is not None
    endpoint.model.resource.add_property_override("PrimaryContainer.ContainerHostname", "llm")
    (model,) = resources(stack, "AWS::SageMaker::Model")
    assert model["PrimaryContainer"]["ContainerHostname"] == "llm"


def test_tags_everything_that_can_be_tagged(
    endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any
) -> None:
    cdk.Tags.of(endpoint).add("team", "search")
    for type in ("Model", "EndpointConfig", "Endpoint"):
        (rendered,) = resources(stack, f"AWS::SageMaker::{type}")
        assert rendered["Tags"] == [{"Key": "team", "Value": "search"}]


def test_checks_every_place_in_s3() -> None:
    with pytest.raises(LmiError, match="LMI020"):
        S3Location("my-records", "chat")
