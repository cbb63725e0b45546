"""What components publish under their own names, as AWS's page names it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lmi_constructs.checks.examples import Example
from lmi_constructs.facts.metrics import component_metrics
from tests.checks.support import findings
from tests.hosting.fleets import ARCHIVE, component_on, fleet_in

if TYPE_CHECKING:
    import aws_cdk as cdk

    from lmi_constructs import LmiInferenceComponent

REQUESTS = "AWS/SageMaker"
UTILIZATION = "/aws/sagemaker/InferenceComponents"


@pytest.mark.parametrize(
    ("method", "name", "namespace", "statistic"),
    [
        ("metric_invocations", "Invocations", REQUESTS, "Sum"),
        ("metric_invocations_per_copy", "InvocationsPerCopy", REQUESTS, "Sum"),
        ("metric_concurrent_requests_per_copy", "ConcurrentRequestsPerCopy", REQUESTS, "Maximum"),
        ("metric_4xx_errors", "Invocation4XXErrors", REQUESTS, "Average"),
        ("metric_5xx_errors", "Invocation5XXErrors", REQUESTS, "Average"),
        ("metric_model_latency", "ModelLatency", REQUESTS, "p99"),
        ("metric_gpu_utilization", "GPUUtilizationNormalized", UTILIZATION, "Average"),
        ("metric_gpu_memory_utilization", "GPUMemoryUtilizationNormalized", UTILIZATION, "Average"),
        ("metric_cpu_utilization", "CPUUtilizationNormalized", UTILIZATION, "Average"),
        ("metric_memory_utilization", "MemoryUtilizationNormalized", UTILIZATION, "Average"),
    ],
)
def test_a_metric_has_the_components_dimension(
    stack: cdk.Stack, method: str, name: str, namespace: str, statistic: str
) -> None:
    chat: LmiInferenceComponent = component_on(fleet_in(stack), component_name="chat")
    metric: Any = getattr(chat, method)()
    assert (metric.metric_name, metric.namespace, metric.statistic) == (name, namespace, statistic)
    assert metric.dimensions == {"InferenceComponentName": "chat"}


def test_a_tenants_adapter_has_metrics_of_its_own(stack: cdk.Stack) -> None:
    adapter = component_on(fleet_in(stack)).add_adapter("Acme", ARCHIVE, component_name="acme")
    assert adapter.metric_5xx_errors().dimensions == {"InferenceComponentName": "acme"}


@pytest.mark.parametrize("name", component_metrics())
def test_the_rules_have_nothing_against_a_known_metric(name: str) -> None:
    row = component_metrics()[name]
    alarm = {
        "Type": "AWS::CloudWatch::Alarm",
        "Properties": {
            "Namespace": row.namespace,
            "MetricName": name,
            "Dimensions": [{"Name": "InferenceComponentName", "Value": "chat"}],
            "Threshold": 1_000_000,
            "ComparisonOperator": "GreaterThanThreshold",
        },
    }
    assert findings(Example({"Own": alarm}, base="components")) == ()
