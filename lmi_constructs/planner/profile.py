"""Memory that is neither weights nor cache: the profile run, libraries and CUDA graphs, in bytes.

The one soft part of a plan. The forms follow what the engine does in its profile run; the factors
were fitted to public start-up logs (see `tests/planner/evaluate.py` for how well they hold).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lmi_constructs.planner.architecture import Architecture
    from lmi_constructs.planner.configuration import EngineConfiguration

GIB = 2**30
_SAMPLER_COPIES = 9.8 * 4
"""Bytes of logits, probabilities and sorted copies of one sequence and one word of the vocabulary:
1.26 GiB for 256 sequences and 128,256 words, on models of any size (start-up logs)."""
_GRAPHS_SINCE = (0, 21, 0)


def activation_bytes(architecture: Architecture, config: EngineConfiguration) -> float:
    """Return the peak of the profile run on the rank that samples."""
    return max(_forward_bytes(architecture, config), _sampler_bytes(architecture, config))


def _forward_bytes(architecture: Architecture, config: EngineConfiguration) -> float:
    tokens, ranks = config.batched_tokens, config.tensor_parallel_degree
    hidden = architecture.hidden_size
    experts = architecture.experts
    if experts is None:
        return 2 * tokens * (3 * architecture.intermediate_size / ranks + 3 * hidden)
    widest = experts.per_token * (3 * experts.width / ranks + hidden)
    return 2 * tokens * (widest + 4 * hidden)


def _sampler_bytes(architecture: Architecture, config: EngineConfiguration) -> float:
    if config.is_legacy and config.chunks_prefill and config.enable_chunked_prefill is None:
        return 0.0
    sequences = min(config.sequences, config.batched_tokens)
    return _SAMPLER_COPIES * sequences * architecture.vocabulary


def library_bytes(config: EngineConfiguration) -> float:
    """Return what CUDA, NCCL and the collective buffers hold on one rank.

    Logs of one GPU show 0.01 to 0.35 GiB, logs of several 0.2 to 2.1 GiB without a clear relation to
    their number.
    """
    if config.tensor_parallel_degree * config.pipeline_parallel_degree == 1:
        return 0.1 * GIB
    return 0.9 * GIB


def cuda_graph_bytes(architecture: Architecture, config: EngineConfiguration) -> float:
    """Return what captured CUDA graphs take, `0` if they are off."""
    if config.enforce_eager:
        return 0.0
    return (0.25 + 0.006 * architecture.layers) * GIB


def graphs_are_budgeted(config: EngineConfiguration) -> bool:
    """Whether the engine takes CUDA graphs out of its budget (0.21 and later)."""
    return config.engine_version is not None and config.engine_version >= _GRAPHS_SINCE
