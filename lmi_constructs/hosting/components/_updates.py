"""How an update of a component replaces its copies, and what takes it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aws_cdk import aws_sagemaker as sagemaker

from lmi_constructs.findings import Finding
from lmi_constructs.hosting._tokens import is_token
from lmi_constructs.hosting._units import seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lmi_constructs.hosting.rollout import Rollout

_Component = sagemaker.CfnInferenceComponent
_SOURCE: Final = "botocore 1.44.8 sagemaker 2017-07-24 InferenceComponentRollingUpdatePolicy"
_LEAST_PERCENT, _MOST_PERCENT = 5, 50
_LONGEST_SECONDS: Final = 3600
_MOST_ALARMS: Final = 10


def check_update(rollout: Rollout, alarm_count: int) -> list[Finding]:
    """Check how copies are replaced, and what should take the update back."""
    wait = seconds(rollout.bake_time, "bake_time")
    rows = (
        (
            rollout.kind != "ROLLING",
            "LMI070",
            f"{rollout.kind} of a component",
            "SageMaker replaces the copies of a component in batches only",
            "use Rollout.rolling(percent=..., bake_time=...)",
        ),
        (
            not is_token(rollout.percent)
            and not _LEAST_PERCENT <= rollout.percent <= _MOST_PERCENT,
            "LMI071",
            f"percent is {rollout.percent}",
            f"SageMaker takes {_LEAST_PERCENT} to {_MOST_PERCENT}",
            f"give {_LEAST_PERCENT} to {_MOST_PERCENT}",
        ),
        (
            wait is not None and not is_token(wait) and wait > _LONGEST_SECONDS,
            "LMI071",
            f"bake_time is {wait} seconds",
            f"SageMaker waits at most {_LONGEST_SECONDS}",
            "give up to an hour",
        ),
        (
            not 1 <= alarm_count <= _MOST_ALARMS,
            "LMI073",
            f"{alarm_count} alarms to roll back on",
            f"SageMaker takes 1 to {_MOST_ALARMS}",
            "name the alarms on errors and latencies",
        ),
    )
    wrong = rows[:1] if rows[0][0] else rows[1:]
    return [
        Finding(rule=rule, message=message, why=why, fix=fix, where="rollout", source=_SOURCE)
        for fails, rule, message, why, fix in wrong
        if fails
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
