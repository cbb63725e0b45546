"""What the engine takes beside weights and cache: the soft terms of the plan.

Before it makes the cache, the engine runs the largest batch it may meet and keeps free what that
took at its peak. The two factors were read off public start-up logs that show the peak itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lmi_constructs.container.engine_versions import ANY_VERSION, since

if TYPE_CHECKING:
    from lmi_constructs.facts import Accelerator
    from lmi_constructs.planner.architecture import Architecture
    from lmi_constructs.planner.configuration import Setup

GIB: Final = 2**30

_SAMPLER_COPIES: Final = 9.8
"""32-bit copies of the logits that sampling holds at once, with 16-bit logits, sorted values and
indices: 1.26 GiB at a vocabulary of 128256, 1.40 at 151936, whatever the model's size
(https://github.com/vllm-project/vllm/pull/10511; 7.5 GiB at 1024 sequences of 201088,
https://github.com/vllm-project/vllm/issues/27508)."""

_HIDDEN_COPIES: Final = 3
_EXPERT_HIDDEN_COPIES: Final = 4
"""Hidden states beside the widest intermediate: 110 kB a token of an 8B model
(https://github.com/vllm-project/vllm/issues/10517)."""

_EXPERT_CHUNK: Final = (((0, 6, 0), 32768), (ANY_VERSION, 65536))
"""Tokens that the experts work on at once (https://github.com/vllm-project/vllm/pull/7995)."""

_OTHER_ALONE: Final = (((0, 6, 5), (0.01, 0.10, 0.35)), (ANY_VERSION, (0.01, 0.35, 0.6)))
CONTEXT_GIB: Final = (0.01, 0.35)
_OTHER_PCIE: Final = (0.15, 0.35, 1.2)
_OTHER_NVLINK: Final = (0.2, 1.4, 2.4)
"""Low, usual and high GiB outside PyTorch: context and libraries, with more than one accelerator
also the buffers of the collective operations, which are larger where NVLink lets them reduce by
themselves (public start-up logs: 0.01 to 0.35 alone, 0.20 and 0.24 on PCIe, 1.39 and 2.10 on
NVLink). Before 0.6.5 the measurement counted more
(https://github.com/vllm-project/vllm/pull/10511). The least and the most alone are also what the
CUDA context may have taken when the engine looks how much is free."""

_LOW: Final = 0.4
_LOW_LEGACY: Final = 0.1
_HIGH: Final = 1.25
"""Shares of the computed peak that logs show: the new engine samples with fewer copies where
FlashInfer is installed; the old one may cut long prompts without being told to."""

_GRAPH_GIB: Final = 6.5e-6
_GRAPH_SIZES: Final = 67
_GRAPH_LEAST_GIB: Final = 0.2
_GRAPH_MOST_GIB: Final = 3.3
"""GiB of CUDA graphs per layer and unit of hidden size with all 67 batch sizes, shared by the ranks:
0.65 to 0.74 at 7 to 8B, 3.17 at 32B (public start-up logs, 0.2 to 3.3 in all)."""


@dataclass(frozen=True, slots=True)
class Range:
    """A figure that is known only roughly, in GiB."""

    low: float
    usual: float
    high: float


def activation(architecture: Architecture, setup: Setup) -> Range:
    """Return the peak of the trial batch."""
    forward = _forward(architecture, setup) / GIB
    sampler = _sampler(architecture, setup) / GIB if setup.samples else 0.0
    usual = max(forward, sampler)
    low = _LOW_LEGACY if setup.legacy else _LOW
    return Range(low=low * usual, usual=usual, high=_HIGH * usual)


def outside_torch(accelerator: Accelerator, setup: Setup) -> Range:
    """Return what is taken outside PyTorch's own memory."""
    if setup.tensor * setup.pipeline * setup.data == 1:
        return Range(*since(setup.version, _OTHER_ALONE))
    return Range(*(_OTHER_NVLINK if accelerator.nvlink else _OTHER_PCIE))


def cuda_graphs(architecture: Architecture, setup: Setup) -> Range:
    """Return what CUDA graphs take, whether in the budget or outside."""
    if not setup.graphs:
        return Range(0.0, 0.0, 0.0)
    sizes = min(1.0, (3 + min(512, 2 * setup.sequences) / 8) / _GRAPH_SIZES)
    share = sizes / (setup.tensor * setup.pipeline)
    usual = _GRAPH_GIB * architecture.hidden * architecture.layers * share
    usual = min(_GRAPH_MOST_GIB, max(_GRAPH_LEAST_GIB, usual))
    return Range(low=0.0, usual=usual, high=min(_GRAPH_MOST_GIB, 2 * usual))


def _forward(a: Architecture, setup: Setup) -> float:
    tokens, size = setup.batched_tokens, setup.dtype_bytes
    dense = 3 * a.intermediate / setup.tensor + _HIDDEN_COPIES * a.hidden
    if a.experts is None:
        return size * tokens * dense
    ranks = setup.tensor * setup.data
    width = 3 * a.experts.width / ranks + a.hidden
    at_once: int = min(tokens, since(setup.version, _EXPERT_CHUNK))
    sparse: float = (
        at_once * a.experts.per_token * width + tokens * _EXPERT_HIDDEN_COPIES * a.hidden
    )
    return size * (max(sparse, tokens * dense) if a.dense_layers else sparse)


def _sampler(a: Architecture, setup: Setup) -> float:
    return _SAMPLER_COPIES * min(setup.sequences, setup.batched_tokens) * a.vocabulary * 4
