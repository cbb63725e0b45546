"""One base model, and for each tenant an adapter that only this tenant can call."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from lmi_constructs import (
    AdapterData,
    LmiFleet,
    LmiInferenceComponent,
    LmiSettings,
    ModelData,
    S3Location,
)

TENANTS = ("acme", "globex")

app = cdk.App()
stack = cdk.Stack(app, "MultiTenant")
models = app.node.try_get_context("model_bucket") or "my-models"
if models == "my-models":
    cdk.Annotations.of(stack).add_warning_v2(
        "example:bucket", "my-models stands for your bucket: give it with -c model_bucket=BUCKET"
    )
fleet = LmiFleet(stack, "Fleet", instance_type="ml.g6.12xlarge")
base = LmiInferenceComponent(
    stack,
    "Base",
    fleet=fleet,
    model_data=ModelData.s3_prefix(models, "qwen3-8b/", architecture="Qwen/Qwen3-8B"),
    settings=LmiSettings(
        tensor_parallel_degree=4, enable_lora=True, max_loras=4, max_lora_rank=32, max_cpu_loras=16
    ),
    min_memory=cdk.Size.gibibytes(32),
    adapter_location=S3Location(models, "adapters/"),
)
for tenant in TENANTS:
    archive = AdapterData.s3_archive(models, f"adapters/{tenant}-v1.tar.gz", rank=16)
    adapter = base.add_adapter(tenant, archive, component_name=f"{tenant}-adapter")
    cdk.Tags.of(adapter).add("tenant", tenant)
    caller = iam.Role(
        stack, f"{tenant}-caller", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com")
    )
    adapter.grant_invoke(caller)
cdk.CfnOutput(stack, "EndpointName", value=fleet.endpoint_name)
cdk.CfnOutput(stack, "BaseName", value=base.component_name)

app.synth()
