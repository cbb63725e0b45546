"""Settings to variables and files, and back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.container import values
from lmi_constructs.container.front_end import OVERRIDES, Option, Value, given, merge
from lmi_constructs.container.recommender import ASYNC_HANDLER
from lmi_constructs.container.tokens import holds_number_token, is_token
from lmi_constructs.container.verdict import verdict
from lmi_constructs.facts.engine_arguments import EngineArgument, engine_arguments
from lmi_constructs.facts.handler import aliases, handler_behaviour
from lmi_constructs.facts.options import option
from lmi_constructs.findings import Finding, raise_errors

if TYPE_CHECKING:
    from lmi_constructs.container.release import LmiContainer
    from lmi_constructs.container.settings import LmiSettings

# Fields that are not options of the same name: field to variable.
_VARIABLES: Final = {
    "tensor_parallel_degree": "TENSOR_PARALLEL_DEGREE",
    "entry_point": "OPTION_ENTRYPOINT",
    "fail_fast": "SERVING_FAIL_FAST",
    "job_queue_size": "SERVING_JOB_QUEUE_SIZE",
}
# Variables that say where the model is: the model data's part, never a setting.
_MODEL: Final = {"HF_MODEL_ID", "HF_REVISION", "HF_TOKEN", "HF_TASK", "OPTION_MODEL_ID"}
_MODE: Final = ("rolling_batch", "async_mode", "entryPoint", "mpi_mode")
# Second names of typed fields, as options.
FIELD_OF_OPTION: Final = {
    "quantization": "quantize",
    "max_num_seqs": "max_rolling_batch_size",
    "tensor_parallel_size": "tensor_parallel_degree",
    "max_rolling_batch_prefill_tokens": "max_num_batched_tokens",
    "cpu_offload_gb_per_gpu": "cpu_offload_gb",
    "guided_decoding_backend": "structured_outputs_backend",
    "entrypoint": "entry_point",
}
_VARIABLE: Final = re.compile(r"\bOPTION_[A-Z0-9_]+")
# Keys of a serving.properties that belong to the server, not to the handler.
_OF_THE_SERVER: Final = {"engine", "batch_size", "max_batch_delay", "max_idle_time"}
_READERS: Final[dict[str, Callable[[str], Any]]] = {
    "true": lambda _text: True,
    "false": lambda _text: False,
}


def environment(
    settings: LmiSettings, container: LmiContainer, *, everything: bool = False
) -> tuple[dict[str, str], tuple[Finding, ...]]:
    """Return the variables for a release, and warnings about what it would drop.

    Args:
        settings: The settings.
        container: The release.
        everything: Whether to render also options that the release does not read.
    """
    table = engine_arguments(container.release.engine_version or "") or {}
    rendered: dict[str, str] = {}
    warnings: list[Finding] = []
    for field, name, value in _settings(settings, container):
        if holds_number_token(value):
            continue  # `check` tells it; the constructs give texts in their place
        variable = _VARIABLES.get(field, f"OPTION_{name.upper()}")
        reason = _dropped(name, value, table.get(name), container)
        if reason is None:
            rendered[variable] = text(value, table.get(name))
        if reason:
            warnings.append(_warning(f"settings.{field}", name, reason))
    rendered.update(_mode(settings, container))
    rendered.update(settings.environment)
    ignored = verdict(rendered, container).ignored if not everything else frozenset()
    for name in ignored:
        rendered.pop(f"OPTION_{name.upper()}", None)
    return rendered, tuple(warnings)


def check(settings: LmiSettings, container: LmiContainer, gpus: int | None) -> tuple[Finding, ...]:
    """Return everything that is wrong with settings on a release, errors first."""
    _, warnings = environment(settings, container)
    numbers = (f for f, _, value in _settings(settings, container) if holds_number_token(value))
    variables, _ = environment(settings, container, everything=True)
    told = {warning.where for warning in warnings}
    found = [*warnings, *map(_number_token, numbers)]
    for finding in verdict(variables, container, gpus).findings:
        place = field_of(finding.where or "")
        name = (finding.where or "").removeprefix("OPTION_").lower()
        if place is None and name in settings.engine_args:
            place = f"engine_args[{name!r}]"
        where = f"settings.{place}" if place else finding.where
        if where not in told:
            fix = _in_fields(finding.fix) if place else finding.fix
            found.append(replace(finding, where=where, fix=fix))
    return tuple(sorted(found, key=lambda finding: finding.severity))


def _in_fields(advice: str) -> str:
    """Return advice about variables as advice about the fields that render them."""
    return _VARIABLE.sub(lambda match: field_of(match[0]) or match[0], advice)


def serving_properties(settings: LmiSettings, container: LmiContainer, model_id: str | None) -> str:
    """Return the text of a serving.properties."""
    import javaproperties

    variables, _ = environment(settings, container)
    entries = {"engine": "Python"}
    if model_id is not None:
        entries["option.model_id"] = model_id
    outside = []
    for variable, value in variables.items():
        if variable == "TENSOR_PARALLEL_DEGREE":
            entries["option.tensor_parallel_degree"] = value
        elif variable == "OPTION_ENTRYPOINT":
            entries["option.entryPoint"] = value
        elif variable == "SERVING_JOB_QUEUE_SIZE":
            entries["job_queue_size"] = value
        elif variable.startswith("OPTION_"):
            entries[f"option.{variable.removeprefix('OPTION_').lower()}"] = value
        else:
            outside.append(variable)
    comment = "set as environment variables: " + ", ".join(outside) if outside else None
    return javaproperties.dumps(entries, timestamp=None, comments=comment)


def parsed(variables: Mapping[str, object], file: str | None) -> dict[str, Any]:
    """Return the fields that variables or a file set."""
    from lmi_constructs.container.settings import LmiSettings

    merged = merge({k: v for k, v in variables.items() if k not in _MODEL}, file)
    found: dict[str, Any] = {"engine_args": {}, "environment": {}}
    problems = list(_unreadable(merged.model))
    kept = {
        alias.name for alias in aliases() if alias.negated and is_token(variables.get(alias.name))
    }
    read = {*OVERRIDES, *(alias.name for alias in aliases())}
    sources: dict[str, Option] = {}
    for name, item in merged.options.items():
        value = given(item.value)
        field = FIELD_OF_OPTION.get(name, name)
        if name == "model_id" or name in _MODE or item.where in kept:
            continue
        other = sources.setdefault(field, item)
        if other.value != item.value:
            problems.append(_two_values(other, item))
        if name == "structured_outputs_config" and isinstance(value, str):
            _read_structured_outputs(value, found)
        elif field in LmiSettings.model_fields:
            found[field] = _read(value, field)
        else:
            found["engine_args"][name] = _read(value, name)
    found.update(_read_mode(merged.options))
    for variable, value in merged.environment.items():
        field_name = next((f for f, v in _VARIABLES.items() if v == variable), None)
        if field_name and field_name != "entry_point":
            if value != "":
                found.setdefault(field_name, _read(given(value), field_name))
        elif variable in kept or not (variable.startswith("OPTION_") or variable in read):
            found["environment"][variable] = given(value)
    if "job_queue_size" in merged.model:
        found["job_queue_size"] = given(merged.model["job_queue_size"])
    raise_errors(problems)
    return found


def _unreadable(model: Mapping[str, Value]) -> Iterator[Finding]:
    """Refuse keys of a file that no field can hold: losing them would change what it means."""
    for name, value in model.items():
        if name == "job_queue_size" or (name == "engine" and value == "Python"):
            continue
        plain = name.removeprefix("OPTION_").lower()
        yield Finding(
            rule="LMI010",
            message=f"{Option(name, value, name)} is no setting that LmiSettings has",
            why="it would be lost on the way",
            fix=f"write option.{plain}"
            if option(plain) and name not in _OF_THE_SERVER
            else "remove it, or keep the file beside the model as it is",
            where=name,
        )


def _two_values(one: Option, other: Option) -> Finding:
    return Finding(
        rule="LMI010",
        message=f"{one} and {other} set one field to two values",
        why="only one of them can be meant",
        fix=f"remove {one.where} or {other.where}",
        where=other.where,
    )


def field_of(variable: str) -> str | None:
    """Return the field that renders a variable, if one does."""
    from lmi_constructs.container.settings import LmiSettings

    for field, name in _VARIABLES.items():
        if variable in (name, f"OPTION_{field.upper()}", f"option.{field}"):
            return field
    if variable in OVERRIDES:
        return OVERRIDES[variable]
    if not variable.startswith("OPTION_"):
        return variable if variable in LmiSettings.model_fields else None
    name = variable.removeprefix("OPTION_").lower()
    name = FIELD_OF_OPTION.get(name, name)
    if name == "structured_outputs_config":
        return "structured_outputs_backend"
    return name if name in LmiSettings.model_fields else None


def number_with_unit(text: str) -> int | str:
    """Read a number with a unit; leave another text to the field's own check."""
    try:
        return values.readable_whole(text, "kmgt")
    except ValueError:
        return text


