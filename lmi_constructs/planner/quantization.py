"""How many bytes a weight takes in each number format, and how its matrices may be cut.

Sources: the formats' own layouts as vLLM loads them
(https://docs.vllm.ai/en/latest/features/quantization/), checked against loaded sizes in public
start-up logs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

LINEAR: Final = frozenset({"attention", "mlp", "experts", "shared"})
"""Kinds of matrices that a quantization converts unless it says otherwise; router, embedding, head
and norms stay in 16 bits in every published checkpoint."""


@dataclass(frozen=True, slots=True)
class Quantization:
    """How a checkpoint's weights are stored.

    Attributes:
        method: `fp8`, `int8`, `awq`, `gptq`, `int4`, `nf4`, `mxfp4` or `nvfp4`.
        bits: Bits of one weight.
        group: Number of weights that share a scale, `None` for one scale a channel or tensor.
        block: Side of the square blocks of an FP8 checkpoint.
        kept: Layers by kind of matrix that stay in 16 bits, as a share of all layers from 0 to 1.
        online: Whether the engine converts a 16-bit checkpoint while loading.
        origin: Where the format was read, for messages.
        activations: Bits of an activation in matrix products, `None` if they stay unquantized or it
            is not known.
    """

    method: str
    bits: int
    group: int | None = None
    block: int | None = None
    kept: tuple[tuple[str, float], ...] = ()
    online: bool = False
    origin: str = "config.json"
    activations: int | None = None

    @property
    def bytes_per_weight(self) -> float:
        """Bytes of one converted weight with its share of scales and zero points."""
        return _BYTES[self.method](self)

    def kept_share(self, kind: str) -> float:
        """Return the share of the layers whose matrices of a kind stay in 16 bits."""
        return 1.0 if kind not in LINEAR else dict(self.kept).get(kind, 0.0)


def _grouped(quantization: Quantization) -> float:
    """Return bytes of weights with a 16-bit scale, and a packed zero point, for each group."""
    packed = quantization.bits / 8
    zero_point = 0.0 if quantization.method == "int4" else packed
    return packed + (2 + zero_point) / quantization.group if quantization.group else packed


_BYTES: Final[Mapping[str, Callable[[Quantization], float]]] = MappingProxyType(
    {
        "fp8": lambda q: 1 + (4 / q.block**2 if q.block else 0),
        "int8": lambda q: 1.002,
        "awq": _grouped,
        "gptq": _grouped,
        "int4": _grouped,
        "nf4": lambda q: 0.5 + 1 / 64 + 4 / (64 * 256),
        "mxfp4": lambda q: 0.5 + 1 / 32,
        "nvfp4": lambda q: 0.5 + 1 / 16,
    }
)

_NAMES: Final[Mapping[str, Quantization]] = MappingProxyType(
    {
        name: quantization
        for names, quantization in (
            (("fp8", "fbgemm_fp8", "modelopt", "ptpc_fp8", "w8a8-fp8"), Quantization("fp8", 8)),
            (("fp8-block", "fp8_block", "deepseek_fp8"), Quantization("fp8", 8, block=128)),
            (("awq", "awq_marlin", "awq-int4"), Quantization("awq", 4, group=128)),
            (("gptq", "gptq_marlin", "marlin", "gptq-int4"), Quantization("gptq", 4, group=128)),
            (("gptq-int8",), Quantization("gptq", 8, group=128)),
            (("int4", "w4a16", "wna16"), Quantization("int4", 4, group=128)),
            (("int8", "w8a8", "w8a16", "experts_int8"), Quantization("int8", 8)),
            (("bitsandbytes", "bnb", "nf4"), Quantization("nf4", 4, group=64)),
            (("mxfp4", "gpt_oss_mxfp4"), Quantization("mxfp4", 4, group=32)),
            (("nvfp4", "modelopt_fp4"), Quantization("nvfp4", 4, group=16)),
        )
        for name in names
    }
)


def quantization_named(name: str) -> Quantization | None:
    """Return a format by the name that the engine's `quantization` argument takes."""
    return _NAMES.get(name.strip().lower())


def quantization_of(config: Mapping[str, Any], layers: int) -> Quantization | None:
    """Return the format that a `quantization_config` describes, `None` if it is not understood."""
    try:
        return _read(config, layers)
    except ValueError:
        return None


def _read(config: Mapping[str, Any], layers: int) -> Quantization | None:
    """Return the format; raise `ValueError` if a value is not of the kind that its key has."""
    method = str(config.get("quant_method") or config.get("quant_algo") or "").lower()
    found = _described(method, config)
    if found is None:
        return None
    if method == "bitsandbytes" and config.get("load_in_8bit"):
        found = Quantization("int8", 8)
    if (bits := _whole(config, "bits", "w_bit")) is not None:
        found = replace(found, bits=_checked(bits))
    if (group := _whole(config, "group_size", "q_group_size")) is not None:
        found = replace(found, group=group if group > 0 else None)
    found = replace(found, block=_side(config.get("weight_block_size")) or found.block)
    skipped = next((names for key in _SKIPS if (names := _names(config.get(key)))), ())
    return replace(found, kept=_kept((*skipped, *_left_out(config)), layers))


def _described(method: str, config: Mapping[str, Any]) -> Quantization | None:
    """Return the format by its method, and by what else the method leaves open."""
    if method == "compressed-tensors":
        return _compressed_tensors(config)
    algorithm = config.get("quant_algo")
    if method.startswith("modelopt") and algorithm:
        return _MODELOPT.get(str(algorithm).upper())
    if method.startswith("modelopt") and config.get("config_groups"):
        return _compressed_tensors(config)
    return _NAMES.get(method)


