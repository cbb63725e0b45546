"""What is said when settings cannot be what they are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lmi_constructs._near_names import SUSPECT, meant, near_names
from lmi_constructs.container.field_names import FIELD_OF_OPTION, field_of
from lmi_constructs.container.serving_properties import shown
from lmi_constructs.facts.options import option
from lmi_constructs.findings import Finding, LmiError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

    from lmi_constructs.container.settings import LmiSettings


def clashes(settings: LmiSettings) -> Iterator[Finding]:
    """Find what is set twice, or in a place where it does not belong."""
    if settings.async_mode and settings.rolling_batch not in (None, "auto", "disable"):
        yield _refused(
            "settings.rolling_batch",
            f"async_mode=True and rolling_batch={settings.rolling_batch!r} exclude each other",
            "remove rolling_batch",
        )
    for name, value in settings.engine_args.items():
        where = f"settings.engine_args[{name!r}]"
        plain = name.strip().replace("-", "_").lower()
        plain = plain.removeprefix("option.").removeprefix("option_")
        field = FIELD_OF_OPTION.get(plain, plain)
        if field in type(settings).model_fields:
            yield _refused(
                where,
                f"engine_args sets {name!r}, for which LmiSettings has a field",
                f"use {field}=",
            )
        elif plain == "model_id":
            yield _refused(where, "engine_args sets the model", _MODEL_HINT)
        elif plain != name or not _ENGINE_NAME.fullmatch(name):
            yield _refused(
                where,
                f"{name!r} is not the name of an engine argument, which has small letters and _",
                f"write {plain!r}" if _ENGINE_NAME.fullmatch(plain) else "correct the name",
            )
        elif value is None:
            yield _refused(where, f"engine_args[{name!r}] is None", "leave it out")
    if settings.structured_outputs_backend and "structured_outputs_config" in settings.engine_args:
        yield _refused(
            "settings.structured_outputs_backend",
            "structured_outputs_backend and engine_args['structured_outputs_config'] are both set",
            "put the backend into the object, or remove the object",
        )
    for variable in settings.environment:
        field_name = field_of(variable)
        if field_name is not None:
            yield _refused(
                f"settings.environment[{variable!r}]",
                f"environment sets {variable!r}, for which LmiSettings has a field",
                f"use {field_name}= instead",
            )


_ENGINE_NAME: Final = re.compile(r"[a-z0-9_]+")
_OF_THE_MODEL: Final = {"HF_MODEL_ID", "HF_TOKEN", "HF_REVISION", "MODEL_ID"}
_MODEL_HINT: Final = "give it with the model data, which says where the model is"
_HINTS: Final = {
    "dtype": "use auto, fp16, bf16 or fp32: long names such as bfloat16 are refused, and"
    " quantize='fp8' quantizes while loading (a quantized checkpoint needs no setting)",
    "max_model_len": "give a number of tokens such as 16384 or '16K', or 'auto' (v19 and later)",
    "environment": "give texts, such as {'NCCL_DEBUG': 'INFO'}",
    "engine_args": "give a dictionary of argument names and values that JSON can say",
    "async_mode": "give True or False: it decides what is rendered, so no token can stand for it",
    "gpu_memory_utilization": "give a share of the memory, such as 0.9",
    "tensor_parallel_degree": "give a number of GPUs, or 'max' in lower case",
}


def validation_findings(error: ValidationError, fields: Collection[str]) -> list[Finding]:
    """Return what is wrong with the values of fields, and with fields that are none."""
    found: list[Finding] = []
    wrong: dict[str, list[ErrorDetails]] = {}
    for problem in error.errors():
        cause = problem.get("ctx", {}).get("error")
        name = str(problem["loc"][0]) if problem["loc"] else ""
        if isinstance(cause, LmiError):
            found += cause.findings
        elif problem["type"] == "extra_forbidden":
            found.append(_unknown(name, fields))
        else:
            wrong.setdefault(name, []).append(problem)
    return found + [_wrong(name, problems) for name, problems in wrong.items()]


def _wrong(name: str, problems: list[ErrorDetails]) -> Finding:
    """Say what is wrong with a field; a field of several kinds has a problem for each."""
    said = dict.fromkeys(problem["msg"].removeprefix("Value error, ") for problem in problems)
    hint = _HINTS.get(name)
    if hint is None and all(
        problem["type"].startswith(("dict", "mapping")) for problem in problems
    ):
        hint = "give a dictionary, or a token made by Stack.to_json_string"
    return _refused(
        f"settings.{name}",
        f"{name} is {shown(repr(problems[0]['input']))}: {' / '.join(said)}",
        hint or f"see the description of {name} in LmiSettings",
    )


def _refused(where: str, message: str, fix: str) -> Finding:
    return Finding(
        rule="LMI010",
        message=message,
        why="the container would refuse it, or do something else than the setting says",
        fix=fix,
        where=where,
    )


def _unknown(name: str, fields: Collection[str]) -> Finding:
    """Say where an unknown field went, or which field has nearly the same name."""
    if name.upper().removeprefix("OPTION_") in _OF_THE_MODEL:
        hint = _MODEL_HINT
    elif field := FIELD_OF_OPTION.get(name) or field_of(name.upper()):
        hint = f"use the field {field}"
    elif (fact := option(name)) and fact.replacement:
        hint = f"use {fact.replacement}"
    else:
        otherwise = (
            f"put it into engine_args if the release has it ({fact.effect.rstrip('.')})"
            if fact
            else "put it into engine_args if it is an argument of the engine, or into environment"
        )
        hint = meant(near_names(name, fields, likeness=SUSPECT), otherwise)
    return Finding(
        rule="LMI010",
        message=f"{name} is not a setting",
        why="the container would not read it, or not under this name",
        fix=hint,
        where=f"settings.{name}",
    )
