"""Topics that alarms speak to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs.findings import Finding
from lmi_constructs.hosting._cdk_tokens import is_token
from lmi_constructs.hosting._stack_environment import StackEnvironment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aws_cdk import aws_sns as sns
    from constructs import Construct


def check_topics(scope: Construct, topics: Mapping[str, sns.ITopic | None]) -> list[Finding]:
    """Check that topics, by their keywords, are in the region of the alarms."""
    here = StackEnvironment.of(scope).region
    regions = {name: topic.env.region for name, topic in topics.items() if topic is not None}
    return [
        Finding(
            rule="LMI088",
            message=f"{name} is in region {region}, the alarms are in {here}",
            why="CloudWatch refuses the alarm: Invalid region specified",
            fix=f"give a topic in {here}; its subscribers may be elsewhere",
            where=name,
            source="https://github.com/cds-snc/notification-terraform/pull/128",
        )
        for name, region in regions.items()
        if region != here and not is_token(region) and not is_token(here)
    ]
