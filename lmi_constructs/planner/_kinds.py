"""What kind of value each setting of the planner takes."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.container.serving_properties import shown
from lmi_constructs.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

COUNTS: Final = (
    *("tensor_parallel_degree", "pipeline_parallel_degree", "data_parallel_size"),
    *("max_num_seqs", "max_num_batched_tokens", "max_loras", "max_lora_rank"),
)
"""Settings that are whole numbers from 1 on."""

_OTHER_NUMBERS: Final = ("max_model_len", "gpu_memory_utilization", "cpu_offload_gb")
_TEXTS: Final = ("dtype", "quantization", "kv_cache_dtype")
_SWITCHES: Final = (
    *("enforce_eager", "enable_lora", "fully_sharded_loras", "enable_chunked_prefill"),
    *("disable_hybrid_kv_cache_manager", "legacy_engine"),
)
_KINDS: Final[Mapping[str, tuple[type, ...]]] = MappingProxyType(
    {
        **dict.fromkeys((*COUNTS, *_OTHER_NUMBERS), (int, float)),
        **dict.fromkeys(_TEXTS, (str,)),
        **dict.fromkeys(_SWITCHES, (bool,)),
        "engine_version": (tuple,),
    }
)
_FIXES: Final[Mapping[tuple[type, ...], str]] = MappingProxyType(
    {
        (int, float): "a number, such as 16384 or 0.9",
        (str,): 'a text, such as "fp8"',
        (bool,): "True or False",
        (tuple,): "its numbers, such as (0, 23, 0)",
    }
)


def settings_of_other_kinds(values: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of values that are of another kind than their setting.

    A number that no engine takes is none of them: what the engine says of it is another matter.
    """
    return frozenset(
        name
        for name, value in values.items()
        if value is not None and name in _KINDS and not _is_of_kind(value, _KINDS[name])
    )


def _is_of_kind(value: object, kinds: tuple[type, ...]) -> bool:
    if isinstance(value, tuple):  # of a version, which consists of numbers
        return tuple in kinds and all(type(part) is int for part in value)
    return isinstance(value, kinds)


def wrong_settings(configuration: object) -> Iterator[Finding]:
    """Yield the settings of a configuration that are of another kind, and how to write them."""
    given = {name: getattr(configuration, name) for name in _KINDS}
    for name in sorted(settings_of_other_kinds(given)):
        yield wrong(name, given[name], f"give {_FIXES[_KINDS[name]]}")


def wrong(name: str, value: object, fix: str) -> Finding:
    """Return the finding about an argument of another kind."""
    return Finding(
        rule="LMI010",
        message=f"{name} cannot be {shown(repr(value))}",
        why="the planner calculates with the value as it is, and converts nothing",
        fix=fix,
        where=name,
    )
