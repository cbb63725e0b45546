"""How a checkpoint's weights are stored: bytes a weight, and what stays in 16 bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_METHODS = {
    "fp8": "fp8",
    "fbgemm_fp8": "fp8",
    "compressed-tensors": "compressed-tensors",
    "awq": "awq",
    "awq_marlin": "awq",
    "gptq": "gptq",
    "gptq_marlin": "gptq",
    "bitsandbytes": "bitsandbytes",
    "bitsandbytes4": "bitsandbytes",
    "mxfp4": "mxfp4",
    "modelopt": "fp8",
    "modelopt_fp4": "nvfp4",
    "nvfp4": "nvfp4",
    "int8": "int8",
    "squeezellm": "squeezellm",
}
GROUPED = frozenset({"awq", "gptq"})
"""Methods that store a scale and a zero point for each group of inputs."""


@dataclass(frozen=True, slots=True)
class Quantization:
    """A way to store weights.

    Attributes:
        method: `fp8`, `awq`, `gptq`, `bitsandbytes`, `mxfp4`, `nvfp4` or `int8`.
        bits: Bits of one weight without its scales.
        group_size: Inputs that share a scale, for grouped methods.
        block: Rows and columns that share a scale, for block-wise FP8.
        kept: Parts that stay in 16 bits: `attention`, `mlp`, `experts`, `shared_experts`.
    """

    method: str
    bits: int
    group_size: int | None = None
    block: tuple[int, int] | None = None
    kept: frozenset[str] = frozenset()

    @property
    def bytes_per_weight(self) -> float:
        """Bytes of one weight, its share of the scales included."""
        if self.block is not None:
            return self.bits / 8 + 4 / (self.block[0] * self.block[1])
        if self.method in GROUPED:
            return self.bits / 8 + (2 + self.bits / 8) / (self.group_size or 128)
        if self.method == "bitsandbytes" and self.bits == 4:
            # nf4: blocks of 64 weights with an 8-bit scale, plus one 32-bit scale in 256 blocks.
            return 0.5 + 1 / 64 + 4 / (64 * 256)
        if self.method == "mxfp4":
            return 0.5 + 1 / 32
        if self.method == "nvfp4":
            return 0.5 + 1 / 16
        return self.bits / 8

    @classmethod
    def named(cls, name: str) -> Quantization | None:
        """Return the usual form of a method by the engine's name; `None` if it is not known."""
        words = name.lower().replace("_", "-")
        if "awq" in words or "gptq" in words or "wna16" in words or words == "int4":
            return cls("gptq" if "gptq" in words else "awq", 8 if "int8" in words else 4, 128)
        if "mxfp4" in words:
            return cls("mxfp4", 4, 32, kept=frozenset({"attention"}))
        if "nvfp4" in words or "fp4" in words:
            return cls("nvfp4", 4, 16)
        if "fp8" in words or words in ("modelopt", "ptpc-fp8"):
            block = (128, 128) if "block" in words else None
            return cls("fp8", 8, block=block)
        if "bitsandbytes" in words or "bnb" in words:
            return cls("bitsandbytes", 8 if words.endswith("8") or "8bit" in words else 4)
        if "int8" in words or "w8a8" in words:
            return cls("int8", 8)
        return None

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Quantization | None:
        """Return what a model's `quantization_config` says; `None` if it is not understood."""
        method = _METHODS.get(str(config.get("quant_method", "")).lower())
        if method is None:
            return None
        if method == "compressed-tensors":
            return _compressed_tensors(config)
        kept = _kept(config.get("modules_to_not_convert") or config.get("ignored_layers") or [])
        bits = config.get("bits") or config.get("w_bit")
        if method in GROUPED:
            group = config.get("group_size") or config.get("q_group_size") or 128
            return cls(method, int(bits or 4), int(group), kept=kept)
        if method == "bitsandbytes":
            return cls(method, 8 if config.get("load_in_8bit") else 4, kept=kept)
        if method in ("mxfp4", "nvfp4"):
            return cls(method, 4, 32 if method == "mxfp4" else 16, kept=kept)
        block = config.get("weight_block_size")
        return cls("fp8", 8, block=(int(block[0]), int(block[1])) if block else None, kept=kept)


def _compressed_tensors(config: Mapping[str, Any]) -> Quantization | None:
    kept = _kept(config.get("ignore") or [])
    for group in (config.get("config_groups") or {}).values():
        weights = group.get("weights") or {}
        bits, group_size = weights.get("num_bits"), weights.get("group_size")
        if weights.get("type") == "float" and bits == 4:
            return Quantization("nvfp4", 4, group_size or 16, kept=kept)
        if weights.get("type") == "float":
            block = weights.get("block_structure")
            return Quantization("fp8", 8, block=tuple(block) if block else None, kept=kept)
        if bits == 8 and weights.get("strategy") != "group":
            return Quantization("int8", 8, kept=kept)
        if bits:
            return Quantization("gptq", int(bits), group_size or 128, kept=kept)
    return None


def _kept(modules: Any) -> frozenset[str]:
    """Return the large parts that a list of modules leaves in 16 bits."""
    names = [str(name) for name in modules]
    kept = set()
    if any(name.endswith(("self_attn", "self_attn.q_proj", "self_attn.o_proj")) for name in names):
        kept.add("attention")
    if any(name.endswith((".mlp", "mlp.down_proj", "mlp.gate_up_proj")) for name in names):
        kept.add("some_mlp")
    return frozenset(kept)
