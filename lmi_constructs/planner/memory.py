"""The terms of the budget of one accelerator, with their uncertainty."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from lmi_constructs.planner.kv_cache import Cache, cache_of
from lmi_constructs.planner.profile import (
    CONTEXT_GIB,
    GIB,
    Range,
    activation,
    cuda_graphs,
    outside_torch,
)
from lmi_constructs.planner.weights import lora_bytes, weight_bytes

if TYPE_CHECKING:
    from lmi_constructs.facts import Accelerator
    from lmi_constructs.planner.architecture import Architecture
    from lmi_constructs.planner.configuration import EngineConfiguration, Setup

_WEIGHTS_LOW: Final = 0.92
_WEIGHTS_HIGH: Final = 1.03
"""Loaded weights against computed ones in public start-up logs: rarely more, and up to 8 percent
less where a kernel pads less than is assumed."""

STREAMED_FROM: Final = (0, 16, 0)
"""FP8 weights are made layer by layer while loading. Before, the engine held the whole checkpoint in its
own precision first (https://github.com/vllm-project/vllm/pull/31914, whose `meta` device is in
vllm/model_executor/layers/quantization/fp8.py of the wheel of 0.16.0 and in none of 0.8.4, 0.14.0 and
0.15.1; https://github.com/vllm-project/vllm/pull/32773: out of memory in 0.13 and 0.14)."""

_VISION_HIGH: Final = 3.0
"""The trial batch of a vision tower's encoder may take several GiB that are not computed here."""


@dataclass(frozen=True, slots=True)
class Memory:
    """The terms of the budget of the accelerator that has least left, in GiB.

    Attributes:
        budget: What the engine may use.
        weights: Weights with adapter slots.
        activation: Peak of the trial batch.
        other: Memory outside PyTorch.
        graphs: CUDA graphs.
        cache: What tokens take.
        pool: What is left for the cache; below 0 if nothing is.
        needed: Cache of one request of the longest context.
        loading: Weights of the checkpoint, where the engine holds all before it converts them, else
            0. Their limit is all that the accelerator has.
        usable: What the driver shows.
    """

    budget: float
    weights: float
    activation: Range
    other: Range
    graphs: Range
    cache: Cache
    pool: Range
    needed: float
    loading: float
    usable: float

    @property
    def surely_loads(self) -> bool:
        """Whether the weights surely have room while they are loaded."""
        return not self.loading or self.loading * _WEIGHTS_HIGH + CONTEXT_GIB[1] <= self.usable

    @property
    def never_loads(self) -> bool:
        """Whether the weights surely have no room while they are loaded."""
        return bool(self.loading) and self.loading * _WEIGHTS_LOW + CONTEXT_GIB[0] > self.usable

    @classmethod
    def of(
        cls,
        architecture: Architecture,
        accelerator: Accelerator,
        configuration: EngineConfiguration,
        setup: Setup,
    ) -> Memory:
        """Return the terms for a model, an accelerator and a configuration."""
        weights = weight_bytes(architecture, setup) / GIB
        weights += lora_bytes(architecture, configuration, setup) / GIB
        peak, other = activation(architecture, setup), outside_torch(accelerator, setup)
        graphs = cuda_graphs(architecture, setup)
        inside = graphs if setup.graphs_in_budget else Range(0.0, 0.0, 0.0)
        cache = cache_of(architecture, setup)
        budget = setup.utilization * (accelerator.usable_memory_gib or 0.0)
        vision = _VISION_HIGH if architecture.vision else 0.0
        pool = Range(
            low=budget - weights * _WEIGHTS_HIGH - peak.high - other.high - inside.high - vision,
            usual=budget - weights - peak.usual - other.usual - inside.usual,
            high=budget - weights * _WEIGHTS_LOW - peak.low - other.low - inside.low,
        )
        needed = cache.needed(setup.context or 1) / GIB
        loading = _loading(architecture, setup) / GIB
        usable = accelerator.usable_memory_gib or 0.0
        return cls(budget, weights, peak, other, graphs, cache, pool, needed, loading, usable)


def _loading(architecture: Architecture, setup: Setup) -> float:
    """Return the bytes of weights before they are converted, 0 if they are never held so."""
    made = setup.quantization
    if made is None or not made.online or made.method != "fp8" or setup.version >= STREAMED_FROM:
        return 0.0
    return weight_bytes(architecture, replace(setup, quantization=None))
