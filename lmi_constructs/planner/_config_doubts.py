"""What a `config.json` says that the planner does not compute, so that it abstains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

LARGEST: Final = 10**10
"""No size of a model is larger: the limit keeps out NaN, infinity and numbers without end."""

_BEYOND: Final = {
    "is_encoder_decoder": "it has an encoder beside the decoder",
    "index_topk": "sparse attention keeps an index cache",
    "num_kv_shared_layers": "layers share their cache",
    "block_configs": "layers differ in shape",
    "global_head_dim": "global layers have other heads than local ones",
    "num_global_key_value_heads": "global layers have other heads than local ones",
    "cross_attention_layers": "it has cross-attention layers",
    "hybrid_override_pattern": "layers with a state per sequence are not planned",
    "layers_block_type": "layers with a state per sequence are not planned",
    "attn_layer_period": "layers with a state per sequence are not planned",
    "ssm_cfg": "layers with a state per sequence are not planned",
    "mamba_d_state": "layers with a state per sequence are not planned",
    "linear_num_key_heads": "layers with a state per sequence are not planned",
    "linear_attn_config": "layers with a state per sequence are not planned",
}
"""Keys of families whose memory is computed otherwise, whatever `model_type` stands beside them
(https://github.com/huggingface/transformers configuration_<family>.py of t5, deepseek_v32, gemma3n,
nemotron-nas, gemma4, mllama, nemotron_h, zamba, jamba, mamba, falcon_h1, qwen3_next, kimi_linear)."""

_PARTS: Final = frozenset({"text_config", "llm_config", "language_config", "vision_config"})
_LAYER_COUNTS: Final = (
    *("num_hidden_layers", "encoder_layers", "num_layers", "n_layers", "n_layer", "depth"),
)


def beyond(config: Mapping[str, Any], text: Mapping[str, Any], sizes: Sequence[str]) -> str | None:
    """Return why a config describes more than the planner computes, `None` if it does not.

    Args:
        config: The whole config.
        text: The language model's part of it, completed by the outer one.
        sizes: Names under which the language model's part gives sizes.
    """
    for name in sizes:
        if _is_odd(text.get(name)):
            return f"its {name} is no single size"
    for name, reason in _BEYOND.items():
        if text.get(name):
            return reason
    for name, part in config.items():
        if str(name).endswith("_config") and name not in _PARTS and isinstance(part, Mapping):
            if any(part.get(count) for count in _LAYER_COUNTS):
                return f"its {name} describes further layers"
            if "audio" in name or "speech" in name:
                return f"the size of its {name} is not stated"
    return None


def _is_odd(value: object) -> bool:
    """Tell whether what stands for a size is none: 0, -1 and null say that there is none."""
    if value is None or isinstance(value, bool):
        return False
    if not isinstance(value, (int, float)):
        return True
    return value not in (0, -1) and not (1 <= value <= LARGEST and int(value) == value)
