"""Number formats of the cache: their bytes, and which accelerators and models have kernels for them.

Sources, read on 2026-12-03: docs/design/attention_backends.md of
https://github.com/vllm-project/vllm, and in the wheels of vLLM 0.14.0, 0.15.1, 0.17.0 and 0.23.0
`supported_kv_cache_dtypes` of vllm/v1/attention/backends, vllm/v1/kv_cache_interface.py (bytes),
vllm/config/vllm.py (`validate_nvfp4_kv_cache_with_mla`) and flashinfer.py ("requires sm100f").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lmi_constructs.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.facts import Accelerator
    from lmi_constructs.planner.architecture import Architecture

_SOURCE: Final = "https://docs.vllm.ai/en/latest/design/attention_backends/"

_LISTED_FROM: Final = (0, 14, 0)
"""Each kernel lists its formats, and the engine refuses others (wheels from 0.14.0 on)."""

_LATENT_FP8_ANYWHERE_AFTER: Final = (0, 17, 0)
"""Up to here the one kernel for latent attention outside Hopper and Blackwell has no FP8."""

_BYTES: Final = {
    **dict.fromkeys(("float16", "bfloat16", "half"), 2.0),
    **dict.fromkeys(("fp8", "fp8_e4m3", "fp8_e5m2", "fp8_inc"), 1.0),
    "float32": 4.0,
    "nvfp4": 0.5 + 1 / 16,
}
_SCALED_HEADS: Final = frozenset({"fp8_per_token_head", "int8_per_token_head"})
_SCALE_BYTES: Final = 4
"""One 32-bit scale a token and head, beside 8-bit numbers."""

_NO_LATENT: Final = frozenset({"fp8_e5m2", "nvfp4", *_SCALED_HEADS})
_TURBO: Final = "turboquant_"
_SINKS: Final = frozenset({"gpt_oss"})
"""Families whose attention has sinks (vllm/model_executor/models/gpt_oss.py)."""

_NVFP4_HEADS: Final = frozenset({64, 128, 256})
_ELSEWHERE: Final = {
    "fp8_inc": "is made for Intel Gaudi",
    "fp8_ds_mla": "is made for the sparse attention of DeepSeek-V3.2 and its kin",
}


def cache_bytes(name: str | None, weights: int, head_dim: int) -> float | None:
    """Return the bytes of one number in the cache, `None` if they are not known.

    Args:
        name: The engine's `kv_cache_dtype`.
        weights: Bytes of an unquantized weight, which `auto` takes.
        head_dim: Width of one head.
    """
    told = (name or "auto").lower()
    if told == "auto":
        return weights
    if told in _SCALED_HEADS:
        return 1 + _SCALE_BYTES / head_dim if head_dim else None
    return _BYTES.get(told)


def doubt_about_cache(name: str | None, version: tuple[int, ...], head_dim: int) -> str | None:
    """Return why nothing is known of a format of the cache, `None` if it is.

    Args:
        name: The engine's `kv_cache_dtype`.
        version: Version of the engine.
        head_dim: Width of one head.
    """
    told = (name or "auto").lower()
    if cache_bytes(told, 2, head_dim) is None:
        return f"what kv_cache_dtype {name!r} takes is not known"
    if told in _ELSEWHERE and version < _LISTED_FROM:
        return f"what this engine makes of kv_cache_dtype {name!r} is not known"
    return None


def refused_cache(
    name: str | None, a: Architecture, accelerator: Accelerator, version: tuple[int, ...]
) -> Iterator[Finding]:
    """Yield that no kernel has a format of the cache for a model on an accelerator.

    Args:
        name: The engine's `kv_cache_dtype`.
        a: The model.
        accelerator: The accelerator.
        version: Version of the engine.
    """
    told = (name or "auto").lower()
    if version < _LISTED_FROM or accelerator.capability is None:
        return
    reason = _reason(told, a, accelerator.capability, version)
    if reason is None:
        return
    yield Finding(
        rule="LMI054",
        message=f"kv_cache_dtype={told} {reason}; {a.name} is on {accelerator.name}, which has"
        f" compute capability {accelerator.compute_capability}",
        why="the engine finds no attention kernel for it, and stops at start",
        fix="remove kv_cache_dtype"
        + ("" if _is_refused("fp8", a, accelerator, version) else ", or set kv_cache_dtype=fp8"),
        where="kv_cache_dtype",
        source=_SOURCE,
    )


def _is_refused(
    told: str, a: Architecture, accelerator: Accelerator, version: tuple[int, ...]
) -> bool:
    return _reason(told, a, accelerator.capability or (0, 0), version) is not None


def _reason(
    told: str, a: Architecture, capability: tuple[int, int], version: tuple[int, ...]
) -> str | None:
    """Return why no kernel has a format, `None` if one has or may have it."""
    if told == "fp8_inc" or (told == "fp8_ds_mla" and a.understood):
        return _ELSEWHERE[told]
    if told == "nvfp4" and capability[0] != 10:
        return "needs compute capability 10.0 or 10.3"
    if a.latent and (told in _NO_LATENT or told.startswith(_TURBO)):
        return "does not go with latent attention (MLA)"
    if told == "nvfp4" and a.understood and a.head_dim not in _NVFP4_HEADS:
        return f"needs heads of 64, 128 or 256 numbers, not {a.head_dim}"
    if told.startswith(_TURBO) and a.family in _SINKS:
        return "does not go with attention sinks"
    early = a.latent is not None and version <= _LATENT_FP8_ANYWHERE_AFTER
    if told in ("fp8", "fp8_e4m3") and early and capability[0] not in (9, 10):
        return "goes with latent attention (MLA) only on Hopper and Blackwell in this release"
    return None
