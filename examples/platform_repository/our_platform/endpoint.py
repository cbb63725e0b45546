"""The endpoint of this company."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aws_cdk as cdk

from lmi_constructs import LmiEndpoint, LmiSettings

if TYPE_CHECKING:
    from aws_cdk import aws_ec2 as ec2
    from aws_cdk import aws_sns as sns
    from constructs import Construct

    from lmi_constructs import ModelData

STREAM_STARTS_WITHIN = cdk.Duration.seconds(10)


class OurEndpoint(LmiEndpoint):
    """An endpoint in our network that scales, and tells the team when something is wrong.

    Attributes:
        alarms: Its alarms.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        model_data: ModelData,
        instance_type: str,
        team: str,
        vpc: ec2.IVpc,
        topic: sns.ITopic,
        settings: LmiSettings | None = None,
        max_capacity: int = 2,
    ) -> None:
        """Create an endpoint.

        Args:
            scope: Parent.
            id: Id within the parent.
            model_data: Where the model's files come from.
            instance_type: SageMaker's name of the instance type.
            team: Who pays, and is told.
            vpc: Our network.
            topic: Topic that hears of alarms.
            settings: Settings that replace ours.
            max_capacity: Most instances.
        """
        super().__init__(
            scope,
            id,
            model_data=model_data,
            instance_type=instance_type,
            settings=settings
            or LmiSettings(tensor_parallel_degree="max", max_rolling_batch_size=64),
            vpc=vpc,
        )
        self.auto_scale_instance_count(max_capacity=max_capacity).scale_on_concurrency("Load")
        self.alarms = self.add_alarms(topic=topic, p99_first_chunk_latency=STREAM_STARTS_WITHIN)
        cdk.Tags.of(self).add("team", team)
