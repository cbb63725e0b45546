"""The smoke test inside a deployment, as template and as it runs."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest

from lmi_constructs import LmiEndpoint, LmiError, LmiSettings, ModelData
from lmi_constructs.hosting import AsyncInference
from lmi_constructs.hosting.smoke_test import SmokeCheck
from lmi_constructs.local import CdkCli, CdkError
from lmi_constructs.runtime.smoke import CHECKS

if TYPE_CHECKING:
    from collections.abc import Callable

    import aws_cdk as cdk

    from lmi_constructs.local import LocalAws

ROOT = str(Path(__file__).parents[2])
DATA = ModelData.s3_prefix("my-models", "m/")
APP = """
import sys; sys.path.insert(0, {root!r})
import aws_cdk as cdk
from lmi_constructs import LmiEndpoint, LmiSettings, ModelData

app = cdk.App()
stack = cdk.Stack(app, "Llm")
endpoint = LmiEndpoint(
    stack, "Chat", model_data=ModelData.s3_prefix("my-models", "m/"), instance_type="ml.g6.12xlarge",
    settings=LmiSettings(max_model_len={max_model_len}),
)
endpoint.add_smoke_test(adapters={adapters})
cdk.CfnOutput(stack, "Name", value=endpoint.endpoint_name)
app.synth()
"""


def endpoint_of(stack: cdk.Stack, **keywords: Any) -> LmiEndpoint:
    return LmiEndpoint(stack, "Chat", model_data=DATA, instance_type="ml.g6.12xlarge", **keywords)


def test_checks_have_the_names_that_the_command_line_has() -> None:
    assert get_args(SmokeCheck) == CHECKS


def test_runs_again_with_each_configuration_and_may_call_this_endpoint_only(
    stack: cdk.Stack, template: Callable[[cdk.Stack], dict[str, Any]]
) -> None:
    endpoint_of(stack).add_smoke_test(adapters=["legal"], skip=["completion"])
    resources = template(stack)["Resources"]
    (test,) = (item for item in resources.values() if item["Type"] == "Custom::LmiSmokeTest")
    properties = test["Properties"]
    config = "ChatConfig"
    assert properties["EndpointName"]["Fn::GetAtt"][1] == "EndpointName"
    assert properties["EndpointConfigName"]["Fn::GetAtt"][0].startswith(config)
    assert properties["Adapters"] == ["legal"]
    assert properties["Skip"] == ["completion"]
    (policy,) = (
        (name, item["Properties"]["PolicyDocument"]["Statement"])
        for name, item in resources.items()
        if item["Type"] == "AWS::IAM::Policy"
    )
    name, statements = policy
    assert name in test["DependsOn"]
    allowed = {
        action: statement["Resource"]
        for statement in statements
        for action in (
            [statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"]
        )
    }
    (endpoint_id,) = (
        name for name, item in resources.items() if item["Type"] == "AWS::SageMaker::Endpoint"
    )
    for action in ("InvokeEndpoint", "InvokeEndpointWithResponseStream", "DescribeEndpoint"):
        assert allowed[f"sagemaker:{action}"] == {"Ref": endpoint_id}
    assert "*" not in [resource for resource in allowed.values() if isinstance(resource, str)]
    (role,) = (
        item["Properties"]
        for name, item in resources.items()
        if item["Type"] == "AWS::IAM::Role" and "SmokeTest" in name
    )
    assert "ManagedPolicyArns" not in role


def test_refuses_a_check_that_does_not_exist(stack: cdk.Stack) -> None:
    with pytest.raises(LmiError, match=r"LMI012[\s\S]*'chats' is no check"):
        endpoint_of(stack).add_smoke_test(skip=["chats"])  # type: ignore[list-item]


def test_refuses_an_asynchronous_endpoint(stack: cdk.Stack) -> None:
    endpoint = endpoint_of(
        stack, async_inference=AsyncInference(bucket="answers", output_prefix="out/")
    )
    with pytest.raises(LmiError, match="asynchronous"):
        endpoint.add_smoke_test()


@pytest.mark.deploy
@pytest.mark.skipif(shutil.which("npx") is None, reason="needs Node.js")
@pytest.mark.xdist_group("smoke-in-a-deployment")
def test_a_deployment_whose_model_does_not_answer_is_taken_back(
    aws: LocalAws, tmp_path: Path
) -> None:
    app = tmp_path / "app.py"
    cli = CdkCli(aws, app=f"{sys.executable} app.py", directory=tmp_path)
    app.write_text(APP.format(max_model_len=8192, adapters=[], root=ROOT))
    cli.bootstrap()
    cli.deploy()
    sagemaker, cloudformation = aws.client("sagemaker"), aws.client("cloudformation")
    name = outputs(cloudformation)["Name"]
    first = sagemaker.describe_endpoint(EndpointName=name)["EndpointConfigName"]
    # The stub engine knows no adapter, as a model deployed without it would not.
    app.write_text(APP.format(max_model_len=4096, adapters=["legal"], root=ROOT))
    with pytest.raises(CdkError, match="unknown adapter: "):
        cli.deploy()
    (stack,) = cloudformation.describe_stacks(StackName="Llm")["Stacks"]
    assert stack["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert sagemaker.describe_endpoint(EndpointName=name)["EndpointConfigName"] == first
    cli.destroy()
    assert sagemaker.list_endpoints()["Endpoints"] == []


FLEET = """
import sys; sys.path.insert(0, {root!r})
import aws_cdk as cdk
from lmi_constructs import AdapterData, LmiFleet, LmiInferenceComponent, LmiSettings, ModelData

