"""One endpoint in several accounts and regions, smaller where it is only tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk

from lmi_constructs import LmiEndpoint, LmiSettings, ModelData

if TYPE_CHECKING:
    from constructs import Construct

STAGES = {
    "Test": {"account": "123456789012", "region": "us-east-1", "max_capacity": 1},
    "Europe": {"account": "210987654321", "region": "eu-central-1", "max_capacity": 4},
    "America": {"account": "210987654321", "region": "us-west-2", "max_capacity": 8},
}


class ChatStage(cdk.Stage):
    """Everything of one stage: the model lies in a bucket of its own region."""

    def __init__(
        self, scope: Construct, id: str, *, account: str, region: str, max_capacity: int
    ) -> None:
        """Create the stage."""
        super().__init__(scope, id, env=cdk.Environment(account=account, region=region))
        stack = cdk.Stack(self, "Chat")
        endpoint = LmiEndpoint(
            stack,
            "Endpoint",
            model_data=ModelData.s3_prefix(
                f"models-{account}-{region}", "qwen3-8b/", architecture="Qwen/Qwen3-8B"
            ),
            instance_type="ml.g6.12xlarge",
            settings=LmiSettings(tensor_parallel_degree="max", max_rolling_batch_size=64),
        )
        if max_capacity > 1:
            scaling = endpoint.auto_scale_instance_count(max_capacity=max_capacity)
            scaling.scale_on_concurrency("Load")
        endpoint.add_alarms()
        cdk.CfnOutput(stack, "EndpointName", value=endpoint.endpoint_name)


def build() -> dict[str, Any]:
    """Return the stages by name."""
    app = cdk.App()
    stages: dict[str, Any] = {name: ChatStage(app, name, **stage) for name, stage in STAGES.items()}
    app.synth()
    return stages


if __name__ == "__main__":
    build()
