"""Whether the engine takes the LoRA adapters that lie beside the model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.checks.queries.container_images import release
from lmi_constructs.checks.queries.containers import environment
from lmi_constructs.checks.resources import Model
from lmi_constructs.checks.values import literal
from lmi_constructs.facts.engine_arguments import engine_arguments
from lmi_constructs.operations.completeness import (
    ADAPTER_CONFIG,
    adapter_names,
    read_header,
    read_json,
)
from lmi_constructs.preflight.contents import judged
from lmi_constructs.presets.layout import ADAPTERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.resources import Container, Resource
    from lmi_constructs.facts.engine_arguments import EngineArgument
    from lmi_constructs.operations.s3_files import S3Files
    from lmi_constructs.preflight.outcome import Outcome
    from lmi_constructs.preflight.place import Place

_RANK: Final = "max_lora_rank"
_WEIGHTS: Final = "adapter_model.safetensors"
_INPUT: Final = re.compile(r"layers\.\d+\.self_attn\.[qkv]_proj\.lora_A\.(?:\w+\.)?weight$")
"""Tensors whose second dimension is the width of the model: the attention's inputs in the layers.

Source: https://huggingface.co/docs/peft/developer_guides/checkpoint (as of 2026-12-02)
"""

_SWITCHES: Final = {"OPTION_MAX_LORA_RANK": _RANK, "OPTION_ENABLE_LORA": "enable_lora"}


def adapters(
    place: Place,
    deployment: Deployment,
    resource: Resource,
    container: Container,
    files: S3Files,
) -> Iterator[Outcome]:
    """Yield whether each adapter has a rank that the engine takes, and the right base model.

    Args:
        place: Where it goes.
        deployment: The deployment, with what lies beside the models.
        resource: The model.
        container: Its container.
        files: The model's files.

    Raises:
        AwsError: If a file cannot be read.
    """
    for name in adapter_names(files.sizes):
        file = f"{ADAPTERS}/{name}/{ADAPTER_CONFIG}"
        if file not in files.sizes:
            continue  # the files' completeness says so
        config, fault = read_json(files, file)
        if fault is not None:
            yield place.outcome("adapters", "fail", fault.message, fault.fix, fault.rule)
        else:
            yield from taken(place, deployment, resource, container, name, config)
            yield from _width(place, deployment.facts.config_of(resource), name, files)


def taken(
    place: Place,
    deployment: Deployment,
    resource: Resource,
    container: Container,
    name: str,
    config: Mapping[str, Any],
) -> Iterator[Outcome]:
    """Yield whether a container takes an adapter.

    Args:
        place: Where it goes.
        deployment: The deployment, with what lies beside the models.
        resource: The base model.
        container: Its container.
        name: What the adapter is called.
        config: Its `adapter_config.json`.
    """
    limit, problem, fix = _limit(deployment, resource, container)
    if limit is None:
        yield place.outcome("adapters", "unknown", f"adapter {name}: {problem}", fix)
    else:
        yield _rank(place, name, config, limit, _allowed(deployment, container))
    mounted = resource.mounted_model if isinstance(resource, Model) else None
    yield from _base(place, name, config, mounted or _named(deployment, resource))


def _limit(
    deployment: Deployment, resource: Resource, container: Container
) -> tuple[int | None, str, str]:
    """Return the highest rank that the engine takes; else why it is not known, and what to do."""
    found = judged(deployment, resource, container)
    if found is None:
        return None, "what the image does with adapters is not known", ""
    open_ones = [
        variable
        for variable, value in environment(container).items()
        if variable in _SWITCHES and literal(value) is None
    ]
    if open_ones:
        return None, f"{open_ones[0]} is known only when it is deployed", ""
    if found.effective.get("enable_lora") is not True:
        fix = "set enable_lora=True, or remove the adapter"
        return None, "enable_lora is not on, so that adapters are not served", fix
    argument = _argument(deployment, container)
    most = found.effective.get(_RANK, argument.default if argument else None)
    known = isinstance(most, int)
    return (most, "", "") if known else (None, "the engine's largest rank is not known", "")


def _argument(deployment: Deployment, container: Container) -> EngineArgument | None:
    """Return what the release's engine says of its largest rank."""
    known = release(deployment, container)
    version = known.release.engine_version if known else None
    return (engine_arguments(version or "") or {}).get(_RANK)


