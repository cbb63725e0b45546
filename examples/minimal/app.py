"""One endpoint: a model in your bucket, an instance type, and nothing else."""

import aws_cdk as cdk

from lmi_constructs import LmiEndpoint, ModelData

app = cdk.App()
stack = cdk.Stack(app, "Minimal")
bucket = app.node.try_get_context("model_bucket") or "my-models"
if bucket == "my-models":
    cdk.Annotations.of(stack).add_warning_v2(
        "example:bucket", "my-models stands for your bucket: give it with -c model_bucket=BUCKET"
    )
endpoint = LmiEndpoint(
    stack,
    "Chat",
    model_data=ModelData.s3_prefix(bucket, "qwen3-8b/", architecture="Qwen/Qwen3-8B"),
    instance_type="ml.g6.12xlarge",
)
cdk.CfnOutput(stack, "EndpointName", value=endpoint.endpoint_name)

app.synth()
