"""What refuses to start whatever the memory: shapes that cannot be cut, formats not computed in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lmi_constructs.findings import Finding
from lmi_constructs.planner.checkpoint import misspelt, not_a_choice, not_taken
from lmi_constructs.planner.profile import CONTEXT_GIB
from lmi_constructs.readable import readable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.facts import Accelerator
    from lmi_constructs.planner.architecture import Architecture
    from lmi_constructs.planner.configuration import EngineConfiguration, Setup
    from lmi_constructs.planner.quantization import Quantization

_ISSUES: Final = "https://github.com/vllm-project/vllm/issues/"
_QUANTIZATION: Final = "https://docs.vllm.ai/en/latest/features/quantization/"
_CONTAINERS_TYPES: Final = frozenset({"fp32", "fp16", "bf16"})
"""Names that the container turns into the engine's (djl-serving, HuggingFaceProperties)."""

_HALF: Final = frozenset({"bfloat16", "bf16"})
_KERNEL_ALIGNMENT: Final = 64
"""Four-bit kernels need inputs in multiples of at least 64, whatever the group."""

_MARLIN_128: Final = ((0, 5, 2), (0, 7, 0))
"""Engines whose four-bit kernel needs inputs in multiples of 128 and has no other
(https://github.com/vllm-project/vllm/issues/9913)."""

_ONLINE_BLOCKS_PADDED_FROM: Final = (0, 22, 0)
"""Blocks made while loading are padded (https://github.com/vllm-project/vllm/pull/44763, June
2026); those of a checkpoint are not (pull 39046 was closed)."""

_FREE_CHECKED_FROM: Final = (0, 9, 1)
"""The engine compares its share with what is free before it loads anything
(https://github.com/vllm-project/llm-compressor/pull/1560: "starting from version 0.9.1")."""


@dataclass(frozen=True, slots=True)
class _Capability:
    """Least compute capability of a format.

    Below `refused` the engine stops, below `sure` engines older than `lifted` do.
    """

    refused: tuple[int, int]
    sure: tuple[int, int]
    lifted: tuple[int, ...]
    source: str = _QUANTIZATION


_CAPABILITIES: Final = {
    "awq": _Capability((7, 5), (8, 0), (0, 3, 0)),
    "gptq": _Capability((6, 0), (6, 0), (0, 0)),
    "int4": _Capability((7, 5), (8, 0), (0, 9, 0)),
    "int8": _Capability((7, 0), (7, 0), (0, 0)),
    "fp8": _Capability((7, 5), (8, 9), (0, 5, 0)),
    "nf4": _Capability((7, 0), (7, 0), (0, 0)),
    "mxfp4": _Capability((8, 0), (9, 0), (0, 10, 2)),
    "nvfp4": _Capability((7, 5), (10, 0), (0, 9, 0)),
}
"""Least capabilities by format (vLLM's `get_min_capability`; the table of its quantisation page;
MXFP4 before 0.10.2: public start-up log with capability 8.6 refused in August 2025)."""


def broken_rules(
    architecture: Architecture,
    accelerator: Accelerator,
    count: int | None,
    configuration: EngineConfiguration,
    setup: Setup,
) -> Iterator[Finding]:
    """Yield what the engine refuses, as errors, and what it may refuse, as warnings."""
    yield from _accelerator_count(accelerator, count, setup)
    yield from _divisible(architecture, count, setup)
    yield from _quantization(architecture, accelerator, configuration, setup)
    yield from _free_at_start(accelerator, setup)
    if setup.quantization is not None:
        yield from _blocks(architecture, configuration, setup, setup.quantization)
        yield from _format(accelerator, setup, setup.quantization)
    yield from _bfloat16(architecture, accelerator, configuration)
    yield from _context(architecture, configuration)
    yield from _old_engine(architecture, configuration)


def _accelerator_count(
    accelerator: Accelerator, count: int | None, setup: Setup
) -> Iterator[Finding]:
    wanted = setup.tensor * setup.pipeline * setup.data
    if count is not None and wanted > count:
        yield Finding(
            rule="LMI055",
            message=f"the engine is to use {wanted} accelerators, but there are {count}"
            f" {accelerator.name}",
            why="the engine waits for ranks that never come, or stops at start",
            fix=f"set tensor_parallel_degree to at most {count}, or use a larger instance",
            where="tensor_parallel_degree",
            source="https://docs.vllm.ai/en/latest/serving/parallelism_scaling/",
        )


