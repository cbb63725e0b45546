"""What is said about the mode that serves the model: asynchronous, rolling batch, or no vLLM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.container.recommender import ASYNC_HANDLER, TRANSFORMERS_HANDLER
from lmi_constructs.container.serving_properties import shown
from lmi_constructs.facts.options import option
from lmi_constructs.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lmi_constructs.container.serving_properties import Option
    from lmi_constructs.container.stage import Stage

_SWITCH: Final = "enable_lora"
_ADAPTERS: Final = (
    "https://github.com/vllm-project/vllm: vllm/engine/arg_utils.py create_engine_config, which"
    " makes a LoRAConfig only if enable_lora is set"
)


def mode_findings(stage: Stage, effective: Mapping[str, Any]) -> Iterator[Finding]:
    """Warn about modes that are older, or other, than the settings ask for (LMI003, LMI015).

    And about settings that mean nothing in the mode that is on (LMI002).
    """
    yield from _older_mode(stage)
    yield from _asynchronous(stage)
    yield from _without_adapters(stage, effective)
    if stage.recommended.serves_with_vllm is False:
        yield _without_vllm(stage)


def _older_mode(stage: Stage) -> Iterator[Finding]:
    """Warn about an explicit rolling batch where the release would serve asynchronously."""
    requested = stage.properties.options.get("rolling_batch")
    if requested is None or requested.text not in ("vllm", "lmi-dist"):
        return
    by_default = stage.behavior.text_generation == "async"
    if requested.text == "lmi-dist":
        what = "is gone: vLLM's rolling batch serves instead"
    elif by_default and stage.recommended.handler != ASYNC_HANDLER:
        what = "selects the older synchronous mode, not the asynchronous one"
    else:
        return
    variables = "OPTION_ASYNC_MODE=true, OPTION_ROLLING_BATCH=disable and OPTION_ENTRYPOINT="
    yield Finding(
        rule="LMI015",
        message=f"{requested.where}={requested.text} {what}",
        why="the mode is slower and is to be removed",
        fix=f"remove {requested.where}: the release then serves asynchronously"
        if by_default
        else f"use {variables}{ASYNC_HANDLER}",
        severity="warning",
        where=requested.where,
        source=stage.behavior.source,
    )


def _asynchronous(stage: Stage) -> Iterator[Finding]:
    """Warn about settings that asynchronous mode does not take, and modes that are not reached."""
    options, handler = stage.properties.options, stage.recommended.handler
    requested = options.get("async_mode")
    if requested is not None and requested.text is not None:
        wanted = requested.text.lower() == "true"
        if wanted and handler == TRANSFORMERS_HANDLER:
            yield _mode_missed(
                stage,
                requested,
                f"alone does not select the asynchronous handler on {stage.container.name}",
                f"set OPTION_ROLLING_BATCH=disable and OPTION_ENTRYPOINT={ASYNC_HANDLER} with it",
            )
        elif not wanted and stage.recommended.async_mode is True:
            yield _mode_missed(
                stage,
                requested,
                "has no effect: the release turns asynchronous mode on by itself",
                "set OPTION_ROLLING_BATCH=vllm for the older synchronous mode, or remove it",
            )
    for name in options if handler == ASYNC_HANDLER else ():
        fact = option(name)
        if fact is not None and fact.fate == "ignored by the async handlers":
            yield Finding(
                rule="LMI002",
                message=f"{options[name].where} has no effect in asynchronous mode",
                why="the container starts without the setting and reports nothing",
                fix="remove it: requests choose the form of the answer by their own schema",
                severity="warning",
                where=options[name].where,
                source=fact.source,
            )


def _without_adapters(stage: Stage, effective: Mapping[str, Any]) -> Iterator[Finding]:
    """Warn about settings of adapters where none can be served; a switch not known yet may be on."""
    options = stage.properties.options
    switch = options.get(_SWITCH)
    undecided = switch is not None and switch.text is None
    if undecided or effective.get(_SWITCH) or stage.recommended.serves_with_vllm is False:
        return
    for name, given in options.items():
        if name == _SWITCH or "lora" not in name or name not in stage.table:
            continue
        if given.text is None or given.text.lower() == "false":
            continue
        yield Finding(
            rule="LMI002",
            message=f"{given.where} has no effect without OPTION_ENABLE_LORA=true",
            why="the engine makes no room for adapters, so that none can be served",
            fix=f"set OPTION_ENABLE_LORA=true, or remove {given.where}",
            severity="warning",
            where=given.where,
            source=_ADAPTERS,
        )


def _mode_missed(stage: Stage, requested: Option, what: str, fix: str) -> Finding:
    return Finding(
        rule="LMI015",
        message=f"{requested} {what}",
        why="the model is served in another mode than the settings say",
        fix=fix,
        severity="warning",
        where=requested.where,
        source=stage.behavior.source,
    )


def _without_vllm(stage: Stage) -> Finding:
    lost = sorted(name for name in stage.properties.options if name in stage.table)
    losing = f"; {', '.join(lost)} would have no effect" if lost else ""
    handler, options = stage.recommended.handler, stage.properties.options
    if handler != TRANSFORMERS_HANDLER:
        where = "entryPoint" if "entryPoint" in options else "DJL_ENTRY_POINT"
        return _plain_handler(
            stage,
            options[where].where if where in options else where,
            f"the handler {shown(str(handler))} serves the model, not vLLM's own"
            + (f"; {', '.join(lost)} mean what it makes of them" if lost else ""),
            "remove the entry point to serve with vLLM; a model.py beside the model can shape"
            " requests and answers of vLLM too",
        )
    requested = options.get("rolling_batch")
    if requested is not None and requested.text == "disable":
        fix = f"remove {requested.where}=disable" + (
            "; the release then serves asynchronously"
            if stage.behavior.async_entry_point
            else "; for asynchronous mode set OPTION_ASYNC_MODE=true and"
            f" OPTION_ENTRYPOINT={ASYNC_HANDLER} with it"
        )
    elif "batch_size" in options or "batch_size" in stage.properties.model:
        fix = "remove batch_size: vLLM batches by itself"
    else:
        fix = (
            "set OPTION_ROLLING_BATCH=disable, OPTION_ASYNC_MODE=true and"
            f" OPTION_ENTRYPOINT={ASYNC_HANDLER} to serve it with vLLM"
        )
    return _plain_handler(
        stage,
        "OPTION_ROLLING_BATCH" if requested is None else requested.where,
        f"the model would be served by the plain Transformers handler, without vLLM{losing}",
        fix,
    )


def _plain_handler(stage: Stage, where: str, message: str, fix: str) -> Finding:
    return Finding(
        rule="LMI003",
        message=message,
        why="without continuous batching, throughput is a fraction of what the GPUs can deliver",
        fix=fix,
        severity="warning",
        where=where,
        source=stage.behavior.source,
    )
