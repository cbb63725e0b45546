"""The nearest that the alpha L2 of the CDK makes of the benchmark's endpoint.

It knows neither S3 prefixes nor host images nor the concurrency metric, so that its template
differs; only its time is compared.
"""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sagemaker_alpha as alpha


def endpoint(stack: cdk.Stack, id: str) -> None:
    """Write an endpoint with the alpha L2."""
    bucket = s3.Bucket.from_bucket_name(stack, f"{id}Bucket", "my-models")
    model = alpha.Model(
        stack,
        f"{id}Model",
        network_isolation=True,
        containers=[
            alpha.ContainerDefinition(
                image=alpha.ContainerImage.from_dlc("djl-inference", "0.36.0-lmi27.0.0-cu130"),
                environment={"OPTION_MAX_ROLLING_BATCH_SIZE": "64"},
                model_data=alpha.ModelData.from_bucket(bucket, "qwen3-8b/model.tar.gz"),
            )
        ],
    )
    config = alpha.EndpointConfig(
        stack,
        f"{id}Config",
        instance_production_variants=[
            alpha.InstanceProductionVariantProps(
                model=model,
                variant_name="AllTraffic",
                instance_type=alpha.InstanceType.of("ml.g6.12xlarge"),
                initial_instance_count=1,
                container_startup_health_check_timeout=cdk.Duration.hours(1),
            )
        ],
    )
    endpoint = alpha.Endpoint(stack, id, endpoint_config=config)
    variant = endpoint.find_instance_production_variant("AllTraffic")
    scaling = variant.auto_scale_instance_count(max_capacity=4)
    scaling.scale_on_invocations("Invocations", max_requests_per_second=1)
    errors = variant.metric_invocation_response_code(
        alpha.InvocationHttpResponseCode.INVOCATION_5XX_ERRORS, statistic="Average"
    )
    for name, metric, threshold in (
        ("ErrorRate", errors, 0.01),
        ("P99Latency", variant.metric_model_latency(statistic="p99"), 30_000_000),
    ):
        cloudwatch.Alarm(
            stack, f"{id}{name}", metric=metric, threshold=threshold, evaluation_periods=3
        )
