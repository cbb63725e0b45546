"""What to change when a model does not fit; each suggestion is a plan of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from lmi_constructs.facts import instance_types, models
from lmi_constructs.planner.architecture import Architecture
from lmi_constructs.planner.configuration import EngineConfiguration
from lmi_constructs.planner.plan import Plan, plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.facts import InstanceType, ModelFacts
    from lmi_constructs.findings import Finding

_SHORTEST_CONTEXT: Final = 2048
_CONTEXT_STEP: Final = 1024
_FP8_CACHE_CAPABILITY: Final = (8, 9)
"""Accelerators from Ada on compute with FP8
(https://docs.vllm.ai/en/latest/features/quantization/quantized_kvcache/)."""

_FORMAT_IN_NAME: Final = re.compile(r"-(fp8|awq|gptq|int4|int8|nvfp4|mxfp4)[a-z0-9-]*$")

_ORDER: Final = {"fits": 0, "marginal": 1}


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One change that makes a model fit.

    Attributes:
        kind: `expert_parallel`, `tensor_parallel_degree`, `kv_cache_dtype`, `context`, `model` or
            `instance_type`.
        change: What to write.
        plan: The plan with that change.
    """

    kind: str
    change: str
    plan: Plan

    def __str__(self) -> str:
        """Return the change and what comes of it."""
        context, concurrency = self.plan.setup.context, self.plan.max_concurrency
        held = ""
        if context is not None and concurrency is not None:
            held = f", {concurrency:.1f} requests of {context} tokens at once"
        return f"{self.change} ({self.plan.grade}{held})"


def suggest(
    architecture: Architecture,
    instance_type: str,
    configuration: EngineConfiguration | None = None,
    region: str | None = None,
) -> tuple[Suggestion, ...]:
    """Return what to change so that a model fits, best first; empty if it fits already.

    What surely fits comes before what may; among these, what keeps the model and the instance
    comes first.

    Args:
        architecture: The model.
        instance_type: SageMaker instance type.
        configuration: What the engine is told.
        region: Region whose instance types may be suggested. Default: any.
    """
    configuration = configuration or EngineConfiguration()
    current = plan(architecture, instance_type, configuration)
    if current.grade in ("fits", "unknown"):
        return ()
    found = [
        *_whole_experts(current),
        *_other_degree(current),
        *_fp8_cache(current),
        *_shorter_context(current),
        *_quantised_sibling(current),
        *_instance(current, region),
    ]
    better = [s for s in found if _ORDER.get(s.plan.grade, 2) < _ORDER.get(current.grade, 2)]
    return tuple(sorted(better, key=lambda suggestion: _ORDER[suggestion.plan.grade]))


_NOT = "LMI050"
_MOST_ADVICE = 2
"""Ways out that a finding names; `lmi plan` lists all of them."""


def advised_findings(current: Plan, region: str | None = None) -> tuple[Finding, ...]:
    """Return the findings of a plan; what does not fit (LMI050) also says what would.

    Args:
        current: The plan.
        region: Region whose instance types may be named. Default: any.
    """
    if current.instance_type is None or not any(one.rule == _NOT for one in current.findings):
        return current.findings
    ways = suggest(current.architecture, current.instance_type, current.configuration, region)
    fitting = [way.change for way in ways if way.plan.grade == "fits"][:_MOST_ADVICE]
    if not fitting:
        return current.findings
    said = f"it fits with {' or with '.join(fitting)}"
    return tuple(
        replace(finding, fix=f"{finding.fix}: {said}") if finding.rule == _NOT else finding
        for finding in current.findings
    )


def _planned(
    kind: str,
    change: str,
    current: Plan,
    configuration: EngineConfiguration,
    *,
    architecture: Architecture | None = None,
    instance_type: str | None = None,
) -> Suggestion:
    where = instance_type or current.instance_type or current.accelerator
    count = current.accelerator_count if where is current.accelerator else None
    planned = plan(architecture or current.architecture, where, configuration, count=count)
    return Suggestion(kind, change, planned)


def _other_degree(current: Plan) -> Iterator[Suggestion]:
    """Yield the smallest larger degree that fits, or else the largest smaller one."""
    count, now = current.accelerator_count or 1, current.setup.tensor
    larger = [degree for degree in range(now + 1, count + 1) if count % degree == 0]
    smaller = [degree for degree in range(min(now, count + 1) - 1, 0, -1) if count % degree == 0]
    tried = [
        _planned(
            "tensor_parallel_degree",
            f"tensor_parallel_degree={degree}",
            current,
            replace(current.configuration, tensor_parallel_degree=degree),
        )
        for degree in (*larger, *smaller)
    ]
    yield from _first_of_best(tried)


def _fp8_cache(current: Plan) -> Iterator[Suggestion]:
    capability = current.accelerator.capability
    if capability is None or capability < _FP8_CACHE_CAPABILITY or current.setup.cache_bytes <= 1:
        return
    told = replace(current.configuration, kv_cache_dtype="fp8")
    yield _planned("kv_cache_dtype", 'kv_cache_dtype="fp8"', current, told)


def _shorter_context(current: Plan) -> Iterator[Suggestion]:
    """Yield the longest whole number of thousands of tokens that fits surely."""
    context, longest = current.setup.context, current.max_context
    if context is None or not longest:
        return
    own = current.architecture.max_context or longest
    top = min(context, longest, own) // _CONTEXT_STEP
    low, high = _SHORTEST_CONTEXT // _CONTEXT_STEP - 1, top
    best = None
    while low < high:  # the shorter, the more surely it fits
        middle = (low + high + 1) // 2
        tokens = middle * _CONTEXT_STEP
        told = replace(current.configuration, max_model_len=tokens)
        tried = _planned("context", f"max_model_len={tokens}", current, told)
        if tried.plan.grade == "fits":
            best, low = tried, middle
        else:
            high = middle - 1
    if best is not None and best.plan.setup.context != context:
        yield best


def _whole_experts(current: Plan) -> Iterator[Suggestion]:
    """Yield spreading whole experts, where their parts are no whole blocks."""
    if current.architecture.experts is None or current.configuration.expert_parallel:
        return
    if any(finding.rule == "LMI053" for finding in current.findings):
        told = replace(current.configuration, expert_parallel=True)
        yield _planned("expert_parallel", "enable_expert_parallel=True", current, told)


def _quantised_sibling(current: Plan) -> Iterator[Suggestion]:
    """Yield the same model with smaller weights."""
    own = models().get(current.architecture.name.lower())
    if own is None:
        return
    tried = []
    for facts in models().values():
        sibling = Architecture.known(facts.hub_id) if _is_copy(facts, own) else None
        if sibling is None or sibling.quantization is None:
            continue
        change = f"model {facts.hub_id} ({sibling.quantization.method} weights)"
        told = replace(current.configuration, quantization=None)
        suggestion = _planned("model", change, current, told, architecture=sibling)
        if (suggestion.plan.repository_bytes or 0) < (current.repository_bytes or 0):
            tried.append(suggestion)
    yield from _first_of_best(tried)


def _is_copy(facts: ModelFacts, original: ModelFacts) -> bool:
    """Tell whether a repository holds a model in another format: by its name, or as its copy."""
    name, base = (one.hub_id.split("/")[-1].lower() for one in (facts, original))
    formatted = _FORMAT_IN_NAME.search(name)
    return formatted is not None and name[: formatted.start()] == base


def _instance(current: Plan, region: str | None) -> Iterator[Suggestion]:
    """Yield the smallest instance type that fits, with all its accelerators in use."""
    tried = []
    for instance in sorted(instance_types().values(), key=_memory):
        offered = instance.regions and (region is None or region in instance.regions)
        if not offered or instance.name == current.instance_type:
            continue
        told = replace(
            current.configuration, tensor_parallel_degree=_degree(current.architecture, instance)
        )
        degree = f", tensor_parallel_degree={told.tensor_parallel_degree}"
        tried.append(
            _planned(
                "instance_type",
                f"instance_type={instance.name}{degree}",
                current,
                told,
                instance_type=instance.name,
            )
        )
        if tried[-1].plan.grade == "fits":
            break
    yield from _first_of_best(tried)


def _degree(architecture: Architecture, instance: InstanceType) -> int:
    """Return the largest degree that the heads allow on an instance."""
    count = instance.accelerator_count
    fitting = (d for d in range(count, 0, -1) if count % d == 0 and architecture.heads % d == 0)
    return next(fitting, 1)


def _memory(instance: InstanceType) -> tuple[float, int, float]:
    usable = instance.usable_accelerator_memory_gib or float("inf")
    vcpu = instance.vcpu or 0
    return usable * instance.accelerator_count, instance.accelerator_count, vcpu


def _first_of_best(tried: list[Suggestion]) -> Iterator[Suggestion]:
    for grade in _ORDER:
        for suggestion in tried:
            if suggestion.plan.grade == grade:
                yield suggestion
                return
