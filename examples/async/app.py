"""A queue in front of a model that costs nothing while nobody asks."""

import aws_cdk as cdk
from aws_cdk import aws_s3 as s3

from lmi_constructs import AsyncInference, LmiEndpoint, LmiSettings, ModelData

app = cdk.App()
stack = cdk.Stack(app, "Async")
bucket = s3.Bucket(
    stack,
    "Answers",
    block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
    enforce_ssl=True,
    lifecycle_rules=[s3.LifecycleRule(expiration=cdk.Duration.days(30))],
)
models = app.node.try_get_context("model_bucket") or "my-models"
if models == "my-models":
    cdk.Annotations.of(stack).add_warning_v2(
        "example:bucket", "my-models stands for your bucket: give it with -c model_bucket=BUCKET"
    )
endpoint = LmiEndpoint(
    stack,
    "Summaries",
    model_data=ModelData.s3_prefix(models, "qwen3-8b/", architecture="Qwen/Qwen3-8B"),
    instance_type="ml.g6.12xlarge",
    settings=LmiSettings(tensor_parallel_degree="max", max_rolling_batch_size=32),
    async_inference=AsyncInference(
        bucket=bucket, output_prefix="answers/", failure_prefix="failures/"
    ),
)
scaling = endpoint.auto_scale_instance_count(min_capacity=0, max_capacity=4)
scaling.scale_on_backlog("Backlog", target_per_instance=16)
cdk.CfnOutput(stack, "EndpointName", value=endpoint.endpoint_name)
cdk.CfnOutput(stack, "Bucket", value=bucket.bucket_name)

app.synth()
