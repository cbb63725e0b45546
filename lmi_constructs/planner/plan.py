"""The plan: what a model takes of each accelerator, and whether the engine starts."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Final, Literal

from lmi_constructs.facts import Accelerator, accelerators, instance_types
from lmi_constructs.findings import Finding, LmiError
from lmi_constructs.planner.configuration import EngineConfiguration, Setup, fill_in
from lmi_constructs.planner.explanation import explain
from lmi_constructs.planner.kv_cache import Cache, cache_of
from lmi_constructs.planner.profile import GIB, Range, activation, cuda_graphs, outside_torch
from lmi_constructs.planner.rules import broken_rules
from lmi_constructs.planner.weights import lora_bytes, repository_bytes, weight_bytes

if TYPE_CHECKING:
    from lmi_constructs.planner.architecture import Architecture

Grade = Literal["fits", "marginal", "cannot", "unknown"]

_WEIGHTS_LOW: Final = 0.92
_WEIGHTS_HIGH: Final = 1.03
"""Loaded weights against computed ones in public start-up logs: rarely more, and up to 8 percent
less where a kernel pads less than is assumed."""

_TIGHT_UTILIZATION: Final = 0.97
"""Beyond it, graphs that are captured outside the budget find no memory left
(https://github.com/vllm-project/vllm/issues/16199)."""

_VISION_HIGH: Final = 3.0
"""The trial batch of a vision tower's encoder may take several GiB that are not computed here."""

_CONSERVING: Final = "https://docs.vllm.ai/en/latest/configuration/conserving_memory/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a model takes of each accelerator, and what is left for requests.

    All figures in GiB are those of the accelerator that has least left; `None` is not known.

    Attributes:
        grade: `fits`; `marginal`, where it may start or not; `cannot`; or `unknown`.
        findings: What is wrong. Only a plan graded `cannot` has errors.
        architecture: The model.
        accelerator: The accelerator.
        accelerator_count: How many there are, `None` if it is not known.
        instance_type: Name of the instance type, if it is one.
        configuration: What the engine is told.
        setup: What the engine makes of it.
        weights_gib: Weights with adapter slots.
        activation_gib: Peak of the trial batch.
        overhead_gib: Memory outside PyTorch.
        cuda_graph_gib: CUDA graphs.
        kv_cache_gib: What is left for the cache, never below 0.
        kv_needed_gib: Cache of one request of the longest context.
        budget_gib: What the engine may use.
        usable_gib: What the driver shows.
        kv_tokens: Tokens that the cache holds.
        max_context: Longest context that one request can have, never beyond the model's own.
        repository_bytes: Size of the weights to download, in bytes.
        expected_start_seconds: Time to start; `None`, as no evidence ties it to the size.
        doubt: Why the grade is `unknown`.
    """

    grade: Grade
    findings: tuple[Finding, ...]
    architecture: Architecture
    accelerator: Accelerator
    accelerator_count: int | None
    instance_type: str | None
    configuration: EngineConfiguration
    setup: Setup
    weights_gib: float | None = None
    activation_gib: float | None = None
    overhead_gib: float | None = None
    cuda_graph_gib: float | None = None
    kv_cache_gib: float | None = None
    kv_needed_gib: float | None = None
    budget_gib: float | None = None
    usable_gib: float | None = None
    kv_tokens: int | None = None
    max_context: int | None = None
    repository_bytes: int | None = None
    expected_start_seconds: float | None = None
    doubt: str | None = None
    cache: Cache | None = field(default=None, repr=False)

    @property
    def total_gib(self) -> float | None:
        """What is taken of one accelerator when the cache fills the budget."""
        if self.budget_gib is None or self.weights_gib is None:
            return None
        taken = self.weights_gib + (self.activation_gib or 0) + (self.overhead_gib or 0)
        outside = 0.0 if self.setup.graphs_in_budget else self.cuda_graph_gib or 0.0
        inside = self.cuda_graph_gib or 0.0 if self.setup.graphs_in_budget else 0.0
        return max(self.budget_gib, taken + inside) + outside

    @property
    def max_concurrency(self) -> float | None:
        """Requests of the longest context that the cache holds at once."""
        return None if self.setup.context is None else self.concurrency_at(self.setup.context)

    def concurrency_at(self, tokens: int) -> float | None:
        """Return how many requests of this many tokens the cache holds at once.

        The engine works on no more than its `max_num_seqs` of them.
        """
        if self.cache is None or self.kv_cache_gib is None or tokens <= 0:
            return None
        return self.kv_cache_gib * GIB / self.cache.needed(tokens)

    def explain(self) -> list[str]:
        """Return what each figure is made of, one a line."""
        return explain(self)


def plan(
    architecture: Architecture,
    where: str | Accelerator,
    configuration: EngineConfiguration | None = None,
    *,
    count: int | None = None,
) -> Plan:
    """Plan a model on an instance type, or on a number of accelerators.

    Args:
        architecture: The model.
        where: SageMaker instance type, or an accelerator.
        configuration: What the engine is told. Default: nothing.
        count: Number of accelerators, if `where` is one. Default: as many as the ranks need.

    Raises:
        LmiError: If the instance type is not known (LMI040).
    """
    configuration = configuration or EngineConfiguration()
    name = where if isinstance(where, str) else None
    accelerator, count = _instance(where) if isinstance(where, str) else (where, count)
    setup = fill_in(configuration, architecture, accelerator)
    known = dict(
        architecture=architecture,
        accelerator=accelerator,
        accelerator_count=count,
        instance_type=name,
        configuration=configuration,
        setup=setup,
    )
    found = tuple(broken_rules(architecture, accelerator, count, configuration, setup))
    doubt = _doubt(architecture, accelerator, configuration, setup)
    size = None if not architecture.layers else repository_bytes(architecture)
    storage = _storage(name, size)
    found += storage
    if doubt is not None:
        refused = any(finding.severity == "error" for finding in found)
        return Plan(
            grade="cannot" if refused else "unknown",
            findings=found,
            repository_bytes=size if architecture.understood else None,
            doubt=doubt,
            **known,  # type: ignore[arg-type]
        )
    memory = _Memory.of(architecture, accelerator, configuration, setup)
    grade, about_memory = _judge(memory, architecture, accelerator, setup, found)
    longest = memory.cache.longest(memory.pool.usual * GIB)
    return Plan(
        grade=grade,
        findings=found + about_memory,
        weights_gib=memory.weights,
        activation_gib=memory.activation.usual,
        overhead_gib=memory.other.usual,
        cuda_graph_gib=memory.graphs.usual,
        kv_cache_gib=max(0.0, memory.pool.usual),
        kv_needed_gib=memory.needed,
        budget_gib=memory.budget,
        usable_gib=accelerator.usable_memory_gib,
        kv_tokens=memory.cache.tokens(memory.pool.usual * GIB),
        max_context=min(longest, architecture.max_context or longest),
        repository_bytes=size,
        cache=memory.cache,
        **known,  # type: ignore[arg-type]
    )


@dataclass(frozen=True, slots=True)
class _Memory:
    """The terms of the budget of one rank, in GiB."""

    budget: float
    weights: float
    activation: Range
    other: Range
    graphs: Range
    cache: Cache
    pool: Range
    needed: float

    @classmethod
    def of(
        cls,
        architecture: Architecture,
        accelerator: Accelerator,
        configuration: EngineConfiguration,
        setup: Setup,
    ) -> _Memory:
        weights = weight_bytes(architecture, setup) / GIB
        weights += lora_bytes(architecture, configuration, setup) / GIB
        peak, other = activation(architecture, setup), outside_torch(accelerator, setup)
        graphs = cuda_graphs(architecture, setup)
        inside = graphs if setup.graphs_in_budget else Range(0.0, 0.0, 0.0)
        cache = cache_of(architecture, setup)
        budget = setup.utilization * (accelerator.usable_memory_gib or 0.0)
        vision = _VISION_HIGH if architecture.vision else 0.0
        pool = Range(
            low=budget
            - weights * _WEIGHTS_HIGH
            - peak.high
            - other.high
            - inside.high
            - vision,
            usual=budget - weights - peak.usual - other.usual - inside.usual,
            high=budget - weights * _WEIGHTS_LOW - peak.low - other.low - inside.low,
        )
        needed = cache.needed(setup.context or 1) / GIB
        return cls(budget, weights, peak, other, graphs, cache, pool, needed)


def _judge(
    memory: _Memory,
    architecture: Architecture,
    accelerator: Accelerator,
    setup: Setup,
    found: tuple[Finding, ...],
) -> tuple[Grade, tuple[Finding, ...]]:
    if memory.pool.high < memory.needed:
        return "cannot", (_does_not_fit(memory, architecture, accelerator, setup),)
    if any(finding.severity == "error" for finding in found):
        return "cannot", ()
    if memory.pool.low < memory.needed:
        return "marginal", (_fits_barely(memory, architecture, accelerator, setup),)
    if setup.graphs and not setup.graphs_in_budget and setup.utilization >= _TIGHT_UTILIZATION:
        return "marginal", (_no_room_for_graphs(setup),)
    return ("marginal" if found else "fits"), ()


def _does_not_fit(
    memory: _Memory, architecture: Architecture, accelerator: Accelerator, setup: Setup
) -> Finding:
    longest = memory.cache.longest(memory.pool.usual * GIB)
    shorter = f"set max_model_len to {longest} or less, " if longest >= 1024 else ""
    return Finding(
        rule="LMI050",
        message=f"{architecture.name} does not fit on {accelerator.name} with"
        f" tensor_parallel_degree {setup.tensor}: {_sum(memory, setup)}",
        why="the engine runs out of memory at start",
        fix=f"{shorter}use more or larger accelerators, or quantised weights",
        where="instance_type",
        source=_CONSERVING,
    )


def _fits_barely(
    memory: _Memory, architecture: Architecture, accelerator: Accelerator, setup: Setup
) -> Finding:
    longest = memory.cache.longest(max(0.0, memory.pool.low) * GIB)
    shorter = f"set max_model_len to {longest} or less, " if longest >= 1024 else ""
    return Finding(
        rule="LMI051",
        message=f"{architecture.name} fits on {accelerator.name} only just, with"
        f" tensor_parallel_degree {setup.tensor}: {_sum(memory, setup)}",
        why="the estimate is not exact to that degree: the engine may not start",
        fix=f"{shorter}use more or larger accelerators, or quantised weights",
        severity="warning",
        where="instance_type",
        source=_CONSERVING,
    )


def _no_room_for_graphs(setup: Setup) -> Finding:
    return Finding(
        rule="LMI051",
        message=f"gpu_memory_utilization {setup.utilization:g} leaves no room for CUDA graphs, which"
        " this engine captures outside its budget",
        why="the engine may run out of memory after it made the cache",
        fix="set gpu_memory_utilization to 0.95 or less, or enforce_eager to true",
        severity="warning",
        where="gpu_memory_utilization",
        source="https://github.com/vllm-project/vllm/issues/16199",
    )


def _sum(memory: _Memory, setup: Setup) -> str:
    graphs = memory.graphs.usual if setup.graphs_in_budget else 0.0
    other = memory.activation.usual + memory.other.usual + graphs
    context = f" of {setup.context} tokens" if setup.context else ""
    return (
        f"weights {memory.weights:.1f} GiB, cache of one request{context} {memory.needed:.1f} GiB"
        f" and about {other:.1f} GiB besides, in a budget of {memory.budget:.1f} GiB each"
    )


def _doubt(
    architecture: Architecture,
    accelerator: Accelerator,
    configuration: EngineConfiguration,
    setup: Setup,
) -> str | None:
    """Return why memory cannot be planned, `None` if it can."""
    if not architecture.understood:
        return architecture.doubt
    if accelerator.compute_capability is None:
        return f"{accelerator.name} is no CUDA device"
    if accelerator.usable_memory_gib is None:
        return f"what the driver shows of {accelerator.name} is not known"
    if configuration.speculative_config:
        return "speculative decoding loads a second model or further layers"
    if configuration.cpu_offload_gb:
        return "weights are kept in host memory"
    if configuration.quantization and setup.quantization is None:
        return f"the quantisation {configuration.quantization!r} is not known"
    return None


def _storage(instance_type: str | None, size: int | None) -> tuple[Finding, ...]:
    """Return what is wrong with the space for the weights."""
    gb = None if instance_type is None else instance_types()[instance_type].local_storage_gb
    if not gb or size is None or size <= gb * 10**9:
        return ()
    return (
        Finding(
            rule="LMI057",
            message=f"the weights take {size / 1e9:.0f} GB, the local storage of {instance_type} has"
            f" {gb:.0f} GB",
            why="the download fails when the storage is full",
            fix="use a larger instance, or quantised weights",
            where="instance_type",
            source="https://docs.aws.amazon.com/sagemaker/latest/dg/host-instance-storage.html",
        ),
    )


@cache
def _instance(name: str) -> tuple[Accelerator, int]:
    instance = instance_types().get(name)
    if instance is None:
        raise LmiError(
            Finding(
                rule="LMI040",
                message=f"{name!r} is no known hosting instance type with accelerators",
                why="what fits depends on its accelerators",
                fix="use one of " + ", ".join(instance_types()),
                where="instance_type",
            )
        )
    return accelerators()[instance.accelerator], instance.accelerator_count
