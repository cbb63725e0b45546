"""What several tests of fleets need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_applicationautoscaling as autoscaling

from lmi_constructs import (
    AdapterData,
    LmiError,
    LmiFleet,
    LmiInferenceComponent,
    LmiSettings,
    ManagedInstanceScaling,
    ModelData,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from lmi_constructs.hosting import ScalableCopyCount

COMPONENT = "AWS::SageMaker::InferenceComponent"
QWEN = ModelData.s3_prefix("my-models", "qwen3-8b/", architecture="Qwen/Qwen3-8B")
SETTINGS = LmiSettings(
    tensor_parallel_degree=1, max_model_len=8192, enable_lora=True, max_rolling_batch_size=32
)
ARCHIVE = AdapterData.s3_archive("tenants", "a.tar.gz")
NIGHTLY = autoscaling.Schedule.cron(hour="3", minute="0")
STEPS = [
    autoscaling.ScalingInterval(upper=2, change=-1),
    autoscaling.ScalingInterval(lower=8, change=1),
]


def fleet_in(stack: cdk.Stack, id: str = "Fleet", **keywords: Any) -> LmiFleet:
    given = {
        "instance_type": "ml.g6.12xlarge",
        "managed_instance_scaling": ManagedInstanceScaling(0, 2),
        **keywords,
    }
    return LmiFleet(stack, id, **given)


def component_on(fleet: Any, id: str = "Chat", *, scope: Any = None, **keywords: Any) -> Any:
    given = {
        "fleet": fleet,
        "model_data": QWEN,
        "settings": SETTINGS,
        "min_memory": cdk.Size.gibibytes(16),
        **keywords,
    }
    return LmiInferenceComponent(scope or cdk.Stack.of(fleet), id, **given)


def scaling_of(stack: cdk.Stack) -> ScalableCopyCount:
    chat = component_on(fleet_in(stack))
    made: ScalableCopyCount = chat.auto_scale_copy_count(min_capacity=0, max_capacity=2)
    return made


def refused(make: Callable[[], object]) -> set[tuple[str, str | None]]:
    """Return rule and keyword of all that is wrong, each with something to write instead."""
    with pytest.raises(LmiError) as error:
        make()
    assert all(finding.fix for finding in error.value.findings)
    return {(finding.rule, finding.where) for finding in error.value.findings}
