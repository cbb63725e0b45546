"""What fits: one model with one configuration on one kind of accelerator."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from lmi_constructs.facts import instance_types
from lmi_constructs.facts.accelerators import Accelerator, accelerators
from lmi_constructs.findings import Finding
from lmi_constructs.planner import kv_cache
from lmi_constructs.planner.configuration import EngineConfiguration, is_large_card
from lmi_constructs.planner.profile import (
    GIB,
    activation_bytes,
    cuda_graph_bytes,
    graphs_are_budgeted,
    library_bytes,
)
from lmi_constructs.planner.quantization import Quantization
from lmi_constructs.planner.shape import shape_findings
from lmi_constructs.planner.weights import weight_bytes

if TYPE_CHECKING:
    from lmi_constructs.planner.architecture import Architecture

Grade = Literal["fits", "marginal", "cannot", "unknown"]

_LEAST_SPARE = 0.35
"""Share of the soft terms that a plan must be able to lose and still start, to be graded fits."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a model runs.

    Attributes:
        name: Instance type, or accelerator.
        accelerator: Name of the accelerator.
        count: Number of accelerators, if known.
        usable_gib: Memory in GiB of one that the driver shows, if known.
        capability: CUDA compute capability, if known.
    """

    name: str
    accelerator: str
    count: int | None
    usable_gib: float | None
    capability: tuple[int, int] | None

    @classmethod
    def of(cls, place: str | Accelerator, count: int | None = None) -> Place | None:
        """Return the place of an instance type or accelerator by name, `None` if not known."""
        instance = instance_types().get(place) if isinstance(place, str) else None
        if instance is not None:
            return cls(
                instance.name,
                instance.accelerator,
                instance.accelerator_count,
                instance.usable_accelerator_memory_gib,
                _capability(instance.compute_capability),
            )
        found = accelerators().get(place) if isinstance(place, str) else place
        if found is None:
            return None
        capability = _capability(found.compute_capability)
        return cls(found.name, found.name, count, found.usable_memory_gib, capability)


@dataclass(frozen=True, slots=True)
class Plan:
    """What fits, all memory in GiB of one accelerator.

    Attributes:
        architecture: The model.
        place: Where it runs.
        configuration: The configuration with the engine's defaults filled in.
        grade: `fits`, `marginal`, `cannot`, or `unknown` where the planner abstains.
        findings: What is wrong, errors only where it cannot start.
        weights_gib: Weights, `None` if they cannot be sized.
        activation_gib: Peak of the profile run.
        overhead_gib: CUDA, NCCL and other buffers.
        cuda_graph_gib: Captured CUDA graphs.
        kv_cache_gib: What is left for the KV cache.
        needed_kv_cache_gib: KV cache of one request of the longest context.
        budget_gib: What the engine may use of the accelerator.
        total_gib: What the driver shows.
        kv_tokens: Tokens that the KV cache holds.
        max_context: Longest single request in tokens that fits.
        reason: Why the planner abstains.
    """

    architecture: Architecture
    place: Place
    configuration: EngineConfiguration
    grade: Grade
    findings: tuple[Finding, ...] = ()
    weights_gib: float | None = None
    activation_gib: float | None = None
    overhead_gib: float | None = None
    cuda_graph_gib: float | None = None
    kv_cache_gib: float | None = None
    needed_kv_cache_gib: float | None = None
    budget_gib: float | None = None
    total_gib: float | None = None
    kv_tokens: int | None = None
    max_context: int | None = None
    reason: str | None = None

    def concurrency_at(self, tokens: int) -> int | None:
        """Return how many requests of this many tokens the KV cache holds, at most max_num_seqs."""
        if self.kv_cache_gib is None or tokens < 1:
            return None
        one = kv_cache.request_bytes(self.architecture, self.configuration, tokens)
        held = int(max(self.kv_cache_gib, 0) * GIB // one) if one else 0
        return min(held, self.configuration.sequences)

    def tokens_in(self, memory_gib: float) -> int:
        """Return the tokens of KV cache that this much memory of each accelerator holds."""
        return kv_cache.cache_tokens(self.architecture, self.configuration, memory_gib * GIB)

    @property
    def max_concurrency(self) -> int | None:
        """Requests of the longest context that the KV cache holds at once."""
        return self.concurrency_at(self.configuration.sequence_length or 1)

    @property
    def repository_bytes(self) -> float | None:
        """Bytes of the checkpoint in one format, `None` if they cannot be sized."""
        if not self.architecture.understood:
            return None
        return weight_bytes(self.architecture, EngineConfiguration())


def plan(
    architecture: Architecture,
    place: str | Accelerator | Place,
    configuration: EngineConfiguration | None = None,
    *,
    accelerator_count: int | None = None,
) -> Plan:
    """Return what fits.

    Args:
        architecture: The model.
        place: Instance type (`ml.g6.48xlarge`) or accelerator (`L4`).
        configuration: Settings of the engine.
        accelerator_count: Number of accelerators, where the place does not say it.

    Returns:
        The plan. Where the model or the place is not known well enough, its grade is `unknown` and
        `reason` says why; nothing is guessed.
    """
    found = place if isinstance(place, Place) else Place.of(place, accelerator_count)
    where = found or Place(str(place), str(place), accelerator_count, None, None)
    chosen = configuration or EngineConfiguration()
    model = _stored(architecture, chosen)
    config = replace(
        chosen,
        sequence_length=chosen.max_model_len or model.max_context or 0,
        large_card=is_large_card(where.usable_gib or 0, where.accelerator),
        latent_attention=model.latent is not None,
    )
    findings = tuple(
        shape_findings(
            model,
            config,
            accelerator_count=where.count,
            compute_capability=where.capability,
        )
    )
    refused = any(finding.severity == "error" for finding in findings)
    reason = _abstains(model, config, where)
    if refused or reason:
        grade: Grade = "cannot" if refused else "unknown"
        weights = weight_bytes(model, config) / GIB if model.understood else None
        return Plan(model, where, config, grade, findings, weights_gib=weights, reason=reason)
    sized = _sized(model, where, config, findings)
    if model.multimodal and sized.grade != "cannot":
        # The language part alone fits; what the tower takes is not known.
        reason = "the vision or audio tower of the model is not sized"
        return Plan(model, where, config, "unknown", findings, reason=reason)
    return sized


def _sized(
    model: Architecture,
    where: Place,
    config: EngineConfiguration,
    findings: tuple[Finding, ...],
) -> Plan:
    total = where.usable_gib or 0.0
    budget = total * config.gpu_memory_utilization
    weights = weight_bytes(model, config) / GIB
    activation = activation_bytes(model, config) / GIB
    overhead = library_bytes(config) / GIB
    graphs = cuda_graph_bytes(model, config) / GIB
    budgeted = graphs if graphs_are_budgeted(config) else 0.0
    left = budget - weights - activation - overhead - budgeted
    needed = kv_cache.request_bytes(model, config, config.sequence_length) / GIB
    memory = max(left, 0.0) * GIB
    grade = _grade(left, needed, weights, activation + overhead + budgeted, budget, total, graphs)
    sized = Plan(
        architecture=model,
        place=where,
        configuration=config,
        grade=grade,
        findings=findings,
        weights_gib=weights,
        activation_gib=activation,
        overhead_gib=overhead,
        cuda_graph_gib=graphs,
        kv_cache_gib=left,
        needed_kv_cache_gib=needed,
        budget_gib=budget,
        total_gib=total,
        kv_tokens=kv_cache.cache_tokens(model, config, memory),
        max_context=kv_cache.longest_context(model, config, memory),
    )
    return replace(sized, findings=(*findings, *_memory_findings(sized)))


def _grade(
    left: float,
    needed: float,
    weights: float,
    soft: float,
    budget: float,
    total: float,
    graphs: float,
) -> Grade:
    """Grade by what would still hold if the soft terms were much smaller, or larger."""
    if budget - weights <= 0 or left + soft * 0.9 < needed:
        return "cannot"
    tight = total - budget < max(graphs, 0.03 * total)
    if left < needed * 1.1 or left < soft * _LEAST_SPARE or tight:
        return "marginal"
    return "fits"


def _memory_findings(sized: Plan) -> tuple[Finding, ...]:
    if sized.grade == "fits" or sized.kv_cache_gib is None:
        return ()
    config = sized.configuration
    cannot = sized.grade == "cannot"
    length = config.sequence_length
    message = (
        f"one request of {length} tokens needs {sized.needed_kv_cache_gib:.1f} GiB of KV cache on"
        f" each {sized.place.accelerator}; of {sized.budget_gib:.1f} GiB the weights take"
        f" {sized.weights_gib:.1f} and activations and buffers about"
        f" {(sized.activation_gib or 0) + (sized.overhead_gib or 0):.1f}"
    )
    return (
        Finding(
            rule="LMI050" if cannot else "LMI051",
            message=message,
            why="the engine stops at start for lack of KV cache"
            if cannot
            else "the engine may not start, or holds very few requests at once",
            fix="shorten max_model_len, use kv_cache_dtype='fp8', a quantised checkpoint, more GPUs"
            " for one copy (tensor_parallel_degree), or a larger instance",
            severity="error" if cannot else "warning",
            where="instance_type",
            source="https://docs.vllm.ai/en/latest/configuration/conserving_memory/",
        ),
    )


def _abstains(model: Architecture, config: EngineConfiguration, where: Place) -> str | None:
    if not model.understood:
        return f"the architecture {model.model_type or model.name} is not sized"
    if where.usable_gib is None:
        return f"the memory that the driver shows on {where.name} is not known"
    if config.speculative or config.cpu_offload_gib:
        return "speculative decoding and offloading to the host are not sized"
    if model.is_hybrid:
        return "layers with linear attention are not sized"
    if config.pipeline_parallel_degree > 1:
        return "builds differ in whether pipeline stages share the weights"
    return None


def _stored(model: Architecture, config: EngineConfiguration) -> Architecture:
    """Return the model as it is stored: the checkpoint's own way wins over the engine's option."""
    if model.quantization is not None or config.quantization is None:
        return model
    return model.quantized(Quantization.named(config.quantization))


def _capability(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    major, _, minor = text.partition(".")
    return int(major), int(minor or 0)
