"""What the engine is told, and what it makes of it: defaults differ by version and accelerator."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.container import verdict
from lmi_constructs.container.engine_versions import ANY_VERSION, since
from lmi_constructs.findings import raise_errors
from lmi_constructs.planner._kinds import COUNTS, settings_of_other_kinds, wrong_settings
from lmi_constructs.planner.cache_formats import cache_bytes
from lmi_constructs.planner.checkpoint import loaded_format
from lmi_constructs.planner.trial_batch import SMALL_BATCH, trial_batch

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from lmi_constructs.container import LmiContainer
    from lmi_constructs.facts import Accelerator
    from lmi_constructs.planner.architecture import Architecture
    from lmi_constructs.planner.quantization import Quantization

NEWEST: Final = (0, 23, 0)
"""Engine that is assumed when its version is not known: that of the default container."""

V1_FROM: Final = (0, 8, 0)
"""https://github.com/vllm-project/vllm/releases/tag/v0.8.0: V1 on by default."""

HYBRID_CACHE_FROM: Final = (0, 9, 2)
"""Windows spare cache memory (https://github.com/vllm-project/vllm/pull/17996)."""

CONTEXT_CHECKED_FROM: Final = (0, 2, 7)
"""The engine refuses a context that its cache cannot hold; before, it started and hung on such a
request (https://github.com/vllm-project/vllm/pull/2163, December 2023)."""

GRAPHS_IN_BUDGET_FROM: Final = (0, 21, 0)
"""CUDA graphs are estimated and taken from the budget (public start-up logs from 0.21 on)."""

LATENT_CACHE_FROM: Final = (0, 7, 1)
"""Latent attention is cached compressed (https://github.com/vllm-project/vllm/pull/12601)."""

_UTILIZATION: Final = (((0, 20, 0), 0.92), (ANY_VERSION, 0.90))
"""Defaults of `gpu_memory_utilization` (EngineArgs of the vLLM wheels)."""

_OTHER_ENGINES: Final = frozenset({"trtllm", "deepspeed", "tnx", "neuronx", "scheduler"})
"""Back ends that are no vLLM, whose memory is not what is computed here."""


