"""Which files of a model's repository the container needs: one format of weights, and no more."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from lmi_constructs.presets.layout import ADAPTERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_FORMATS: Final = (
    ("safetensors", (".safetensors",)),
    ("PyTorch", (".bin",)),
    ("PyTorch", (".pt", ".pth")),
    ("GGUF", (".gguf",)),
)
"""Formats of weights, the best first: only the first that is there is taken."""

_FOREIGN: Final = (".h5", ".msgpack", ".onnx", ".onnx_data", ".ot", ".tflite", ".mlmodel", ".npz")
_TRAINING: Final = ("optimizer", "scheduler", "rng_state", "training_args", "trainer_state")
_FOLDERS: Final = frozenset({"__pycache__", "original", "metal", "onnx", "openvino", "coreml"})
_ENGINE_INDEX: Final = ".index.json"
_CONSOLIDATED: Final = "consolidated"


def select(names: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """Return the files to take, and why each of the others is left out.

    Args:
        names: Names relative to the model's root, with `/` between folders.
    """
    left_out: dict[str, str] = {}
    candidates = []
    for name in sorted(names):
        reason = _useless(PurePosixPath(name))
        if reason:
            left_out[name] = reason
        else:
            candidates.append(name)
    by_folder: dict[str, list[str]] = {}
    for name in candidates:
        by_folder.setdefault(_weights_folder(name), []).append(name)
    taken: list[str] = []
    for inside in by_folder.values():
        left_out.update(_other_weights(inside))
        taken += [name for name in inside if name not in left_out]
    return sorted(taken), left_out


def _useless(name: PurePosixPath) -> str | None:
    if any(part.startswith(".") for part in name.parts):
        return "hidden"
    folder = next((part for part in name.parts[:-1] if part in _FOLDERS), None)
    if folder:
        return f"{folder}/ holds what the container does not read"
    if name.suffix in _FOREIGN:
        return "a format of another framework"
    if name.name.startswith(_TRAINING):
        return "left from training"
    is_weight = any(name.suffix in suffixes for _, suffixes in _FORMATS)
    if is_weight and len(name.parts) > 1 and not _is_of_adapter(name):
        return "weights that are not in the root are not read"
    return None


def _is_of_adapter(name: PurePosixPath) -> bool:
    return name.parts[0] == ADAPTERS and len(name.parts) == 3


def _weights_folder(name: str) -> str:
    """Return the folder whose weights exclude one another: the root, or that of an adapter."""
    parts = PurePosixPath(name).parts
    return "/".join(parts[:2]) if parts[0] == ADAPTERS and len(parts) > 2 else ""


def _other_weights(names: list[str]) -> Mapping[str, str]:
    """Return the weights, and their indices, of all formats but the best."""
    left_out: dict[str, str] = {}
    chosen: str | None = None
    for label, suffixes in _FORMATS:
        weights = [name for name in names if name.endswith(suffixes)]
        merged = [name for name in weights if PurePosixPath(name).name.startswith(_CONSOLIDATED)]
        if len(merged) < len(weights):
            left_out.update(dict.fromkeys(merged, "the same weights once more, consolidated"))
            weights = [name for name in weights if name not in merged]
        if chosen is not None:
            left_out.update(dict.fromkeys(weights, f"the same weights once more, as {label}"))
        elif weights:
            chosen = suffixes[0]
    for name in names:
        if (
            name.endswith(_ENGINE_INDEX)
            and chosen is not None
            and f"{chosen}{_ENGINE_INDEX}" not in name
        ):
            left_out[name] = "index of weights that are left out"
    return left_out
