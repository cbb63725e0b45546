"""Variants: time-outs, host image, instance types, everything CloudFormation has for them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Template

from lmi_constructs import (
    CapacityReservation,
    ContainerImage,
    CoreDump,
    DataCapture,
    InstancePool,
    LmiContainer,
    LmiEndpoint,
    LmiEndpointConfig,
    LmiError,
    LmiModel,
    LmiSettings,
    LmiVariant,
    ManagedInstanceScaling,
    ModelData,
    Routing,
)
from lmi_constructs.checks import check_template
from lmi_constructs.facts import host_images, instance_types
from lmi_constructs.facts.host_image_choices import choose_host_image, host_image_choices
from lmi_constructs.facts.limits import hosting_instance_type_names
from lmi_constructs.testing import assert_no_findings

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = ModelData.s3_prefix("my-models", "m/")
GPU_4 = "al2023-ami-sagemaker-inference-gpu-4-1"
GPU_3 = "al2-ami-sagemaker-inference-gpu-3-1"
NEURON = "al2-ami-sagemaker-inference-neuron-2"


@pytest.fixture
def variant(stack: cdk.Stack, resources: Any) -> Callable[..., dict[str, Any]]:
    """The rendered variant of an endpoint with the given keywords."""

    def rendered(**keywords: Any) -> dict[str, Any]:
        keywords = {"model_data": DATA, "instance_type": "ml.g6.12xlarge", **keywords}
        LmiEndpoint(stack, "Chat", **keywords)
        (config,) = resources(stack, "AWS::SageMaker::EndpointConfig")
        (only,) = config["ProductionVariants"]
        return dict(only)

    return rendered


@pytest.mark.parametrize(
    ("container", "instance_type", "host_image"),
    [
        (LmiContainer.V27, "ml.g6.48xlarge", GPU_4),
        (LmiContainer.V27, "ml.g5.12xlarge", GPU_4),
        (LmiContainer.V27, "ml.p5.48xlarge", GPU_4),
        (LmiContainer.V25, "ml.g4dn.12xlarge", GPU_4),
        (LmiContainer.V24, "ml.g6.48xlarge", GPU_3),
        (LmiContainer.V15, "ml.g5.12xlarge", GPU_3),
        (LmiContainer.NEURONX, "ml.inf2.48xlarge", NEURON),
        (LmiContainer.V24, "ml.g7e.12xlarge", None),
        (LmiContainer.V27, "ml.p3.8xlarge", None),
    ],
)
def test_chooses_the_host_image_that_fits_cuda_and_family(
    container: LmiContainer, instance_type: str, host_image: str | None
) -> None:
    instance = instance_types()[instance_type]
    choice = choose_host_image(container.release, instance.family)
    assert (choice.host_image if choice else None) == host_image


def test_renders_the_host_image_it_chose(variant: Callable[..., dict[str, Any]]) -> None:
    assert variant()["InferenceAmiVersion"] == GPU_4


def test_takes_another_host_image_when_told(variant: Callable[..., dict[str, Any]]) -> None:
    assert variant(host_image=GPU_3)["InferenceAmiVersion"] == GPU_3


def test_names_only_host_images_and_families_that_exist() -> None:
    families = {instance.family for instance in instance_types().values()}
    for choice in host_image_choices():
        assert choice.host_image in host_images()
        assert choice.families <= families


def test_says_once_that_no_host_image_is_known_for_a_new_instance_type(
    stack: cdk.Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = replace(
        instance_types()["ml.g6.48xlarge"], name="ml.fictional.48xlarge", default_host_driver=None
    )
    monkeypatch.setitem(instance_types(), new.name, new)
    LmiEndpoint(stack, "Chat", model_data=DATA, instance_type=new.name)
    template = Template.from_stack(stack).to_json()
    names = {finding.rule for finding in check_template(template, region="us-east-1")}
    assert names & {"LMI032", "LMI037", "LMI039"} == {"LMI039"}


def test_warns_when_no_host_image_is_known(stack: cdk.Stack, resources: Any) -> None:
    LmiEndpoint(
        stack,
        "Chat",
        model_data=DATA,
        instance_type="ml.g7e.12xlarge",
        container=LmiContainer.V24,
    )
    with pytest.raises(AssertionError, match="LMI039"):
        assert_no_findings(stack)
    (config,) = resources(stack, "AWS::SageMaker::EndpointConfig")
    assert "InferenceAmiVersion" not in config["ProductionVariants"][0]


@pytest.mark.parametrize(
    ("keywords", "rule", "says"),
    [
        ({"instance_type": "g6.48xlarge"}, "LMI040", "'ml.g6.48xlarge'"),
        ({"instance_type": "ml.inf2.48xlarge"}, "LMI036", "LmiContainer.NEURONX"),
        ({"volume_size": cdk.Size.gibibytes(256)}, "LMI042", "local storage"),
        ({"host_image": NEURON}, "LMI034", "host_image"),
        ({"initial_instance_count": 0}, "LMI045", "1"),
        ({"instance_type": None}, "LMI048", "instance_pools"),
        ({"startup_timeout": cdk.Duration.seconds(7200)}, "LMI060", "7200"),
        ({"startup_timeout": cdk.Duration.seconds(59)}, "LMI060", "59"),
        ({"download_timeout": cdk.Duration.seconds(3601)}, "LMI061", "3601"),
        ({"instance_provision_timeout": cdk.Duration.seconds(60)}, "LMI064", "300"),
        ({"variant_name": "all_traffic"}, "LMI065", "all_traffic"),
    ],
)
def test_refuses_what_sagemaker_would_refuse(
    variant: Callable[..., dict[str, Any]], keywords: dict[str, Any], rule: str, says: str
) -> None:
    with pytest.raises(LmiError) as raised:
        variant(**keywords)
    found = {finding.rule: str(finding) for finding in raised.value.findings}
    assert says in found[rule]


def test_refuses_a_gpu_container_on_neuron_and_a_neuron_container_on_gpus(
    stack: cdk.Stack,
) -> None:
    with pytest.raises(LmiError, match="LMI036"):
        LmiEndpoint(
            stack,
            "Chat",
            model_data=DATA,
            instance_type="ml.g6.12xlarge",
            container=LmiContainer.NEURONX,
        )


def test_takes_a_volume_where_there_is_no_local_storage(
    variant: Callable[..., dict[str, Any]],
) -> None:
    image = ContainerImage.from_uri("111122223333.dkr.ecr.us-west-2.amazonaws.com/own:1")
    rendered = variant(
        instance_type="ml.inf2.48xlarge", container=image, volume_size=cdk.Size.gibibytes(256)
    )
    assert rendered["VolumeSizeInGB"] == 256


@pytest.mark.parametrize("seconds", [60, 3600])
def test_takes_the_limits_of_the_time_outs(
    variant: Callable[..., dict[str, Any]], seconds: int
) -> None:
    duration = cdk.Duration.seconds(seconds)
    rendered = variant(startup_timeout=duration, download_timeout=duration)
    assert rendered["ContainerStartupHealthCheckTimeoutInSeconds"] == seconds
    assert rendered["ModelDataDownloadTimeoutInSeconds"] == seconds


def test_waits_as_long_as_sagemaker_allows_when_the_size_is_not_known(
    variant: Callable[..., dict[str, Any]],
) -> None:
    rendered = variant()
    assert rendered["ContainerStartupHealthCheckTimeoutInSeconds"] == 3600
    assert rendered["ModelDataDownloadTimeoutInSeconds"] == 3600


def test_derives_the_time_outs_from_the_size_of_the_model(
    variant: Callable[..., dict[str, Any]],
) -> None:
    data = ModelData.s3_prefix("my-models", "m/", architecture="Qwen/Qwen3-8B")
    rendered = variant(model_data=data)
    assert 900 <= rendered["ModelDataDownloadTimeoutInSeconds"] < 3600
    assert 1800 <= rendered["ContainerStartupHealthCheckTimeoutInSeconds"] < 3600


def test_sets_no_download_time_out_for_what_sagemaker_does_not_download(
    variant: Callable[..., dict[str, Any]],
) -> None:
    rendered = variant(model_data=ModelData.hub("some-org/some-model"))
    assert "ModelDataDownloadTimeoutInSeconds" not in rendered


def test_never_waits_shorter_than_the_container_does(
    variant: Callable[..., dict[str, Any]],
) -> None:
    data = ModelData.s3_prefix("my-models", "m/", architecture="Qwen/Qwen3-8B")
    rendered = variant(model_data=data, settings=LmiSettings(model_loading_timeout=3500))
    assert rendered["ContainerStartupHealthCheckTimeoutInSeconds"] >= 3500


def test_warns_when_sagemaker_gives_up_before_the_container(stack: cdk.Stack) -> None:
    endpoint = LmiEndpoint(
        stack,
        "Chat",
        model_data=DATA,
        instance_type="ml.g6.12xlarge",
        settings=LmiSettings(model_loading_timeout=1800),
        startup_timeout=cdk.Duration.minutes(10),
    )
    (finding,) = endpoint.endpoint_config.variants[0].findings
    assert (finding.rule, finding.severity) == ("LMI062", "warning")


def test_routes_to_the_least_busy_instance_by_default(
    variant: Callable[..., dict[str, Any]],
) -> None:
    assert variant()["RoutingConfig"] == {"RoutingStrategy": "LEAST_OUTSTANDING_REQUESTS"}


def test_renders_every_keyword(variant: Callable[..., dict[str, Any]]) -> None:
    reservation = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/plan"
    rendered = variant(
        initial_instance_count=2,
        variant_name="Blue",
        routing=Routing.prefix_aware(prefix_length=4096, concurrency_threshold=8),
        capacity_reservation=CapacityReservation(reservation),
        instance_provision_timeout=cdk.Duration.minutes(20),
        core_dump=CoreDump("my-dumps", "llm/"),
        enable_ssm_access=True,
    )
    assert rendered["VariantName"] == "Blue"
    assert rendered["InitialInstanceCount"] == 2
    assert rendered["RoutingConfig"] == {
        "RoutingStrategy": "PREFIX_AWARE",
        "PrefixAwareRoutingConfig": {"PrefixLength": 4096, "ConcurrencyThreshold": 8},
    }
    assert rendered["CapacityReservationConfig"] == {
        "CapacityReservationPreference": "capacity-reservations-only",
        "MlReservationArn": reservation,
    }
    assert rendered["VariantInstanceProvisionTimeoutInSeconds"] == 1200
    assert rendered["CoreDumpConfig"] == {"DestinationS3Uri": "s3://my-dumps/llm/"}
    assert rendered["EnableSSMAccess"] is True


def test_renders_instance_pools_instead_of_an_instance_type(
    variant: Callable[..., dict[str, Any]],
) -> None:
    pools = [InstancePool("ml.g6.12xlarge", 1), InstancePool("ml.g5.12xlarge", 2)]
    rendered = variant(instance_type=None, instance_pools=pools)
    assert rendered["InferenceAmiVersion"] == GPU_4
    assert rendered["InstancePools"] == [
        {"InstanceType": "ml.g6.12xlarge", "Priority": 1},
        {"InstanceType": "ml.g5.12xlarge", "Priority": 2},
    ]
    assert "InstanceType" not in rendered


def test_checks_every_instance_type_of_a_pool(variant: Callable[..., dict[str, Any]]) -> None:
    pools = [InstancePool("ml.g6.12xlarge", 1), InstancePool("ml.inf2.48xlarge", 2)]
    with pytest.raises(LmiError, match=r"LMI036(.|\n)*ml\.inf2\.48xlarge"):
        variant(instance_type=None, instance_pools=pools)


def test_a_pool_with_a_model_of_its_own_is_checked_with_its_own_release(
    stack: cdk.Stack, resources: Any
) -> None:
    gpu = LmiModel(stack, "Gpu", model_data=DATA)
    neuron = LmiModel(stack, "Neuron", model_data=DATA, container=LmiContainer.NEURONX)
    pools = [InstancePool("ml.g6.12xlarge", 1), InstancePool("ml.inf2.48xlarge", 2, neuron)]
    LmiEndpointConfig(
        stack,
        "Config",
        variants=[LmiVariant(model=gpu, instance_pools=pools)],
        data_capture=DataCapture(bucket="my-records"),
    )
    (config,) = resources(stack, "AWS::SageMaker::EndpointConfig")
    (rendered,) = config["ProductionVariants"]
    assert "InferenceAmiVersion" not in rendered
    writers = [policy["Roles"] for policy in resources(stack, "AWS::IAM::Policy")]
    assert writers == [[stack.resolve(model.role.role_name)] for model in (gpu, neuron)]


def test_renders_a_fleet_for_inference_components(stack: cdk.Stack, resources: Any) -> None:
    scaling = ManagedInstanceScaling(0, 4, "CONSOLIDATION", 2, 30)
    LmiEndpointConfig(
        stack,
        "Config",
        execution_role=iam.Role.from_role_arn(
            stack, "Fleet", "arn:aws:iam::111122223333:role/fleet"
        ),
        variants=[
            LmiVariant(
                model=None,
                instance_type="ml.g6.12xlarge",
                host_image=GPU_4,
                managed_instance_scaling=scaling,
            )
        ],
    )
    (config,) = resources(stack, "AWS::SageMaker::EndpointConfig")
    (fleet,) = config["ProductionVariants"]
    assert "ModelName" not in fleet
    assert fleet["ManagedInstanceScaling"] == {
        "Status": "ENABLED",
        "MinInstanceCount": 0,
        "MaxInstanceCount": 4,
        "ScaleInPolicy": {
            "Strategy": "CONSOLIDATION",
            "MaximumStepSize": 2,
            "CooldownInMinutes": 30,
        },
    }


def test_refuses_managed_scaling_of_a_variant_with_a_model(stack: cdk.Stack) -> None:
    model = LmiModel(stack, "Model", model_data=DATA)
    variant = LmiVariant(
        model=model,
        instance_type="ml.g6.12xlarge",
        managed_instance_scaling=ManagedInstanceScaling(1, 2),
    )
    with pytest.raises(LmiError, match="LMI075"):
        LmiEndpointConfig(stack, "Config", variants=[variant])


def test_refuses_two_variants_of_one_name(stack: cdk.Stack) -> None:
    model = LmiModel(stack, "Model", model_data=DATA)
    twice = [LmiVariant(model=model, instance_type="ml.g6.12xlarge")] * 2
    with pytest.raises(LmiError, match="LMI067"):
        LmiEndpointConfig(stack, "Config", variants=twice)


def test_deploys_an_instance_type_it_does_not_know_once_that_is_acknowledged(
    stack: cdk.Stack, resources: Any
) -> None:
    endpoint = LmiEndpoint(stack, "Chat", model_data=DATA, instance_type="ml.g99.48xlarge")
    assert endpoint.endpoint_config.variants[0].findings == ()
    with pytest.raises(RuntimeError, match=r"lmi::LMI040"):
        resources(stack, "AWS::SageMaker::EndpointConfig")
    newer = cdk.Acknowledgment(id="lmi::LMI040", reason="newer than the library")
    cdk.Validations.of(endpoint).acknowledge(newer)
    (config,) = resources(stack, "AWS::SageMaker::EndpointConfig")
    assert config["ProductionVariants"][0]["InstanceType"] == "ml.g99.48xlarge"


def test_says_that_it_knows_nothing_of_an_instance_type_that_exists(stack: cdk.Stack) -> None:
    unknown = min(hosting_instance_type_names() - instance_types().keys())
    endpoint = LmiEndpoint(stack, "Chat", model_data=DATA, instance_type=unknown)
    (finding,) = endpoint.endpoint_config.variants[0].findings
    assert (finding.rule, finding.severity) == ("LMI049", "warning")


def test_says_once_that_the_degree_is_above_the_gpus(stack: cdk.Stack) -> None:
    data = ModelData.s3_prefix("my-models", "q/", architecture="Qwen/Qwen3-32B")
    with pytest.raises(LmiError) as caught:
        LmiEndpoint(
            stack,
            "Chat",
            model_data=data,
            instance_type="ml.g6.12xlarge",
            settings=LmiSettings(tensor_parallel_degree=8),
        )
    assert [finding.rule for finding in caught.value.findings] == ["LMI055"]
