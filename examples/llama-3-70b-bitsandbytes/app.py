"""Llama 3 70B Instruct, quantized by bitsandbytes while loading, on four L4 GPUs."""

import os

import aws_cdk as cdk

from lmi_constructs import ModelData, presets

app = cdk.App()
bucket = app.node.try_get_context("model_bucket") or "my-models"
environment = cdk.Environment(
    account=os.environ.get("CDK_DEFAULT_ACCOUNT"), region=os.environ.get("CDK_DEFAULT_REGION")
)
stack = cdk.Stack(app, "Llama370BBitsAndBytes", env=environment)

if bucket == "my-models":
    cdk.Annotations.of(stack).add_warning_v2(
        "example:bucket", "my-models stands for your bucket: give it with -c model_bucket=BUCKET"
    )
model_data = ModelData.s3_prefix(bucket, "llama-3-70b-bitsandbytes/")
endpoint = presets.Llama3_70BBitsAndBytes(stack, "Endpoint", model_data=model_data)
endpoint.auto_scale_instance_count(max_capacity=2).scale_on_concurrency("Concurrency")
endpoint.add_alarms(p99_first_chunk_latency=cdk.Duration.seconds(10))
cdk.CfnOutput(stack, "EndpointName", value=endpoint.endpoint_name)

app.synth()
