"""How an update of a component replaces its copies, and what takes it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aws_cdk import aws_sagemaker as sagemaker

from lmi_constructs.findings import Finding
from lmi_constructs.hosting._rollout_checks import check_rollout
from lmi_constructs.hosting._units import seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lmi_constructs.hosting.rollout import Rollout

_Component = sagemaker.CfnInferenceComponent
_SOURCE: Final = "botocore 1.44.8 sagemaker 2017-07-24 InferenceComponentRollingUpdatePolicy"


def check_update(rollout: Rollout, copy_count: int) -> list[Finding]:
    """Check how copies are replaced."""
    if rollout.kind == "ROLLING":
        return check_rollout(rollout, "rollout", copy_count)
    return [
        Finding(
            rule="LMI070",
            message=f"{rollout.kind} of a component",
            why="SageMaker replaces the copies of a component in batches only",
            fix="use Rollout.rolling(percent=..., bake_time=...)",
            where="rollout",
            source=_SOURCE,
        )
    ]


def update_config(
    rollout: Rollout, alarm_names: Sequence[str]
) -> sagemaker.CfnInferenceComponent.InferenceComponentDeploymentConfigProperty:
    """Return the L1 property."""
    return _Component.InferenceComponentDeploymentConfigProperty(
        rolling_update_policy=_Component.InferenceComponentRollingUpdatePolicyProperty(
            maximum_batch_size=_Component.InferenceComponentCapacitySizeProperty(
                type="CAPACITY_PERCENT", value=rollout.percent
            ),
            wait_interval_in_seconds=seconds(rollout.bake_time, "bake_time") or 0,
            maximum_execution_timeout_in_seconds=seconds(rollout.maximum_time, "maximum_time"),
        ),
        auto_rollback_configuration=_Component.AutoRollbackConfigurationProperty(
            alarms=[_Component.AlarmProperty(alarm_name=name) for name in alarm_names]
        ),
    )
