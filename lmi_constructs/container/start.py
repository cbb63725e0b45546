"""The second stage: what ends the start although the arguments pass."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.container import engine
from lmi_constructs.container.arguments import Arguments, Stage, uses_async_handler
from lmi_constructs.container.front_end import MODEL_STORE, Properties, Unknown
from lmi_constructs.facts.engine_arguments import registered
from lmi_constructs.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_WHY: Final = "the model never becomes healthy, and the deployment fails after its whole time-out"
_STORE_SOURCE: Final = (
    "deepjavalibrary/djl-serving@d21927c4:serving/src/main/java/ai/djl/serving/util/ModelStore.java"
)
# Engines that DJL Serving can have; the name of an inference library is none.
_DJL_ENGINES: Final = {"Python", "MPI", "PyTorch", "OnnxRuntime", "XGBoost", "TensorRT", "Rust"}
_DJL_ENGINES.update({"TensorFlow", "MXNet", "LightGBM", "SentencePiece", "fastText"})
_ENTRY: Final = re.compile(r"^\[?(?P<label>[^=\]/]*)\]?=(?P<url>.+)$")
# Limits that older engines check in code, not in a field (config.py, config/lora.py).
_OLD_LIMITS: Final[dict[str, tuple[Callable[[float], bool], str]]] = {
    "gpu_memory_utilization": (lambda value: 0 < value <= 1, "greater than 0 and at most 1"),
    "max_loras": (lambda value: value >= 1, "at least 1"),
    "cpu_offload_gb": (lambda value: value >= 0, "at least 0"),
    "max_num_seqs": (lambda value: value >= 1, "at least 1"),
    "max_num_batched_tokens": (lambda value: value >= 1, "at least 1"),
    "max_model_len": (lambda value: value >= 1 or value == -1, "at least 1"),
    "block_size": (lambda value: value >= 1, "at least 1"),
    "max_lora_rank": (
        lambda value: value in (8, 16, 32, 64, 128, 256, 320, 512),
        "one of 8, 16, 32, 64, 128, 256, 320, 512",
    ),
}


def start_findings(
    stage: Stage, arguments: Arguments, *, gpus: int | None, model_mounted: bool | None
) -> list[Finding]:
    """Return what ends the start of the model, or keeps it from answering."""
    found = list(startup_models(stage.properties, model_mounted=model_mounted))
    found += _degrees(stage, arguments, gpus)
    if stage.recommended.serves_with_vllm:
        found += _limits(stage, arguments.effective)
        found += _relations(stage, arguments.effective)
        found += _names(stage, arguments.effective)
    return found


def failure(where: str, message: str, fix: str, source: str, *, rule: str = "LMI004") -> Finding:
    """Return the finding for something that ends the start."""
    return Finding(rule=rule, message=message, why=_WHY, fix=fix, where=where, source=source)


def startup_models(properties: Properties, *, model_mounted: bool | None) -> Iterator[Finding]:
    """Check which models the server would register: it needs exactly one that can load."""
    listed = properties.environment.get("SERVING_LOAD_MODELS", "")
    if isinstance(listed, str) and listed not in ("", "ALL", "NONE"):
        for entry in re.split(r"[,\s]+", listed.strip()):
            yield from _load_entry(entry)
    hub = properties.environment.get("HF_MODEL_ID", "")
    remote = isinstance(hub, str) and hub != "" and not hub.startswith("/")
    if remote and model_mounted:
        yield failure(
            "HF_MODEL_ID",
            f"HF_MODEL_ID={hub} registers a second model beside the one in {MODEL_STORE}; then"
            " every request without a model name is answered with 400",
            f"remove HF_MODEL_ID, or set it to {MODEL_STORE}, or remove the model data",
            _STORE_SOURCE,
            rule="LMI009",
        )
    if hub == "" and model_mounted is False and listed in ("", "ALL", "NONE"):
        yield failure(
            "OPTION_MODEL_ID" if "model_id" in properties.options else "HF_MODEL_ID",
            "no model is registered: there is no model data and HF_MODEL_ID is not set"
            " (OPTION_MODEL_ID alone registers none)",
            "set HF_MODEL_ID to the hub id or s3:// prefix, or give the model data",
            _STORE_SOURCE,
        )


def _load_entry(entry: str) -> Iterator[Finding]:
    match = _ENTRY.match(entry)
    if match is None or "://" in match["label"]:
        return
    parts = match["label"].split(":")
    if len(parts) > 2 and parts[2] and parts[2] not in _DJL_ENGINES:
        yield failure(
            "SERVING_LOAD_MODELS",
            f"SERVING_LOAD_MODELS={entry} names the engine {parts[2]!r}, which DJL Serving does not"
            " have",
            f"remove SERVING_LOAD_MODELS: the image loads {MODEL_STORE} by itself (the engine slot"
            " takes Python, not the name of an inference library)",
            _STORE_SOURCE,
        )


def _degrees(stage: Stage, arguments: Arguments, gpus: int | None) -> Iterator[Finding]:
    degree = arguments.effective.get("tensor_parallel_degree", _plain_degree(stage))
    if not isinstance(degree, int):
        return
    where = "TENSOR_PARALLEL_DEGREE"
    option = stage.properties.options.get("tensor_parallel_degree")
    if option is not None:
        where = option.where
    source = "deepjavalibrary/djl-serving@d21927c4: PyModel.java"
    if degree < 1:
        yield failure(where, f"a degree of {degree} is not positive", "set it to max", source)
    elif gpus is not None and degree > gpus:
        yield failure(
            where,
            f"tensor_parallel_degree={degree} is above the {gpus} GPUs that the container sees",
            f"set it to {gpus} or max, or take an instance with more GPUs",
            source,
            rule="LMI055",
        )


def _plain_degree(stage: Stage) -> int | None:
    degree = stage.recommended.tensor_parallel_degree
    return int(degree) if isinstance(degree, str) and degree.isdecimal() else None


def _limits(stage: Stage, effective: dict[str, Any]) -> Iterator[Finding]:
    """Check each number against the engine's own limits."""
    version = stage.container.release.engine_version
    for name, value in effective.items():
        argument = stage.table.get(name)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if argument is None or not number:
            continue
        if name in ("max_loras", "max_lora_rank", "max_cpu_loras") and not _with_lora(effective):
            continue
        allowed = engine.bounds_broken(argument, value) if argument.bounds else None
        if not argument.bounds and not argument.choices and name in _OLD_LIMITS:
            check, text = _OLD_LIMITS[name]
            allowed = None if check(value) else text
        if allowed:
            yield failure(
                where_of(stage, name),
                f"{name}={value} is refused by the engine's own checks, which want it {allowed}",
                f"set {name} to a value that is {allowed}",
                f"vllm {version} wheel: vllm/config",
            )


