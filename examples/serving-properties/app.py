"""Llama 3.2 3B, configured by the serving.properties that lies beside its weights."""

import os
from pathlib import Path

import aws_cdk as cdk

from lmi_constructs import LmiEndpoint, ModelData
from lmi_constructs.presets import Llama3_2_3B

table = Llama3_2_3B.table
app = cdk.App()
bucket = app.node.try_get_context("model_bucket") or "my-models"
environment = cdk.Environment(
    account=os.environ.get("CDK_DEFAULT_ACCOUNT"), region=os.environ.get("CDK_DEFAULT_REGION")
)
stack = cdk.Stack(app, "ServingProperties", env=environment)

if bucket == "my-models":
    cdk.Annotations.of(stack).add_warning_v2(
        "example:bucket", "my-models stands for your bucket: give it with -c model_bucket=BUCKET"
    )
endpoint = LmiEndpoint(
    stack,
    "Endpoint",
    model_data=ModelData.s3_prefix(
        bucket,
        "llama-3.2-3b/",
        architecture=table.hub_id,
        serving_properties=Path(__file__).with_name("serving.properties").read_text("utf-8"),
    ),
    instance_type=str(table.instance_type.value),
)
endpoint.auto_scale_instance_count(max_capacity=2).scale_on_concurrency("Concurrency")
endpoint.add_alarms(p99_first_chunk_latency=cdk.Duration.seconds(10))
cdk.CfnOutput(stack, "EndpointName", value=endpoint.endpoint_name)

app.synth()
