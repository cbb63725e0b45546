"""What to change when a model does not fit; each suggestion is a plan of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.container.setting_names import assignment
from lmi_constructs.facts import instance_types
from lmi_constructs.planner.architecture import Architecture
from lmi_constructs.planner.checkpoint import quantized_copies
from lmi_constructs.planner.configuration import EngineConfiguration, default_utilization
from lmi_constructs.planner.plan import Plan, plan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lmi_constructs.container.setting_names import Door
    from lmi_constructs.facts import InstanceType

_SHORTEST_CONTEXT: Final = 2048
_CONTEXT_STEP: Final = 1024
_SEQUENCES: Final = (512, 256, 128, 64, 32, 16, 8)
_USUAL_SEQUENCES: Final = 32
"""What the container itself sets; more leave less context."""

_UTILIZATIONS: Final = (0.9, 0.92, 0.95)
"""Shares that are tried: the engines' defaults, and the most that leaves room for CUDA graphs."""

_FP8_CACHE_CAPABILITY: Final = (8, 9)
"""Accelerators from Ada on compute with FP8
(https://docs.vllm.ai/en/latest/features/quantization/quantized_kvcache/)."""

_ORDER: Final = {"fits": 0, "marginal": 1}


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One change that makes a model fit.

    Attributes:
        kind: `expert_parallel`, `quantization`, `dtype`, `tensor_parallel_degree`,
            `gpu_memory_utilization`, `max_num_seqs`, `kv_cache_dtype`, `context`, `model` or
            `instance_type`.
        change: What to write, in words: in those of `EngineConfiguration`.
        plan: The plan with that change.
        changes: New values by the names of settings, of `model` and of `instance_type`; `None` says
            that a setting is left out.
    """

    kind: str
    change: str
    plan: Plan
    changes: Mapping[str, Any]

    def written(self, door: Door) -> str:
        """Return the change as one writes it in another place.

        Args:
            door: Where the settings are given.
        """
        model = self.changes.get("model")
        if model is None:
            return ", ".join(assignment(*change, door) for change in self.changes.items())
        change = self.change if door != "command" else f"--model {model}"
        rest = [assignment(*one, door) for one in self.changes.items() if one[0] != "model"]
        return ", ".join((change, *rest))

    def __str__(self) -> str:
        """Return the change and what comes of it."""
        return self.described("python")

    def described(self, door: Door) -> str:
        """Return the change as one writes it in some place, and what comes of it.

        Args:
            door: Where the settings are given.
        """
        context, concurrency = self.plan.setup.context, self.plan.max_concurrency
        held = ""
        if context is not None and concurrency is not None:
            held = f", {concurrency:.1f} requests of {context} tokens at once"
        return f"{self.written(door)} ({self.plan.grade}{held})"


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
        configuration: What the engine is told. Default: nothing, as for [`plan`][].
        region: Region whose instance types may be suggested. Default: any.

    Raises:
        LmiError: If an argument is of another kind (LMI010), or the instance type is not known
            (LMI040).
    """
    configuration = configuration or EngineConfiguration()
    current = plan(architecture, instance_type, configuration)
    if current.grade in ("fits", "unknown"):
        return ()
    found = [
        *_whole_experts(current),
        *_other_formats(current),
        *_first_of_best(_other_degrees(current)),
        *_first_of_best(_other_utilizations(current)),
        *_first_of_best(_fewer_sequences(current)),
        *_fp8_cache(current),
        *_shorter_context(current),
    ]
    if not any(one.plan.grade == "fits" for one in found):
        found += _two_changes(current)
    found += [
        *_quantized_sibling(current),
        *_instance(current, region),
    ]
    better = [s for s in found if _is_better(s.plan, current)]
    return tuple(sorted(better, key=lambda suggestion: _ORDER[suggestion.plan.grade]))


def _is_better(planned: Plan, current: Plan) -> bool:
    """Tell whether a change leads to a better grade, and to a cache for one request or more."""
    held = planned.max_concurrency
    return _ORDER.get(planned.grade, 2) < _ORDER.get(current.grade, 2) and (
        held is None or held >= 1
    )


def _tried(current: Plan, kind: str, changes: Mapping[str, Any], change: str = "") -> Suggestion:
    """Return the plan of changed settings; of another model or instance, if these are named.

    Args:
        current: The plan that does not fit.
        kind: Kind of the suggestion.
        changes: New values.
        change: What to write, in words. Default: the values.
    """
    told = {_FIELDS.get(name, name): value for name, value in changes.items() if name not in _NAMES}
    where = changes.get("instance_type") or current.instance_type or current.accelerator
    count = current.accelerator_count if where is current.accelerator else None
    named = Architecture.known(changes["model"]) if "model" in changes else None
    planned = plan(
        named or current.architecture, where, replace(current.configuration, **told), count=count
    )
    words = change or ", ".join(assignment(*one, "python") for one in changes.items())
    return Suggestion(kind, words, planned, dict(changes))


_NAMES: Final = ("model", "instance_type")
_FIELDS: Final = {"enable_expert_parallel": "expert_parallel"}


def _other_formats(current: Plan) -> Iterator[Suggestion]:
    """Yield formats that the engine takes instead of those that it, or the accelerator, refuses."""
    places = {one.where for one in current.findings if one.rule in ("LMI054", "LMI001")}
    if "dtype" in places:
        yield _tried(current, "dtype", {"dtype": "float16"})
    if "kv_cache_dtype" in places:
        yield _tried(current, "kv_cache_dtype", {"kv_cache_dtype": "fp8"})
        yield _tried(current, "kv_cache_dtype", {"kv_cache_dtype": None})
    yield from _other_quantization(current)


