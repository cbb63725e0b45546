"""Weights: how many bytes each rank loads.

The matrices are those of vLLM's model classes; the totals reproduce published parameter counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from lmi_constructs.planner.configuration import LATENT_CACHE_FROM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.planner.architecture import Architecture
    from lmi_constructs.planner.configuration import EngineConfiguration, Setup
    from lmi_constructs.planner.quantization import Quantization

_VOCABULARY_MULTIPLE: Final = 64
"""vLLM pads the vocabulary (vllm/model_executor/layers/vocab_parallel_embedding.py)."""

_MXFP4_PADDED_FROM: Final = (0, 10, 1)
_MXFP4_MULTIPLES: Final = (128, 256)
"""The Marlin kernel pads the width of an expert's part, and the hidden size: 65.97 GiB loaded
instead of 60.7 (https://github.com/vllm-project/vllm/issues/27508)."""

_ABSORBED_UNTIL: Final = (0, 8, 0)
"""Until then the engine multiplied the projections of latent attention into each other at load
(https://github.com/vllm-project/vllm/pull/13109: 10.45 GiB loaded of a model of 8.2 GiB)."""

_LORA_RANK: Final = 16
_LORA_SLOTS: Final = 1
"""Defaults of `max_lora_rank` and `max_loras` (EngineArgs of the vLLM wheels)."""


@dataclass(frozen=True, slots=True)
class Part:
    """All matrices of one kind.

    Attributes:
        kind: What they are, as the quantization names it.
        parameters: Number of weights of the whole model.
        cut: Who shares them: `tensor` ranks, as far as there are `key_value` heads, `experts` also
            over data-parallel replicas, or `nobody`.
        layered: Whether pipeline stages share them.
    """

    kind: str
    parameters: float
    cut: Literal["tensor", "key_value", "experts", "nobody"]
    layered: bool = True


def parts(architecture: Architecture) -> Iterator[Part]:
    """Yield the matrices of a model."""
    a = architecture
    padded = math.ceil(a.vocabulary / _VOCABULARY_MULTIPLE) * _VOCABULARY_MULTIPLE
    yield Part("embedding", padded * a.hidden, "tensor", layered=False)
    if not a.tied_embeddings:
        yield Part("head", padded * a.hidden, "tensor", layered=False)
    yield from _attention(a)
    yield Part("norm", (2 * a.layers + 1) * a.hidden, "nobody")
    matrices = 3 if a.gated else 2
    yield Part("mlp", a.dense_layers * matrices * a.hidden * a.intermediate, "tensor")
    if a.experts:
        e = a.experts
        yield Part("experts", e.layers * e.count * matrices * a.hidden * e.width, "experts")
        yield Part("shared", e.layers * matrices * a.hidden * e.shared_width, "tensor")
        yield Part("router", e.layers * e.count * a.hidden, "nobody")
        if e.bias:
            yield Part("bias", e.layers * e.count * (2 * e.width + a.hidden), "experts")
    if a.vision:
        yield Part("vision", a.vision.parameters, "nobody", layered=False)


def parameters(architecture: Architecture) -> int:
    """Return the number of weights of a model."""
    return int(sum(part.parameters for part in parts(architecture)))


def repository_bytes(architecture: Architecture) -> int:
    """Return the size of the checkpoint's weights in bytes, as its own config describes them."""
    own, size = architecture.quantization, architecture.dtype_bytes
    return int(sum(p.parameters * _bytes(p, own, size) for p in parts(architecture)))


def weight_bytes(architecture: Architecture, setup: Setup) -> float:
    """Return the bytes of weights on the rank that has most."""
    layered = whole = 0.0
    ends = []
    for part in parts(architecture):
        size = part.parameters * _bytes(part, setup.quantization, setup.dtype_bytes)
        size *= _padding(part, architecture, setup) / _ranks(part, architecture, setup)
        if part.layered:
            layered += size
        elif part.kind in ("embedding", "head"):
            ends.append(size)
        else:
            whole += size
    layered += _unfolded_latent(architecture, setup)
    stages = setup.pipeline
    share = math.ceil(architecture.layers / stages) / max(1, architecture.layers)
    return layered * share + whole + (sum(ends) if stages == 1 else max(ends))


def lora_bytes(
    architecture: Architecture, configuration: EngineConfiguration, setup: Setup
) -> float:
    """Return the bytes of the adapter slots of one rank: each matrix of each layer has a pair."""
    if not configuration.enable_lora:
        return 0.0
    a, t = architecture, setup.tensor
    rank = configuration.max_lora_rank or _LORA_RANK
    slots = configuration.max_loras or _LORA_SLOTS
    whole = t if configuration.fully_sharded_loras else 1
    queries, keys = a.heads * a.head_dim, a.kv_heads * a.head_dim
    into = [(a.hidden, queries), (a.hidden, keys), (a.hidden, keys)]
    into += [(a.hidden, a.intermediate)] * (2 if a.gated else 1)
    out_of = [(queries, a.hidden), (a.intermediate, a.hidden)]
    width = sum(i / whole + o / t for i, o in into) + sum(i / t + o / whole for i, o in out_of)
    return slots * rank * width * a.layers * setup.dtype_bytes / setup.pipeline


def _attention(a: Architecture) -> Iterator[Part]:
    if a.latent:
        m, compressed = a.latent, a.latent.q_rank
        yield Part("attention", a.layers * a.hidden * (m.kv_rank + m.rope), "nobody")
        into = compressed or a.hidden
        if compressed:
            yield Part("attention", a.layers * a.hidden * compressed, "nobody")
        per_head = into * (m.nope + m.rope) + m.kv_rank * (m.nope + m.value) + m.value * a.hidden
        yield Part("attention", a.layers * a.heads * per_head, "tensor")
        return
    yield Part("attention", a.layers * 2 * a.hidden * a.heads * a.head_dim, "tensor")
    yield Part("attention", a.layers * 2 * a.hidden * a.kv_heads * a.head_dim, "key_value")
    if a.qkv_bias:
        yield Part("bias", a.layers * (a.heads + 2 * a.kv_heads) * a.head_dim, "tensor")


def _ranks(part: Part, architecture: Architecture, setup: Setup) -> int:
    match part.cut:
        case "tensor":
            return setup.tensor
        case "key_value":
            return min(setup.tensor, architecture.kv_heads)
        case "experts":
            return setup.tensor * setup.data
        case _:
            return 1


def _bytes(part: Part, quantization: Quantization | None, unquantized: int) -> float:
    """Return the mean bytes of a weight of a part."""
    if quantization is None:
        return unquantized
    kept = quantization.kept_share(part.kind)
    return kept * unquantized + (1 - kept) * quantization.bytes_per_weight


def _padding(part: Part, architecture: Architecture, setup: Setup) -> float:
    """Return by what factor the kernel's padding makes the experts larger."""
    quantization, experts = setup.quantization, architecture.experts
    if part.kind != "experts" or quantization is None or experts is None:
        return 1.0
    if quantization.method != "mxfp4" or setup.version < _MXFP4_PADDED_FROM:
        return 1.0
    width, hidden = experts.width / setup.tensor, architecture.hidden
    wide, high = _MXFP4_MULTIPLES
    return _up(width, wide) / width * _up(hidden, high) / hidden


def _up(value: float, multiple: int) -> int:
    return math.ceil(value / multiple) * multiple


def _unfolded_latent(architecture: Architecture, setup: Setup) -> float:
    """Return the bytes of 16-bit matrices that latent attention makes of its projections at load.

    Today these are copies of the up-projections; before, products of neighboring projections.
    """
    a, m = architecture, architecture.latent
    if m is None or setup.version < LATENT_CACHE_FROM:
        return 0.0
    heads = a.heads / setup.tensor
    if setup.version >= _ABSORBED_UNTIL:
        return a.layers * heads * m.kv_rank * (m.nope + m.value) * 2
    queries = (m.q_rank or a.hidden) * (m.kv_rank + m.rope)
    return a.layers * heads * (queries + m.kv_rank * a.hidden) * 2
