"""The cache of keys and values: bytes of a token, and what a pool holds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lmi_constructs.planner.configuration import LATENT_CACHE_FROM

if TYPE_CHECKING:
    from lmi_constructs.planner.architecture import Architecture
    from lmi_constructs.planner.configuration import Setup

_BLOCK: Final = 16
"""Tokens of one block of the cache."""

_ALIGNED_ROW: Final = 128
"""The old engine pads a row of latent attention: 576 to 640
(https://github.com/vllm-project/vllm/pull/13718)."""

_PLAIN_LATENT_HEAD: Final = 256
"""Before latent attention was cached compressed, its heads were padded to the kernel's 256."""


@dataclass(frozen=True, slots=True)
class Cache:
    """How much cache memory tokens take on one rank.

    Attributes:
        full_bytes: Bytes of one token in all layers that see the whole context.
        window_bytes: Bytes of one token in all layers that see a window.
        window: Tokens that such a layer keeps at most, `None` if it keeps all.
    """

    full_bytes: float
    window_bytes: float = 0.0
    window: int | None = None

    @property
    def token_bytes(self) -> float:
        """Bytes of one token while nothing has left a window."""
        return self.full_bytes + self.window_bytes

    def needed(self, tokens: int) -> float:
        """Return the bytes of one request of this many tokens."""
        tokens = math.ceil(tokens / _BLOCK) * _BLOCK
        kept = tokens if self.window is None else min(tokens, self.window)
        return self.full_bytes * tokens + self.window_bytes * kept

    def tokens(self, pool: float) -> int:
        """Return how many tokens a pool of this many bytes holds, as the engine counts them."""
        if self.token_bytes <= 0:
            return 0
        return int(max(0.0, pool) / (self.token_bytes * _BLOCK)) * _BLOCK

    def longest(self, pool: float) -> int:
        """Return the longest context that one request can have in a pool."""
        tokens = self.tokens(pool)
        if self.window is None or tokens <= self.window or not self.full_bytes:
            return tokens
        beyond = (pool - self.window_bytes * self.window) / self.full_bytes
        return max(tokens, int(beyond / _BLOCK) * _BLOCK)


def cache_of(architecture: Architecture, setup: Setup) -> Cache:
    """Return the cache of a model on the rank that has most of it."""
    a = architecture
    layers = math.ceil(a.cached_layers / setup.pipeline)
    row = _row(a, setup) * setup.cache_bytes
    windowed = 0 if not setup.hybrid_cache else round(a.window_layers * layers / a.cached_layers)
    if not windowed or a.window is None:
        return Cache(full_bytes=layers * row)
    return Cache(
        full_bytes=(layers - windowed) * row,
        window_bytes=windowed * row,
        window=a.window + setup.batched_tokens,
    )


def _row(a: Architecture, setup: Setup) -> float:
    """Return the numbers that one token takes in one layer of one rank."""
    if a.latent and setup.version >= LATENT_CACHE_FROM:
        row = a.latent.kv_rank + a.latent.rope
        return math.ceil(row / _ALIGNED_ROW) * _ALIGNED_ROW if setup.legacy else row
    if a.latent:
        return 2 * a.heads / setup.tensor * _PLAIN_LATENT_HEAD
    return 2 * max(1.0, a.kv_heads / setup.tensor) * a.head_dim