def is_planned(backend: str | None) -> bool:
    """Return whether memory can be planned for what serves the model; yes, if it is not known."""
    return backend not in _OTHER_ENGINES


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineConfiguration:
    """What the engine is told. `None` is the engine's own default for its version.

    The container has other defaults than the engine inside it: it uses all accelerators, and runs
    32 sequences at once. [`in_container`][] starts from these, as `lmi plan` and the constructs do.

    Attributes:
        tensor_parallel_degree: Accelerators that share each layer; the engine's default is 1.
        pipeline_parallel_degree: Stages that share the layers.
        data_parallel_size: Replicas that share the experts.
        expert_parallel: Whether whole experts are spread instead of cut.
        max_model_len: Longest context in tokens; default: the model's own. 0 or less lets the
            engine choose what fits.
        max_num_seqs: Sequences at once; the engine's default is 256, or 1024 on large accelerators.
        max_num_batched_tokens: Tokens of one batch.
        gpu_memory_utilization: Share of the accelerator's memory, from 0 to 1.
        dtype: Number format to compute in.
        quantization: Format of the weights, by the engine's name; default: the checkpoint's.
        kv_cache_dtype: Number format of the cache.
        enforce_eager: Whether CUDA graphs are off.
        enable_lora: Whether adapters are served.
        max_loras: Adapters in one batch.
        max_lora_rank: Largest rank of an adapter.
        fully_sharded_loras: Whether both adapter matrices are cut.
        enable_chunked_prefill: Whether long prompts are cut, where the engine lets one choose.
        disable_hybrid_kv_cache_manager: Whether windows spare no memory.
        hf_overrides: Changes to the model's config. Those of the context are judged; the planner
            abstains from others.
        rope_scaling: Rope scaling instead of the config's, for engines that had it as an argument.
        speculative_config: Speculative decoding; the planner abstains.
        cpu_offload_gb: Weights kept in host memory in GiB; the planner abstains.
        engine_version: Version of vLLM; default: that of the default container.
        legacy_engine: Whether the old engine (V0) runs; default: by version.
        started_by_container: Whether the container's handler starts the engine, which then tries 2048
            tokens on every accelerator unless it is told otherwise; vLLM's own server tries more on
            large ones.
        unknown: Names of settings that are known only at deployment; the planner abstains.
        doubt: Why nothing can be planned for this engine, whatever the model; the planner abstains.
    """

    tensor_parallel_degree: int | None = None
    pipeline_parallel_degree: int | None = None
    data_parallel_size: int | None = None
    expert_parallel: bool = False
    max_model_len: int | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    gpu_memory_utilization: float | None = None
    dtype: str | None = None
    quantization: str | None = None
    kv_cache_dtype: str | None = None
    enforce_eager: bool | None = None
    enable_lora: bool | None = None
    max_loras: int | None = None
    max_lora_rank: int | None = None
    fully_sharded_loras: bool | None = None
    enable_chunked_prefill: bool | None = None
    disable_hybrid_kv_cache_manager: bool | None = None
    hf_overrides: Any = None
    rope_scaling: Any = None
    speculative_config: Any = None
    cpu_offload_gb: float | None = None
    engine_version: tuple[int, ...] | None = None
    legacy_engine: bool | None = None
    started_by_container: bool = False
    unknown: frozenset[str] = frozenset()
    doubt: str | None = None

    def __post_init__(self) -> None:
        """Refuse values of another kind than their field's, all at once.

        Raises:
            LmiError: Such as a `max_model_len` of `"16K"` (LMI010).
        """
        raise_errors(wrong_settings(self))

    @classmethod
    def in_container(
        cls, container: LmiContainer, accelerator_count: int, **told: Any
    ) -> EngineConfiguration:
        """Return the configuration that a container hands to its engine for some settings.

        Args:
            container: The release.
            accelerator_count: Accelerators that the container sees: all of the instance.
            told: Settings by the names of this class. `None`, as what is absent, is the container's
                own default, or else the engine's.

        Raises:
            LmiError: If a value is of another kind than its setting (LMI010).
        """
        judged = verdict({"HF_MODEL_ID": "any/model"}, container, gpus=accelerator_count)
        base = cls.from_effective(
            judged.effective,
            accelerator_count=accelerator_count,
            engine_version=container.engine_version,
        )
        if not is_planned(judged.backend):
            base = replace(
                base, doubt=f"{container.name} serves with {judged.backend}: only vLLM is planned"
            )
        return replace(base, **{name: value for name, value in told.items() if value is not None})

    @classmethod
    def from_effective(
        cls,
        effective: Mapping[str, Any],
        *,
        accelerator_count: int,
        engine_version: tuple[int, ...] | None,
        unknown: Collection[str] = (),
    ) -> EngineConfiguration:
        """Return the configuration that a container hands to its engine.

        Args:
            effective: The engine's settings by their names, as a verdict gives them. What is absent
                has the engine's own default.
            accelerator_count: Accelerators of the instance, for a degree of `max`.
            engine_version: Version of the engine. Without it, the planner abstains.
            unknown: Engine's names of settings whose value is known only at deployment.
        """
        named = {field.name for field in fields(cls)}
        given = {
            name: value
            for name, value in effective.items()
            if name in named and _can_be_planned(value)
        }
        odd = settings_of_other_kinds(given)
        given = {name: value for name, value in given.items() if name not in odd}
        given.setdefault("tensor_parallel_degree", accelerator_count)
        given["expert_parallel"] = effective.get("enable_expert_parallel") is True
        given["engine_version"] = engine_version
        given["started_by_container"] = True
        given["unknown"] = (frozenset(unknown) & {*named, "enable_expert_parallel"}) | odd
        if engine_version is None:
            given["doubt"] = "the version of the container's engine is not known"
        return cls(**given)

    def beyond_engines(self) -> tuple[str, ...]:
        """Return the names of numbers that no engine takes, such as a negative count or NaN."""
        odd = [name for name in COUNTS if not _is_count(getattr(self, name), least=1)]
        if self.max_model_len != _AS_FITS and not _is_count(self.max_model_len, least=1):
            odd.append("max_model_len")
        share = self.gpu_memory_utilization
        if share is not None and not (isinstance(share, int | float) and 0 < share <= 1):
            odd.append("gpu_memory_utilization")
        return tuple(odd)