def _relations(stage: Stage, effective: dict[str, Any]) -> Iterator[Finding]:
    """Check settings that limit each other."""
    source = f"vllm {stage.container.release.engine_version} wheel: vllm/config"
    loras, cpu_loras = effective.get("max_loras", 4), effective.get("max_cpu_loras")
    if _with_lora(effective) and isinstance(cpu_loras, int) and cpu_loras < loras:
        yield failure(
            where_of(stage, "max_cpu_loras"),
            f"max_cpu_loras={cpu_loras} is below max_loras={loras}",
            f"set max_cpu_loras to at least {loras} (the container's default of max_loras is 4)",
            source,
        )
    tokens, sequences = effective.get("max_num_batched_tokens"), effective.get("max_num_seqs")
    if isinstance(tokens, int) and isinstance(sequences, int) and 0 < tokens < sequences:
        yield failure(
            where_of(stage, "max_num_batched_tokens"),
            f"max_num_batched_tokens={tokens} is below max_num_seqs={sequences}"
            " (max_rolling_batch_size)",
            f"set max_num_batched_tokens to at least {sequences}, or lower max_rolling_batch_size",
            source,
        )
    length = effective.get("max_model_len")
    whole_prompts = effective.get("enable_chunked_prefill") is False
    if whole_prompts and isinstance(tokens, int) and isinstance(length, int) and tokens < length:
        yield failure(
            where_of(stage, "max_num_batched_tokens"),
            f"max_num_batched_tokens={tokens} is below max_model_len={length} while chunked prefill"
            " is off",
            f"set max_num_batched_tokens to at least {length}, or leave chunked prefill on",
            source,
        )
    if effective.get("enable_eplb") and not effective.get("enable_expert_parallel"):
        yield failure(
            where_of(stage, "enable_eplb"),
            "enable_eplb needs enable_expert_parallel",
            "set enable_expert_parallel=true, or remove enable_eplb",
            source,
        )


def _names(stage: Stage, effective: dict[str, Any]) -> Iterator[Finding]:
    """Check names that the engine looks up only when it starts."""
    version = stage.container.release.engine_version or ""
    method = effective.get("quantization")
    known = registered("quantization_methods", version)
    allowed = effective.get("allow_deprecated_quantization") is True
    if isinstance(method, str) and known and method not in known and not allowed:
        yield failure(
            where_of(stage, "quantization"),
            f"quantize={method} is not a method of vLLM {version} (unknown or withdrawn)",
            "remove it for a checkpoint that is already quantised, or use one of "
            + ", ".join(sorted(known)),
            f"vllm {version} wheel: vllm/model_executor/layers/quantization/__init__.py",
        )
    parser = stage.properties.text("reasoning_parser")
    parsers = registered("reasoning_parsers", version)
    if parser and parsers and parser not in parsers and uses_async_handler(stage):
        yield failure(
            where_of(stage, "reasoning_parser"),
            f"reasoning_parser={parser} is not known to vLLM {version}",
            "use one of " + ", ".join(sorted(parsers)),
            f"vllm {version} wheel: vllm/reasoning",
        )


def _with_lora(effective: dict[str, Any]) -> bool:
    return effective.get("enable_lora") is True


def where_of(stage: Stage, engine_name: str) -> str:
    """Return the variable or property that sets an engine argument."""
    names = [engine_name, *(r.name for r in stage.declared.values() if r.engine == engine_name)]
    if engine_name == "max_num_seqs":
        names.append("max_rolling_batch_size")
    for name in names:
        if name in stage.properties.options:
            return stage.properties.options[name].where
    return engine_name


def models_are_known(properties: Properties, model_mounted: bool | None) -> bool:
    """Return whether it is certain that a model is registered."""
    hub = properties.environment.get("HF_MODEL_ID", "")
    return model_mounted is True or isinstance(hub, Unknown) or hub != ""
