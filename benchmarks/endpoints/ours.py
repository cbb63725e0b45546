"""The endpoint of the benchmark, with `LmiEndpoint`."""

from __future__ import annotations

import aws_cdk as cdk

from lmi_constructs import LmiEndpoint, LmiSettings, ModelData


def endpoint(stack: cdk.Stack, id: str) -> None:
    """Write an endpoint with scaling and two alarms."""
    endpoint = LmiEndpoint(
        stack,
        id,
        model_data=ModelData.s3_prefix("my-models", "qwen3-8b/"),
        instance_type="ml.g6.12xlarge",
        settings=LmiSettings(max_rolling_batch_size=64),
    )
    endpoint.auto_scale_instance_count(max_capacity=4).scale_on_concurrency("Concurrency")
    endpoint.add_alarms(
        p99_latency=cdk.Duration.seconds(30),
        concurrent_requests=None,
        disk_utilization=None,
        memory_utilization=None,
    )
