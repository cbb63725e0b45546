"""The architecture of a model, as far as it decides how much memory it needs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from lmi_constructs.facts.models import model_configs
from lmi_constructs.findings import Finding, LmiError
from lmi_constructs.planner.quantization import Quantization

_SIXTEEN_BIT = 2
_BYTES = {"float32": 4, "float": 4, "bfloat16": 2, "float16": 2, "half": 2}
_PLAIN_MLP = ("falcon", "gpt2", "gpt_bigcode", "gpt_neox", "opt", "bloom", "phi", "starcoder2")
_NOT_SIZED = ("nemotron-nas", "mamba", "jamba", "bamba", "falcon_h1", "glm_moe_dsa", "deepseek_v32")
_VISION = ("ForConditionalGeneration", "VLForCausalLM", "VForCausalLM", "Vision", "InternVL")


@dataclass(frozen=True, slots=True)
class Experts:
    """The mixture of experts of a model.

    Attributes:
        count: Experts a layer.
        per_token: Experts that each token passes.
        width: Intermediate size of one expert.
        shared_width: Intermediate size of the experts that every token passes, together.
        dense_layers: Layers without experts.
        dense_width: Intermediate size of those layers.
    """

    count: int
    per_token: int
    width: int
    shared_width: int = 0
    dense_layers: int = 0
    dense_width: int = 0


@dataclass(frozen=True, slots=True)
class LatentAttention:
    """Multi-head latent attention (MLA), with a compressed KV cache."""

    kv_rank: int
    query_rank: int | None
    rope_size: int
    nope_size: int
    value_size: int


@dataclass(frozen=True, slots=True)
class Architecture:
    """What sizes a model's memory.

    Attributes:
        name: Hub id, if known.
        model_type: Family name of config.json.
        layers: Number of layers.
        hidden_size: Width of the model.
        heads: Attention heads.
        kv_heads: Heads of the KV cache.
        head_size: Size of one head.
        intermediate_size: Width of the dense feed-forward layers.
        vocabulary: Size of the vocabulary.
        tied_embeddings: Whether input and output share one embedding.
        gated_mlp: Whether the feed-forward layer has three matrices rather than two.
        max_context: Longest context in tokens that the model was made for, if known.
        max_context_is_inferred: Whether that length was derived rather than read.
        weight_bytes: Bytes of an unquantised weight of the checkpoint.
        experts: Mixture of experts, if it has one.
        latent: Latent attention, if it has one.
        sliding_window: Tokens that window layers look back, if it has such layers.
        window_layers: Number of those layers.
        linear_layers: Layers with linear attention or a state space, which keep no KV cache.
        quantization: How the checkpoint is quantised, if it is.
        multimodal: Whether it has a vision or audio tower, which is not sized here.
        understood: Whether all that is needed to size it is known.
    """

    name: str | None
    model_type: str
    layers: int
    hidden_size: int
    heads: int
    kv_heads: int
    head_size: int
    intermediate_size: int
    vocabulary: int
    tied_embeddings: bool = False
    gated_mlp: bool = True
    max_context: int | None = None
    max_context_is_inferred: bool = False
    weight_bytes: int = _SIXTEEN_BIT
    experts: Experts | None = None
    latent: LatentAttention | None = None
    sliding_window: int | None = None
    window_layers: int = 0
    linear_layers: int = 0
    quantization: Quantization | None = None
    multimodal: bool = False
    understood: bool = True

    @classmethod
    def known(cls, model_id: str) -> Architecture | None:
        """Return a model whose facts are shipped, by hub id; `None` if it is not one of them."""
        return _known(model_id.lower())

    @classmethod
    def from_config_json(cls, config: str | Path | Mapping[str, Any]) -> Architecture:
        """Return the architecture that a model's own `config.json` describes.

        Args:
            config: Path of the file, or its parsed content.

        Raises:
            LmiError: If the file cannot be read, or is no model's configuration (LMI059).
        """
        if isinstance(config, Mapping):
            return _read(config, str(config.get("_name_or_path") or "") or None)
        try:
            content = json.loads(Path(config).read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise LmiError(_unreadable(config, str(error))) from error
        if not isinstance(content, dict):
            raise LmiError(_unreadable(config, "it holds no JSON object"))
        return _read(content, None)

    def quantized(self, quantization: Quantization | None) -> Architecture:
        """Return the same model stored another way."""
        return replace(self, quantization=quantization)

    @property
    def attention_layers(self) -> int:
        """Layers that keep every token in the KV cache."""
        return self.layers - self.window_layers - self.linear_layers

    @property
    def is_hybrid(self) -> bool:
        """Whether some layers keep a state instead of a KV cache."""
        return self.linear_layers > 0


@cache
def _known(model_id: str) -> Architecture | None:
    row = model_configs().get(model_id)
    return None if row is None else _read(row, str(row["id"]))


def _read(config: Mapping[str, Any], name: str | None) -> Architecture:
    text = config.get("text_config")
    body: Mapping[str, Any] = {**config, **text} if isinstance(text, Mapping) else config
    model_type = str(body.get("model_type") or "")
    heads = _whole(body, "num_attention_heads", "n_head")
    if heads == 0:
        raise LmiError(_unreadable(name or "config.json", "num_attention_heads is missing"))
    hidden = _whole(body, "hidden_size", "n_embd")
    layers = _whole(body, "num_hidden_layers", "n_layer")
    head_size = _whole(body, "head_dim") or (hidden // heads if hidden else 0)
    quantization = config.get("quantization_config") or body.get("quantization_config")
    stored = Quantization.from_config(quantization) if isinstance(quantization, Mapping) else None
    windows, linear = _layer_kinds(body, layers)
    intermediate = _whole(body, "intermediate_size", "n_inner", "ffn_hidden_size")
    gated = model_type not in _PLAIN_MLP and not (name or "").lower().startswith("tiiuae/falcon")
    if not gated and not intermediate:
        intermediate = 4 * hidden
    names = " ".join(str(item) for item in config.get("architectures") or [])
    tied = body.get("tie_word_embeddings")
    return Architecture(
        name=name,
        model_type=model_type,
        layers=layers,
        hidden_size=hidden,
        heads=heads,
        kv_heads=_whole(body, "num_key_value_heads", "num_kv_heads") or heads,
        head_size=head_size,
        intermediate_size=intermediate,
        vocabulary=_whole(body, "vocab_size"),
        tied_embeddings=bool(tied) if tied is not None else False,
        gated_mlp=gated,
        max_context=_whole(body, "max_position_embeddings", "n_positions") or None,
        max_context_is_inferred=any(
            str(field).startswith(("max_position", "all")) for field in body.get("inferred") or []
        ),
        weight_bytes=_BYTES.get(str(body.get("torch_dtype") or body.get("dtype")), _SIXTEEN_BIT),
        experts=_experts(body, layers, intermediate),
        latent=_latent(body),
        sliding_window=_whole(body, "sliding_window") or None,
        window_layers=windows,
        linear_layers=linear,
        quantization=stored,
        multimodal=isinstance(text, Mapping) or any(word in names for word in _VISION),
        understood=all((layers, hidden, intermediate, head_size, _whole(body, "vocab_size")))
        and model_type not in _NOT_SIZED
        and (quantization is None or stored is not None),
    )


def _experts(body: Mapping[str, Any], layers: int, intermediate: int) -> Experts | None:
    count = _whole(body, "num_experts", "num_local_experts", "n_routed_experts")
    if count <= 1:
        return None
    width = _whole(body, "moe_intermediate_size") or intermediate
    every = _whole(body, "interleave_moe_layer_step") or 1
    dense = _whole(body, "first_k_dense_replace")
    if every > 1:
        dense = layers - layers // every
    shared = _whole(body, "shared_expert_intermediate_size")
    shared = shared or _whole(body, "n_shared_experts", "num_shared_experts") * width
    if str(body.get("model_type")) == "llama4":
        shared = intermediate
    return Experts(
        count=count,
        per_token=_whole(body, "num_experts_per_tok", "num_experts_per_token", "top_k") or 1,
        width=width,
        shared_width=shared,
        dense_layers=dense,
        dense_width=_whole(body, "intermediate_size_mlp") or intermediate,
    )


def _latent(body: Mapping[str, Any]) -> LatentAttention | None:
    rank = _whole(body, "kv_lora_rank")
    if not rank:
        return None
    return LatentAttention(
        kv_rank=rank,
        query_rank=_whole(body, "q_lora_rank") or None,
        rope_size=_whole(body, "qk_rope_head_dim"),
        nope_size=_whole(body, "qk_nope_head_dim"),
        value_size=_whole(body, "v_head_dim"),
    )


def _layer_kinds(body: Mapping[str, Any], layers: int) -> tuple[int, int]:
    """Return how many layers look back through a window, and how many keep no KV cache."""
    kinds = body.get("layer_types")
    counts = Counter(kinds if isinstance(kinds, list | Mapping) else [])
    linear = sum(counts[kind] for kind in counts if "linear" in kind or "mamba" in kind)
    windows = counts["sliding_attention"] + counts["chunked_attention"]
    pattern = _whole(body, "sliding_window_pattern")
    if not counts and pattern > 1 and body.get("sliding_window"):
        windows = layers - layers // pattern
    return windows, linear


def _whole(body: Mapping[str, Any], *names: str) -> int:
    for name in names:
        value = body.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return 0


def _unreadable(config: object, reason: str) -> Finding:
    return Finding(
        rule="LMI059",
        message=f"{str(config)!r} is not the config.json of a model: {reason}",
        why="without the model's sizes nothing can be planned",
        fix="give the config.json that lies beside the model's weights",
        where="architecture",
    )
