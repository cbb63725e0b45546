"""Images: the right account and domain in every region, and a pull permission for nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ecr as ecr

from lmi_constructs import ContainerImage, LmiContainer, LmiError, LmiModel, ModelData
from lmi_constructs.facts import registries

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = ModelData.s3_prefix("my-models", "m/")


def pulled(resources: Any, stack: cdk.Stack) -> list[Any]:
    (role,) = resources(stack, "AWS::IAM::Role")
    return [
        item["Resource"]
        for item in role["Policies"][0]["PolicyDocument"]["Statement"]
        if "ecr:BatchGetImage" in item["Action"]
    ]


def image(resources: Any, stack: cdk.Stack) -> Any:
    (model,) = resources(stack, "AWS::SageMaker::Model")
    return model["PrimaryContainer"]["Image"]


@pytest.mark.parametrize("region", sorted(registries()))
def test_pulls_the_release_from_the_registry_of_its_region(region: str, resources: Any) -> None:
    env = cdk.Environment(account="111122223333", region=region)
    stack = cdk.Stack(cdk.App(), "Stack", env=env)
    LmiModel(stack, "Model", model_data=DATA, container=LmiContainer.V27)
    row = registries()[region]
    assert image(resources, stack) == (
        f"{row.account}.dkr.ecr.{region}.{row.domain}/djl-inference:0.36.0-lmi27.0.0-cu130"
    )
    assert pulled(resources, stack) == [
        f"arn:{row.partition}:ecr:{region}:{row.account}:repository/djl-inference"
    ]


def test_uses_the_domain_of_china() -> None:
    assert registries()["cn-north-1"].domain == "amazonaws.com.cn"


def test_looks_the_account_up_when_the_region_is_not_known(
    agnostic_stack: cdk.Stack, resources: Any, template: Callable[[cdk.Stack], dict[str, Any]]
) -> None:
    LmiModel(agnostic_stack, "One", model_data=DATA)
    LmiModel(agnostic_stack, "Two", model_data=DATA)
    mappings = template(agnostic_stack)["Mappings"]
    assert list(mappings) == ["LmiImageRegistries"]
    assert mappings["LmiImageRegistries"]["eu-south-1"] == {"account": "692866216735"}
    account = {"Fn::FindInMap": ["LmiImageRegistries", {"Ref": "AWS::Region"}, "account"]}
    (first, _) = resources(agnostic_stack, "AWS::SageMaker::Model")
    assert first["PrimaryContainer"]["Image"] == {
        "Fn::Join": [
            "",
            [
                account,
                ".dkr.ecr.",
                {"Ref": "AWS::Region"},
                ".",
                {"Ref": "AWS::URLSuffix"},
                "/djl-inference:0.36.0-lmi27.0.0-cu130",
            ],
        ]
    }


def test_refuses_a_region_without_a_registry() -> None:
    stack = cdk.Stack(cdk.App(), "Stack", env=cdk.Environment(region="mars-north-1"))
    with pytest.raises(LmiError, match="LMI030"):
        LmiModel(stack, "Model", model_data=DATA)


def test_pulls_an_image_of_ones_own(stack: cdk.Stack, resources: Any) -> None:
    repository = ecr.Repository(stack, "Repository")
    own = ContainerImage.from_ecr_repository(repository, "mine-27", behaves_like=LmiContainer.V27)
    model = LmiModel(stack, "Model", model_data=DATA, container=own)
    assert model.container == LmiContainer.V27
    assert pulled(resources, stack) == [stack.resolve(repository.repository_arn)]


def test_recognizes_a_release_by_its_uri(stack: cdk.Stack, resources: Any) -> None:
    uri = LmiContainer.V22.image_uri("us-west-2")
    model = LmiModel(stack, "Model", model_data=DATA, container=ContainerImage.from_uri(uri))
    assert model.container == LmiContainer.V22
    assert image(resources, stack) == uri


def test_knows_nothing_of_a_foreign_image_and_still_pulls_it(
    stack: cdk.Stack, resources: Any
) -> None:
    uri = "999988887777.dkr.ecr.us-west-2.amazonaws.com/team/tgi:3"
    model = LmiModel(
        stack,
        "Model",
        model_data=DATA,
        container=ContainerImage.from_uri(uri),
        environment={"OPTION_NO_SUCH_THING": "1"},
    )
    assert model.container is None
    assert model.findings == ()
    assert pulled(resources, stack) == ["arn:aws:ecr:us-west-2:999988887777:repository/team/tgi"]


def test_warns_when_the_repository_of_an_image_is_a_token(stack: cdk.Stack) -> None:
    parameter = cdk.CfnParameter(stack, "Image")
    container = ContainerImage.from_uri(parameter.value_as_string, behaves_like=LmiContainer.V27)
    model = LmiModel(stack, "Model", model_data=DATA, container=container)
    assert [finding.rule for finding in model.findings] == ["LMI038"]
