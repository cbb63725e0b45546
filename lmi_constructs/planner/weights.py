"""Bytes of weights on one rank."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lmi_constructs.planner.architecture import Architecture
    from lmi_constructs.planner.configuration import EngineConfiguration

_SIXTEEN_BIT = 2
_VOCABULARY_MULTIPLE = 64
"""vLLM pads the vocabulary to this (vllm/model_executor/layers/vocab_parallel_embedding.py)."""

MXFP4_MULTIPLE = 256
"""Kernels of August 2025 and later pad the width of MXFP4 experts to this: 2880 becomes 3072
(https://github.com/vllm-project/vllm, start-up logs of GPT-OSS-120B: 64.4 GiB against 60.7)."""


def weight_bytes(architecture: Architecture, config: EngineConfiguration) -> float:
    """Return the bytes of weights that one rank holds."""
    per_layer = attention_bytes(architecture, config) + 2 * architecture.hidden_size * _SIXTEEN_BIT
    total = per_layer * architecture.layers + _feed_forward_bytes(architecture, config)
    return total + _embedding_bytes(architecture, config) + lora_bytes(architecture, config)


def _embedding_bytes(architecture: Architecture, config: EngineConfiguration) -> float:
    padded = ceil(architecture.vocabulary / _VOCABULARY_MULTIPLE) * _VOCABULARY_MULTIPLE
    one = padded * architecture.hidden_size / config.tensor_parallel_degree * _kept(config)
    return one if architecture.tied_embeddings else 2 * one


def attention_bytes(architecture: Architecture, config: EngineConfiguration) -> float:
    """Return the bytes of one attention layer on one rank."""
    ranks = config.tensor_parallel_degree
    hidden, heads = architecture.hidden_size, architecture.heads
    stored = _stored(architecture, config, "attention")
    if architecture.latent is None:
        queries = 2 * hidden * heads * architecture.head_size / ranks
        keys = 2 * hidden * max(1, architecture.kv_heads / ranks) * architecture.head_size
        return (queries + keys) * stored
    latent = architecture.latent
    head = latent.nope_size + latent.rope_size
    if latent.query_rank:
        queries = hidden * latent.query_rank + latent.query_rank * heads * head / ranks
    else:
        queries = hidden * heads * head / ranks
    compressed = hidden * (latent.kv_rank + latent.rope_size)
    expanded = latent.kv_rank * heads * (latent.nope_size + latent.value_size) / ranks
    output = heads * latent.value_size * hidden / ranks
    # The latent backend keeps copies of the expanding matrices in 16 bits, made at load.
    copies = expanded * _SIXTEEN_BIT if config.uses_latent_cache else 0
    return (queries + compressed + expanded + output) * stored + copies


def _feed_forward_bytes(architecture: Architecture, config: EngineConfiguration) -> float:
    matrices = 3 if architecture.gated_mlp else 2
    hidden, ranks = architecture.hidden_size, config.tensor_parallel_degree
    stored = _stored(architecture, config, "mlp")
    experts = architecture.experts
    if experts is None:
        return (
            architecture.layers
            * matrices
            * hidden
            * architecture.intermediate_size
            * (stored / ranks)
        )
    shared_ranks = ranks * config.data_parallel_degree if config.expert_parallel else ranks
    routed = experts.count * 3 * hidden * _padded(experts.width, architecture)
    one = routed * _stored(architecture, config, "experts") / shared_ranks
    one += 3 * hidden * experts.shared_width * stored / ranks
    one += experts.count * hidden * _SIXTEEN_BIT
    dense = matrices * hidden * experts.dense_width * stored / ranks
    return one * (architecture.layers - experts.dense_layers) + dense * experts.dense_layers


def _padded(size: int, architecture: Architecture) -> int:
    quantization = architecture.quantization
    if quantization is None or quantization.method != "mxfp4":
        return size
    return ceil(size / MXFP4_MULTIPLE) * MXFP4_MULTIPLE


def _kept(config: EngineConfiguration) -> int:
    return 4 if config.dtype in ("float32", "fp32", "float") else _SIXTEEN_BIT


def _stored(architecture: Architecture, config: EngineConfiguration, part: str) -> float:
    quantization = architecture.quantization
    if quantization is None or part in quantization.kept:
        return _kept(config)
    if quantization.method == "mxfp4" and part != "experts":
        return _kept(config)
    return quantization.bytes_per_weight


def lora_bytes(architecture: Architecture, config: EngineConfiguration) -> float:
    """Return the bytes of the adapter slots on one rank.

    Every target matrix of every layer has a slot for each adapter of a batch, filled or not.
    """
    if not config.enable_lora:
        return 0
    ranks, hidden = config.tensor_parallel_degree, architecture.hidden_size
    queries = architecture.heads * architecture.head_size
    keys = architecture.kv_heads * architecture.head_size
    inner = architecture.intermediate_size if architecture.experts is None else 0
    sizes = [(hidden, queries), (hidden, keys), (hidden, keys), (queries, hidden)]
    if inner:
        sizes += [(hidden, inner), (hidden, inner), (inner, hidden)]
    weights = sum(inputs + outputs / ranks for inputs, outputs in sizes)
    slots = config.max_loras * config.max_lora_rank * architecture.layers
    return slots * weights * _SIXTEEN_BIT