def text(value: object, argument: EngineArgument | None = None) -> str:
    """Return a value in the form in which the engine of the release reads it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping) and argument is not None and argument.type == "nullable_kvs":
        return ",".join(f"{key}={item}" for key, item in value.items())
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value)
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _number_token(field: str) -> Finding:
    return Finding(
        rule="LMI010",
        message=f"{field} holds a number token, which has no text form outside the CDK",
        why="the variable would hold the encoded token instead of its value",
        fix="give it to a construct, which renders it, or as text:"
        " cdk.Tokenization.stringify_number(value)",
        where=f"settings.{field}",
    )


def _settings(settings: LmiSettings, container: LmiContainer) -> Iterator[tuple[str, str, object]]:
    """Yield field, option and value of everything that is set, but the mode."""
    fields = settings.given()
    for name in ("async_mode", "rolling_batch", "environment", "engine_args"):
        fields.pop(name, None)
    backend = fields.pop("structured_outputs_backend", None)
    for field, value in fields.items():
        yield field, field, value
    if backend is not None:
        if (container.release.lmi or 0) >= 17:
            yield "structured_outputs_backend", "structured_outputs_config", {"backend": backend}
        else:
            yield "structured_outputs_backend", "guided_decoding_backend", backend
    for name, value in settings.engine_args.items():
        yield f"engine_args[{name!r}]", name, value


def _mode(settings: LmiSettings, container: LmiContainer) -> dict[str, str]:
    """Reach the asked mode in the release's own way."""
    behaviour = handler_behaviour(container.release.lmi or 0)
    if settings.rolling_batch is not None and not (settings.async_mode and behaviour):
        chosen = {"OPTION_ROLLING_BATCH": settings.rolling_batch}
        if settings.async_mode is not None:
            chosen["OPTION_ASYNC_MODE"] = text(settings.async_mode)
        return chosen
    if behaviour is None:
        return {}
    if settings.async_mode is False:
        return {"OPTION_ROLLING_BATCH": "vllm"}
    if behaviour.async_entry_point:
        return {}
    return {
        "OPTION_ASYNC_MODE": "true",
        "OPTION_ROLLING_BATCH": "disable",
        "OPTION_ENTRYPOINT": settings.entry_point or ASYNC_HANDLER,
    }


