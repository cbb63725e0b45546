"""Good templates, and changes of them: what the rules' tests and their pages are made of."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

REMOVED: Final = "<removed>"
"""Stands in a change for taking the property away."""


@dataclass(frozen=True)
class Example:
    """A change of a good template.

    Attributes:
        change: New values by path; a path starts with the logical id.
        base: Name of the good template.
        region: Region the template is deployed to.
        model_config: `config.json` of the model, where the example needs one.
        transform: What the template says of transforms, where the example needs one.
    """

    change: Mapping[str, Any] = field(default_factory=dict)
    base: str = "endpoint"
    region: str | None = "us-east-1"
    model_config: Mapping[str, object] | None = None
    transform: str | None = None

    def template(self) -> dict[str, Any]:
        """Return the changed template."""
        template = changed(good_templates()[self.base], self.change)
        return {"Transform": self.transform, **template} if self.transform else template


@cache
def good_templates() -> dict[str, dict[str, Any]]:
    """Return the good templates by name: `endpoint`, `scaled`, `asynchronous`, `components`."""
    text = files(__package__).joinpath("data", "examples.json").read_bytes()
    fragments: dict[str, dict[str, Any]] = json.loads(text)
    return {
        name: {"Resources": {**fragments["endpoint"], **fragment}}
        for name, fragment in fragments.items()
    }


def changed(template: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a template with values set or removed by path."""
    result: dict[str, Any] = copy.deepcopy(dict(template))
    for path, value in change.items():
        *parents, last = path.split("/")
        place: Any = result["Resources"]
        for part in parents:
            place = place[int(part)] if isinstance(place, list) else place.setdefault(part, {})
        if isinstance(place, list):
            _set_item(place, int(last), value)
        elif value == REMOVED:
            place.pop(last, None)
        else:
            place[last] = copy.deepcopy(value)
    return result


def _set_item(items: list[Any], index: int, value: object) -> None:
    if value == REMOVED:
        del items[index]
    elif index == len(items):
        items.append(copy.deepcopy(value))
    else:
        items[index] = copy.deepcopy(value)


def llama_config(**changes: object) -> dict[str, object]:
    """Return the `config.json` of a dense model of eight billion parameters, changed.

    Its sizes are those of Llama 3.1 8B (`facts/data/models.json`).

    Args:
        changes: Other values, by key.
    """
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "num_hidden_layers": 32,
        "max_position_embeddings": 131072,
        "vocab_size": 128256,
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
        **changes,
    }
