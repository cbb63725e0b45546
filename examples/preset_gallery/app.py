"""Every preset, one stack each: `cdk ls`, then deploy the one you want."""

import aws_cdk as cdk

from lmi_constructs import ModelData
from lmi_constructs.presets import PRESETS

app = cdk.App()
bucket = app.node.try_get_context("model_bucket") or "my-models"
environment = cdk.Environment(account="123456789012", region="us-east-1")

stacks = {}
for name, preset in PRESETS.items():
    stack = cdk.Stack(app, preset.__name__.replace("_", "-"), env=environment)
    if bucket == "my-models":
        cdk.Annotations.of(stack).add_warning_v2(
            "example:bucket",
            "my-models stands for your bucket: give it with -c model_bucket=BUCKET",
        )
    data = ModelData.s3_prefix(bucket, f"{name}/", architecture=preset.table.hub_id)
    endpoint = preset(stack, "Endpoint", model_data=data)
    cdk.CfnOutput(stack, "EndpointName", value=endpoint.endpoint_name)
    stacks[name] = stack

app.synth()