_AS_FITS: Final = -1
"""A context that the engine chooses by what fits (`max_model_len` of EngineArgs)."""

_MOST: Final = 10**24
"""More than any count of tokens, sequences or accelerators."""


def _is_count(value: object, *, least: int) -> bool:
    """Whether a number is left out, or whole and within what can be counted."""
    return value is None or (type(value) is int and least <= value <= _MOST)


def _can_be_planned(value: object) -> bool:
    """Whether a value is given, rather than left to the engine."""
    return value not in (None, "", "auto", "max")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """A configuration with every default filled in for a model on an accelerator.

    Attributes:
        version: Version of the engine.
        legacy: Whether the old engine runs.
        tensor: Accelerators that share each layer.
        pipeline: Stages.
        data: Replicas that share the experts.
        utilization: Share of the memory.
        context: Longest context in tokens, `None` if the engine chooses it.
        batched_tokens: Tokens of the batch that the engine tries before it starts.
        sequences: Sequences of that batch.
        samples: Whether it also samples in that trial.
        dtype_bytes: Bytes of an unquantized weight and of an activation.
        cache_bytes: Bytes of one number in the cache.
        quantization: Format of the weights.
        hybrid_cache: Whether windows spare memory.
        graphs: Whether CUDA graphs are captured.
        graphs_in_budget: Whether they count against the budget.
    """

    version: tuple[int, ...]
    legacy: bool
    tensor: int
    pipeline: int
    data: int
    utilization: float
    context: int | None
    batched_tokens: int
    sequences: int
    samples: bool
    dtype_bytes: int
    cache_bytes: float
    quantization: Quantization | None
    hybrid_cache: bool
    graphs: bool
    graphs_in_budget: bool


def fill_in(
    configuration: EngineConfiguration, architecture: Architecture, accelerator: Accelerator
) -> Setup:
    """Return the configuration as the engine understands it."""
    version = configuration.engine_version or NEWEST
    legacy = configuration.legacy_engine
    legacy = version < V1_FROM if legacy is None else legacy
    context = configuration.max_model_len
    if context is None:
        context = architecture.max_context or SMALL_BATCH[0]
    dtype_bytes = 4 if _is_float32(configuration.dtype, architecture) else 2
    batch = trial_batch(configuration, architecture, accelerator, version, legacy, context)
    return Setup(
        version=version,
        legacy=legacy,
        tensor=configuration.tensor_parallel_degree or 1,
        pipeline=configuration.pipeline_parallel_degree or 1,
        data=configuration.data_parallel_size or 1,
        utilization=configuration.gpu_memory_utilization or default_utilization(version),
        context=context if context > 0 else None,
        batched_tokens=batch[0],
        sequences=batch[1],
        samples=batch[2],
        dtype_bytes=dtype_bytes,
        cache_bytes=cache_bytes(configuration.kv_cache_dtype, dtype_bytes, architecture.head_dim)
        or dtype_bytes,  # of a format that is not known, which is doubted
        quantization=loaded_format(configuration.quantization, architecture),
        hybrid_cache=not legacy
        and version >= HYBRID_CACHE_FROM
        and not configuration.disable_hybrid_kv_cache_manager,
        graphs=not configuration.enforce_eager,
        graphs_in_budget=not legacy and version >= GRAPHS_IN_BUDGET_FROM,
    )


def default_utilization(version: tuple[int, ...]) -> float:
    """Return the engine's own default of `gpu_memory_utilization`, from 0 to 1."""
    return since(version, _UTILIZATION)


def _is_float32(dtype: str | None, architecture: Architecture) -> bool:
    if dtype in (None, "auto"):
        return False  # `auto` computes in 16 bits also where the checkpoint has 32
    return str(dtype).lower() in ("float32", "fp32", "float") and architecture.quantization is None
