"""The shape of a model: what its memory is computed from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from lmi_constructs._near_names import SUSPECT, near_names
from lmi_constructs.facts import models
from lmi_constructs.findings import LmiError
from lmi_constructs.planner._kinds import wrong

if TYPE_CHECKING:
    from lmi_constructs.planner.quantization import Quantization

_BESIDE_CONFIG: Final = ("quantize_config.json", "quant_config.json")
"""Where checkpoints of GPTQ and AWQ described themselves before `config.json` did
(`get_config_filenames` of vllm/model_executor/layers/quantization/auto_gptq.py and auto_awq.py)."""

_NEEDED: Final = (
    *("layers", "hidden", "heads", "kv_heads", "head_dim", "vocabulary", "cached_layers"),
)

NO_FAMILY: Final = "unknown"
"""Family of a model whose config names none, or of which there is no config."""


@dataclass(frozen=True, slots=True)
class Experts:
    """The mixture of experts of a model.

    Attributes:
        count: Routed experts of a layer.
        width: Intermediate size of one expert.
        per_token: Experts that work on one token.
        layers: Layers that have experts; the others have a dense MLP.
        shared_width: Intermediate size of all shared experts together.
        bias: Whether the experts have biases.
    """

    count: int
    width: int
    per_token: int
    layers: int
    shared_width: int = 0
    bias: bool = False


@dataclass(frozen=True, slots=True)
class LatentAttention:
    """Multi-head latent attention, which caches one compressed row for all heads.

    Attributes:
        kv_rank: Size of the compressed row.
        rope: Size of the part with positions, cached beside it.
        nope: Size of the part of a head without positions.
        value: Size of the values of a head.
        q_rank: Size of compressed queries, `None` if they are not compressed.
    """

    kv_rank: int
    rope: int
    nope: int
    value: int
    q_rank: int | None


@dataclass(frozen=True, slots=True)
class VisionTower:
    """The encoder of a multimodal model.

    Attributes:
        parameters: Its weights, which every rank holds in full.
        heads: Its attention heads, `None` if not known.
    """

    parameters: int
    heads: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """The shape of a model.

    Attributes:
        name: Hub id, or what the user calls it.
        family: `model_type` of its config.
        understood: Whether the planner knows how memory follows from this shape. If not, only the
            hard rules are checked.
        doubt: Why it is not understood.
        layers: Number of layers.
        hidden: Width of the hidden state.
        heads: Attention heads.
        kv_heads: Heads of keys and values.
        head_dim: Width of one head.
        vocabulary: Number of tokens of the vocabulary.
        tied_embeddings: Whether the output head is the embedding.
        max_context: Longest context in tokens, `None` if it is not known.
        unstretched_context: What that is before rope scaling stretches it, `None` if it does not.
        dtype: Number format of the unquantized weights.
        intermediate: Width of a dense MLP.
        gated: Whether the MLP has a gate, so three matrices instead of two.
        qkv_bias: Whether the projections to query, key and value have biases.
        experts: Mixture of experts.
        latent: Latent attention.
        window: Sliding window in tokens.
        window_layers: Layers that see only the window.
        state_layers: Layers with a state per sequence instead of a cache.
        vision: Encoder of a multimodal model.
        quantization: How the checkpoint's weights are stored.
        quantization_method: Method that its config names for that, such as `compressed-tensors`;
            `None` if the config says nothing, and empty if it describes a format without a name.
        least_engine: First vLLM version that serves the family, where it is known.
        source: Where the shape was read.
    """

    name: str
    family: str
    understood: bool = True
    doubt: str | None = None
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    vocabulary: int
    tied_embeddings: bool = False
    max_context: int | None = None
    unstretched_context: int | None = None
    dtype: Literal["float32", "float16", "bfloat16"] = "bfloat16"
    intermediate: int
    gated: bool = True
    qkv_bias: bool = False
    experts: Experts | None = None
    latent: LatentAttention | None = None
    window: int | None = None
    window_layers: int = 0
    state_layers: int = 0
    vision: VisionTower | None = None
    quantization: Quantization | None = None
    quantization_method: str | None = None
    least_engine: tuple[int, ...] | None = None
    source: str | None = field(default=None, compare=False)

    @classmethod
    def known(cls, hub_id: str) -> Architecture | None:
        """Return the shape of a model by hub id, whatever the case; `None` if it is not known.

        Args:
            hub_id: Hub id, such as `Qwen/Qwen3-32B`.

        Raises:
            LmiError: If it is no text (LMI010).
        """
        if not isinstance(hub_id, str):
            raise LmiError(wrong("hub_id", hub_id, 'give a hub id, such as "Qwen/Qwen3-32B"'))
        return _known(hub_id.strip().lower())

    @classmethod
    def from_config_json(
        cls, config: str | Path | Mapping[str, Any], name: str | None = None
    ) -> Architecture:
        """Return the shape that a model's own `config.json` describes.

        A file of an older quantized checkpoint that lies beside it says that its weights have a
        format, of which the engine's `quantization` argument names the method.

        Args:
            config: Path of the file, or its content.
            name: What to call the model. Default: the name in the file, or else that of its folder.

        Raises:
            LmiError: If the file cannot be read or lacks what every model has (LMI029), or is neither
                a path nor an object (LMI010).
        """
        from lmi_constructs.planner._config_json import parse, unreadable

        if not isinstance(config, (str, Path, Mapping)):
            fix = 'give the path of a config.json, or its content: json.load(open("config.json"))'
            raise LmiError(wrong("config", config, fix))
        if isinstance(config, (str, Path)):
            try:
                content = json.loads(Path(config).read_text(encoding="utf-8-sig"))
            except (OSError, ValueError, RecursionError) as error:
                raise unreadable(str(config), str(error)) from error
            if not isinstance(content, dict):
                raise unreadable(str(config), "it holds no object")
            read = parse(content, name or _called(Path(config), content))
            beside = any(Path(config).with_name(one).is_file() for one in _BESIDE_CONFIG)
            if read.quantization_method is None and beside:
                return replace(read, quantization_method="")
            return read
        return parse(config, name)

    @classmethod
    def unknown(cls, name: str) -> Architecture:
        """Return a model of which no more than its name is known.

        No rule about its shape breaks; those about formats and accelerators hold all the same.
        """
        return cls(
            name=name,
            family=NO_FAMILY,
            understood=False,
            doubt="its shape is not known",
            layers=0,
            hidden=0,
            heads=0,
            kv_heads=0,
            head_dim=0,
            vocabulary=0,
            intermediate=0,
        )

    @property
    def dense_layers(self) -> int:
        """Layers with a dense MLP."""
        return self.layers - (self.experts.layers if self.experts else 0)

    @property
    def cached_layers(self) -> int:
        """Layers that keep keys and values of every token or of a window."""
        return self.layers - self.state_layers

    @property
    def dtype_bytes(self) -> int:
        """Bytes of one unquantized weight in the checkpoint."""
        return 4 if self.dtype == "float32" else 2


def size_without_value(architecture: Architecture) -> str | None:
    """Return a size that is not positive, so that no memory follows from it; `None` if all are."""
    return next((name for name in _NEEDED if getattr(architecture, name) <= 0), None)


def _called(path: Path, content: Mapping[str, Any]) -> str:
    """Return what to call the model of a file that does not say it."""
    own = content.get("_name_or_path")
    if isinstance(own, str) and own:
        return own
    return path.parent.name if path.stem == "config" and path.parent.name else path.name


def similar_models(name: str) -> tuple[str, ...]:
    """Return the hub ids of known models that a misspelled or shortened one resembles, nearest first.

    Args:
        name: What was written, such as `qwen3-32b`.
    """
    wanted = name.strip().lower()
    owner, _, short = wanted.rpartition("/")
    spelled = {
        hub_id: hub_id if owner else hub_id.rpartition("/")[2]  # without an owner: any owner's
        for hub_id in models()
    }
    said = wanted if owner else short
    near = near_names(said, set(spelled.values()), most=3, likeness=SUSPECT)
    found = {
        word: [hub_id for hub_id, spelled in spelled.items() if spelled == word] for word in near
    }
    return tuple(models()[hub_id].hub_id for word in near for hub_id in found[word])[:3]


@cache
def _known(hub_id: str) -> Architecture | None:
    from lmi_constructs.planner._config_json import parse

    facts = models().get(hub_id)
    if facts is None:
        return None
    return parse(facts.config, facts.hub_id, source=facts.source, complete=False)
