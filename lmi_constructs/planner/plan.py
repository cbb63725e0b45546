"""The plan: what a model takes of each accelerator, and whether the engine starts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from math import inf
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.facts import Accelerator, accelerators, instance_types
from lmi_constructs.findings import Finding, LmiError, raise_errors
from lmi_constructs.planner._kinds import wrong
from lmi_constructs.planner.architecture import Architecture
from lmi_constructs.planner.configuration import EngineConfiguration, Setup, fill_in
from lmi_constructs.planner.context_length import overridden
from lmi_constructs.planner.explanation import explain
from lmi_constructs.planner.grading import (
    SHOWN_NOT_KNOWN,
    Grade,
    doubt_about,
    grade_of_rules,
    judge,
    judge_measured,
    sure_context,
    too_little_storage,
)
from lmi_constructs.planner.kv_cache import cache_of
from lmi_constructs.planner.memory import Memory
from lmi_constructs.planner.profile import GIB
from lmi_constructs.planner.refusals import refusals
from lmi_constructs.planner.single_instance import fits_nowhere
from lmi_constructs.planner.start_up import start_up_of
from lmi_constructs.planner.weights import repository_bytes
from lmi_constructs.readable import readable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.planner.kv_cache import Cache
    from lmi_constructs.planner.start_up import StartUp


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
        max_context: Longest context that one request can have by the usual estimate, in tokens, never
            beyond the model's own.
        sure_context: Longest context that surely fits, in tokens: with the largest estimates of
            everything else. Advice names this one.
        repository_bytes: Size of the weights to download, in bytes.
        start_up: How long the weights take to arrive, by published measurements.
        doubt: Why the memory has no figures. The grade is `unknown` then, unless a hard rule, or the
            least and the most that the accelerator can have, settle it.
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
    sure_context: int | None = None
    repository_bytes: int | None = None
    start_up: StartUp | None = None
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

        The engine works on no more than its `max_num_seqs` of them, and refuses requests that are
        longer than its context, whatever the cache would hold.
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
    measured_cache_gib: float | None = None,
) -> Plan:
    """Plan a model on an instance type, or on a number of accelerators.

    Args:
        architecture: The model.
        where: SageMaker instance type, or an accelerator.
        configuration: What the engine is told. Default: nothing, so that vLLM's own defaults hold:
            one accelerator, 256 or 1024 sequences. What a container makes of it on all accelerators
            of the instance, as `lmi plan` and the constructs plan it, is
            `EngineConfiguration.in_container(LmiContainer.default(), 4)`.
        count: Number of accelerators, if `where` is one. Default: as many as the ranks need.
        measured_cache_gib: Memory for the cache on each accelerator in GiB, as an engine with this
            model and these settings logged it before it compared that with the context. It is
            judged instead of an estimate, so that the accelerator need not be known. Default: not
            measured.

    Raises:
        LmiError: If the instance type is not known (LMI040), or an argument is of another kind, or
            no number that there is (LMI010).
    """
    raise_errors(_of_other_kinds(architecture, where, configuration))
    raise_errors(_odd_numbers(where, count, measured_cache_gib))
    measured = measured_cache_gib is not None
    outline = _outline(architecture, where, configuration or EngineConfiguration(), count, measured)
    if outline.doubt == SHOWN_NOT_KNOWN.format(outline.accelerator.name):
        return _between(outline)
    if outline.doubt is not None:
        return outline
    return (
        _estimated(outline)
        if measured_cache_gib is None
        else _measured(outline, measured_cache_gib)
    )


def _outline(
    architecture: Architecture,
    where: str | Accelerator,
    configuration: EngineConfiguration,
    count: int | None,
    cache_measured: bool,
) -> Plan:
    """Return what is known without planning memory: rules, download, and why to abstain."""
    name = where if isinstance(where, str) else None
    accelerator, count = _instance(where) if isinstance(where, str) else (where, count)
    architecture = overridden(architecture, configuration)[0]
    odd: dict[str, Any] = dict.fromkeys(configuration.beyond_engines())
    setup = fill_in(replace(configuration, **odd), architecture, accelerator)
    size = repository_bytes(architecture) if architecture.understood else None
    broken = refusals(architecture, accelerator, count, configuration, setup)
    judged = not (configuration.unknown or configuration.doubt)
    found = (*(broken if judged else ()), *too_little_storage(name, size))
    return Plan(
        grade=grade_of_rules(found),
        findings=found,
        architecture=architecture,
        accelerator=accelerator,
        accelerator_count=count,
        instance_type=name,
        configuration=configuration,
        setup=setup,
        repository_bytes=size,
        start_up=None if size is None else start_up_of(size),
        doubt=doubt_about(
            architecture, accelerator, configuration, setup, cache_measured=cache_measured
        ),
    )


def _estimated(outline: Plan) -> Plan:
    """Return the plan with every term of the memory estimated."""
    architecture, accelerator, setup = outline.architecture, outline.accelerator, outline.setup
    found = outline.findings
    memory = Memory.of(architecture, accelerator, outline.configuration, setup)
    grade, about_memory = judge(memory, architecture, accelerator, setup, found)
    nowhere = fits_nowhere(architecture, outline.repository_bytes) if grade == "cannot" else None
    if about_memory and nowhere:
        about_memory = nowhere
        found = tuple(finding for finding in found if finding.rule != "LMI057")
    longest = memory.cache.longest(memory.pool.usual * GIB)
    return replace(
        outline,
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
        sure_context=sure_context(memory, architecture),
        cache=memory.cache,
    )


def _between(outline: Plan) -> Plan:
    """Return the grade that both the least and the most that the driver may show agree on."""
    architecture, setup = outline.architecture, outline.setup
    nominal = outline.accelerator.memory_gib
    judged = []
    called = f"{outline.accelerator.name} with all of its nominal {readable(nominal)} GiB"
    for usable in (_least_shown() * nominal, nominal):
        accelerator = replace(outline.accelerator, name=called, usable_memory_gib=usable)
        memory = Memory.of(architecture, accelerator, outline.configuration, setup)
        judged.append(judge(memory, architecture, accelerator, setup, outline.findings))
    (least, _), (most, about_memory) = judged
    hardly_known = (outline.accelerator.capability or (0, 0)) < _COMMON_CAPABILITY
    if least != most or (hardly_known and most != "cannot"):
        return outline
    return replace(outline, grade=most, findings=outline.findings + about_memory)


_COMMON_CAPABILITY: Final = (7, 5)
"""Of what is older the engines' releases say less and less, and public logs nothing."""


