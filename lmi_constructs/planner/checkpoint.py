"""What the engine makes of its `quantization` argument and of what the checkpoint says itself.

The engine reads the format of quantized weights from the checkpoint. Its argument names that format
once more, or converts 16-bit weights while loading; it makes AWQ or GPTQ weights of no others.

Sources, read on 2026-12-03 in https://github.com/vllm-project/vllm: `_verify_quantization` of
vllm/config/model.py (the comparison, and the kernels that stand in for another name),
`get_quant_config` of vllm/model_executor/model_loader/weight_utils.py (the search for a
configuration), `get_config_filenames` and `override_quantization_method` of
vllm/model_executor/layers/quantization, and `_ONLINE_SHORTHANDS` of vllm/config/quantization.py.
"""

from __future__ import annotations

import re
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from lmi_constructs._near_names import did_you_mean
from lmi_constructs.container.engine_versions import dotted
from lmi_constructs.container.quantization_methods import fix_of_unknown_method
from lmi_constructs.facts import models
from lmi_constructs.facts.engine_arguments import engine_arguments, registered
from lmi_constructs.findings import Finding
from lmi_constructs.planner.architecture import NO_FAMILY
from lmi_constructs.planner.quantization import Quantization, quantization_named

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lmi_constructs.facts import ModelFacts
    from lmi_constructs.planner.architecture import Architecture

_ISSUES: Final = "https://github.com/vllm-project/vllm/issues/"

_EXPERTS_ONLY: Final = (("attention", 1.0), ("mlp", 1.0), ("shared", 1.0))

_CONVERTED: Final[Mapping[str, Quantization]] = MappingProxyType(
    {
        name: replace(found, online=True, origin="quantization")
        for names, found in (
            (("fp8", "fp8_per_tensor", "fp8_per_channel"), Quantization("fp8", 8)),
            (("fp8_per_block",), Quantization("fp8", 8, block=128)),
            (("bitsandbytes",), Quantization("nf4", 4, group=64)),
            (
                ("experts_int8", "int8_per_channel_weight_only"),
                Quantization("int8", 8, kept=_EXPERTS_ONLY),
            ),
        )
        for name in names
    }
)
"""What 16-bit weights become while loading; the last two convert experts only."""

_KERNELS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "awq": frozenset({"awq", "awq_marlin", "auto_awq", "marlin", "moe_wna16"}),
        "gptq": frozenset(
            {"gptq", "gptq_marlin", "gptq_marlin_24", "auto_gptq", "gptq_bitblas", "bitblas"}
            | {"marlin", "moe_wna16"}
        ),
        "compressed-tensors": frozenset({"compressed-tensors"}),
        "fp8": frozenset({"fp8"}),
        "bitsandbytes": frozenset({"bitsandbytes"}),
        "mxfp4": frozenset({"mxfp4", "gpt_oss_mxfp4"}),
    }
)
"""Names that the engine takes for a checkpoint, by the method that its config names."""

_JUDGED: Final = frozenset().union(*_KERNELS.values())
"""Names whose every checkpoint is known; what others take is not judged."""

_QUANTIZED_BEFOREHAND: Final = _JUDGED - {*_CONVERTED, "mxfp4", "gpt_oss_mxfp4"}
"""Names that only read weights that were quantized before (newer engines make MXFP4 themselves)."""

_DESCRIBED: Final = "quantization_config"
_FORMAT_IN_NAME: Final = re.compile(r"-(fp8|awq|gptq|int4|int8|nvfp4|mxfp4)[a-z0-9-]*$")


def loaded_format(name: str | None, architecture: Architecture) -> Quantization | None:
    """Return the format that weights have when they are loaded; `None` for unquantized or not known.

    Args:
        name: The engine's `quantization` argument.
        architecture: The model.
    """
    own = architecture.quantization
    if own is not None or not name:
        return own
    if not _is_plain(name, architecture):
        found = quantization_named(name)
        return found and replace(found, origin="quantization")
    return _CONVERTED.get(name.lower())


def doubt_about_format(name: str | None, architecture: Architecture) -> str | None:
    """Return why the format of the loaded weights is not known, `None` if it is."""
    if not name:
        return None
    if _is_refused(name, architecture):
        return f"the engine refuses quantization {name!r} for this checkpoint"
    method = architecture.quantization_method
    known = loaded_format(name, architecture) is not None
    if method and known and (name.lower() not in _JUDGED or method not in _KERNELS):
        known = name.lower() == method
    return None if known else f"what the engine makes of quantization {name!r} here is not known"