def _other_quantization(current: Plan) -> Iterator[Suggestion]:
    """Yield what the engine takes instead of a format that it refuses: none, or FP8 made by itself."""
    if not any(one.rule in ("LMI101", "LMI004") for one in current.findings):
        return
    yield _tried(current, "quantization", {"quantization": None})
    if current.architecture.quantization_method is None:
        yield _tried(current, "quantization", {"quantization": "fp8"})


def _other_degrees(current: Plan) -> Iterator[Suggestion]:
    """Yield the larger degrees, smallest first, and the smaller ones, largest first."""
    count, now = current.accelerator_count or 1, current.setup.tensor
    larger = [degree for degree in range(now + 1, count + 1) if count % degree == 0]
    smaller = [degree for degree in range(min(now, count + 1) - 1, 0, -1) if count % degree == 0]
    for degree in (*larger, *smaller):
        yield _tried(current, "tensor_parallel_degree", {"tensor_parallel_degree": degree})


def _other_utilizations(current: Plan) -> Iterator[Suggestion]:
    """Yield larger shares, smallest first; where the share is too large, smaller ones."""
    now, usual = current.setup.utilization, default_utilization(current.setup.version)
    if any(one.where == "gpu_memory_utilization" for one in current.findings):
        shares = [share for share in reversed(_UTILIZATIONS) if share < now]
    else:
        shares = sorted({share for share in (usual, *_UTILIZATIONS) if share > now})
    for share in shares:
        yield _tried(current, "gpu_memory_utilization", {"gpu_memory_utilization": share})


def _fewer_sequences(current: Plan) -> Iterator[Suggestion]:
    """Yield fewer sequences, most first: their trial batch leaves more for the cache."""
    for number in _SEQUENCES:
        if number < current.setup.sequences:
            yield _tried(current, "max_num_seqs", {"max_num_seqs": number})


def _two_changes(current: Plan) -> Iterator[Suggestion]:
    """Yield what fits with a shorter context besides, where no single change does."""
    for changed in (_other_degrees, _other_utilizations, _fewer_sequences):
        for first in changed(current):
            sure, context = first.plan.sure_context or 0, first.plan.setup.context or 0
            if not _SHORTEST_CONTEXT <= sure < context:
                continue
            if first.kind == "max_num_seqs" and first.changes["max_num_seqs"] > _USUAL_SEQUENCES:
                continue
            both = _tried(current, first.kind, {**first.changes, "max_model_len": sure})
            if both.plan.grade == "fits":
                yield both
                break


def _fp8_cache(current: Plan) -> Iterator[Suggestion]:
    capability = current.accelerator.capability
    if capability is None or capability < _FP8_CACHE_CAPABILITY or current.setup.cache_bytes <= 1:
        return
    if any(finding.where == "kv_cache_dtype" for finding in current.findings):
        return  # it is tried as another format already
    yield _tried(current, "kv_cache_dtype", {"kv_cache_dtype": "fp8"})


def _shorter_context(current: Plan) -> Iterator[Suggestion]:
    """Yield the longest context that fits surely: the plan's own figure, or else what is found."""
    context, sure = current.setup.context, current.sure_context
    if context is not None and sure is not None and _SHORTEST_CONTEXT <= sure < context:
        tried = _tried(current, "context", {"max_model_len": sure})
        if tried.plan.grade == "fits":
            yield tried
            return
    yield from _searched_context(current)


def _searched_context(current: Plan) -> Iterator[Suggestion]:
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
        tried = _tried(current, "context", {"max_model_len": middle * _CONTEXT_STEP})
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
        yield _tried(current, "expert_parallel", {"enable_expert_parallel": True})


def _quantized_sibling(current: Plan) -> Iterator[Suggestion]:
    """Yield the same model with smaller weights."""
    tried = []
    for facts in quantized_copies(current.architecture):
        sibling = Architecture.known(facts.hub_id)
        if sibling is None or sibling.quantization is None:
            continue
        changes: dict[str, Any] = {"model": facts.hub_id}
        if current.configuration.quantization is not None:
            changes["quantization"] = None
        words = f"model {facts.hub_id} ({sibling.quantization.method} weights)"
        suggestion = _tried(current, "model", changes, words)
        if (suggestion.plan.repository_bytes or 0) < (current.repository_bytes or 0):
            tried.append(suggestion)
    yield from _first_of_best(tried)


def _instance(current: Plan, region: str | None) -> Iterator[Suggestion]:
    """Yield the smallest instance type that fits, with as many of its accelerators as it takes."""
    yield from _first_of_best(
        _tried(
            current,
            "instance_type",
            {"instance_type": instance.name, "tensor_parallel_degree": degree},
        )
        for instance in sorted(instance_types().values(), key=_memory)
        if instance.regions and (region is None or region in instance.regions)
        if instance.name != current.instance_type
        for degree in _degrees(current.architecture, instance)
    )


def _degrees(architecture: Architecture, instance: InstanceType) -> Iterator[int]:
    """Yield the degrees that use an instance best and that the heads allow, largest first."""
    count = instance.accelerator_count
    for degree in range(count, 0, -1):
        if count % degree == 0 and architecture.heads % degree == 0:
            yield degree


def _memory(instance: InstanceType) -> tuple[float, int, float]:
    usable = instance.usable_accelerator_memory_gib or float("inf")
    vcpu = instance.vcpu or 0
    return usable * instance.accelerator_count, instance.accelerator_count, vcpu


def _first_of_best(tried: Iterable[Suggestion]) -> Iterator[Suggestion]:
    """Yield the first that fits, or else the first that may; nothing is planned after the former."""
    perhaps = None
    for suggestion in tried:
        if suggestion.plan.grade == "fits":
            yield suggestion
            return
        if suggestion.plan.grade == "marginal" and perhaps is None:
            perhaps = suggestion
    if perhaps is not None:
        yield perhaps
