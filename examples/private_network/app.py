"""An endpoint in a network without the internet, with keys of one's own."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3

from lmi_constructs import DataCapture, LmiEndpoint, LmiSettings, ModelData

app = cdk.App()
foundation = cdk.Stack(app, "Foundation")
vpc = ec2.Vpc(
    foundation,
    "Vpc",
    max_azs=2,
    nat_gateways=0,
    subnet_configuration=[
        ec2.SubnetConfiguration(name="Models", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED)
    ],
)
vpc.add_gateway_endpoint("S3", service=ec2.GatewayVpcEndpointAwsService.S3)
for name, service in (
    ("Logs", ec2.InterfaceVpcEndpointAwsService.CLOUDWATCH_LOGS),
    ("Metrics", ec2.InterfaceVpcEndpointAwsService.CLOUDWATCH_MONITORING),
    ("Callers", ec2.InterfaceVpcEndpointAwsService.SAGEMAKER_RUNTIME),
):
    vpc.add_interface_endpoint(name, service=service)
key = kms.Key(foundation, "Key", enable_key_rotation=True)
bucket = s3.Bucket(
    foundation,
    "Models",
    encryption_key=key,
    bucket_key_enabled=True,
    block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
    enforce_ssl=True,
)
cdk.CfnOutput(foundation, "Bucket", value=bucket.bucket_name)
cdk.CfnOutput(foundation, "KeyArn", value=key.key_arn)

chat = cdk.Stack(app, "Chat")
endpoint = LmiEndpoint(  # no encryption_key: the disks of ml.g6 have keys of their own (LMI043)
    chat,
    "Chat",
    model_data=ModelData.s3_prefix(bucket, "qwen3-8b/", architecture="Qwen/Qwen3-8B"),
    instance_type="ml.g6.12xlarge",
    settings=LmiSettings(tensor_parallel_degree="max", max_rolling_batch_size=64),
    vpc=vpc,
    data_capture=DataCapture(bucket=bucket, prefix="captured/", sampling_percentage=10),
)
endpoint.add_alarms()
cdk.CfnOutput(chat, "EndpointName", value=endpoint.endpoint_name)

app.synth()