def _left_out(config: Mapping[str, Any]) -> list[str]:
    """Return the modules that GPTQ's `dynamic` leaves out; raise `ValueError` if it does more.

    A key of `-:` and a pattern leaves modules in 16 bits, any other gives them another format
    (https://github.com/ModelCloud/GPTQModel README.md).
    """
    dynamic = _mapping(config.get("dynamic"))
    if any(not str(name).startswith("-:") and changes for name, changes in dynamic.items()):
        raise ValueError(dynamic)
    return [str(name)[2:] for name in dynamic if str(name).startswith("-:")]


_MODELOPT: Final = MappingProxyType({"FP8": _NAMES["fp8"], "NVFP4": _NAMES["nvfp4"]})
"""Formats of ModelOpt by `quant_algo`, which its one method name does not tell apart
(https://docs.vllm.ai/en/latest/features/quantization/modelopt/)."""


_SKIPS: Final = (
    *("modules_to_not_convert", "ignore", "ignored_layers", "exclude_modules"),
    "llm_int8_skip_modules",
)


def _compressed_tensors(config: Mapping[str, Any]) -> Quantization | None:
    """Return the one format of all linear layers, `None` if there are several or none of all."""
    if _mapping(config.get("sparsity_config")).get("format") not in (None, "dense"):
        return None
    found = {_of_group(_mapping(g)) for g in _mapping(config.get("config_groups")).values()}
    return found.pop() if len(found) == 1 else None


def _of_group(group: Mapping[str, Any]) -> Quantization | None:
    if group.get("targets") is not None and "Linear" not in _names(group["targets"]):
        return None
    weights = _mapping(group.get("weights"))
    bits, size, kind = (
        _whole(weights, "num_bits"),
        _whole(weights, "group_size"),
        weights.get("type"),
    )
    if bits == 4 and kind == "float":
        return _NAMES["nvfp4"] if size == 16 else _NAMES["mxfp4"]
    if bits == 4:
        zeros = weights.get("symmetric") is False
        return Quantization(
            "awq" if zeros else "int4", 4, group=size if size and size > 0 else None
        )
    if bits == 8 and kind == "float":
        return Quantization("fp8", 8, block=_side(weights.get("block_structure")))
    inputs = _whole(_mapping(group.get("input_activations")), "num_bits")
    return Quantization("int8", 8, activations=inputs) if bits == 8 else None


def _whole(config: Mapping[str, Any], *names: str) -> int | None:
    """Return a whole number from -1 on, `None` if it is absent."""
    value = next((config[name] for name in names if config.get(name) is not None), None)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not -1 <= value < _LARGEST:
        raise ValueError(names)
    return value


def _checked(bits: int) -> int:
    if not 1 <= bits <= 16:
        raise ValueError(bits)
    return bits


_LARGEST: Final = 1_000_000
"""No group, block or number of bits is larger."""


def _side(block: object) -> int | None:
    """Return the side of a square block, `None` if there is none."""
    if not block:
        return None
    first = block[0] if isinstance(block, Sequence) and not isinstance(block, str) else block
    side = _whole({"side": first}, "side")
    if side is None or side <= 0:
        raise ValueError(block)
    return side


def _mapping(value: object) -> Mapping[str, Any]:
    if value is not None and not isinstance(value, Mapping):
        raise ValueError(value)
    return value or {}


def _names(value: object) -> Sequence[str]:
    """Return names of modules, of which there may be one, several or none."""
    listed = (value,) if isinstance(value, str) else value or ()
    if not isinstance(listed, Sequence) or not all(isinstance(name, str) for name in listed):
        raise ValueError(value)
    return listed


_MODULES: Final = (
    ("shared", re.compile(r"shared_expert(?!s?_gate)")),
    ("experts", re.compile(r"experts")),
    ("attention", re.compile(r"self_attn(?!.*(norm|indexer))|attention|self_attention")),
    ("mlp", re.compile(r"(mlp|feed_forward|ffn)(?!.*(gate$|router|norm))")),
)
_LAYER: Final = re.compile(r"layers?\.(\d{1,6})(?!\d)")
_WHOLE_LAYER: Final = re.compile(r"layers?\.\d+(\.?\*|\..?\*)?\$?$")


def _kept(modules: Sequence[str], layers: int) -> tuple[tuple[str, float], ...]:
    """Return the share of layers of each kind that a list of module names keeps in 16 bits."""
    shares: dict[str, float] = {}
    spelled = [module.replace("\\.", ".") for module in modules]  # patterns escape their dots
    for kind, _ in _MODULES:
        named: set[str] = set()
        for module in spelled:
            whole = _WHOLE_LAYER.search(module) and not _is_tower(module)
            if whole or kind_of(module) == kind:
                number = _LAYER.search(module)
                if number is None or int(number[1]) < layers:  # beyond are layers not loaded
                    named.add(number[1] if number else "*")
        if named:
            shares[kind] = 1.0 if "*" in named else min(1.0, len(named) / max(1, layers))
    return tuple(shares.items())


def kind_of(module: str) -> str | None:
    """Return the kind of matrices that a module name belongs to, `None` for those never converted."""
    if _is_tower(module):
        return None
    return next((kind for kind, pattern in _MODULES if pattern.search(module)), None)


def _is_tower(module: str) -> bool:
    """Tell whether a module belongs to an encoder beside the language model."""
    return any(part in module for part in ("vision", "visual", "audio"))
