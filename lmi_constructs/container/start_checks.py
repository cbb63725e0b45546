"""The second stage: what keeps the model from starting although its arguments are accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.container import value_parsers
from lmi_constructs.container.engine_parser import broken_bounds
from lmi_constructs.container.quantization_methods import fix_of_unknown_method
from lmi_constructs.container.registered_models import startup_models
from lmi_constructs.container.server_numbers import server_number_errors
from lmi_constructs.container.serving_properties import shown
from lmi_constructs.container.stage import (
    CONTAINERS_MAX_LORAS,
    Arguments,
    Stage,
    failure,
    uses_async_handler,
    where_of,
)
from lmi_constructs.facts.engine_arguments import registered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lmi_constructs.findings import Finding


OLD_LORA_RANKS: Final = (8, 16, 32, 64, 128, 256, 320, 512)
"""Ranks that engines take which check them in code, not in a field (LoRAConfig, vllm/config.py of
0.8.4)."""
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
        lambda value: value in OLD_LORA_RANKS,
        f"one of {', '.join(map(str, OLD_LORA_RANKS))}",
    ),
}
_ASSUMED_TOKENS: Final = 2048
_ASSUMED_WITH_IMAGES: Final = 5120
_ASSUMED_SINCE: Final = (0, 8, 0)
_WITHOUT_IMAGES_SINCE: Final = (0, 14, 0)
"""What an engine that the container starts makes of an unset max_num_batched_tokens: its handler names
no usage context (djl-serving vllm_async_service.py; vllm/config.py of 0.8.4, where models with images
have more, and vllm/engine/arg_utils.py of 0.14.0 and 0.23.0)."""


def start_findings(
    stage: Stage, arguments: Arguments, *, gpus: int | None, model_mounted: bool | None
) -> list[Finding]:
    """Return what ends the start of the model, or keeps it from answering.

    What the first stage has refused already is not told twice.
    """
    found = list(startup_models(stage.properties, model_mounted=model_mounted))
    found += server_number_errors(stage.properties)
    found += _degrees(stage, arguments, gpus)
    if stage.recommended.serves_with_vllm:
        found += _limits(stage, arguments.effective)
        found += _relations(stage, arguments.effective)
        found += _names(stage, arguments.effective)
    refused = {error.where for error in arguments.errors}
    return [finding for finding in found if finding.where not in refused]


def _degrees(stage: Stage, arguments: Arguments, gpus: int | None) -> Iterator[Finding]:
    degree = arguments.effective.get("tensor_parallel_degree", _plain_degree(stage))
    if not isinstance(degree, int):
        return
    where = stage.properties.origins.get("TENSOR_PARALLEL_DEGREE", "TENSOR_PARALLEL_DEGREE")
    option = stage.properties.options.get("tensor_parallel_degree")
    if option is not None:
        where = option.where
    source = "deepjavalibrary/djl-serving@d21927c4: PyModel.java"
    if degree < 1:
        yield failure(where, f"{where}={degree} is not a positive number", "set it to max", source)
    elif gpus is not None and degree > gpus:
        yield failure(
            where,
            f"tensor_parallel_degree={degree} is above the {gpus} GPU{'s' if gpus != 1 else ''} that"
            " the container sees",
            f"set it to {gpus} or max, or take an instance with more GPUs"
            if gpus
            else "take an instance with GPUs",
            source,
            rule="LMI055",
        )


def _plain_degree(stage: Stage) -> int | None:
    degree = stage.recommended.tensor_parallel_degree
    return value_parsers.counted(degree, None) if isinstance(degree, str) else None


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
        allowed = broken_bounds(argument, value) if argument.bounds else None
        if not argument.bounds and not argument.choices and name in _OLD_LIMITS:
            check, text = _OLD_LIMITS[name]
            allowed = None if check(value) else text
        if allowed:
            where = where_of(stage, name)
            yield failure(
                where,
                f"{name}={value} is out of range: the engine requires a value that is {allowed}",
                f"set {where} to a value that is {allowed}",
                f"vllm {version} wheel: vllm/config",
            )


def _relations(stage: Stage, effective: dict[str, Any]) -> Iterator[Finding]:
    """Check settings that limit each other."""
    source = f"vllm {stage.container.release.engine_version} wheel: vllm/config"
    yield from _fewer_cpu_adapters(stage, effective, source)
    yield from _more_than_assumed(stage, effective)
    yield from _small_batches(stage, effective, source)
    if effective.get("enable_eplb") and not effective.get("enable_expert_parallel"):
        yield failure(
            where_of(stage, "enable_eplb"),
            "enable_eplb needs enable_expert_parallel",
            "set enable_expert_parallel=true, or remove enable_eplb",
            source,
        )


def _fewer_cpu_adapters(stage: Stage, effective: dict[str, Any], source: str) -> Iterator[Finding]:
    """Check that host memory holds all adapters of a batch."""
    loras, cpu_loras = (
        effective.get("max_loras", CONTAINERS_MAX_LORAS),
        effective.get("max_cpu_loras"),
    )
    if _with_lora(effective) and isinstance(cpu_loras, int) and cpu_loras < loras:
        yield failure(
            where_of(stage, "max_cpu_loras"),
            f"max_cpu_loras={cpu_loras} is below max_loras={loras}",
            f"set max_cpu_loras to at least {loras} (the container's default of max_loras is {CONTAINERS_MAX_LORAS})",
            source,
        )


def _more_than_assumed(stage: Stage, effective: dict[str, Any]) -> Iterator[Finding]:
    """Check the sequences where the tokens of a batch are left to the engine."""
    version, sequences = stage.container.engine_version, effective.get("max_num_seqs")
    options = stage.properties.options
    left = "max_num_batched_tokens" not in effective and not any(
        name in options for name in ("max_num_batched_tokens", "max_rolling_batch_prefill_tokens")
    )
    pooling = "task" in effective or "runner" in effective or "task" in options
    whole_prompts = effective.get("enable_chunked_prefill") is False
    if not left or pooling or whole_prompts or version is None or version < _ASSUMED_SINCE:
        return
    most = _ASSUMED_TOKENS if version >= _WITHOUT_IMAGES_SINCE else _ASSUMED_WITH_IMAGES
    if isinstance(sequences, int) and sequences > most:
        where = where_of(stage, "max_num_seqs")
        yield failure(
            where,
            f"max_num_seqs={sequences} (max_rolling_batch_size) is above max_num_batched_tokens, which"
            f" the engine assumes to be {_ASSUMED_TOKENS} here",
            f"set {where} to at most {_ASSUMED_TOKENS}, or OPTION_MAX_NUM_BATCHED_TOKENS to at least"
            f" {sequences}",
            f"vllm {stage.container.release.engine_version} wheel: vllm/config/scheduler.py",
        )


def _small_batches(stage: Stage, effective: dict[str, Any], source: str) -> Iterator[Finding]:
    """Check that a batch holds a token of each sequence, and a whole prompt where none is cut."""
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


def _names(stage: Stage, effective: dict[str, Any]) -> Iterator[Finding]:
    """Check names that the engine looks up only when it starts."""
    version = stage.container.release.engine_version or ""
    method = effective.get("quantization")
    known = registered("quantization_methods", version)
    allowed = effective.get("allow_deprecated_quantization") is True
    if isinstance(method, str) and known and method.lower() not in known and not allowed:
        yield failure(
            where_of(stage, "quantization"),
            f"quantize={shown(method)} is not a method of vLLM {version} (unknown or withdrawn)",
            fix_of_unknown_method(method, known),
            f"vllm {version} wheel: vllm/model_executor/layers/quantization/__init__.py",
        )
    parser = stage.properties.text("reasoning_parser")
    parsers = registered("reasoning_parsers", version)
    if parser and parsers and parser not in parsers and uses_async_handler(stage):
        yield failure(
            where_of(stage, "reasoning_parser"),
            f"reasoning_parser={shown(parser)} is not known to vLLM {version}",
            "use one of " + ", ".join(sorted(parsers)),
            f"vllm {version} wheel: vllm/reasoning",
        )


def _with_lora(effective: dict[str, Any]) -> bool:
    return effective.get("enable_lora") is True
