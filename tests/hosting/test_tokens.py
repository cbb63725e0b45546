"""Values that are known only at deploy time: never an error, never a crash."""

from __future__ import annotations

from typing import Any

import aws_cdk as cdk
import jsii
import pytest
from aws_cdk import aws_s3 as s3
from hypothesis import given
from hypothesis import strategies as st

from lmi_constructs import ContainerImage, LmiEndpoint, LmiError, LmiModel, LmiSettings, ModelData
from lmi_constructs.hosting._cdk_tokens import is_token
from lmi_constructs.hosting.s3_location import S3Location


def test_takes_parameters_everywhere(agnostic_stack: cdk.Stack, resources: Any) -> None:
    stack = agnostic_stack

    def text(name: str) -> str:
        return cdk.CfnParameter(stack, name).value_as_string

    def number(name: str) -> float:
        return cdk.CfnParameter(stack, name, type="Number").value_as_number

    bucket = s3.Bucket.from_bucket_name(stack, "Bucket", text("BucketName"))
    endpoint = LmiEndpoint(
        stack,
        "Chat",
        model_data=ModelData.s3_prefix(bucket, text("Prefix")),
        instance_type=text("InstanceType"),
        settings=LmiSettings(dtype=text("Dtype")),  # type: ignore[arg-type]
        environment={"OPTION_QUANTIZE": text("Quantize")},
        initial_instance_count=number("Count"),  # type: ignore[arg-type]
        variant_name=text("Variant"),
        host_image=text("HostImage"),
        endpoint_name=text("EndpointName"),
    )
    scaling = endpoint.auto_scale_instance_count(max_capacity=number("Most"))  # type: ignore[arg-type]
    scaling.scale_on_concurrency("Concurrency", target=number("Target"))
    endpoint.add_alarms()
    (model,) = resources(stack, "AWS::SageMaker::Model")
    environment = model["PrimaryContainer"]["Environment"]
    assert environment["OPTION_QUANTIZE"] == {"Ref": "Quantize"}
    (config,) = resources(stack, "AWS::SageMaker::EndpointConfig")
    (variant,) = config["ProductionVariants"]
    assert variant["InstanceType"] == {"Ref": "InstanceType"}
    assert variant["InferenceAmiVersion"] == {"Ref": "HostImage"}
    assert variant["InitialInstanceCount"] == {"Ref": "Count"}


def test_takes_tokens_for_a_hub_model_and_an_image(stack: cdk.Stack, resources: Any) -> None:
    model_id = cdk.CfnParameter(stack, "ModelId").value_as_string
    image = cdk.CfnParameter(stack, "Image").value_as_string
    LmiModel(
        stack,
        "Model",
        model_data=ModelData.hub(model_id),
        container=ContainerImage.from_uri(image),
    )
    (model,) = resources(stack, "AWS::SageMaker::Model")
    assert model["PrimaryContainer"]["Image"] == {"Ref": "Image"}
    assert model["PrimaryContainer"]["Environment"]["HF_MODEL_ID"] == {"Ref": "ModelId"}


def test_tells_tokens_from_values_as_the_cdk_does() -> None:
    unknown = [
        cdk.Lazy.string(_Producer()),
        cdk.Token.as_number({"Ref": "Count"}),
        cdk.Token.as_list({"Ref": "Names"}),
        cdk.Token.as_any({"Ref": "Name"}),
        f"prefix-{cdk.Aws.REGION}",
        cdk.Fn.ref("Name"),
    ]
    known = ["text", "", 0, -1, 1.5, [], ["a"], None, True, "${AWS::Region}", "a#b"]
    assert all(is_token(value) for value in unknown)
    assert not any(is_token(value) for value in known)
    for value in [item for item in (*unknown, *known) if isinstance(item, (str, int, float))]:
        assert is_token(value) == cdk.Token.is_unresolved(value)


@jsii.implements(cdk.IStableStringProducer)
class _Producer:
    def produce(self) -> str:
        return "later"


@given(st.text(alphabet="ab./", max_size=12))
def test_takes_exactly_the_prefixes_that_sagemaker_mounts(prefix: str) -> None:
    parts = prefix.split("/")
    mountable = prefix == "" or (
        parts[-1] == ""
        and len(parts) > 1
        and all(part not in ("", ".", "..") for part in parts[:-1])
    )
    try:
        S3Location("my-models", prefix)
    except LmiError as error:
        assert not mountable
        (finding,) = error.findings
        S3Location("my-models", finding.fix.removeprefix("write ").strip("'"))
    else:
        assert mountable


def test_shows_a_faulty_value_only_once(stack: cdk.Stack) -> None:
    with pytest.raises(LmiError) as raised:
        LmiModel(
            stack,
            "Model",
            model_data=ModelData.s3_prefix("my-models", "m/"),
            environment={"OPTION_DTYPE": "fp8"},
        )
    said = [(finding.rule, finding.where) for finding in raised.value.findings]
    assert len(said) == len(set(said))


def test_renders_number_tokens_in_settings(stack: cdk.Stack, resources: Any) -> None:
    number: Any = cdk.CfnParameter(stack, "Length", type="Number").value_as_number
    lazy: Any = cdk.Lazy.number(_Number())
    LmiModel(
        stack,
        "Model",
        model_data=ModelData.s3_prefix("my-models", "m/"),
        settings=LmiSettings(
            max_model_len=number,
            max_rolling_batch_size=lazy,
            hf_overrides={"rope": {"factor": number, "kind": "yarn"}},
            engine_args={"long_prefill_token_threshold": number},
        ),
    )
    (model,) = resources(stack, "AWS::SageMaker::Model")
    environment = model["PrimaryContainer"]["Environment"]
    assert environment["OPTION_MAX_MODEL_LEN"] == {"Ref": "Length"}
    assert environment["OPTION_MAX_ROLLING_BATCH_SIZE"] == "64"
    assert environment["OPTION_LONG_PREFILL_TOKEN_THRESHOLD"] == {"Ref": "Length"}
    parts = environment["OPTION_HF_OVERRIDES"]["Fn::Join"][1]
    assert parts == ['{"rope":{"factor":', {"Ref": "Length"}, ',"kind":"yarn"}}']


@jsii.implements(cdk.IStableNumberProducer)
class _Number:
    def produce(self) -> int:
        return 64


@pytest.mark.parametrize(
    "setting",
    ["max_model_len", "tensor_parallel_degree", "quantize", "kv_cache_dtype", "dtype"],
)
def test_plans_nothing_where_a_setting_is_known_only_at_deployment(
    stack: cdk.Stack, reported: Any, setting: str
) -> None:
    given: Any = {setting: cdk.CfnParameter(stack, "Given").value_as_string}
    endpoint = LmiEndpoint(
        stack,
        "Chat",
        model_data=ModelData.hub("Qwen/Qwen3-14B"),  # which does not fit as it is
        instance_type="ml.g6.2xlarge",
        settings=LmiSettings(**given),
    )
    assert endpoint.plan is not None
    assert endpoint.plan.grade == "unknown"
    assert "LMI050" not in {rule for rule, _ in reported(stack)}
