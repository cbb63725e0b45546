"""The joint to container and planner: what the engine will do with an environment, and what fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs._near_names import meant
from lmi_constructs.container import verdict
from lmi_constructs.facts import instance_types
from lmi_constructs.findings import Finding
from lmi_constructs.hosting._cdk_tokens import is_token

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lmi_constructs.container import LmiContainer, Verdict
    from lmi_constructs.hosting.model_data import BoundModelData
    from lmi_constructs.planner import Architecture, Plan

_DEFAULT_LOADING_TIMEOUT_SECONDS = 1200
"""MODEL_LOADING_TIMEOUT of every image from 0.27 to 0.36 (djl-serving branches *-dlc)."""

_LOADING_TIMEOUT_VARIABLES = ("SAGEMAKER_STARTUP_TIMEOUT", "OPTION_MODEL_LOADING_TIMEOUT")


def judge(
    environment: Mapping[str, str],
    container: LmiContainer | None,
    data: BoundModelData,
    *,
    instance_type: str | None = None,
    accelerator_count: int | None = None,
) -> Verdict | None:
    """Return what a release does with an environment; `None` for an image nothing is known of."""
    if container is None:
        return None
    instance = instance_types().get(instance_type or "")
    gpus = None if is_token(accelerator_count) else accelerator_count
    if accelerator_count is None and instance is not None:
        gpus = instance.accelerator_count
    return verdict(
        environment,
        container,
        gpus=gpus,
        model_mounted=data.is_mounted,
        serving_properties=data.serving_properties,
    )


def plan_memory(
    architecture: Architecture | str | None,
    instance_type: str | None,
    judged: Verdict | None,
    container: LmiContainer | None,
    *,
    accelerator_count: int | None = None,
) -> Plan | None:
    """Return the memory plan of a model on an instance, or on some of its accelerators.

    `None` if one of them is not known at synth, or the back end is none that the planner knows.
    """
    instance = instance_types().get(instance_type or "")
    if architecture is None or instance is None or judged is None or container is None:
        return None
    if is_token(architecture) or is_token(accelerator_count):
        return None
    from lmi_constructs.planner import Architecture, EngineConfiguration, is_planned, plan

    known = Architecture.known(architecture) if isinstance(architecture, str) else architecture
    if known is None or not is_planned(judged.backend):
        return None
    configuration = EngineConfiguration.from_effective(
        judged.effective,
        accelerator_count=accelerator_count or instance.accelerator_count,
        engine_version=container.engine_version,
        unknown=judged.unknown,
    )
    return plan(known, instance.name, configuration)


_CONFIG = 'architecture=Architecture.from_config_json("config.json")'


def check_architecture(architecture: Architecture | str | None, hub_id: object) -> list[Finding]:
    """Return that a name that is given for the memory plan is no model's.

    A slip in `architecture=` would otherwise switch the plan off without a word.

    Args:
        architecture: What the model data has.
        hub_id: Hub id of the model, if it comes from the hub: what it has by itself is no slip.
    """
    if architecture == hub_id or not _is_unknown_name(architecture):
        return []
    from lmi_constructs.planner import similar_models

    otherwise = f"give {_CONFIG}; `lmi plan --list-models` prints the names that are known"
    return [
        Finding(
            rule="LMI103",
            message=f"the planner knows no model {architecture!r}, so that no memory is planned",
            why="a model that does not fit, or that the settings are wrong for, is found when the"
            " deployment fails",
            fix=meant(similar_models(str(architecture)), otherwise),
            severity="warning",
            where="architecture",
        )
    ]


def not_planned(
    architecture: Architecture | str | None, hub_id: object, judged: Verdict | None
) -> str | None:
    """Return why nothing is planned where that is no fault of the user, `None` if something is.

    Args:
        architecture: What the model data has.
        hub_id: Hub id of the model, if it comes from the hub.
        judged: What the release does with the environment.
    """
    from lmi_constructs.planner import is_planned, similar_models

    if architecture is None or is_token(architecture):
        return None
    if judged is not None and not is_planned(judged.backend):
        return f"no memory is planned: {judged.backend} serves the model, and only vLLM is planned"
    if architecture != hub_id or not _is_unknown_name(architecture):
        return None
    hint = meant(similar_models(str(architecture)), f"give {_CONFIG}")
    return f"no memory is planned, as the planner does not know {architecture}; {hint}"


def _is_unknown_name(architecture: Architecture | str | None) -> bool:
    if not isinstance(architecture, str) or is_token(architecture):
        return False
    from lmi_constructs.planner import Architecture

    return Architecture.known(architecture) is None


def findings_of(plan: Plan | None) -> tuple[Finding, ...]:
    """Return the findings of a plan, with what would fit."""
    if plan is None:
        return ()
    from lmi_constructs.planner import advised_findings

    return advised_findings(plan, door="settings")


def loading_timeout_seconds(environment: Mapping[str, str]) -> int | None:
    """Return how long the container itself waits for the model, `None` if it is a token."""
    for variable in _LOADING_TIMEOUT_VARIABLES:
        value = environment.get(variable)
        if value is not None:
            return int(value) if value.isdecimal() else None
    return _DEFAULT_LOADING_TIMEOUT_SECONDS


def engine_concurrency(judged: Verdict | None) -> int | None:
    """Return how many requests the engine works on at once, `None` if it is not known."""
    value = None if judged is None else judged.effective.get("max_num_seqs")
    return value if isinstance(value, int) and not is_token(value) else None
