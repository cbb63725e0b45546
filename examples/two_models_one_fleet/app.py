"""A chat model and a code model that share the GPUs of one instance."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from lmi_constructs import (
    LmiFleet,
    LmiInferenceComponent,
    LmiSettings,
    ManagedInstanceScaling,
    ModelData,
)

app = cdk.App()
stack = cdk.Stack(app, "TwoModels")
models = app.node.try_get_context("model_bucket") or "my-models"
if models == "my-models":
    cdk.Annotations.of(stack).add_warning_v2(
        "example:bucket", "my-models stands for your bucket: give it with -c model_bucket=BUCKET"
    )
fleet = LmiFleet(
    stack,
    "Fleet",
    instance_type="ml.g6.12xlarge",
    managed_instance_scaling=ManagedInstanceScaling(min_instance_count=1, max_instance_count=3),
)
two_gpus = LmiSettings(tensor_parallel_degree=2, max_model_len=16384, max_rolling_batch_size=32)
chat = LmiInferenceComponent(
    stack,
    "Chat",
    fleet=fleet,
    model_data=ModelData.s3_prefix(models, "qwen3-14b/", architecture="Qwen/Qwen3-14B"),
    settings=two_gpus,
    min_memory=cdk.Size.gibibytes(32),
)
code = LmiInferenceComponent(
    stack,
    "Code",
    fleet=fleet,
    model_data=ModelData.s3_prefix(models, "qwen3-8b/", architecture="Qwen/Qwen3-8B"),
    settings=two_gpus,
    min_memory=cdk.Size.gibibytes(32),
)
for component, copies in ((chat, 4), (code, 2)):
    scaling = component.auto_scale_copy_count(max_capacity=copies)
    scaling.scale_on_concurrency("Concurrency")
fleet.add_dashboard(components=[chat, code])

editor = iam.Role(stack, "Editor", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
code.grant_invoke(editor)
cdk.CfnOutput(stack, "EndpointName", value=fleet.endpoint_name)
cdk.CfnOutput(stack, "ChatName", value=chat.component_name)
cdk.CfnOutput(stack, "CodeName", value=code.component_name)

app.synth()
