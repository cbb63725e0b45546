"""A chat model whose GPUs cost nothing while nobody asks."""

import aws_cdk as cdk

from lmi_constructs import (
    LmiFleet,
    LmiInferenceComponent,
    LmiSettings,
    ManagedInstanceScaling,
    ModelData,
)

app = cdk.App()
stack = cdk.Stack(app, "ScaleToZero")
models = app.node.try_get_context("model_bucket") or "my-models"
if models == "my-models":
    cdk.Annotations.of(stack).add_warning_v2(
        "example:bucket", "my-models stands for your bucket: give it with -c model_bucket=BUCKET"
    )
fleet = LmiFleet(
    stack,
    "Fleet",
    instance_type="ml.g6.12xlarge",
    managed_instance_scaling=ManagedInstanceScaling(min_instance_count=0, max_instance_count=2),
)
chat = LmiInferenceComponent(
    stack,
    "Chat",
    fleet=fleet,
    model_data=ModelData.s3_prefix(models, "qwen3-8b/", architecture="Qwen/Qwen3-8B"),
    settings=LmiSettings(tensor_parallel_degree=4, max_rolling_batch_size=32),
    min_memory=cdk.Size.gibibytes(32),
)
scaling = chat.auto_scale_copy_count(min_capacity=0, max_capacity=2)
scaling.scale_to_zero()
chat.add_no_capacity_alarm()
cdk.CfnOutput(stack, "EndpointName", value=fleet.endpoint_name)
cdk.CfnOutput(stack, "ComponentName", value=chat.component_name)

app.synth()
