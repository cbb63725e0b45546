"""Number formats that the engine refuses: of weights, activations and cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lmi_constructs.container.engine_versions import ANY_VERSION, dotted, since
from lmi_constructs.findings import Finding
from lmi_constructs.planner.architecture import NO_FAMILY
from lmi_constructs.planner.cache_formats import refused_cache
from lmi_constructs.planner.checkpoint import not_a_choice, not_taken, unknown_method

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.facts import Accelerator
    from lmi_constructs.planner.architecture import Architecture
    from lmi_constructs.planner.configuration import EngineConfiguration, Setup
    from lmi_constructs.planner.quantization import Quantization

_ISSUES: Final = "https://github.com/vllm-project/vllm/issues/"
_QUANTIZATION: Final = "https://docs.vllm.ai/en/latest/features/quantization/"
_CONTAINERS_TYPES: Final = frozenset({"fp32", "fp16", "bf16"})
"""Names that the container turns into the engine's (djl-serving, HuggingFaceProperties)."""

_BFLOAT16: Final = frozenset({"bfloat16", "bf16"})


@dataclass(frozen=True, slots=True)
class _Capability:
    """Least compute capability of a format.

    Below `refused` the engine stops, below `sure` engines older than `lifted` do.
    """

    refused: tuple[int, int]
    sure: tuple[int, int]
    lifted: tuple[int, ...]
    source: str = _QUANTIZATION


_CAPABILITIES: Final = {
    "awq": _Capability((7, 5), (8, 0), (0, 3, 0)),
    "gptq": _Capability((6, 0), (6, 0), ANY_VERSION),
    "int4": _Capability((7, 5), (8, 0), (0, 9, 0)),
    "int8": _Capability((7, 0), (7, 0), ANY_VERSION),
    "fp8": _Capability((7, 5), (8, 9), (0, 5, 0)),
    "nf4": _Capability((7, 0), (7, 0), ANY_VERSION),
    "mxfp4": _Capability((8, 0), (9, 0), (0, 10, 2)),
    "nvfp4": _Capability((7, 5), (10, 0), (0, 9, 0)),
}
"""Least capabilities by format (vLLM's `get_min_capability`; the table of its quantization page;
MXFP4 before 0.10.2: public start-up log with capability 8.6 refused in August 2025)."""

_BITS: Final = {
    "awq": ((ANY_VERSION, (4,)),),
    "gptq": (((0, 23, 0), (4, 8)), (ANY_VERSION, (2, 3, 4, 8))),
}
"""Bits of a weight that the engine reads, from a version on (awq.py, gptq.py and auto_gptq.py of
vllm/model_executor/layers/quantization in the wheels of 0.8.4, 0.14.0 and 0.23.0)."""

_AMPERE: Final = (8, 0)
_FP8_FROM_AMPERE_UNTIL: Final = (0, 8, 4)
"""Until then FP8 weights need Ampere; Turing came later (`get_min_capability` of fp8.py: 80 in the wheel
of 0.8.4, 75 in that of 0.14.0)."""

_LEAST_CAPABILITY: Final = ((0, 21, 0), (7, 5))
"""From that version on the engine wants at least that capability
(docs/getting_started/installation/gpu.cuda.inc.md of v0.21.0)."""

_NO_INT8_FROM: Final = (10, 0)
"""Blackwell has no kernel for products of 8-bit integers ("Int8 not supported on SM100. Use FP8
quantization instead": csrc/quantization/w8a8/cutlass of https://github.com/vllm-project/vllm)."""

_FLOAT16_INSTEAD_FROM: Final = (0, 14, 0)
"""Where an accelerator lacks bfloat16 the engine computes in float16 unless it is told otherwise
(`_resolve_auto_dtype` of vllm/config/model.py, 0.14.0); before, it stopped (worker.py of 0.8.4)."""


def format_refusals(
    architecture: Architecture,
    accelerator: Accelerator,
    configuration: EngineConfiguration,
    setup: Setup,
) -> Iterator[Finding]:
    """Yield the number formats that the engine refuses, as errors, or may refuse, as warnings.

    Args:
        architecture: The model.
        accelerator: The accelerator.
        configuration: What the engine is told.
        setup: What the engine makes of it.
    """
    yield from _too_old(accelerator, setup)
    yield from _quantization(architecture, accelerator, configuration, setup)
    yield from refused_cache(configuration.kv_cache_dtype, architecture, accelerator, setup.version)
    if setup.quantization is not None:
        yield from _format(accelerator, setup, setup.quantization)
        yield from _bits(architecture, setup, setup.quantization)
        yield from _integers(architecture, accelerator, setup.quantization)
    yield from _bfloat16(architecture, accelerator, configuration, setup)


