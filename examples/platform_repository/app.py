"""Two teams' endpoints, made with the platform's own construct."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_sns as sns
from our_platform import OurEndpoint, RolesUnderOurPath

from lmi_constructs import ModelData

app = cdk.App(property_injectors=[RolesUnderOurPath()])
stack = cdk.Stack(app, "Platform", env=cdk.Environment(account="123456789012", region="us-east-1"))
# Named, as zones that are looked up need credentials at synth.
vpc = ec2.Vpc(stack, "Network", availability_zones=["us-east-1a", "us-east-1b"])
topic = sns.Topic(stack, "Alarms")

for team, prefix, hub_id in (
    ("Search", "qwen3-8b/", "Qwen/Qwen3-8B"),
    ("Support", "gpt-oss-20b/", "openai/gpt-oss-20b"),
):
    OurEndpoint(
        stack,
        team,
        team=team.lower(),
        model_data=ModelData.s3_prefix("my-models", prefix, architecture=hub_id),
        instance_type="ml.g6.12xlarge",
        vpc=vpc,
        topic=topic,
    )

app.synth()
