"""What a `config.json` says that the planner does not compute, so that it abstains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lmi_constructs.planner.architecture import NO_FAMILY

if TYPE_CHECKING:
    from lmi_constructs.facts import ModelFamily
    from lmi_constructs.planner.architecture import Experts, VisionTower

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

_WIDENED: Final = frozenset({"gpt2", "gpt_bigcode", "gptj", "bloom", "falcon"})
"""Families whose MLP is four times as wide as the hidden state unless their config says otherwise
(https://github.com/huggingface/transformers configuration_<family>.py)."""

_DTYPES: Final = frozenset({"float32", "float16", "bfloat16", "float", "half", "auto"})


class Described(NamedTuple):
    """What a config says of the parts that not every config describes in full."""

    family: str
    layers: int
    state_layers: int
    intermediate: int
    experts: Experts | None
    vision: VisionTower | None


def first_doubt(
    config: Mapping[str, Any],
    text: Mapping[str, Any],
    described: Described,
    facts: ModelFamily | None,
    *,
    is_complete: bool,
    sizes: Sequence[str],
    quantization_doubt: str | None,
    layers_doubt: str | None,
) -> str | None:
    """Return the first reason why the planner does not understand a config; `None` if it does.

    Args:
        config: The whole config.
        text: The language model's part of it, completed by the outer one.
        described: What was read of it.
        facts: What is known of the model's family.
        is_complete: Whether it has all that every model has.
        sizes: Names under which the language model's part gives sizes.
        quantization_doubt: Why its quantization is not understood.
        layers_doubt: Why the list of its layers' kinds is not understood.
    """
    vision, experts = described.vision, described.experts
    is_sparse = experts is not None and experts.layers >= described.layers
    has_width = described.intermediate or described.family in _WIDENED or is_sparse
    doubts = (
        None if is_complete else "its shape is known only in part",
        _family_doubt(described.family, facts),
        quantization_doubt,
        "layers with a state per sequence are not planned" if described.state_layers else None,
        _beyond(config, text, sizes),
        layers_doubt,
        _odd_dtype(config, text),
        None if has_width else "its intermediate_size is not stated",
        "the size of its vision tower is not stated" if vision and not vision.parameters else None,
    )
    return next((reason for reason in doubts if reason), None)


def _beyond(config: Mapping[str, Any], text: Mapping[str, Any], sizes: Sequence[str]) -> str | None:
    """Return why a config describes more than the planner computes, `None` if it does not."""
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


def _family_doubt(family: str, facts: ModelFamily | None) -> str | None:
    if family == NO_FAMILY:
        return "its config names no model_type"
    if facts is None:
        return f"the model family {family!r} is not known"
    return None if facts.planned == "yes" else f"{family}: {facts.note}"


def _odd_dtype(config: Mapping[str, Any], text: Mapping[str, Any]) -> str | None:
    """Return that a config names a number format that there is not, `None` if it does not."""
    given = [part.get(key) for part in (text, config) for key in ("torch_dtype", "dtype")]
    odd = [one for one in given if one and str(one).removeprefix("torch.") not in _DTYPES]
    return f"its dtype {str(odd[0])[:60]!r} is not known" if odd else None