def _dropped(
    name: str, value: object, argument: EngineArgument | None, container: LmiContainer
) -> str | None:
    """Say why a release would not do what a value says, if so; empty if nothing is lost."""
    behaviour = handler_behaviour(container.release.lmi or 0)
    if value is not False or argument is None or behaviour is None:
        return None
    if argument.action == "store_true":
        return ""
    if behaviour.false_form == "dropped" and argument.action == "boolean_optional":
        if argument.default is False:
            return ""
        return f"{container.name} drops every false on its way to the engine"
    return None


def _warning(where: str, name: str, reason: str) -> Finding:
    fact = option(name)
    return Finding(
        rule="LMI002",
        message=f"{name}=False has no effect: {reason}",
        why="the engine keeps its own default, which may be on",
        fix="use v26 or later, or remove it",
        severity="warning",
        where=where,
        source=fact.source if fact else None,
    )


def _read(value: object, name: str) -> object:
    from lmi_constructs.container.settings import TEXT_FIELDS

    if not isinstance(value, str) or is_token(value) or name in TEXT_FIELDS:
        return value
    if value.lower() in _READERS:
        return _READERS[value.lower()](value)
    if name in ("speculative_config", "limit_mm_per_prompt", "hf_overrides", "compilation_config"):
        pairs = name == "limit_mm_per_prompt" and not value.lstrip().startswith("{")
        try:
            return values.counts(value) if pairs else values.json_value(value)
        except ValueError:
            return value  # the field refuses it, and says so
    return value


def _read_structured_outputs(value: str, found: dict[str, Any]) -> None:
    try:
        config = value if is_token(value) else values.json_value(value)
    except ValueError:
        config = value
    if isinstance(config, dict) and set(config) == {"backend"}:
        found["structured_outputs_backend"] = config["backend"]
    else:
        found["engine_args"]["structured_outputs_config"] = config


def _read_mode(options: Mapping[str, Any]) -> dict[str, Any]:
    """Read the mode: the release's three variables for asynchronous mode are one setting."""
    rolling_batch, entry_point, asynchronous = (
        given(options[name].value) if name in options else None
        for name in ("rolling_batch", "entryPoint", "async_mode")
    )
    found: dict[str, Any] = {}
    if isinstance(asynchronous, str) and not is_token(asynchronous):
        found["async_mode"] = asynchronous.lower() == "true"
    elif asynchronous is not None:
        found["async_mode"] = asynchronous  # the field says that a token cannot stand for it
    if rolling_batch is not None and not (
        rolling_batch == "disable" and found.get("async_mode") is True
    ):
        found["rolling_batch"] = rolling_batch
    if entry_point is not None and entry_point != ASYNC_HANDLER:
        found["entry_point"] = entry_point
    elif entry_point == ASYNC_HANDLER and rolling_batch in (None, "disable", "auto"):
        found["async_mode"] = True
    return found