_MOST_RANKS: Final = 16
"""No instance type has more accelerators."""


def _uncut(a: Architecture, t: int) -> list[tuple[str, bool]]:
    """Return what a number of ranks cannot share, and whether each is sure to stop the engine."""
    widths = [(a.heads, "attention heads", True)]
    if a.kv_heads >= t:
        widths.append((a.kv_heads, "key-value heads", True))
    elif a.kv_heads and t % a.kv_heads:
        widths.append((a.kv_heads, "key-value heads (to be repeated evenly)", True))
    if a.dense_layers and a.intermediate:
        widths.append((a.intermediate, "columns of the MLP", True))
    if a.vision and a.vision.heads:
        widths.append((a.vision.heads, "heads of the vision tower", False))
    return [(f"{width} {what}", sure) for width, what, sure in widths if width % t]


def _divisible(a: Architecture, count: int | None, setup: Setup) -> Iterator[Finding]:
    """Yield all that the ranks cannot share, as one: it has one remedy."""
    uncut = _uncut(a, setup.tensor)
    if not uncut:
        return
    most = min(count or setup.tensor, _MOST_RANKS)
    shared = [str(one) for one in range(1, most + 1) if not _uncut(a, one)]
    yield Finding(
        rule="LMI052",
        message=f"{a.name} has {_listed([what for what, _ in uncut], 'and')} that cannot be shared by"
        f" {setup.tensor} ranks",
        why="each rank takes an equal part, and the engine stops at start if it cannot",
        fix=f"set tensor_parallel_degree to what divides them: {_listed(shared, 'or')}",
        severity="error" if any(sure for _, sure in uncut) else "warning",
        where="tensor_parallel_degree",
        source=_ISSUES + "596",
    )


def _listed(words: list[str], joint: str) -> str:
    return f" {joint} ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def _quantization(
    a: Architecture, accelerator: Accelerator, configuration: EngineConfiguration, setup: Setup
) -> Iterator[Finding]:
    name, capability = configuration.quantization, accelerator.capability
    unknown = tuple(misspelt(name, setup.version))
    needs = _CAPABILITIES["fp8"]
    least = needs.refused if setup.version >= needs.lifted else needs.sure
    fp8 = capability is not None and capability >= least
    yield from unknown or not_taken(name, a, fp8=fp8)
    yield from not_a_choice("kv_cache_dtype", configuration.kv_cache_dtype, setup.version)
    if configuration.dtype not in _CONTAINERS_TYPES:
        yield from not_a_choice("dtype", configuration.dtype, setup.version)


def _free_at_start(accelerator: Accelerator, setup: Setup) -> Iterator[Finding]:
    """Yield that the engine may not have the share it is told to use: some is always taken."""
    if setup.legacy or setup.version < _FREE_CHECKED_FROM:
        return
    total = accelerator.usable_memory_gib or accelerator.memory_gib
    spare = (1 - setup.utilization) * total
    least, most = CONTEXT_GIB
    if spare >= most or (not total and setup.utilization < 1):
        return
    yield Finding(
        rule="LMI102",
        message=f"gpu_memory_utilization {readable(setup.utilization)} leaves"
        f" {spare:.2f} GiB of each {accelerator.name} to what is taken before the engine"
        f" starts, which is {readable(least)} to {readable(most)} GiB",
        why="the engine stops if less is free at start than the share it is told to use",
        fix="set gpu_memory_utilization to 0.95 or less",
        severity="error" if spare < least else "warning",
        where="gpu_memory_utilization",
        source=_ISSUES + "20305",
    )