@cache
def _least_shown() -> float:
    """Return the least share of the nominal memory that a driver shows, by public logs."""
    return min(
        device.usable_memory_gib / device.memory_gib
        for device in accelerators().values()
        if device.measured and device.usable_memory_gib
    )


def _measured(outline: Plan, cache_gib: float) -> Plan:
    """Return the plan where the engine itself measured what is left for the cache."""
    architecture, setup = outline.architecture, outline.setup
    kept = cache_of(architecture, setup)
    needed = kept.needed(setup.context or 1) / GIB
    longest = kept.longest(cache_gib * GIB)
    longest = min(longest, architecture.max_context or longest)
    grade, about_memory = judge_measured(
        cache_gib, needed, longest, architecture, setup, outline.findings
    )
    return replace(
        outline,
        grade=grade,
        findings=outline.findings + about_memory,
        kv_cache_gib=cache_gib,
        kv_needed_gib=needed,
        kv_tokens=kept.tokens(cache_gib * GIB),
        max_context=longest,
        sure_context=longest,
        cache=kept,
    )


def _of_other_kinds(
    architecture: object, where: object, configuration: object
) -> Iterator[Finding]:
    """Yield the arguments that are of another kind, and how to write them."""
    if not isinstance(architecture, Architecture):
        hub_id = architecture if isinstance(architecture, str) else "Qwen/Qwen3-8B"
        yield wrong(
            "architecture",
            architecture,
            f'give Architecture.known("{hub_id}"), which is None for a model that the planner does not'
            ' know, or Architecture.from_config_json("config.json")',
        )
    if not isinstance(where, str | Accelerator):
        yield wrong("where", where, 'give an instance type, such as "ml.g6.12xlarge"')
    if not isinstance(configuration, EngineConfiguration | None):
        yield wrong("configuration", configuration, "give EngineConfiguration(...)")


def _odd_numbers(
    where: str | Accelerator, count: object, measured_cache_gib: object
) -> Iterator[Finding]:
    """Yield a count and a measurement that cannot be."""
    if count is not None and isinstance(where, str):
        fix = f"leave it out: {where} has its own number of accelerators"
        yield wrong("count", count, fix)
    elif count is not None and (type(count) is not int or count < 1):
        yield wrong("count", count, "give a whole number from 1 on")
    gib = measured_cache_gib
    if gib is None:
        return
    if isinstance(gib, bool) or not isinstance(gib, int | float) or not 0 < gib < inf:
        yield wrong("measured_cache_gib", gib, "give the GiB that the engine logged, such as 12.5")
        return
    accelerator = _instance(where)[0] if isinstance(where, str) else where
    most = accelerator.usable_memory_gib or accelerator.memory_gib
    if most and gib > most:
        yield wrong(
            "measured_cache_gib",
            gib,
            f"give the GiB of one {accelerator.name}, which has {readable(most)} GiB in all",
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
