"""A preset with scaling, alarms and outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aws_cdk as cdk

from lmi_constructs import ModelData
from lmi_constructs.presets import PRESETS

if TYPE_CHECKING:
    from constructs import Construct

    from lmi_constructs import LmiContainer, LmiSettings

FIRST_CHUNK_SECONDS = 10
"""Time to the first part of a streamed answer that an operator should hear of."""


class PresetStack(cdk.Stack):
    """One preset behind an endpoint that scales and complains.

    Attributes:
        endpoint: The endpoint.
        alarms: Its alarms.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        preset: str,
        model_bucket: str | None = None,
        model_prefix: str | None = None,
        settings: LmiSettings | None = None,
        instance_type: str | None = None,
        container: LmiContainer | None = None,
        max_capacity: int = 2,
        env: cdk.Environment | None = None,
    ) -> None:
        """Create the stack.

        Args:
            scope: The app.
            id: Name of the stack.
            preset: Name of the preset.
            model_bucket: Bucket with the model's files. Default: the hub.
            model_prefix: Prefix of the files. Default: the preset's name.
            settings: Settings that replace the preset's, one by one.
            instance_type: Default: the preset's.
            container: Default: the preset's.
            max_capacity: Most instances.
            env: Account and region.
        """
        super().__init__(scope, id, env=env)
        construct = PRESETS[preset]
        model_data = None
        if model_bucket is not None:
            model_data = ModelData.s3_prefix(
                model_bucket,
                f"{preset}/" if model_prefix is None else model_prefix,
                architecture=construct.table.hub_id,
            )
        self.endpoint = construct(
            self,
            "Endpoint",
            model_data=model_data,
            settings=settings,
            instance_type=instance_type,
            container=container,
        )
        scaling = self.endpoint.auto_scale_instance_count(max_capacity=max_capacity)
        scaling.scale_on_concurrency("Concurrency")
        self.alarms = self.endpoint.add_alarms(
            p99_first_chunk_latency=cdk.Duration.seconds(FIRST_CHUNK_SECONDS)
        )

        model, variant = self.endpoint.model, self.endpoint.endpoint_config.variants[0]
        cdk.CfnOutput(self, "EndpointName", value=self.endpoint.endpoint_name)
        cdk.CfnOutput(self, "EndpointArn", value=self.endpoint.endpoint_arn)
        cdk.CfnOutput(self, "Image", value=model.image_uri if model else "")
        cdk.CfnOutput(self, "InstanceType", value=variant.variant.instance_type or "")