def _too_old(accelerator: Accelerator, setup: Setup) -> Iterator[Finding]:
    version, least = _LEAST_CAPABILITY
    if accelerator.capability is None or accelerator.capability >= least or setup.version < version:
        return
    told = dotted(setup.version)
    yield Finding(
        rule="LMI054",
        message=f"vLLM {told} needs compute capability {least[0]}.{least[1]}, {accelerator.name} has"
        f" {accelerator.compute_capability}",
        why="the engine has no kernels for it, and stops at start",
        fix="use an instance with newer accelerators",
        where="instance_type",
        source="https://github.com/vllm-project/vllm/blob/v0.21.0/docs/getting_started/installation/"
        "gpu.cuda.inc.md",
    )


def _bits(a: Architecture, setup: Setup, q: Quantization) -> Iterator[Finding]:
    if q.method not in _BITS:
        return
    known = since(setup.version, _BITS[q.method])
    if q.bits in known:
        return
    yield Finding(
        rule="LMI054",
        message=f"the {q.method} weights of {a.name} have {q.bits} bits, the engine reads"
        f" {', '.join(map(str, known))}",
        why="the engine stops when it reads the checkpoint's quantization",
        fix="use other weights",
        where="quantization",
        source="https://github.com/vllm-project/vllm: vllm/model_executor/layers/quantization",
    )


def _integers(a: Architecture, accelerator: Accelerator, q: Quantization) -> Iterator[Finding]:
    capability = accelerator.capability
    if q.method != "int8" or not q.activations or capability is None or capability < _NO_INT8_FROM:
        return
    yield Finding(
        rule="LMI054",
        message=f"{a.name} computes in 8-bit integers, for which {accelerator.name} (compute"
        f" capability {accelerator.compute_capability}) has no kernel",
        why="the engine stops at start",
        fix="use FP8 weights, or an instance with accelerators before Blackwell",
        where="quantization",
        source="https://github.com/vllm-project/vllm: csrc/quantization/w8a8/cutlass",
    )


def _quantization(
    a: Architecture, accelerator: Accelerator, configuration: EngineConfiguration, setup: Setup
) -> Iterator[Finding]:
    name, capability = configuration.quantization, accelerator.capability
    unknown = tuple(unknown_method(name, setup.version))
    needs = _CAPABILITIES["fp8"]
    least = needs.refused if setup.version >= needs.lifted else needs.sure
    fp8 = capability is not None and capability >= least
    yield from unknown or not_taken(name, a, fp8=fp8)
    yield from not_a_choice("kv_cache_dtype", configuration.kv_cache_dtype, setup.version)
    if configuration.dtype not in _CONTAINERS_TYPES:
        yield from not_a_choice("dtype", configuration.dtype, setup.version)


def _format(accelerator: Accelerator, setup: Setup, q: Quantization) -> Iterator[Finding]:
    capability, needs = accelerator.capability, _CAPABILITIES.get(q.method)
    if capability is None or needs is None or capability >= needs.sure:
        return
    early = q.method == "fp8" and setup.version <= _FP8_FROM_AMPERE_UNTIL
    lowest = _AMPERE if early else needs.refused
    refused = capability < lowest
    if not refused and setup.version >= needs.lifted:
        return
    least = lowest if refused else needs.sure
    yield Finding(
        rule="LMI054",
        message=f"{q.method} weights need compute capability {least[0]}.{least[1]},"
        f" {accelerator.name} has {accelerator.compute_capability}",
        why="the engine stops at start",
        fix="use other weights, or an instance with newer accelerators",
        where="quantization",
        source=needs.source,
    )


def _bfloat16(
    a: Architecture, accelerator: Accelerator, configuration: EngineConfiguration, setup: Setup
) -> Iterator[Finding]:
    capability = accelerator.capability
    if capability is None or capability >= (8, 0):
        return
    told = (configuration.dtype or "auto").lower()
    own = a.dtype == "bfloat16" and a.family != NO_FAMILY
    if told == "auto" and (not own or setup.version >= _FLOAT16_INSTEAD_FROM):
        return
    sure = told in _BFLOAT16
    if told == "auto" or told in _BFLOAT16:
        yield Finding(
            rule="LMI054",
            message=f"bfloat16 needs compute capability 8.0, {accelerator.name} has"
            f" {accelerator.compute_capability}",
            why="the engine stops at start"
            if sure
            else "engines of that age stop at start, or compute in float16",
            fix="set dtype=float16, or use an instance with newer accelerators",
            severity="error" if sure else "warning",
            where="dtype",
            source=_ISSUES + "1157",
        )
