"""What the engine refuses to start with, however much memory there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lmi_constructs.container.engine_versions import dotted
from lmi_constructs.container.release import first_release_with
from lmi_constructs.container.start_checks import OLD_LORA_RANKS
from lmi_constructs.facts.engine_arguments import engine_arguments
from lmi_constructs.findings import Finding
from lmi_constructs.planner.format_refusals import format_refusals
from lmi_constructs.planner.profile import CONTEXT_GIB
from lmi_constructs.planner.trial_batch import too_many_sequences
from lmi_constructs.readable import readable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.facts import Accelerator
    from lmi_constructs.planner.architecture import Architecture
    from lmi_constructs.planner.configuration import EngineConfiguration, Setup
    from lmi_constructs.planner.quantization import Quantization

_ISSUES: Final = "https://github.com/vllm-project/vllm/issues/"
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


def refusals(
    architecture: Architecture,
    accelerator: Accelerator,
    count: int | None,
    configuration: EngineConfiguration,
    setup: Setup,
) -> Iterator[Finding]:
    """Yield what the engine refuses, as errors, and what it may refuse, as warnings."""
    yield from _accelerator_count(accelerator, count, setup)
    yield from _divisible(architecture, count, setup)
    yield from format_refusals(architecture, accelerator, configuration, setup)
    yield from _free_at_start(accelerator, setup)
    if setup.quantization is not None:
        yield from _blocks(architecture, configuration, setup, setup.quantization)
    yield from too_many_sequences(architecture, configuration, setup)
    yield from _some_windows(architecture)
    yield from _adapter_rank(configuration, setup)
    yield from _context(architecture, configuration)
    yield from _old_engine(architecture, configuration)


def _accelerator_count(
    accelerator: Accelerator, count: int | None, setup: Setup
) -> Iterator[Finding]:
    wanted = setup.tensor * setup.pipeline * setup.data
    if count is not None and wanted > count:
        yield Finding(
            rule="LMI055",
            message=f"the engine is told to use {wanted} accelerators, but there are only {count}"
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


def _ungrouped(a: Architecture) -> Iterator[Finding]:
    """Yield that query heads cannot be shared by the heads of keys and values: no degree mends it."""
    if a.latent or not a.kv_heads or not a.heads % a.kv_heads:
        return
    yield Finding(
        rule="LMI052",
        message=f"{a.name} has {a.heads} attention heads, which its {a.kv_heads} key-value heads cannot"
        " share evenly",
        why="each key-value head serves the same number of attention heads, and the engine stops at"
        " start if it cannot",
        fix="correct the config.json: take that of the model's own repository",
        where="architecture",
        source="https://github.com/vllm-project/vllm: vllm/v1/attention/backends/flash_attn.py",
    )


def _divisible(a: Architecture, count: int | None, setup: Setup) -> Iterator[Finding]:
    """Yield all that the ranks cannot share, as one: it has one remedy."""
    ungrouped = tuple(_ungrouped(a))
    yield from ungrouped
    uncut = _uncut(a, setup.tensor)
    if not uncut or ungrouped:
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
        f" {spare:.2f} GiB of each {accelerator.name} for what is in use before the engine"
        f" starts, which takes {readable(least)} to {readable(most)} GiB",
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
            f" {readable(part)}, which is not a multiple of the {q.method} {'block' if q.block else 'group'} of"
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


def _context(a: Architecture, configuration: EngineConfiguration) -> Iterator[Finding]:
    wanted, longest = configuration.max_model_len, a.max_context
    if wanted is None or longest is None or wanted <= longest:
        return
    yield Finding(
        rule="LMI056",
        message=f"max_model_len is {wanted}, but {a.name} supports only {longest} tokens",
        why="the engine refuses a context that is longer than the model's own",
        fix=f"set max_model_len to at most {longest}, or stretch it with rope scaling, as the model's"
        " card says, in hf_overrides or config.json",
        where="max_model_len",
        source="https://docs.vllm.ai/en/latest/configuration/engine_args/",
    )


_ALL_OR_NONE: Final = frozenset({"qwen2", "qwen3", "qwen2_vl", "qwen2_5_vl", "seed_oss"})
"""Families that have a window in all layers or in none (vllm/model_executor/models/qwen2.py, of which
qwen3.py is made, and seed_oss.py in the wheels of 0.8.4, 0.14.0, 0.15.1 and 0.23.0)."""


def _some_windows(a: Architecture) -> Iterator[Finding]:
    if a.family not in _ALL_OR_NONE or not 0 < a.window_layers < a.layers:
        return
    yield Finding(
        rule="LMI004",
        message=f"{a.window_layers} of the {a.layers} layers of {a.name} see a window, the others the"
        " whole context",
        why="the engine refuses it: a sliding window for some but all layers is not supported",
        fix='set use_sliding_window to false in config.json, or hf_overrides={"use_sliding_window": false}',
        where="architecture",
        source="https://github.com/vllm-project/vllm: vllm/model_executor/models/qwen2.py",
    )


def _adapter_rank(configuration: EngineConfiguration, setup: Setup) -> Iterator[Finding]:
    rank, version = configuration.max_lora_rank, dotted(setup.version)
    if not configuration.enable_lora or type(rank) is not int:
        return
    argument = (engine_arguments(version) or {}).get("max_lora_rank")
    known = tuple(argument.choices or OLD_LORA_RANKS) if argument else ()
    if not known or rank in known:
        return
    yield Finding(
        rule="LMI001",
        message=f"max_lora_rank={rank} is not one of {', '.join(map(str, known))}",
        why="the engine stops at start",
        fix=f"set max_lora_rank to {min((one for one in known if one > rank), default=max(known))}",
        where="max_lora_rank",
        source=argument.source if argument else None,
    )


def _old_engine(a: Architecture, configuration: EngineConfiguration) -> Iterator[Finding]:
    version = configuration.engine_version
    if version is None or a.least_engine is None or version >= a.least_engine:
        return
    least, told = dotted(a.least_engine), dotted(version)
    newer = first_release_with(a.least_engine)
    yield Finding(
        rule="LMI017",
        message=f"{a.name} ({a.family}) needs vLLM {least} or later; this release has {told}",
        why="an engine that does not know the model's class stops at start",
        fix=f"use {newer.name} or a later container release"
        if newer
        else "use a newer container release",
        severity="warning",
        where="container",
    )
