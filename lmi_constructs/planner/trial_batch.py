"""The trial batch: how many tokens and sequences the engine tries before it starts.

Sources, read on 2026-12-03: `_set_default_max_num_seqs_and_batched_tokens_args` of
vllm/engine/arg_utils.py and vllm/config/scheduler.py in the wheels of vLLM 0.8.4, 0.14.0 and 0.23.0;
`AsyncLLMEngine.from_engine_args(self.vllm_engine_args)` in deepjavalibrary/djl-serving
engines/python/setup/djl_python/lmi_vllm/vllm_async_service.py, which names no usage context.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lmi_constructs.container.engine_versions import ANY_VERSION, since
from lmi_constructs.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.facts import Accelerator
    from lmi_constructs.planner.architecture import Architecture
    from lmi_constructs.planner.configuration import EngineConfiguration, Setup

_CHUNKED_FROM: Final = (0, 5, 4)
_CHUNK: Final = (((0, 6, 5), 2048), (ANY_VERSION, 512))
_CHUNKED_LATENT_FROM: Final = (0, 8, 0)  # https://github.com/vllm-project/vllm/pull/12639
_LONG_CONTEXT: Final = 32768
"""Old engine: from 0.5.4 on, contexts beyond 32768 tokens are profiled in chunks
(https://github.com/vllm-project/vllm/issues/10517: 29000 tokens fail where 35000 start)."""

_LARGE_MEMORY_GIB: Final = 70
_BIG_BATCH: Final = (8192, 1024)
SMALL_BATCH: Final = (2048, 256)
"""Tokens of a batch and sequences that vLLM's own server assumes: large on accelerators of 70 GiB and
more other than the A100. An engine that is started otherwise, as the container does, assumes 2048
tokens everywhere."""

_MULTIMODAL_LEAST: Final = 5120
_MULTIMODAL_UNTIL: Final = (0, 14, 0)
"""Tokens that engines assumed at least for models with images (wheel of 0.8.4; gone in 0.14.0)."""


def trial_batch(
    configuration: EngineConfiguration,
    architecture: Architecture,
    accelerator: Accelerator,
    version: tuple[int, ...],
    legacy: bool,
    context: int,
) -> tuple[int, int, bool]:
    """Return tokens and sequences of the trial batch, and whether it is sampled from."""
    tokens, told = configuration.max_num_batched_tokens, configuration.max_num_seqs
    if legacy:
        sequences = told or SMALL_BATCH[1]
        if _is_chunked(configuration, architecture, version, context):
            return tokens or since(version, _CHUNK), sequences, False
        return tokens or max(context, SMALL_BATCH[0]), sequences, True
    large = accelerator.memory_gib >= _LARGE_MEMORY_GIB and accelerator.capability != (8, 0)
    usual = _BIG_BATCH if large else SMALL_BATCH
    sequences = told or usual[1]
    if not tokens:
        assumed = SMALL_BATCH[0] if configuration.started_by_container else usual[0]
        if configuration.enable_chunked_prefill is False:
            assumed = max(assumed, context)
        if (
            configuration.started_by_container
            and architecture.vision
            and version < _MULTIMODAL_UNTIL
        ):
            assumed = max(assumed, _MULTIMODAL_LEAST)
        tokens = min(assumed, sequences * context) if context > 0 else assumed
    return tokens, sequences if told else min(sequences, tokens), True


def too_many_sequences(
    architecture: Architecture, configuration: EngineConfiguration, setup: Setup
) -> Iterator[Finding]:
    """Yield that the engine is told to run more sequences than its batch has tokens."""
    told, tokens = configuration.max_num_seqs, setup.batched_tokens
    if told is None or "max_num_seqs" in configuration.beyond_engines() or told <= tokens:
        return
    whose = "" if configuration.max_num_batched_tokens else ", which this engine assumes by itself,"
    yield Finding(
        rule="LMI004",
        message=f"max_num_seqs is {told}, but max_num_batched_tokens is {tokens}{whose} for"
        f" {architecture.name}",
        why="the engine wants at least one token for each sequence in a batch, and stops at start",
        fix=f"set max_num_seqs to at most {tokens}, or set max_num_batched_tokens to at least {told}",
        where="max_num_seqs",
        source="https://github.com/vllm-project/vllm: vllm/config/scheduler.py",
    )


def _is_chunked(
    configuration: EngineConfiguration,
    architecture: Architecture,
    version: tuple[int, ...],
    context: int,
) -> bool:
    """Tell whether the old engine cuts long prompts."""
    chunked = configuration.enable_chunked_prefill
    if chunked is not None:
        return chunked
    latent = architecture.latent is not None and version < _CHUNKED_LATENT_FROM
    pipelined = (configuration.pipeline_parallel_degree or 1) > 1
    long = context > _LONG_CONTEXT and version >= _CHUNKED_FROM
    return long and not (latent or pipelined or bool(configuration.enable_lora))
