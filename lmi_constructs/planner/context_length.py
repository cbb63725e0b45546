"""The longest context of a model: what its config says, and what the engine is told beside it.

Sources, read on 2026-12-03 in the vLLM wheels of 0.8.4, 0.15.1 and 0.23.0: the keys and their order
in vllm/config.py or vllm/transformers_utils/model_arch_config_convertor.py
(`derive_max_model_len_and_key`), the stretching in `_get_and_verify_max_len` of vllm/config/model.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.planner._config_doubts import LARGEST

if TYPE_CHECKING:
    from lmi_constructs.planner.architecture import Architecture
    from lmi_constructs.planner.configuration import EngineConfiguration

CONTEXT_KEYS: Final = (
    *("max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "model_max_length"),
    *("max_target_positions", "max_sequence_length", "max_seq_length", "seq_len"),
)
"""Keys of which the engine takes the smallest."""

_WINS: Final = "model_max_length"
"""The key that counts whatever the others say."""

_UNSTRETCHED: Final = frozenset({"su", "longrope", "llama3", "mrope", "default"})
"""Kinds of rope scaling whose factor is in the context already, or that have none."""

_SCALED_ALREADY: Final = "gemma3"
"""Families whose context is stated with its stretching."""

_ROPE_KEYS: Final = ("rope_scaling", "rope_parameters")
_PARTS: Final = ("text_config", "llm_config", "language_config")
_HARMLESS: Final = frozenset({*CONTEXT_KEYS, *_ROPE_KEYS, "architectures", "rope_theta"})
"""Overrides that leave the shape of a model as it is."""


def longest_context(config: Mapping[str, Any], family: str) -> tuple[int | None, int | None]:
    """Return the longest context in tokens, and what it is before rope scaling stretches it.

    Args:
        config: The language model's part of a config.
        family: Its `model_type`.
    """
    stated = {key: tokens for key in CONTEXT_KEYS if (tokens := _tokens(config.get(key)))}
    if not stated:
        return None, None
    tokens = stated.get(_WINS) or min(stated.values())
    return _stretched(tokens, _scaling(config), family), tokens


def overridden(
    architecture: Architecture, configuration: EngineConfiguration
) -> tuple[Architecture, str | None]:
    """Return a model as the engine's overrides of its config make it, and why they are not judged.

    Args:
        architecture: The model.
        configuration: What the engine is told, `hf_overrides` and `rope_scaling` among it.
    """
    changes = _object(configuration.hf_overrides)
    scaling = _object(configuration.rope_scaling)
    if changes is None or scaling is None:
        return architecture, "hf_overrides or rope_scaling is no JSON object"
    for part in _PARTS:
        inner = changes.get(part)
        if isinstance(inner, Mapping):
            changes = {**{k: v for k, v in changes.items() if k != part}, **inner}
    if scaling:
        changes = {**changes, "rope_scaling": scaling}
    other = sorted(str(name) for name in changes if name not in _HARMLESS)
    doubt = f"hf_overrides changes {', '.join(other)}" if other else None
    stated = {key: tokens for key in CONTEXT_KEYS if (tokens := _tokens(changes.get(key)))}
    base = architecture.unstretched_context or architecture.max_context
    if not any(key in changes for key in _ROPE_KEYS):
        longest = stated.get(_WINS) or min((*stated.values(), base or LARGEST))
        changed = replace(architecture, max_context=longest) if stated else architecture
        return changed, doubt
    base = stated.get(_WINS) or min((*stated.values(), base or LARGEST))
    if base == LARGEST:
        return architecture, doubt
    longest = _stretched(base, _scaling(changes), architecture.family)
    return replace(architecture, max_context=longest, unstretched_context=base), doubt


def _stretched(tokens: int, scaling: Mapping[str, Any], family: str) -> int:
    kind, factor = scaling.get("rope_type", scaling.get("type")), scaling.get("factor", 1)
    if not isinstance(kind, str) or kind in _UNSTRETCHED or not _tokens(factor):
        return tokens
    if family.startswith(_SCALED_ALREADY):
        return tokens
    if kind == "yarn":
        tokens = _tokens(scaling.get("original_max_position_embeddings")) or tokens
    return int(tokens * factor)


def _scaling(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the one kind of rope scaling; where kinds of layers have their own, that with a factor."""
    found: Any = next((config[key] for key in _ROPE_KEYS if config.get(key)), {})
    if not isinstance(found, Mapping):
        return {}
    kinds = [kind for kind in found.values() if isinstance(kind, Mapping)]
    return next((kind for kind in kinds if kind.get("factor")), found) if kinds else found


def _object(value: object) -> dict[str, Any] | None:
    """Return an object that is given as one or as JSON, empty if none is given."""
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else {}
        except (ValueError, RecursionError):
            return None
    if value is None:
        return {}
    return dict(value) if isinstance(value, Mapping) else None


def _tokens(value: object) -> int:
    """Return a number of tokens, 0 if it is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0
    return int(value) if 1 <= value <= LARGEST else 0
