"""Bytes of KV cache: by token, by request, and tokens by memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lmi_constructs.planner.architecture import Architecture
    from lmi_constructs.planner.configuration import EngineConfiguration

_ALIGNED_LATENT = 640
_ALIGNED_BEFORE = 576
_OLD_HEAD = 256
"""Engines before 0.7 keep the keys of latent attention whole, padded to this."""


def layer_token_bytes(architecture: Architecture, config: EngineConfiguration) -> float:
    """Return the bytes that one token takes in one layer on one rank."""
    item = 1 if config.kv_cache_is_8bit else (4 if config.dtype in ("float32", "fp32") else 2)
    ranks = config.tensor_parallel_degree
    latent = architecture.latent
    if latent is None:
        return 2 * max(1, architecture.kv_heads / ranks) * architecture.head_size * item
    if not config.uses_latent_cache:
        return 2 * max(1, architecture.heads / ranks) * _OLD_HEAD * item
    size = latent.kv_rank + latent.rope_size
    if size == _ALIGNED_BEFORE and config.aligns_latent_cache:
        size = _ALIGNED_LATENT
    return size * item


def request_bytes(architecture: Architecture, config: EngineConfiguration, tokens: int) -> float:
    """Return the bytes that one request of this many tokens takes on one rank."""
    window = architecture.sliding_window
    full, windowed = _cached_layers(architecture, config)
    block = config.block_size
    blocks = -(-tokens // block) * block
    kept = blocks
    if windowed and window is not None:
        reach = window + config.batched_tokens
        kept = min(blocks, -(-reach // block) * block)
    one = layer_token_bytes(architecture, config) / config.pipeline_parallel_degree
    return one * (full * blocks + windowed * kept)


def cache_tokens(architecture: Architecture, config: EngineConfiguration, memory: float) -> int:
    """Return the tokens that fit, as the engine counts them: in whole blocks of all layers."""
    full, windowed = _cached_layers(architecture, config)
    one = layer_token_bytes(architecture, config) / config.pipeline_parallel_degree
    per_token = one * (full + windowed)
    if per_token <= 0 or memory <= 0:
        return 0
    return int(memory // (per_token * config.block_size)) * config.block_size


def longest_context(architecture: Architecture, config: EngineConfiguration, memory: float) -> int:
    """Return the longest single request in tokens whose cache fits into the memory."""
    low, high = 0, 1 << 28
    while low < high:
        middle = (low + high + 1) // 2
        if request_bytes(architecture, config, middle) <= memory:
            low = middle
        else:
            high = middle - 1
    return low // config.block_size * config.block_size


def _cached_layers(architecture: Architecture, config: EngineConfiguration) -> tuple[int, int]:
    """Return the layers that keep every token, and those that keep a window."""
    if architecture.window_layers and config.has_hybrid_cache:
        return architecture.attention_layers, architecture.window_layers
    return architecture.attention_layers + architecture.window_layers, 0