def _blocks(
    a: Architecture, configuration: EngineConfiguration, setup: Setup, q: Quantization
) -> Iterator[Finding]:
    grouped = q.group if q.method in ("awq", "gptq", "int4") else None
    multiple = q.block or grouped
    if multiple is None:
        return
    if grouped and _MARLIN_128[0] <= setup.version < _MARLIN_128[1]:
        multiple = max(multiple, 128)
    for width, what in _row_cut_widths(a, configuration, setup):
        part = width / setup.tensor
        if part % multiple == 0:
            continue
        guessed = q.origin != "config.json" and part % _KERNEL_ALIGNMENT == 0
        padded = q.online and setup.version >= _ONLINE_BLOCKS_PADDED_FROM
        fitting = [
            d
            for d in range(1, min(setup.tensor, _MOST_RANKS + 1))
            if not _uncut(a, d) and width / d % multiple == 0
        ]
        yield Finding(
            rule="LMI053",
            message=f"{what} of {a.name} is {width} wide, so that each of {setup.tensor} ranks gets"
            f" {readable(part)}, no multiple of the {q.method} {'block' if q.block else 'group'} of"
            f" {multiple}",
            why="the engine stops while it loads the weights, or at the first request",
            fix=(
                f"set tensor_parallel_degree to {max(fitting)}" if fitting else "use other weights"
            )
            + (", or spread whole experts with enable_expert_parallel" if a.experts else ""),
            severity="warning" if guessed or padded else "error",
            where="tensor_parallel_degree",
            source=_ISSUES + "17604",
        )


def _row_cut_widths(
    a: Architecture, configuration: EngineConfiguration, setup: Setup
) -> Iterator[tuple[int, str]]:
    """Yield the widths that ranks share along the axis that groups and blocks lie on."""
    kept = setup.quantization.kept_share if setup.quantization else lambda kind: 1.0
    if a.dense_layers and kept("mlp") < 1:
        yield a.intermediate, "the MLP"
    if a.experts and kept("experts") < 1 and not configuration.expert_parallel:
        yield a.experts.width, "an expert"
    if a.experts and a.experts.shared_width and kept("shared") < 1:
        yield a.experts.shared_width, "the shared expert"


def _format(accelerator: Accelerator, setup: Setup, q: Quantization) -> Iterator[Finding]:
    capability, needs = accelerator.capability, _CAPABILITIES.get(q.method)
    if capability is None or needs is None or capability >= needs.sure:
        return
    refused = capability < needs.refused
    if not refused and setup.version >= needs.lifted:
        return
    least = needs.refused if refused else needs.sure
    yield Finding(
        rule="LMI054",
        message=f"{q.method} weights need compute capability {least[0]}.{least[1]},"
        f" {accelerator.name} has {accelerator.compute_capability}",
        why="the engine stops at start",
        fix="use other weights, or an instance with newer accelerators",
        where="quantization",
        source=needs.source,
    )


def _bfloat16(
    a: Architecture, accelerator: Accelerator, configuration: EngineConfiguration
) -> Iterator[Finding]:
    capability = accelerator.capability
    if capability is None or capability >= (8, 0):
        return
    told = (configuration.dtype or "auto").lower()
    if told in _HALF or (told == "auto" and a.dtype == "bfloat16"):
        yield Finding(
            rule="LMI054",
            message=f"bfloat16 needs compute capability 8.0, {accelerator.name} has"
            f" {accelerator.compute_capability}",
            why="the engine stops at start"
            if told in _HALF
            else "older engines stop at start, newer ones compute in float16",
            fix='set dtype to "float16", or use an instance with newer accelerators',
            severity="error" if told in _HALF else "warning",
            where="dtype",
            source=_ISSUES + "1157",
        )


def _context(a: Architecture, configuration: EngineConfiguration) -> Iterator[Finding]:
    wanted, longest = configuration.max_model_len, a.max_context
    overridden = configuration.hf_overrides or configuration.rope_scaling
    if wanted is None or longest is None or wanted <= longest or overridden:
        return
    yield Finding(
        rule="LMI056",
        message=f"max_model_len is {wanted}, {a.name} itself knows {longest} tokens",
        why="the engine refuses a context that the model was not made for",
        fix=f"set max_model_len to at most {longest}, or stretch it with rope scaling, as the model's"
        " card says, in hf_overrides or config.json",
        where="max_model_len",
        source="https://docs.vllm.ai/en/latest/configuration/engine_args/",
    )


def _old_engine(a: Architecture, configuration: EngineConfiguration) -> Iterator[Finding]:
    version = configuration.engine_version
    if version is None or a.least_engine is None or version >= a.least_engine:
        return
    least, told = (".".join(map(str, numbers)) for numbers in (a.least_engine, version))
    yield Finding(
        rule="LMI017",
        message=f"{a.name} ({a.family}) is served from vLLM {least} on, this release has {told}",
        why="an engine that does not know the model's class stops at start",
        fix="use a newer container release",
        severity="warning",
        where="container",
    )
