"""Hard rules: what refuses to start whatever the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs.findings import Finding
from lmi_constructs.planner.quantization import GROUPED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.planner.architecture import Architecture
    from lmi_constructs.planner.configuration import EngineConfiguration

_WHY = "the engine stops at start, after the weights have been downloaded"
_LEAST_CAPABILITY = {"awq": (7, 5), "gptq": (6, 0), "fp8": (8, 0), "mxfp4": (8, 0), "nvfp4": (8, 0)}
_MARLIN_TILE = 64
_QUANTIZED_SINCE = "https://github.com/vllm-project/vllm/blob/main/docs/features/quantization"


def shape_findings(
    architecture: Architecture,
    config: EngineConfiguration,
    *,
    accelerator_count: int | None,
    compute_capability: tuple[int, int] | None,
) -> Iterator[Finding]:
    """Yield what the engine refuses because of sizes, numbers of GPUs or kinds of numbers."""
    yield from _degrees(architecture, config, accelerator_count)
    yield from _quantised_parts(architecture, config)
    yield from _capability(architecture, config, compute_capability)
    yield from _context(architecture, config)


def _degrees(
    architecture: Architecture, config: EngineConfiguration, count: int | None
) -> Iterator[Finding]:
    ranks = config.tensor_parallel_degree
    used = ranks * config.pipeline_parallel_degree
    if architecture.heads % ranks:
        fitting = [
            n for n in (1, 2, 4, 8, 16) if n <= (count or 16) and architecture.heads % n == 0
        ]
        yield Finding(
            rule="LMI052",
            message=f"{architecture.heads} attention heads cannot be shared by"
            f" tensor_parallel_degree={ranks}",
            why=_WHY,
            fix="use tensor_parallel_degree=" + " or ".join(map(str, fitting[::-1])),
            where="settings.tensor_parallel_degree",
            source="https://github.com/vllm-project/vllm/issues/2652",
        )
    if count is not None and used > count:
        yield Finding(
            rule="LMI055",
            message=f"tensor_parallel_degree={ranks} needs {used} GPUs, the instance has {count}",
            why="the container refuses to start workers without a GPU each",
            fix=f"use tensor_parallel_degree={count} or max, or an instance with more GPUs",
            where="settings.tensor_parallel_degree",
            source="deepjavalibrary/djl-serving@d21927c4: PyModel.java",
        )


def _quantised_parts(architecture: Architecture, config: EngineConfiguration) -> Iterator[Finding]:
    quantization = architecture.quantization
    ranks = config.tensor_parallel_degree
    if quantization is None or ranks == 1:
        return
    multiple = None
    if quantization.block is not None:
        multiple, what = quantization.block[0], "block"
    elif quantization.method in GROUPED:
        multiple, what = quantization.group_size or 128, "group"
    if multiple is None:
        return
    for name, width in _split_widths(architecture, config):
        if width % ranks == 0 and (width // ranks) % multiple == 0:
            continue
        fitting = [n for n in (1, 2, 4, 8) if width % n == 0 and (width // n) % multiple == 0]
        ways = [f"tensor_parallel_degree={fitting[-1]}"] if fitting else []
        if architecture.experts is not None and name == "expert":
            ways.append("enable_expert_parallel=True, which keeps each expert whole")
        yield Finding(
            rule="LMI053",
            message=f"the {name} width {width} shared by {ranks} ranks is {width / ranks:g}, which"
            f" is no multiple of the quantisation {what} of {multiple}",
            why=_WHY,
            fix="use " + ", or ".join(ways or ["another checkpoint"]),
            where="settings.tensor_parallel_degree",
            source="https://github.com/vllm-project/vllm/issues/17569",
        )


def _split_widths(
    architecture: Architecture, config: EngineConfiguration
) -> Iterator[tuple[str, int]]:
    """Yield the widths that each rank takes a part of."""
    experts = architecture.experts
    if experts is None:
        yield "feed-forward", architecture.intermediate_size
        return
    if not config.expert_parallel:
        yield "expert", experts.width
    if experts.shared_width:
        yield "shared expert", experts.shared_width
    if experts.dense_layers:
        yield "dense layer", experts.dense_width


def _capability(
    architecture: Architecture,
    config: EngineConfiguration,
    capability: tuple[int, int] | None,
) -> Iterator[Finding]:
    if capability is None:
        return
    shown = ".".join(map(str, capability))
    if config.dtype in ("bfloat16", "bf16") and capability < (8, 0):
        yield Finding(
            rule="LMI054",
            message=f"dtype=bf16 needs compute capability 8.0, the GPU has {shown}",
            why=_WHY,
            fix="use dtype='fp16', or an instance with A10G, L4 or newer GPUs",
            where="settings.dtype",
            source="https://github.com/vllm-project/vllm/issues/1157",
        )
    quantization = architecture.quantization
    least = _LEAST_CAPABILITY.get(quantization.method) if quantization else None
    if quantization is not None and least is not None and capability < least:
        yield Finding(
            rule="LMI054",
            message=f"{quantization.method} weights need compute capability"
            f" {'.'.join(map(str, least))}, the GPU has {shown}",
            why=_WHY,
            fix="use an instance with newer GPUs, or a checkpoint quantised another way",
            where="instance_type",
            source=_QUANTIZED_SINCE,
        )


def _context(architecture: Architecture, config: EngineConfiguration) -> Iterator[Finding]:
    longest, wanted = architecture.max_context, config.max_model_len
    if longest is None or wanted is None or wanted <= longest or config.extends_context:
        return
    yield Finding(
        rule="LMI056",
        message=f"max_model_len={wanted} is above the model's own {longest} tokens",
        why="the engine refuses it at start unless the model's configuration scales its positions",
        fix=f"use max_model_len={longest} or less, or set rope scaling through hf_overrides",
        severity="warning" if architecture.max_context_is_inferred else "error",
        where="settings.max_model_len",
        source="https://docs.vllm.ai/en/latest/configuration/engine_args/",
    )
