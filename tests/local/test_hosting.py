"""SageMaker's hosting API as the local AWS serves it."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from lmi_constructs.local.shapes import service_model

INSTANCE_TYPES = service_model("sagemaker").shape_for("ProductionVariantInstanceType").enum
S3_SOURCE = ("PrimaryContainer", "ModelDataSource", "S3DataSource")


def put(request: dict[str, Any], path: tuple[str, ...], value: object) -> None:
    """Set or, with None, remove a value deep in a request."""
    *parents, last = path
    for parent in parents:
        request = request[parent]
    if value is None:
        request.pop(last, None)
    else:
        request[last] = value


def test_accepts_every_instance_type_of_the_api(
    sagemaker: Any, model_request: dict[str, Any], variant: dict[str, Any]
) -> None:
    sagemaker.create_model(**model_request)
    for number, name in enumerate(INSTANCE_TYPES[::23]):
        sagemaker.create_endpoint_config(
            EndpointConfigName=f"c{number}",
            ProductionVariants=[{**variant, "InstanceType": name}],
        )
    assert len(sagemaker.list_endpoint_configs()["EndpointConfigs"]) == number + 1
    assert "ml.g6.48xlarge" in INSTANCE_TYPES


def test_describes_a_model_as_it_was_given(sagemaker: Any, model_request: dict[str, Any]) -> None:
    sagemaker.create_model(**model_request, EnableNetworkIsolation=True)
    described = sagemaker.describe_model(ModelName="llama")
    assert described["PrimaryContainer"] == model_request["PrimaryContainer"]
    assert described["EnableNetworkIsolation"] is True
    assert described["ModelArn"] == "arn:aws:sagemaker:us-east-1:123456789012:model/llama"


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("ModelName",), "llama_3", "'modelName' failed to satisfy constraint"),
        (("ModelName",), "l" * 64, "length less than or equal to 63"),
        (("ExecutionRoleArn",), "role", "executionRoleArn"),
        (("PrimaryContainer",), None, "Exactly one of PrimaryContainer"),
        (("PrimaryContainer", "Environment"), {"option.dtype": "fp8"}, "Map keys must satisfy"),
        (("PrimaryContainer", "Environment"), {"A": "x" * 1025}, "less than or equal to 1024"),
        (
            ("PrimaryContainer", "Environment"),
            {f"A{number}": "x" for number in range(101)},
            "length less than or equal to 100",
        ),
        (
            ("PrimaryContainer", "Environment"),
            {f"A{number}": "x" * 1000 for number in range(40)},
            "at most 32768 bytes",
        ),
        ((*S3_SOURCE, "CompressionType"), None, "compressionType' failed"),
        ((*S3_SOURCE, "S3DataType"), "Prefix", "enum value set: [S3Prefix, S3Object]"),
        ((*S3_SOURCE, "S3Uri"), "models/llama/", "regular expression pattern"),
    ],
)
def test_refuses_a_model_the_service_would_refuse(
    sagemaker: Any,
    model_request: dict[str, Any],
    path: tuple[str, ...],
    value: object,
    words: str,
) -> None:
    put(model_request, path, value)
    with pytest.raises(ClientError) as caught:
        sagemaker.create_model(**model_request)
    assert caught.value.response["Error"]["Code"] == "ValidationException"
    assert words in caught.value.response["Error"]["Message"]
    assert sagemaker.list_models()["Models"] == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"InstanceType": "ml.g6.99xlarge"}, "Member must satisfy enum value set"),
        ({"InitialInstanceCount": 0}, "value greater than or equal to 1"),
        ({"ContainerStartupHealthCheckTimeoutInSeconds": 3601}, "less than or equal to 3600"),
        ({"ModelDataDownloadTimeoutInSeconds": 59}, "greater than or equal to 60"),
        ({"VolumeSizeInGB": 513, "InstanceType": "ml.p3.2xlarge"}, "less than or equal to 512"),
        ({"VolumeSizeInGB": 256}, "not allowed for instance type ml.g6.48xlarge"),
        ({"InferenceAmiVersion": "al2-ami"}, "inferenceAmiVersion"),
        ({"ModelName": "other"}, 'Could not find model "arn:aws:sagemaker'),
        ({"InstanceType": None}, "needs an InstanceType"),
        (
            {"ManagedInstanceScaling": {"Status": "ENABLED", "MaxInstanceCount": 2}},
            "without a ModelName",
        ),
        ({"ModelName": None}, "ExecutionRoleArn must be given"),
        ({"RoutingConfig": {"RoutingStrategy": "PREFIX_AWARE"}}, "PrefixAwareRoutingConfig"),
    ],
)
def test_refuses_a_variant_the_service_would_refuse(
    sagemaker: Any,
    model_request: dict[str, Any],
    variant: dict[str, Any],
    changes: dict[str, Any],
    words: str,
) -> None:
    sagemaker.create_model(**model_request)
    wanted = {key: item for key, item in {**variant, **changes}.items() if item is not None}
    with pytest.raises(ClientError) as caught:
        sagemaker.create_endpoint_config(EndpointConfigName="one", ProductionVariants=[wanted])
    assert caught.value.response["Error"]["Code"] == "ValidationException"
    assert words in caught.value.response["Error"]["Message"]
    assert sagemaker.list_endpoint_configs()["EndpointConfigs"] == []


def test_allows_a_volume_where_storage_is_ebs(
    sagemaker: Any, model_request: dict[str, Any], variant: dict[str, Any]
) -> None:
    sagemaker.create_model(**model_request)
    wanted = {**variant, "InstanceType": "ml.p3.2xlarge", "VolumeSizeInGB": 256}
    sagemaker.create_endpoint_config(EndpointConfigName="one", ProductionVariants=[wanted])
    described = sagemaker.describe_endpoint_config(EndpointConfigName="one")
    assert described["ProductionVariants"][0]["VolumeSizeInGB"] == 256


def test_refuses_two_variants_of_one_name(
    sagemaker: Any, model_request: dict[str, Any], variant: dict[str, Any]
) -> None:
    sagemaker.create_model(**model_request)
    with pytest.raises(ClientError, match="non-unique"):
        sagemaker.create_endpoint_config(
            EndpointConfigName="one", ProductionVariants=[variant, variant]
        )


def test_refuses_a_name_that_is_taken(
    sagemaker: Any, deployed: str, model_request: dict[str, Any], variant: dict[str, Any]
) -> None:
    with pytest.raises(ClientError, match="Cannot create already existing model"):
        sagemaker.create_model(**model_request)
    with pytest.raises(ClientError, match="already existing endpoint configuration"):
        sagemaker.create_endpoint_config(EndpointConfigName="one", ProductionVariants=[variant])
    with pytest.raises(ClientError, match="Cannot create already existing endpoint"):
        sagemaker.create_endpoint(EndpointName=deployed.upper(), EndpointConfigName="one")


def test_refuses_an_endpoint_without_its_config(sagemaker: Any) -> None:
    with pytest.raises(ClientError, match="Could not find endpoint configuration"):
        sagemaker.create_endpoint(EndpointName="chat", EndpointConfigName="none")


def test_updates_an_endpoint_in_place(
    sagemaker: Any, deployed: str, variant: dict[str, Any]
) -> None:
    before = sagemaker.describe_endpoint(EndpointName=deployed)
    sagemaker.create_endpoint_config(
        EndpointConfigName="two", ProductionVariants=[{**variant, "InitialInstanceCount": 2}]
    )
    sagemaker.update_endpoint(EndpointName=deployed, EndpointConfigName="two")
    after = sagemaker.describe_endpoint(EndpointName=deployed)
    assert after["EndpointArn"] == before["EndpointArn"]
    assert after["CreationTime"] == before["CreationTime"]
    assert after["EndpointConfigName"] == "two"
    assert after["EndpointStatus"] == "InService"
    assert after["ProductionVariants"][0]["DesiredInstanceCount"] == 2


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ({}, 1),
        ({"RetainAllVariantProperties": True}, 3),
        (
            {
                "RetainAllVariantProperties": True,
                "ExcludeRetainedVariantProperties": [
                    {"VariantPropertyType": "DesiredInstanceCount"}
                ],
            },
            1,
        ),
    ],
)
def test_an_update_keeps_the_scaled_count_only_when_asked(
    sagemaker: Any, deployed: str, variant: dict[str, Any], options: dict[str, Any], count: int
) -> None:
    sagemaker.update_endpoint_weights_and_capacities(
        EndpointName=deployed,
        DesiredWeightsAndCapacities=[{"VariantName": "AllTraffic", "DesiredInstanceCount": 3}],
    )
    sagemaker.create_endpoint_config(EndpointConfigName="two", ProductionVariants=[variant])
    sagemaker.update_endpoint(EndpointName=deployed, EndpointConfigName="two", **options)
    described = sagemaker.describe_endpoint(EndpointName=deployed)
    assert described["ProductionVariants"][0]["DesiredInstanceCount"] == count


def blue_green(**routing: object) -> dict[str, Any]:
    return {
        "BlueGreenUpdatePolicy": {
            "TrafficRoutingConfiguration": {"WaitIntervalInSeconds": 600, **routing}
        }
    }


def percent(value: int) -> dict[str, Any]:
    return {"Type": "CAPACITY_PERCENT", "Value": value}


@pytest.mark.parametrize(
    ("deployment", "words"),
    [
        (blue_green(Type="CANARY"), "CanarySize is required"),
        (blue_green(Type="CANARY", CanarySize=percent(51)), "CanarySize must be 1 to 50 percent"),
        (blue_green(Type="LINEAR", LinearStepSize=percent(5)), "LinearStepSize must be 10 to 50"),
        (blue_green(Type="BIG_BANG"), "enum value set"),
        (
            {
                **blue_green(Type="ALL_AT_ONCE"),
                "RollingUpdatePolicy": {
                    "MaximumBatchSize": percent(50),
                    "WaitIntervalInSeconds": 60,
                },
            },
            "Only one of",
        ),
        (
            {
                "RollingUpdatePolicy": {
                    "MaximumBatchSize": percent(60),
                    "WaitIntervalInSeconds": 60,
                }
            },
            "MaximumBatchSize must be 5 to 50",
        ),
        (
            {
                "RollingUpdatePolicy": {
                    "MaximumBatchSize": percent(50),
                    "WaitIntervalInSeconds": 60,
                    "MaximumExecutionTimeoutInSeconds": 599,
                }
            },
            "greater than or equal to 600",
        ),
    ],
)
def test_refuses_a_deployment_config_the_service_would_refuse(
    sagemaker: Any,
    deployed: str,
    variant: dict[str, Any],
    deployment: dict[str, Any],
    words: str,
) -> None:
    sagemaker.create_endpoint_config(EndpointConfigName="two", ProductionVariants=[variant])
    with pytest.raises(ClientError) as caught:
        sagemaker.update_endpoint(
            EndpointName=deployed, EndpointConfigName="two", DeploymentConfig=deployment
        )
    assert words in caught.value.response["Error"]["Message"]
    assert sagemaker.describe_endpoint(EndpointName=deployed)["EndpointConfigName"] == "one"


def test_a_guarded_update_keeps_the_variant_names(
    sagemaker: Any, deployed: str, variant: dict[str, Any]
) -> None:
    sagemaker.create_endpoint_config(
        EndpointConfigName="two", ProductionVariants=[{**variant, "VariantName": "Other"}]
    )
    with pytest.raises(ClientError, match="variant names"):
        sagemaker.update_endpoint(
            EndpointName=deployed,
            EndpointConfigName="two",
            DeploymentConfig=blue_green(Type="ALL_AT_ONCE"),
        )


def test_lists_by_name_and_in_pages(sagemaker: Any, model_request: dict[str, Any]) -> None:
    for name in ("a-chat", "b-chat", "c-embed"):
        sagemaker.create_model(**{**model_request, "ModelName": name})
    found = sagemaker.list_models(NameContains="chat", SortBy="Name", SortOrder="Ascending")
    assert [model["ModelName"] for model in found["Models"]] == ["a-chat", "b-chat"]
    pages = sagemaker.get_paginator("list_models").paginate(MaxResults=2)
    assert [len(page["Models"]) for page in pages] == [2, 1]


def test_tags_can_be_listed_and_added(sagemaker: Any, model_request: dict[str, Any]) -> None:
    arn = sagemaker.create_model(**model_request, Tags=[{"Key": "a", "Value": "1"}])["ModelArn"]
    sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "b", "Value": "2"}])
    assert sagemaker.list_tags(ResourceArn=arn)["Tags"] == [
        {"Key": "a", "Value": "1"},
        {"Key": "b", "Value": "2"},
    ]


def test_a_missing_resource_is_named_with_its_arn(sagemaker: Any) -> None:
    with pytest.raises(ClientError, match='Could not find endpoint "arn:aws:sagemaker:us-east-1'):
        sagemaker.describe_endpoint(EndpointName="none")
    with pytest.raises(ClientError, match='Could not find model "arn'):
        sagemaker.delete_model(ModelName="none")