def _allowed(deployment: Deployment, container: Container) -> tuple[int, ...]:
    argument = _argument(deployment, container)
    choices = argument.choices if argument else ()
    return tuple(sorted(one for one in choices if isinstance(one, int)))


def _rank(
    place: Place, name: str, config: Mapping[str, Any], limit: int, allowed: tuple[int, ...]
) -> Outcome:
    rank = _largest_rank(config)
    if rank is None:
        detail = f"adapter {name}: its {ADAPTER_CONFIG} names no rank (r)"
        return place.outcome("adapters", "unknown", detail)
    if rank <= limit:
        detail = f"adapter {name}: rank {rank} is within {_RANK} {limit}"
        return place.outcome("adapters", "pass", detail)
    enough = next((one for one in allowed if one >= rank), None if allowed else rank)
    fix = (
        f"set {_RANK} to {enough}"
        if enough
        else f"train it with a rank of at most {allowed[-1]}, the most that the engine takes"
    )
    detail = f"adapter {name} has rank {rank}, above {_RANK} {limit}: the engine refuses it"
    return place.outcome("adapters", "fail", detail, fix)


def _largest_rank(config: Mapping[str, Any]) -> int | None:
    """Return the rank, also where single layers have another (`rank_pattern`)."""
    single = config.get("rank_pattern")
    ranks = [config.get("r"), *(single.values() if isinstance(single, dict) else ())]
    known = [rank for rank in ranks if isinstance(rank, int) and not isinstance(rank, bool)]
    return max(known, default=None)


def _named(deployment: Deployment, resource: Resource) -> str | None:
    config = deployment.facts.config_of(resource) or {}
    name = config.get("_name_or_path")
    return name if isinstance(name, str) and name else None


def _base(
    place: Place, name: str, config: Mapping[str, Any], served: str | None
) -> Iterator[Outcome]:
    """Yield whether an adapter was trained on the served model; names alone prove no difference."""
    trained_on = config.get("base_model_name_or_path")
    if not isinstance(trained_on, str) or not trained_on:
        detail = f"adapter {name}: its {ADAPTER_CONFIG} does not say what it was trained on"
        yield place.outcome("adapters", "unknown", detail)
    elif served is None:
        detail = f"adapter {name} was trained on {trained_on}; the served model has no name"
        fix = "give ModelData.s3_prefix(..., architecture=HUB_ID) to have it compared"
        yield place.outcome("adapters", "unknown", detail, fix)
    elif _last(trained_on) == _last(served):
        detail = f"adapter {name} was trained on {trained_on}, which is served"
        yield place.outcome("adapters", "pass", detail)
    else:
        detail = f"adapter {name} was trained on {trained_on}, and {served} is served"
        fix = "serve the model that it was trained on; a copy of another name is fine"
        yield place.outcome("adapters", "unknown", detail, fix)


def _width(
    place: Place, base: Mapping[str, Any] | None, name: str, files: S3Files
) -> Iterator[Outcome]:
    """Yield that an adapter was trained on a model of another width, if it surely was."""
    file = f"{ADAPTERS}/{name}/{_WEIGHTS}"
    width = _hidden_size(base or {})
    if width is None or file not in files.sizes:
        return
    header, _ = read_header(files, file)
    shapes = (
        tensor.get("shape")
        for key, tensor in header.items()
        if _INPUT.search(key) and isinstance(tensor, dict)
    )
    found = {
        shape[1]
        for shape in shapes
        if isinstance(shape, list) and len(shape) == 2 and isinstance(shape[1], int)
    }
    if found and width not in found:
        theirs = ", ".join(map(str, sorted(found)))
        detail = f"adapter {name} was trained on a model of width {theirs}, this one has {width}"
        yield place.outcome("adapters", "fail", detail, "serve the model that it was trained on")


def _hidden_size(config: Mapping[str, Any]) -> int | None:
    text = config.get("text_config")
    sizes = [config.get("hidden_size"), text.get("hidden_size") if isinstance(text, dict) else None]
    return next((size for size in sizes if isinstance(size, int)), None)


def _last(name: str) -> str:
    return name.rstrip("/").rsplit("/", 1)[-1].lower()
