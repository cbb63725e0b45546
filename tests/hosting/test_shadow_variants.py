"""A shadow variant is observed like any other, and scaled or rolled back by nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lmi_constructs import LmiEndpoint, LmiEndpointConfig, LmiModel, LmiVariant, ModelData
from tests.hosting.fleets import refused

if TYPE_CHECKING:
    import aws_cdk as cdk


@pytest.fixture
def endpoint(stack: cdk.Stack) -> LmiEndpoint:
    def variant(name: str) -> LmiVariant:
        data = ModelData.s3_prefix("my-models", f"{name}/")
        model = LmiModel(stack, f"Model{name}", model_data=data)
        return LmiVariant(model=model, instance_type="ml.g6.12xlarge", variant_name=name)

    config = LmiEndpointConfig(
        stack, "Config", variants=[variant("now")], shadow_variants=[variant("next")]
    )
    return LmiEndpoint(stack, "Chat", endpoint_config=config)


def test_a_metric_of_the_shadow_can_be_compared(endpoint: LmiEndpoint) -> None:
    shown = endpoint.metric("ModelLatency", variant_name="next").dimensions or {}
    assert shown["VariantName"] == "next"
    answering = endpoint.metric("ModelLatency").dimensions or {}
    assert answering["VariantName"] == "now"


def test_both_have_alarms_and_dashboards(
    endpoint: LmiEndpoint, stack: cdk.Stack, resources: Any, reported: Any
) -> None:
    for name in (None, "next"):
        endpoint.add_alarms(variant_name=name, disk_utilization=None, memory_utilization=None)
        endpoint.add_dashboard(variant_name=name)
    watched = [
        dimension["Value"]
        for alarm in resources(stack, "AWS::CloudWatch::Alarm")
        for dimension in alarm["Dimensions"]
        if dimension["Name"] == "VariantName"
    ]
    assert set(watched) == {"now", "next"}
    assert len(resources(stack, "AWS::CloudWatch::Dashboard")) == 2
    assert "LMI089" not in {rule for rule, _ in reported(stack)}


def test_nothing_scales_the_shadow(endpoint: LmiEndpoint) -> None:
    assert refused(
        lambda: endpoint.auto_scale_instance_count(max_capacity=2, variant_name="next")
    ) == {("LMI069", "variant_name")}


def test_another_name_is_refused_with_all_that_there_are(endpoint: LmiEndpoint) -> None:
    with pytest.raises(ValueError, match="variant 'other' is not one of 'now', 'next'"):
        endpoint.metric("ModelLatency", variant_name="other")
