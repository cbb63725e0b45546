"""Settings to variables and files, in the form that each release reads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from lmi_constructs.container.cdk_tokens import holds_number_token
from lmi_constructs.container.field_names import VARIABLE_OF_FIELD, field_of
from lmi_constructs.container.recommender import ASYNC_HANDLER
from lmi_constructs.container.verdict import verdict
from lmi_constructs.facts.engine_arguments import EngineArgument, engine_arguments
from lmi_constructs.facts.handler import handler_behavior
from lmi_constructs.facts.options import option
from lmi_constructs.findings import Finding

if TYPE_CHECKING:
    from lmi_constructs.container.release import LmiContainer
    from lmi_constructs.container.settings import LmiSettings

_VARIABLE: Final = re.compile(r"\bOPTION_[A-Z0-9_]+")


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
        variable = VARIABLE_OF_FIELD.get(field, f"OPTION_{name.upper()}")
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
    behavior = handler_behavior(container.release.lmi or 0)
    if settings.rolling_batch is not None and not (settings.async_mode and behavior):
        chosen = {"OPTION_ROLLING_BATCH": settings.rolling_batch}
        if settings.async_mode is not None:
            chosen["OPTION_ASYNC_MODE"] = text(settings.async_mode)
        return chosen
    if behavior is None:
        return {}
    if settings.async_mode is False:
        return {"OPTION_ROLLING_BATCH": "vllm"}
    if behavior.async_entry_point:
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
    behavior = handler_behavior(container.release.lmi or 0)
    if value is not False or argument is None or behavior is None:
        return None
    if argument.action == "store_true":
        return ""
    if behavior.false_form == "dropped" and argument.action == "boolean_optional":
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