app = cdk.App()
stack = cdk.Stack(app, "Llm")
fleet = LmiFleet(stack, "Fleet", instance_type="ml.g6.12xlarge")
base = LmiInferenceComponent(
    stack, "Base", fleet=fleet, model_data=ModelData.s3_prefix("my-models", "m/"),
    settings=LmiSettings(tensor_parallel_degree=4, enable_lora=True),
    min_memory=cdk.Size.gibibytes(16), component_name="base",
)
fleet.add_smoke_test(component=base, adapters={adapters})
tenant = base.add_adapter("Acme", AdapterData.s3_archive("my-models", "acme.tar.gz"))
tenant.add_smoke_test()
app.synth()
"""


@pytest.mark.deploy
@pytest.mark.skipif(shutil.which("npx") is None, reason="needs Node.js")
@pytest.mark.xdist_group("smoke-in-a-deployment")
def test_a_component_and_its_adapter_are_called_by_their_names(
    aws: LocalAws, tmp_path: Path
) -> None:
    app = tmp_path / "app.py"
    cli = CdkCli(aws, app=f"{sys.executable} app.py", directory=tmp_path)
    app.write_text(FLEET.format(adapters=[], root=ROOT))
    cli.bootstrap()
    cli.deploy()
    sagemaker = aws.client("sagemaker")
    assert len(sagemaker.list_inference_components()["InferenceComponents"]) == 2
    app.write_text(FLEET.format(adapters=["legal"], root=ROOT))
    with pytest.raises(CdkError, match="unknown adapter: "):
        cli.deploy()
    cli.destroy()


def outputs(cloudformation: Any) -> dict[str, str]:
    (stack,) = cloudformation.describe_stacks(StackName="Llm")["Stacks"]
    return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}


@pytest.mark.parametrize(
    ("data", "severity"),
    [
        (ModelData.s3_prefix("my-models", "m/"), "warning"),
        (ModelData.hub("Qwen/Qwen3-8B"), "error"),
    ],
    ids=["a file beside it may say more", "nothing else can"],
)
def test_says_that_adapters_of_a_model_without_any_cannot_answer(
    stack: cdk.Stack, reported: Any, data: ModelData, severity: str
) -> None:
    endpoint = LmiEndpoint(stack, "Plain", model_data=data, instance_type="ml.g6.12xlarge")
    if severity == "error":
        with pytest.raises(LmiError, match="nothing sets up for them") as error:
            endpoint.add_smoke_test(adapters=["legal"])
        assert [(one.rule, one.where) for one in error.value.findings] == [("LMI012", "adapters")]
        return
    endpoint.add_smoke_test(adapters=["legal"])
    assert ("LMI012", "Stack/Plain/SmokeTest") in reported(stack)


def test_adapters_of_a_model_that_takes_them_are_tested(stack: cdk.Stack, reported: Any) -> None:
    endpoint = LmiEndpoint(
        stack,
        "Tenants",
        model_data=ModelData.s3_prefix("my-models", "m/"),
        instance_type="ml.g6.12xlarge",
        settings=LmiSettings(enable_lora=True),
    )
    endpoint.add_smoke_test(adapters=["legal"])
    assert "LMI012" not in {rule for rule, _ in reported(stack)}
