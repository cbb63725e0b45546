"""The joint to container and planner: what the engine will do with an environment, and what fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs.container import verdict
from lmi_constructs.facts import instance_types
from lmi_constructs.hosting._tokens import is_token

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lmi_constructs.container import LmiContainer, Verdict
    from lmi_constructs.findings import Finding
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


def not_planned(architecture: Architecture | str | None) -> str | None:
    """Return that nothing is planned for a model whose name is not known; `None` if it is known.

    A slip in `architecture=` would otherwise switch the memory plan off without a word.
    """
    if not isinstance(architecture, str) or is_token(architecture):
        return None
    from difflib import get_close_matches

    from lmi_constructs.facts import models
    from lmi_constructs.planner import Architecture

    if Architecture.known(architecture) is not None:
        return None
    names = [model.hub_id for model in models().values()]
    near = get_close_matches(architecture, names, n=1, cutoff=0.8)
    hint = f" did you mean {near[0]}? Or" if near else ""
    return (
        f"no memory is planned, as the planner does not know {architecture};{hint} give"
        ' architecture=Architecture.from_config_json("config.json")'
    )


def findings_of(plan: Plan | None) -> tuple[Finding, ...]:
    """Return the findings of a plan, with what would fit."""
    if plan is None:
        return ()
    from lmi_constructs.planner import advised_findings

    return advised_findings(plan)


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
