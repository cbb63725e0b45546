"""Features of an endpoint as they are misused: nothing is dropped, and nothing ends in a traceback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns

from lmi_constructs import (
    AsyncInference,
    CapacityReservation,
    CoreDump,
    DataCapture,
    InstancePool,
    LmiEndpoint,
    LmiEndpointConfig,
    LmiModel,
    LmiVariant,
    ManagedInstanceScaling,
    ModelData,
    Routing,
)
from tests.hosting.fleets import refused

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = ModelData.s3_prefix("my-models", "m/")
TOKEN: Any = cdk.Token.as_number({"Ref": "Number"})
TEXT: Any = cdk.Token.as_string({"Ref": "Text"})
SUCCESS: Any = "SUCCESS_NOTIFICATION_TOPIC"
ISOLATED = [ec2.SubnetConfiguration(name="p", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED)]


def answers(**keywords: Any) -> AsyncInference:
    return AsyncInference(**{"bucket": "answers", "output_prefix": "a/", **keywords})


def endpoint_in(stack: cdk.Stack, **keywords: Any) -> LmiEndpoint:
    given = {"model_data": DATA, "instance_type": "ml.g6.12xlarge", **keywords}
    return LmiEndpoint(stack, "Chat", **given)


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        (lambda: answers(include_response_in=[SUCCESS]), ("LMI068", "include_response_in")),
        (lambda: answers(output_prefix="out"), ("LMI020", "output_prefix")),
        (lambda: answers(output_prefix="out.zip"), ("LMI020", "output_prefix")),
        (lambda: answers(failure_prefix="/f/"), ("LMI021", "failure_prefix")),
        (lambda: answers(bucket="s3://answers"), ("LMI025", "bucket")),
        (lambda: DataCapture(bucket="captured", prefix="c"), ("LMI020", "prefix")),
        (lambda: CoreDump("dumps", "s3://dumps/c/"), ("LMI021", "prefix")),
        (lambda: Routing("KV_AWARE"), ("LMI010", "strategy")),
        (lambda: Routing("RANDOM", concurrency_threshold=4), ("LMI068", "concurrency_threshold")),
        (lambda: Routing("PREFIX_AWARE", 1024), ("LMI068", "concurrency_threshold")),
        (
            lambda: Routing.prefix_aware(prefix_length=1023, concurrency_threshold=4),
            ("LMI010", "prefix_length"),
        ),
        (lambda: InstancePool("ml.g6.12xlarge", 0), ("LMI010", "priority")),
        (lambda: InstancePool("ml.g6.12xlarge", 6), ("LMI010", "priority")),
        (lambda: CapacityReservation("my-plan"), ("LMI010", "arn")),
        (lambda: ManagedInstanceScaling(-1, 2), ("LMI010", "min_instance_count")),
        (
            lambda: ManagedInstanceScaling(0, 2, "CONSOLIDATION", 101),
            ("LMI010", "scale_in_maximum_step_size"),
        ),
        (
            lambda: ManagedInstanceScaling(0, 2, "CONSOLIDATION", 1, 4),
            ("LMI010", "scale_in_cooldown_minutes"),
        ),
    ],
)
def test_refuses_what_would_be_dropped_or_refused_later(
    make: Callable[[], object], fault: tuple[str, str]
) -> None:
    assert refused(make) == {fault}


def test_a_topic_of_answers_is_named_once(stack: cdk.Stack) -> None:
    topic = sns.Topic(stack, "Topic")
    twice = {"success_topic": topic, "include_response_in": [SUCCESS, SUCCESS]}
    assert refused(lambda: answers(**twice)) == {("LMI010", "include_response_in")}


@pytest.mark.parametrize(
    "value",
    [
        Routing.prefix_aware(prefix_length=1024, concurrency_threshold=1024),
        Routing(TEXT, TOKEN, TOKEN),
        InstancePool(TEXT, TOKEN),
        ManagedInstanceScaling(0, 2, "IDLE_RELEASE", 100, 1440),
        ManagedInstanceScaling(TOKEN, TOKEN),
        CapacityReservation(TEXT),
        CapacityReservation("arn:aws-cn:sagemaker:cn-north-1:123456789012:training-plan/mine"),
        CoreDump(TEXT, TEXT),
        DataCapture(bucket=TEXT, prefix=TEXT, sampling_percentage=TOKEN),
        AsyncInference(bucket=TEXT, output_prefix=TEXT, failure_prefix=TEXT),
    ],
)
def test_bounds_and_tokens_are_taken(value: Any) -> None:
    assert value.render() is not None


def test_may_publish_to_a_topic_with_a_key_of_its_own(stack: cdk.Stack, resources: Any) -> None:
    key = kms.Key(stack, "Key")
    endpoint_in(
        stack,
        async_inference=answers(success_topic=sns.Topic(stack, "Topic", master_key=key)),
    )
    (policy,) = resources(stack, "AWS::IAM::Policy")
    assert {
        "Action": ["kms:Decrypt", "kms:GenerateDataKey*"],
        "Effect": "Allow",
        "Resource": stack.resolve(key.key_arn),
    } in policy["PolicyDocument"]["Statement"]


def variant_in(stack: cdk.Stack, name: str, **keywords: Any) -> LmiVariant:
    model = LmiModel(stack, f"Model{name}", model_data=DATA)
    given = {"instance_type": "ml.g6.12xlarge", **keywords}
    return LmiVariant(model=model, variant_name=name, **given)


def test_a_weight_is_a_number(stack: cdk.Stack) -> None:
    one = variant_in(stack, "a", weight=None)
    assert refused(lambda: LmiEndpointConfig(stack, "Config", variants=[one])) == {
        ("LMI010", "weight")
    }


@pytest.mark.parametrize(("weights", "warned"), [((0, 0), True), ((0, 1), False)])
def test_warns_of_traffic_that_goes_nowhere(
    stack: cdk.Stack, reported: Any, weights: tuple[float, float], warned: bool
) -> None:
    variants = [variant_in(stack, f"v{number}", weight=one) for number, one in enumerate(weights)]
    LmiEndpointConfig(stack, "Config", variants=variants)
    assert (("LMI010", "Stack/Config") in reported(stack)) is warned


@pytest.mark.parametrize(("feature", "warned"), [(answers(), True), (None, False)])
def test_warns_of_a_shadow_of_an_asynchronous_endpoint(
    stack: cdk.Stack, reported: Any, feature: AsyncInference | None, warned: bool
) -> None:
    LmiEndpointConfig(
        stack,
        "Config",
        variants=[variant_in(stack, "a")],
        shadow_variants=[variant_in(stack, "b")],
        async_inference=feature,
    )
    assert (("LMI068", "Stack/Config") in reported(stack)) is warned


def test_has_five_pools_at_most(stack: cdk.Stack) -> None:
    pools = [InstancePool(f"ml.g6.{size}xlarge", 1) for size in (2, 4, 8, 12, 16, 24)]
    one = variant_in(stack, "a", instance_type=None, instance_pools=pools)
    assert refused(lambda: LmiEndpointConfig(stack, "Config", variants=[one])) == {
        ("LMI010", "instance_pools")
    }


def test_a_configuration_leaves_no_keyword_without_effect(stack: cdk.Stack) -> None:
    config = LmiEndpointConfig(stack, "Config", variants=[variant_in(stack, "a")])
    for given in ({"variant_name": "other"}, {"initial_instance_count": 7}):
        wrong = {"endpoint_config": config, **given}
        assert refused(lambda wrong=wrong: LmiEndpoint(stack, "Chat", **wrong)) == {  # type: ignore[misc]
            ("LMI068", "endpoint_config")
        }
        stack.node.try_remove_child("Chat")


@pytest.mark.parametrize(
    ("keywords", "keyword"),
    [
        (lambda stack: {"vpc": ec2.Vpc(stack, "Vpc", subnet_configuration=[])}, "vpc"),
        (
            lambda stack: {
                "vpc": ec2.Vpc(stack, "Vpc", subnet_configuration=ISOLATED),
                "vpc_subnets": ec2.SubnetSelection(subnet_type=ec2.SubnetType.PUBLIC),
            },
            "vpc_subnets",
        ),
        (lambda stack: {"vpc": ec2.Vpc(stack, "Vpc"), "security_groups": []}, "security_groups"),
    ],
    ids=["a VPC without subnets", "subnets that it has not", "no group"],
)
def test_a_network_has_subnets_and_groups(
    stack: cdk.Stack, keywords: Callable[[cdk.Stack], dict[str, Any]], keyword: str
) -> None:
    given = keywords(stack)
    assert refused(lambda: endpoint_in(stack, **given)) == {("LMI096", keyword)}


def test_may_encrypt_core_dumps_with_their_key(stack: cdk.Stack, resources: Any) -> None:
    key = kms.Key(stack, "Key")
    endpoint_in(stack, core_dump=CoreDump("dumps", "d/", encryption_key=key))
    (policy,) = resources(stack, "AWS::IAM::Policy")
    actions = [
        statement["Action"]
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Resource"] == stack.resolve(key.key_arn)
    ]
    assert "kms:Encrypt" in str(actions)
    assert "kms:GenerateDataKey" in str(actions)
