"""What the engine is told, with the engine's own defaults by version where nothing is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_V1_SINCE = (0, 8, 0)
_LATENT_SINCE = (0, 7, 0)
_CHUNKS_SINCE = (0, 5, 4)
_CHUNKS_LATENT_SINCE = (0, 7, 3)
_CHUNKS_ABOVE = 32768
"""V0 switches chunked prefill on by itself above this length (vllm/engine/arg_utils.py)."""
_LARGE_CARD_GIB = 70.0
"""From this size on V1 takes larger defaults (vllm/engine/arg_utils.py, _set_default_args_v1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineConfiguration:
    """Settings of the engine that decide about memory; `None` is the engine's own default.

    Attributes:
        tensor_parallel_degree: GPUs that share one copy.
        pipeline_parallel_degree: Stages that share the layers.
        data_parallel_degree: Copies of the attention in one deployment with expert parallelism.
        expert_parallel: Whether whole experts are distributed instead of split.
        max_model_len: Longest sequence in tokens. Default: the model's own.
        max_num_seqs: Sequences at the same time.
        max_num_batched_tokens: Tokens in one step.
        gpu_memory_utilization: Share of the memory that the engine may use.
        dtype: Data type of unquantised weights and activations.
        quantization: Method that the engine is told to use.
        kv_cache_dtype: Data type of the KV cache.
        block_size: Tokens in a block of the KV cache.
        enforce_eager: Whether CUDA graphs are off.
        enable_chunked_prefill: Whether long prompts are processed in pieces.
        enable_lora: Whether adapters can be served.
        max_loras: Adapters in one batch.
        max_lora_rank: Largest rank of an adapter.
        cpu_offload_gib: GiB of weights kept in host memory; the planner abstains if above zero.
        speculative: Whether speculative decoding is on; the planner abstains if it is.
        extends_context: Whether the model's configuration is overridden, so that its own longest
            context may not hold.
        engine_version: Version of vLLM as numbers, if known.
        legacy_engine: Whether the engine is V0. Default: by version, V1 if that is unknown.
        sequence_length: `max_model_len`, or the model's own; filled in by the plan.
        large_card: Whether V1 takes its defaults for large cards; filled in by the plan.
        latent_attention: Whether the model has latent attention; filled in by the plan.
    """

    tensor_parallel_degree: int = 1
    pipeline_parallel_degree: int = 1
    data_parallel_degree: int = 1
    expert_parallel: bool = False
    max_model_len: int | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    gpu_memory_utilization: float = 0.9
    dtype: str | None = None
    quantization: str | None = None
    kv_cache_dtype: str | None = None
    block_size: int = 16
    enforce_eager: bool = False
    enable_chunked_prefill: bool | None = None
    enable_lora: bool = False
    max_loras: int = 4
    max_lora_rank: int = 16
    cpu_offload_gib: float = 0.0
    speculative: bool = False
    extends_context: bool = False
    engine_version: tuple[int, ...] | None = None
    legacy_engine: bool | None = None
    sequence_length: int = 0
    large_card: bool = False
    latent_attention: bool = False

    @classmethod
    def from_effective(
        cls,
        effective: Mapping[str, Any],
        *,
        accelerator_count: int,
        engine_version: tuple[int, ...] | None,
    ) -> EngineConfiguration:
        """Return the configuration that a container hands to its engine.

        Args:
            effective: The engine's settings by their names, as a verdict gives them. What is absent
                or not known yet has the engine's own default.
            accelerator_count: Accelerators of the instance, for a degree of `max`.
            engine_version: Version of the engine, if known.
        """
        degree = effective.get("tensor_parallel_degree")
        given = {
            name: effective[name]
            for name, kind in _READ_FROM_EFFECTIVE.items()
            if _is_known(effective.get(name), kind)
        }
        return cls(
            tensor_parallel_degree=degree if isinstance(degree, int) else accelerator_count,
            expert_parallel=effective.get("enable_expert_parallel") is True,
            cpu_offload_gib=float(effective.get("cpu_offload_gb") or 0),
            speculative=bool(effective.get("speculative_config")),
            extends_context=bool(effective.get("hf_overrides") or effective.get("rope_scaling")),
            engine_version=engine_version,
            **given,
        )

    @property
    def is_legacy(self) -> bool:
        """Whether the engine is V0."""
        if self.legacy_engine is not None:
            return self.legacy_engine
        return self.engine_version is not None and self.engine_version < _V1_SINCE

    @property
    def kv_cache_is_8bit(self) -> bool:
        """Whether a value of the KV cache takes one byte."""
        return "fp8" in (self.kv_cache_dtype or "") or "int8" in (self.kv_cache_dtype or "")

    @property
    def uses_latent_cache(self) -> bool:
        """Whether latent attention keeps its compressed cache (0.7 and later)."""
        return self.engine_version is None or self.engine_version >= _LATENT_SINCE

    @property
    def aligns_latent_cache(self) -> bool:
        """Whether rows of the latent cache are padded to whole cache lines (V0 only)."""
        return self.is_legacy

    @property
    def has_hybrid_cache(self) -> bool:
        """Whether window layers keep only their window (V1 from 0.10 on)."""
        if self.is_legacy:
            return False
        return self.engine_version is None or self.engine_version >= (0, 10, 0)

    @property
    def chunks_prefill(self) -> bool:
        """Whether prompts are processed in pieces."""
        if self.enable_chunked_prefill is not None:
            return self.enable_chunked_prefill
        if not self.is_legacy:
            return True
        since = _CHUNKS_LATENT_SINCE if self.latent_attention else _CHUNKS_SINCE
        old = self.engine_version is not None and self.engine_version < since
        return self.sequence_length > _CHUNKS_ABOVE and not old

    @property
    def sequences(self) -> int:
        """Sequences at the same time."""
        if self.max_num_seqs is not None:
            return self.max_num_seqs
        return 1024 if self.large_card and not self.is_legacy else 256

    @property
    def batched_tokens(self) -> int:
        """Tokens in one step."""
        if self.max_num_batched_tokens is not None:
            return self.max_num_batched_tokens
        if self.is_legacy:
            return 2048 if self.chunks_prefill else max(self.sequence_length, 2048)
        return 8192 if self.large_card else 2048


_READ_FROM_EFFECTIVE: dict[str, type | tuple[type, ...]] = {
    "max_model_len": int,
    "max_num_seqs": int,
    "max_num_batched_tokens": int,
    "gpu_memory_utilization": (int, float),
    "dtype": str,
    "quantization": str,
    "kv_cache_dtype": str,
    "block_size": int,
    "enforce_eager": bool,
    "enable_chunked_prefill": bool,
    "enable_lora": bool,
    "max_loras": int,
    "max_lora_rank": int,
}


def _is_known(value: object, kind: type | tuple[type, ...]) -> bool:
    """Whether a setting has a value that can be planned with, rather than `auto` or a token."""
    if isinstance(value, bool) or kind is bool:
        return isinstance(value, bool) and kind is bool
    if isinstance(value, str):
        return kind is str and "${" not in value
    return isinstance(value, kind) and value > 0  # type: ignore[operator]


def is_large_card(total_gib: float, accelerator: str) -> bool:
    """Whether V1 takes its larger defaults on an accelerator."""
    return total_gib >= _LARGE_CARD_GIB and "A100" not in accelerator
