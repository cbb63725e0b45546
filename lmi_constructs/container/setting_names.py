"""How advice names a setting, by where its reader sets it: the one table of these names."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, Literal

from lmi_constructs.container.field_names import FIELD_OF_OPTION
from lmi_constructs.container.property_classes import ENGINES_DTYPES

if TYPE_CHECKING:
    from collections.abc import Mapping

Door = Literal["python", "command", "settings", "environment"]
"""Where a setting is given: to `EngineConfiguration`, to `lmi plan`, in `LmiSettings`, or as a variable
of the container."""

SETTINGS: Final = (
    *("tensor_parallel_degree", "pipeline_parallel_degree", "enable_expert_parallel"),
    *("max_model_len", "max_num_seqs", "max_num_batched_tokens", "gpu_memory_utilization"),
    *("kv_cache_dtype", "dtype", "quantization", "enforce_eager", "max_lora_rank", "hf_overrides"),
)
"""Names that the planner's advice uses: those of the engine."""

_OPTIONS: Final[Mapping[str, str]] = {
    "tensor_parallel_degree": "--tp",
    "enable_expert_parallel": "--expert-parallel",
    "instance_type": "--instance",
    "model": "--model",
    **{
        name: f"--{name.replace('_', '-')}"
        for name in (
            *("max_model_len", "max_num_seqs", "max_num_batched_tokens", "gpu_memory_utilization"),
            *("kv_cache_dtype", "dtype", "quantization"),
        )
    },
}
"""Options of `lmi plan`; it has none for other settings, which are variables of the container."""

_PARAMETERS: Final = {"enable_expert_parallel": "expert_parallel"}
_OF_CONTAINER: Final = {engine: own for own, engine in ENGINES_DTYPES.items()}
"""Number formats by the container's names, which knows no others."""

_NAMED: Final = rf"(?<![\w./-])(?P<name>{'|'.join(SETTINGS)})(?!\w)"
_GIVEN: Final = re.compile(rf"{_NAMED}(?:=(?P<value>\"[^\"]*\"|\{{[^}}]*\}}|[\w.+-]*\w))?")


def assignment(name: str, value: Any, door: Door) -> str:
    """Return a setting with its value, as its reader writes it.

    Args:
        name: The engine's name of the setting, or `model` or `instance_type`.
        value: The value; `None` says that the setting is left out.
        door: Where it is given.
    """
    if value is None:
        return f"no {_name(name, door)}"
    if name == "dtype" and door != "python":
        value = _OF_CONTAINER.get(value, value)
    if door == "command" and name in _OPTIONS:
        return _OPTIONS[name] if value is True else f"{_OPTIONS[name]} {value}"
    if name == "instance_type" and door == "environment":
        return f"InstanceType={value}"
    if name in ("model", "instance_type"):
        return f"{name}={value}"
    if door in ("environment", "command"):
        return f"{_variable(name)}={value if isinstance(value, str) else json.dumps(value)}"
    return f"{_name(name, door)}={json.dumps(value) if isinstance(value, str) else value}"


def variables(name: str) -> tuple[str, ...]:
    """Return the variables that set what the engine calls so; the first is the one to write.

    Args:
        name: The engine's name of the setting; for other names there are none.
    """
    if name not in SETTINGS:
        return ()
    plain = ("TENSOR_PARALLEL_DEGREE",) if name == "tensor_parallel_degree" else ()
    return tuple(dict.fromkeys((_variable(name), f"OPTION_{name.upper()}", *plain)))


def translated(text: str, door: Door) -> str:
    """Return advice in which settings have the names that its reader gives them.

    Args:
        text: Advice with the engine's names, alone or as `name=value`.
        door: Where its reader sets them.
    """

    def named(match: re.Match[str]) -> str:
        value = match["value"]
        if value is None:
            return _name(match["name"], door)
        return assignment(match["name"], _read(value), door)

    return _GIVEN.sub(named, text)


def _name(name: str, door: Door) -> str:
    if door == "command":
        return _OPTIONS.get(name) or _variable(name)
    if door == "python":
        return _PARAMETERS.get(name, name)
    return _variable(name) if door == "environment" else FIELD_OF_OPTION.get(name, name)


def _variable(name: str) -> str:
    return f"OPTION_{FIELD_OF_OPTION.get(name, name).upper()}"


def _read(text: str) -> Any:
    """Return a value that stands in advice: a number, a switch, an object or a word."""
    try:
        return json.loads(text)
    except ValueError:
        return text
