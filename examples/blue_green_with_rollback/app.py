"""A new version takes a quarter of the traffic first, and goes back by itself if it is worse."""

import aws_cdk as cdk

from lmi_constructs import LmiEndpoint, LmiSettings, ModelData, Rollout

app = cdk.App()
stack = cdk.Stack(app, "Guarded")
bucket = app.node.try_get_context("model_bucket") or "my-models"
max_model_len = int(app.node.try_get_context("max_model_len") or 16384)
if bucket == "my-models":
    cdk.Annotations.of(stack).add_warning_v2(
        "example:bucket", "my-models stands for your bucket: give it with -c model_bucket=BUCKET"
    )
endpoint = LmiEndpoint(
    stack,
    "Chat",
    model_data=ModelData.s3_prefix(bucket, "qwen3-8b/", architecture="Qwen/Qwen3-8B"),
    instance_type="ml.g6.12xlarge",
    initial_instance_count=4,
    settings=LmiSettings(tensor_parallel_degree="max", max_model_len=max_model_len),
    deployment=Rollout.canary(
        percent=25,
        bake_time=cdk.Duration.minutes(10),
        termination_wait=cdk.Duration.minutes(10),
    ),
)
alarms = endpoint.add_alarms(p99_first_chunk_latency=cdk.Duration.seconds(5))
endpoint.roll_back_on(alarms)
cdk.CfnOutput(stack, "EndpointName", value=endpoint.endpoint_name)
cdk.CfnOutput(stack, "ErrorAlarm", value=alarms.error_rate.alarm_name if alarms.error_rate else "")

app.synth()
