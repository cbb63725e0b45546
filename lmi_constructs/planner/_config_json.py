"""Reading a model's `config.json`, whose names differ between families."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from lmi_constructs.container.engine_versions import version_numbers
from lmi_constructs.facts import model_families
from lmi_constructs.findings import Finding, LmiError
from lmi_constructs.planner._config_doubts import LARGEST, Described, first_doubt
from lmi_constructs.planner.architecture import (
    NO_FAMILY,
    Architecture,
    Experts,
    LatentAttention,
    VisionTower,
)
from lmi_constructs.planner.context_length import longest_context
from lmi_constructs.planner.quantization import quantization_of

_NAMES: Final = {
    "layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    "hidden": ("hidden_size", "n_embd", "d_model"),
    "heads": ("num_attention_heads", "n_head", "n_heads"),
    "kv_heads": ("num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num"),
    "vocabulary": ("vocab_size", "padded_vocab_size"),
    "intermediate": ("intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim"),
    "experts": ("num_experts", "num_local_experts", "n_routed_experts"),
    "per_token": ("num_experts_per_tok", "experts_per_token", "num_experts_per_token"),
}
_OTHER_SIZES: Final = (
    *("head_dim", "sliding_window", "max_window_layers", "moe_intermediate_size"),
    *("n_shared_experts", "shared_expert_intermediate_size", "first_k_dense_replace"),
    *("decoder_sparse_step", "interleave_moe_layer_step", "intermediate_size_mlp"),
    *("kv_lora_rank", "q_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim"),
)
_SIZES: Final = (
    *(name for names in _NAMES.values() for name in names),
    *_OTHER_SIZES,
)

_REQUIRED: Final = ("layers", "hidden", "heads", "vocabulary")
_WINDOWED: Final = frozenset({"sliding_attention", "local", "chunked_attention"})
_STATEFUL: Final = frozenset({"linear_attention", "mamba", "recurrent", "conv"})
_WHOLE: Final = frozenset({"full_attention", "global"})
_TIED: Final = ("gemma", "cohere", "starcoder2")
"""Families whose output head is the embedding unless their config says otherwise
(https://github.com/huggingface/transformers configuration_<family>.py)."""

_MOST_LAYERS: Final = 10_000
"""No model has more layers."""

_MUTES_WINDOW: Final = frozenset({"qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "qwen2_5_vl"})
"""Families whose `sliding_window` counts only with `use_sliding_window`."""

_PATTERN: Final = {"gemma2": 2, "gemma3": 6, "gemma3_text": 6, "cohere2": 4, "gpt_oss": 2}
"""Every n-th layer sees the whole context, where the config does not list the layers
(https://github.com/huggingface/transformers configuration_<family>.py)."""


def parse(
    config: Mapping[str, Any],
    name: str | None = None,
    *,
    source: str | None = None,
    complete: bool = True,
) -> Architecture:
    """Return the architecture that a config describes.

    Args:
        config: Content of the file.
        name: What to call the model.
        source: Where it was read.
        complete: Whether a lack of what every model has is an error.

    Raises:
        LmiError: If that is lacking (LMI029).
    """
    text = _text_part(config)
    family = _family(config, text)
    layers, hidden, heads = _int(text, "layers"), _int(text, "hidden"), _int(text, "heads")
    head_dim = _size(text, "head_dim") or (hidden // heads if heads else 0)
    missing = _missing(text, head_dim)
    if missing and complete:
        raise LmiError(_lacks(name, missing))
    facts = model_families().get(family)
    described = _described_quantization(config, text)
    quantization, quantization_doubt = _quantization(described, layers)
    window, window_layers, state_layers = _layer_kinds(text, family, layers)
    vision = _vision(config)
    experts, intermediate = _experts(text, family, layers)
    doubt = first_doubt(
        config,
        text,
        Described(family, layers, state_layers, intermediate, experts, vision),
        facts,
        is_complete=not missing,
        sizes=_SIZES,
        quantization_doubt=quantization_doubt,
        layers_doubt=_oddly_layered(text, layers),
    )
    longest, unstretched = longest_context(text, family)
    return Architecture(
        name=name or str(config.get("_name_or_path") or family),
        family=family,
        understood=doubt is None,
        doubt=doubt,
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=_kv_heads(text, family, heads),
        head_dim=head_dim,
        vocabulary=_int(text, "vocabulary"),
        tied_embeddings=_tied(config, text, family),
        max_context=longest,
        unstretched_context=None if unstretched == longest else unstretched,
        dtype=_dtype(config, text),
        intermediate=intermediate or 4 * hidden,
        gated=facts is None or facts.mlp == "gated",
        qkv_bias=bool(text.get("attention_bias", facts is not None and facts.qkv_bias)),
        experts=experts,
        latent=_latent(text),
        window=window,
        window_layers=window_layers,
        state_layers=state_layers,
        vision=vision,
        quantization=quantization,
        quantization_method=_method(described),
        least_engine=version_numbers(facts.least_engine) if facts and facts.least_engine else None,
        source=source,
    )


def _missing(text: Mapping[str, Any], head_dim: int) -> list[str]:
    """Return the names of sizes that every model has and a config lacks."""
    missing = [_NAMES[key][0] for key in _REQUIRED if not _int(text, key)]
    if not missing and not head_dim:
        missing = ["head_dim"]
    if any(text.get(key) == 0 for key in _NAMES["kv_heads"]):  # if absent, as many as other heads
        missing.append("num_key_value_heads")
    return missing


def unreadable(path: str, reason: str) -> LmiError:
    """Return the error for a file that is no config."""
    return LmiError(
        Finding(
            rule="LMI029",
            message=f"{path} cannot be read as a config.json: {reason}",
            why="the memory plan needs the shape of the model",
            fix="give the path of the config.json that lies beside the model's weights",
            where="architecture",
        )
    )


def _lacks(name: str | None, missing: list[str]) -> Finding:
    return Finding(
        rule="LMI029",
        message=f"the config of {name or 'the model'} has no usable {', '.join(missing)}",
        why="the memory plan needs the shape of the model",
        fix="give the complete config.json that lies beside the model's weights",
        where="architecture",
    )


def _text_part(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the language model's part of a multimodal config, completed by the outer one."""
    for key in ("text_config", "llm_config", "language_config"):
        inner = config.get(key)
        if isinstance(inner, Mapping):
            return {**config, **inner}
    return config


def _family(config: Mapping[str, Any], text: Mapping[str, Any]) -> str:
    """Return the family of the language model; `<family>_text` is that of the model around it."""
    own, outer = (str(part.get("model_type") or "") for part in (text, config))
    if own == f"{outer}_text" and own not in model_families():
        return outer
    return own or outer or NO_FAMILY


def _int(config: Mapping[str, Any], key: str) -> int:
    """Return a size under whichever name the family gives it, 0 if it is absent."""
    return _first(config, *_NAMES[key])


def _size(config: Mapping[str, Any], name: str) -> int:
    """Return a size, 0 if it is absent or none that a model can have."""
    value = config.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0
    return int(value) if 0 < value <= LARGEST else 0


def _kv_heads(config: Mapping[str, Any], family: str, heads: int) -> int:
    if family == "falcon" and not config.get("num_key_value_heads"):
        grouped = config.get("new_decoder_architecture") or config.get("multi_query") is False
        return _int(config, "kv_heads") or heads if grouped else 1
    return _int(config, "kv_heads") or heads


def _tied(config: Mapping[str, Any], text: Mapping[str, Any], family: str) -> bool:
    value = text.get("tie_word_embeddings", config.get("tie_word_embeddings"))
    return family.startswith(_TIED) if value is None else bool(value)


def _dtype(
    config: Mapping[str, Any], text: Mapping[str, Any]
) -> Literal["float32", "float16", "bfloat16"]:
    for part in (text, config):
        for key in ("torch_dtype", "dtype"):
            match part.get(key):
                case "float32":
                    return "float32"
                case "float16":
                    return "float16"
                case "bfloat16":
                    return "bfloat16"
    return "bfloat16"


def _described_quantization(config: Mapping[str, Any], text: Mapping[str, Any]) -> Any:
    """Return what a config says of its weights' format, under the keys that the engine looks for."""
    given = config.get("quantization_config") or text.get("quantization_config")
    return given or config.get("compression_config")


def _method(given: Any) -> str | None:
    """Return the method as the engine reads it, `None` if nothing is described."""
    if not given:
        return None
    named = given.get("quant_method") if isinstance(given, Mapping) else None
    return str(named or "").lower().replace("compressed_tensors", "compressed-tensors")


def _quantization(given: Any, layers: int) -> tuple[Any, str | None]:
    if not given:
        return None, None
    found = quantization_of(given, layers) if isinstance(given, Mapping) else None
    if found is None:
        method = given.get("quant_method") if isinstance(given, Mapping) else given
        return None, f"the quantization {str(method)[:60]!r} is not known, or oddly described"
    return found, None


def _layer_kinds(
    config: Mapping[str, Any], family: str, layers: int
) -> tuple[int | None, int, int]:
    """Return the window, the layers that see only it, and the layers with a state."""
    window: int | None = _size(config, "sliding_window") or None
    if family in _MUTES_WINDOW and not config.get("use_sliding_window"):
        window = None
    kinds = config.get("layer_types")
    counts: Counter[str] = Counter()
    if isinstance(kinds, Mapping):
        counts.update({str(kind): _size(kinds, kind) for kind in kinds})
    elif isinstance(kinds, Sequence) and not isinstance(kinds, str):
        counts.update(map(str, kinds))
    elif window:
        counts["sliding_attention"] = layers - _whole_layers(config, family, layers)
    windowed = min(layers, sum(counts[kind] for kind in _WINDOWED))
    stateful = min(layers, sum(counts[kind] for kind in _STATEFUL))
    return window, windowed if window else 0, stateful


def _whole_layers(config: Mapping[str, Any], family: str, layers: int) -> int:
    """Return the layers that see the whole context, where the config does not list the layers."""
    pattern = config.get("sliding_window_pattern")
    if isinstance(pattern, str) and pattern:  # such as LLLG: local, local, local, global
        return sum(
            pattern[layer % len(pattern)] != "L" for layer in range(min(layers, _MOST_LAYERS))
        )
    if family in _MUTES_WINDOW:
        return min(layers, _size(config, "max_window_layers"))
    every = _size(config, "sliding_window_pattern") or _PATTERN.get(family, 0)
    return layers // every if every else 0


def _oddly_layered(config: Mapping[str, Any], layers: int) -> str | None:
    """Return why the list of the layers' kinds cannot be relied on, `None` if it can."""
    kinds = config.get("layer_types")
    if kinds is None or isinstance(kinds, Mapping):
        return None
    if isinstance(kinds, str) or not isinstance(kinds, Sequence):
        return "its layer_types are no list"
    other = set(map(str, kinds)) - _WINDOWED - _STATEFUL - _WHOLE
    if other:
        return f"layers of the kind {min(other)[:60]!r} are not planned"
    return None if len(kinds) == layers else "its layer_types are not those of its layers"


def _experts(config: Mapping[str, Any], family: str, layers: int) -> tuple[Experts | None, int]:
    """Return the experts, and the width of a dense MLP."""
    intermediate = _int(config, "intermediate")
    count = _int(config, "experts")
    if count <= 1:
        return None, intermediate
    width = _size(config, "moe_intermediate_size") or intermediate or 4 * _int(config, "hidden")
    shared = _size(config, "n_shared_experts") * width
    shared = _size(config, "shared_expert_intermediate_size") or shared
    named = config.get("mlp_only_layers")
    dense = _size(config, "first_k_dense_replace")
    dense = dense or (len(named) if isinstance(named, Sequence) else 0)
    every = _size(config, "decoder_sparse_step") or 1
    if family.startswith("llama4"):
        every = _size(config, "interleave_moe_layer_step") or 1
        shared = width
        intermediate = _size(config, "intermediate_size_mlp") or intermediate
    experts = Experts(
        count=count,
        width=width,
        per_token=_int(config, "per_token") or 1,
        layers=max(0, layers // every - dense),
        shared_width=shared,
        bias=family == "gpt_oss",
    )
    return experts, intermediate


def _latent(config: Mapping[str, Any]) -> LatentAttention | None:
    rank = _size(config, "kv_lora_rank")
    if not rank:
        return None
    return LatentAttention(
        kv_rank=rank,
        rope=_size(config, "qk_rope_head_dim"),
        nope=_size(config, "qk_nope_head_dim"),
        value=_size(config, "v_head_dim"),
        q_rank=_size(config, "q_lora_rank") or None,
    )


_VISION: Final = ("vision_config", "visual")


def _vision(config: Mapping[str, Any]) -> VisionTower | None:
    """Return the encoder of images, `None` if there is none.

    Where `embed_dim` stands beside `hidden_size`, the latter is the width of the language model
    (https://github.com/huggingface/transformers configuration_qwen2_vl.py).
    """
    part = next((p for key in _VISION if isinstance(p := config.get(key), Mapping)), None)
    if part is None:
        return None
    layers = _first(part, "num_hidden_layers", "depth", "layers")
    hidden = _first(part, "embed_dim", "hidden_size", "width")
    ratio = part.get("mlp_ratio") if _size(part, "mlp_ratio") else 4
    inner = _first(part, "intermediate_size") or int(hidden * (ratio or 4))
    heads = _first(part, "num_attention_heads", "num_heads", "heads") or None
    return VisionTower(parameters=layers * (4 * hidden**2 + 2 * hidden * inner), heads=heads)


def _first(config: Mapping[str, Any], *names: str) -> int:
    """Return the first size that is given, 0 if none is."""
    return next((size for name in names if (size := _size(config, name))), 0)
