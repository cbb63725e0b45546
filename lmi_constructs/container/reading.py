"""Variables and files to settings: the way back from what `rendering` writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.container import value_parsers
from lmi_constructs.container.cdk_tokens import is_token
from lmi_constructs.container.field_names import FIELD_OF_OPTION, VARIABLE_OF_FIELD
from lmi_constructs.container.recommender import ASYNC_HANDLER
from lmi_constructs.container.serving_properties import OVERRIDES, Option, Value, given, merge
from lmi_constructs.facts.handler import aliases
from lmi_constructs.facts.options import option
from lmi_constructs.findings import Finding, raise_errors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MODEL: Final = {"HF_MODEL_ID", "HF_REVISION", "HF_TOKEN", "HF_TASK", "OPTION_MODEL_ID"}
"""Variables that say where the model is: the model data's part, never a setting."""

_MODE: Final = ("rolling_batch", "async_mode", "entryPoint", "mpi_mode")
_OF_THE_SERVER: Final = {"engine", "batch_size", "max_batch_delay", "max_idle_time"}
"""Keys of a serving.properties that belong to the server, not to the handler."""

_SWITCHES: Final = {"true": True, "false": False}


def settings_in(variables: Mapping[str, object], file: str | None) -> dict[str, Any]:
    """Return the fields of settings that variables or a file set.

    Args:
        variables: Environment variables; tokens are kept.
        file: Text of a serving.properties, `None` if there is none.

    Raises:
        LmiError: If something would be lost, or one field would have two values (LMI010).
    """
    merged = merge({k: v for k, v in variables.items() if k not in _MODEL}, file)
    # The opposite of a token cannot be written, so that such a variable stays what it is.
    kept = {
        alias.name for alias in aliases() if alias.negated and is_token(variables.get(alias.name))
    }
    found: dict[str, Any] = {"engine_args": {}, "environment": {}}
    problems = [*_unreadable(merged.model), *_read_options(merged.options, kept, found)]
    found.update(_read_mode(merged.options))
    _read_variables(merged.environment, kept, found)
    if "job_queue_size" in merged.model:
        found["job_queue_size"] = given(merged.model["job_queue_size"])
    raise_errors(problems)
    return found


def _read_options(
    options: Mapping[str, Option], kept: set[str], found: dict[str, Any]
) -> Iterator[Finding]:
    """Put options into their fields, and yield the fields that get two values."""
    from lmi_constructs.container.settings import LmiSettings

    sources: dict[str, Option] = {}
    for name, item in options.items():
        value = given(item.value)
        field = FIELD_OF_OPTION.get(name, name)
        if name == "model_id" or name in _MODE or item.where in kept:
            continue
        other = sources.setdefault(field, item)
        if other.value != item.value:
            yield _two_values(other, item)
        if name == "structured_outputs_config" and isinstance(value, str):
            _read_structured_outputs(value, found)
        elif field in LmiSettings.model_fields:
            found[field] = _read(value, field)
        else:
            found["engine_args"][name] = _read(value, name)


def _read_variables(
    environment: Mapping[str, Value], kept: set[str], found: dict[str, Any]
) -> None:
    """Put variables that are no options into their fields, or keep them as they are."""
    fields = {variable: field for field, variable in VARIABLE_OF_FIELD.items()}
    read = {*OVERRIDES, *(alias.name for alias in aliases())}
    for variable, value in environment.items():
        field = fields.get(variable)
        if field and field != "entry_point":
            if value != "":
                found.setdefault(field, _read(given(value), field))
        elif variable in kept or not (variable.startswith("OPTION_") or variable in read):
            found["environment"][variable] = given(value)


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


def number_with_unit(text: str) -> int | str:
    """Read a number with a unit; leave another text to the field's own check."""
    try:
        return value_parsers.readable_whole(text, "kmgt")
    except ValueError:
        return text


def _read(value: object, name: str) -> object:
    from lmi_constructs.container.settings import TEXT_FIELDS

    if not isinstance(value, str) or is_token(value) or name in TEXT_FIELDS:
        return value
    if value.lower() in _SWITCHES:
        return _SWITCHES[value.lower()]
    if name in ("speculative_config", "limit_mm_per_prompt", "hf_overrides", "compilation_config"):
        pairs = name == "limit_mm_per_prompt" and not value.lstrip().startswith("{")
        try:
            return value_parsers.counts(value) if pairs else value_parsers.json_value(value)
        except ValueError:
            return value  # the field refuses it, and says so
    return value


def _read_structured_outputs(value: str, found: dict[str, Any]) -> None:
    try:
        config = value if is_token(value) else value_parsers.json_value(value)
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
