"""Whether the engine starts: the grade of a plan, and what to say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from lmi_constructs.container.engine_versions import dotted
from lmi_constructs.container.release import first_release_with
from lmi_constructs.facts import instance_types
from lmi_constructs.findings import Finding
from lmi_constructs.planner.architecture import size_without_value
from lmi_constructs.planner.cache_formats import doubt_about_cache
from lmi_constructs.planner.checkpoint import doubt_about_format
from lmi_constructs.planner.configuration import CONTEXT_CHECKED_FROM
from lmi_constructs.planner.context_length import overridden
from lmi_constructs.planner.memory import STREAMED_FROM
from lmi_constructs.planner.profile import GIB
from lmi_constructs.readable import readable

if TYPE_CHECKING:
    from lmi_constructs.facts import Accelerator
    from lmi_constructs.planner.architecture import Architecture
    from lmi_constructs.planner.configuration import EngineConfiguration, Setup
    from lmi_constructs.planner.memory import Memory

Grade = Literal["fits", "marginal", "cannot", "unknown"]

_TIGHT_UTILIZATION: Final = 0.97
"""Beyond it, graphs that are captured outside the budget find no memory left
(https://github.com/vllm-project/vllm/issues/16199)."""

_SHORTEST_ADVISED: Final = 1024
"""No shorter context in tokens is advised."""

ABOUT_DEGREE: Final = frozenset({"LMI052", "LMI053", "LMI055"})
"""Rules about the tensor-parallel degree: another degree mends them."""

SHOWN_NOT_KNOWN: Final = "what the driver shows of {} is not known"
"""The one doubt that bounds may settle: a driver shows less than the nominal memory."""

_CONSERVING: Final = "https://docs.vllm.ai/en/latest/configuration/conserving_memory/"


def judge(
    memory: Memory,
    architecture: Architecture,
    accelerator: Accelerator,
    setup: Setup,
    found: tuple[Finding, ...],
) -> tuple[Grade, tuple[Finding, ...]]:
    """Return the grade, and what is wrong with the memory, after the hard rules were checked."""
    if memory.never_loads:
        return "cannot", (_too_large_to_load(memory, architecture, accelerator, setup, sure=True),)
    too_small = memory.pool.high < memory.needed
    if memory.pool.high <= 0 or (too_small and setup.version >= CONTEXT_CHECKED_FROM):
        if any(one.rule in ABOUT_DEGREE and one.severity == "error" for one in found):
            return "cannot", ()  # no rank is ever loaded, so that its memory is beside the point
        return "cannot", (_does_not_fit(memory, architecture, accelerator, setup),)
    if any(finding.severity == "error" for finding in found):
        return "cannot", ()
    if not memory.surely_loads:
        unsure = _too_large_to_load(memory, architecture, accelerator, setup, sure=False)
        return "marginal", (unsure,)
    if memory.pool.low < memory.needed:
        return "marginal", (_fits_barely(memory, architecture, accelerator, setup),)
    if setup.graphs and not setup.graphs_in_budget and setup.utilization >= _TIGHT_UTILIZATION:
        return "marginal", (_no_room_for_graphs(setup),)
    return ("marginal" if found else "fits"), ()


def sure_context(memory: Memory, architecture: Architecture) -> int:
    """Return the longest context that surely fits, never beyond the model's own."""
    longest = memory.cache.longest(max(0.0, memory.pool.low) * GIB)
    return min(longest, architecture.max_context or longest)


def _shorter(memory: Memory, architecture: Architecture, setup: Setup) -> str:
    longest = sure_context(memory, architecture)
    if longest < _SHORTEST_ADVISED or (setup.context is not None and longest >= setup.context):
        return ""
    return f"set max_model_len to {longest} or less, which surely fits, "


def _does_not_fit(
    memory: Memory, architecture: Architecture, accelerator: Accelerator, setup: Setup
) -> Finding:
    return Finding(
        rule="LMI050",
        message=f"{architecture.name} does not fit on {accelerator.name} with"
        f" tensor_parallel_degree {setup.tensor}: {_sum(memory, setup)}",
        why="the engine runs out of memory at start",
        fix=f"{_shorter(memory, architecture, setup)}use more or larger accelerators, or quantized weights",
        where="instance_type",
        source=_CONSERVING,
    )


def _fits_barely(
    memory: Memory, architecture: Architecture, accelerator: Accelerator, setup: Setup
) -> Finding:
    usual = memory.pool.usual
    enough = usual >= memory.needed
    how = "barely fits" if enough else "may not fit"
    held = max(0.0, usual * GIB) / memory.cache.needed(setup.context or 1)
    short = (
        "" if enough else f"; that leaves a cache of {max(0.0, usual):.1f} GiB, {held:.1f} requests"
    )
    return Finding(
        rule="LMI051",
        message=f"{architecture.name} {how} on {accelerator.name} with"
        f" tensor_parallel_degree {setup.tensor}: {_sum(memory, setup)}{short}",
        why="the margin is smaller than the error of the estimate: the engine may not start"
        if enough
        else "by the usual estimate the engine stops at start; only the most favorable lets it start",
        fix=f"{_shorter(memory, architecture, setup)}use more or larger accelerators, or quantized weights",
        severity="warning",
        where="instance_type",
        source=_CONSERVING,
    )


def _too_large_to_load(
    memory: Memory,
    architecture: Architecture,
    accelerator: Accelerator,
    setup: Setup,
    *,
    sure: bool,
) -> Finding:
    """Return that the weights have no room before they are converted."""
    told = dotted(setup.version)
    newer = first_release_with(STREAMED_FROM)
    release = f"the container {newer.name}" if newer else "a container with vLLM 0.16"
    return Finding(
        rule="LMI050" if sure else "LMI051",
        message=f"{architecture.name} {'does' if sure else 'may'} not fit on {accelerator.name} with"
        f" tensor_parallel_degree {setup.tensor}: vLLM {told} loads all weights before it converts them"
        f" to FP8, {memory.loading:.1f} GiB on each accelerator, which has {memory.usable:.1f} GiB",
        why="the engine runs out of memory while it loads",
        fix=f"use a checkpoint that is FP8 already, {release} or later, which converts layer by layer,"
        " or more or larger accelerators",
        severity="error" if sure else "warning",
        where="quantization",
        source="https://github.com/vllm-project/vllm/pull/31914",
    )


def _no_room_for_graphs(setup: Setup) -> Finding:
    return Finding(
        rule="LMI051",
        message=f"gpu_memory_utilization {readable(setup.utilization)} leaves no room for"
        " CUDA graphs, which"
        " this engine captures outside its budget",
        why="the engine may run out of memory after it made the cache",
        fix="set gpu_memory_utilization to 0.95 or less, or set enforce_eager to true",
        severity="warning",
        where="gpu_memory_utilization",
        source="https://github.com/vllm-project/vllm/issues/16199",
    )


def _sum(memory: Memory, setup: Setup) -> str:
    graphs = memory.graphs.usual if setup.graphs_in_budget else 0.0
    other = memory.activation.usual + memory.other.usual + graphs
    context = f" of {setup.context} tokens" if setup.context else ""
    return (
        f"weights {memory.weights:.1f} GiB, cache of one request{context} {memory.needed:.1f} GiB"
        f" and about {other:.1f} GiB besides, in a budget of {memory.budget:.1f} GiB each"
    )


def judge_measured(
    measured_gib: float,
    needed_gib: float,
    longest: int,
    architecture: Architecture,
    setup: Setup,
    found: tuple[Finding, ...],
) -> tuple[Grade, tuple[Finding, ...]]:
    """Return the grade where the engine has measured its cache, so that nothing is estimated."""
    about_cache: tuple[Finding, ...] = ()
    if measured_gib < needed_gib:
        about_cache = (_larger_than(measured_gib, needed_gib, longest, architecture, setup),)
    found += about_cache
    if any(finding.severity == "error" for finding in found):
        return "cannot", about_cache
    return ("marginal" if found else "fits"), about_cache


def _larger_than(
    measured_gib: float, needed_gib: float, longest: int, architecture: Architecture, setup: Setup
) -> Finding:
    checked = setup.version >= CONTEXT_CHECKED_FROM
    shorter = f"set max_model_len to {longest} or less, or " if longest >= _SHORTEST_ADVISED else ""
    return Finding(
        rule="LMI050" if checked else "LMI051",
        message=f"one request of {setup.context or 1} tokens takes {needed_gib:.2f} GiB of cache for"
        f" {architecture.name}, the engine has {measured_gib:.2f} GiB",
        why="the engine stops when it compares the two, before it serves"
        if checked
        else "this engine does not compare the two, and hangs on the first such request",
        fix=f"{shorter}use more or larger accelerators, or quantized weights",
        severity="error" if checked else "warning",
        where="max_model_len",
        source=_CONSERVING,
    )


def grade_of_rules(found: tuple[Finding, ...]) -> Grade:
    """Return what the hard rules say by themselves."""
    if any(finding.severity == "error" for finding in found):
        return "cannot"
    return "marginal" if any(finding.rule == "LMI053" for finding in found) else "unknown"


def doubt_about(
    architecture: Architecture,
    accelerator: Accelerator,
    configuration: EngineConfiguration,
    setup: Setup,
    *,
    cache_measured: bool,
) -> str | None:
    """Return why memory cannot be planned, `None` if it can."""
    if not architecture.understood:
        return architecture.doubt
    if size := size_without_value(architecture):
        return f"its {size} is {getattr(architecture, size)}"
    if configuration.doubt:
        return configuration.doubt
    if configuration.unknown:
        return f"{', '.join(sorted(configuration.unknown))}: known only at deployment, or not read"
    if odd := configuration.beyond_engines():
        return f"{odd[0]} is no number that an engine takes"
    version, head = setup.version, architecture.head_dim
    if doubt := doubt_about_cache(configuration.kv_cache_dtype, version, head):
        return doubt
    if doubt := overridden(architecture, configuration)[1]:
        return doubt
    if configuration.speculative_config:
        return "speculative decoding loads a second model or further layers"
    if cache_measured:
        return None
    if accelerator.compute_capability is None:
        return f"{accelerator.name} is no known CUDA device"
    if configuration.cpu_offload_gb:
        return "weights are kept in host memory"
    if doubt := doubt_about_format(configuration.quantization, architecture):
        return doubt
    if accelerator.usable_memory_gib is None:
        return SHOWN_NOT_KNOWN.format(accelerator.name)
    return None


def too_little_storage(instance_type: str | None, size: int | None) -> tuple[Finding, ...]:
    """Return what is wrong with the space for the weights."""
    gb = None if instance_type is None else instance_types()[instance_type].local_storage_gb
    if not gb or size is None or size <= gb * 10**9:
        return ()
    return (
        Finding(
            rule="LMI057",
            message=f"the weights take {size / 1e9:.0f} GB, but the local storage of {instance_type} has only"
            f" {gb:.0f} GB",
            why="the download fails when the storage is full",
            fix="use a larger instance, or quantized weights",
            where="instance_type",
            source="https://docs.aws.amazon.com/sagemaker/latest/dg/host-instance-storage.html",
        ),
    )