def unknown_method(name: str | None, version: tuple[int, ...]) -> Iterator[Finding]:
    """Yield that an engine has no such quantization, where its methods are known."""
    told = dotted(version)
    known = registered("quantization_methods", told)
    if not name or not known or name.lower() in known:
        return
    yield Finding(
        rule="LMI004",
        message=f"quantization={name!r} is not a method of vLLM {told}",
        why="the engine stops at start",
        fix=fix_of_unknown_method(name, known),
        where="quantization",
        source=f"vllm {told} wheel: vllm/model_executor/layers/quantization/__init__.py",
    )


def not_a_choice(setting: str, value: str | None, version: tuple[int, ...]) -> Iterator[Finding]:
    """Yield that an engine has no such value of a setting, where its values are known.

    Args:
        setting: Name of the setting, such as `kv_cache_dtype`.
        value: Its value.
        version: Version of the engine.
    """
    told = dotted(version)
    argument = (engine_arguments(told) or {}).get(setting)
    choices = [str(choice) for choice in argument.choices] if argument else []
    if value is None or not choices or value in choices:
        return
    yield Finding(
        rule="LMI001",
        message=f"{setting}={value!r} is not one of {', '.join(choices)}",
        why="the engine stops at start",
        fix=did_you_mean(value, choices, f"use one of {', '.join(choices)}", most=3),
        where=setting,
        source=argument.source if argument else None,
    )


def not_taken(name: str | None, architecture: Architecture, *, fp8: bool) -> Iterator[Finding]:
    """Yield that the engine refuses its argument for this checkpoint.

    Args:
        name: The engine's `quantization` argument.
        architecture: The model.
        fp8: Whether the accelerator takes weights that are converted to FP8 while loading.
    """
    if not name or not _is_refused(name, architecture):
        return
    method = architecture.quantization_method
    if method is not None:
        yield Finding(
            rule="LMI101",
            message=f"quantization is {name!r}, but the checkpoint of {architecture.name} is"
            f" {method!r} by its own config.json",
            why="the engine compares the two and stops at start",
            fix="remove quantization: the engine reads the format from the checkpoint",
            where="quantization",
            source=_ISSUES + "19050",
        )
        return
    wanted = quantization_named(name)
    ways = [
        f"use the checkpoint {facts.hub_id} and no quantization"
        for facts in quantized_copies(architecture)
        if wanted and facts.config[_DESCRIBED].get("quant_method") == wanted.method
    ][:1] or [f"use a checkpoint that was quantized with {name}"]
    ways += ['set quantization to "fp8", which converts the weights while loading'] if fp8 else []
    yield Finding(
        rule="LMI101",
        message=f"quantization is {name!r}, but the checkpoint of {architecture.name} is not"
        " quantized: its config.json has no quantization_config",
        why=f"the engine converts no weights to {name}: it finds no configuration of them and stops"
        " at start",
        fix=", or ".join((*ways, "remove quantization")),
        where="quantization",
        source=_ISSUES + "1419",
    )


def quantized_copies(architecture: Architecture) -> Iterator[ModelFacts]:
    """Yield the known repositories that hold the same model in another format: by their names."""
    own = models().get(architecture.name.lower())
    if own is None:
        return
    base = own.hub_id.split("/")[-1].lower()
    for facts in models().values():
        name = facts.hub_id.split("/")[-1].lower()
        formatted = _FORMAT_IN_NAME.search(name)
        if formatted and name[: formatted.start()] == base and facts.config.get(_DESCRIBED):
            yield facts


def _is_refused(name: str, architecture: Architecture) -> bool:
    method = architecture.quantization_method
    if method is None:
        return name.lower() in _QUANTIZED_BEFOREHAND and _is_plain(name, architecture)
    return name.lower() in _JUDGED and name.lower() not in _KERNELS.get(method, _JUDGED)


def _is_plain(name: str, architecture: Architecture) -> bool:
    """Tell whether a checkpoint is known to be unquantized.

    The name of an old one tells its format where its config does not: the engine finds it in
    `quantize_config.json` or `quant_config.json` then.
    """
    if architecture.quantization is not None or architecture.quantization_method is not None:
        return False
    if architecture.family == NO_FAMILY:
        return False
    wanted = quantization_named(name)
    return wanted is None or wanted.method not in architecture.name.lower()
