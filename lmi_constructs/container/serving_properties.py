"""Settings as the server merges them: from environment variables and serving.properties."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from lmi_constructs.container.cdk_tokens import is_token
from lmi_constructs.facts.handler import aliases
from lmi_constructs.findings import Finding, LmiError

if TYPE_CHECKING:
    from collections.abc import Mapping

MODEL_STORE: Final = "/opt/ml/model"
_LONGEST_SHOWN: Final = 120
_FOLDED = re.compile(r"[A-Z0-9_]+")
# Two names that the server spells its own way, see ModelInfo.java.
_SPELLED: Final = {"ENTRYPOINT": "entryPoint", "entrypoint": "entryPoint"}
# Platform variables that beat the file (mid-2026 server): variable to option.
OVERRIDES: Final = {
    "SAGEMAKER_STARTUP_TIMEOUT": "model_loading_timeout",
    "SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS": "predict_timeout",
}


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that is not known yet: an unresolved token or a parameter.

    Attributes:
        given: What was given, to be rendered again.
    """

    given: object = None

    def __repr__(self) -> str:
        """Return a short form."""
        return "UNKNOWN"


UNKNOWN: Final = Unknown()
Value = str | Unknown


@dataclass(frozen=True, slots=True)
class Option:
    """One setting as the server sees it.

    Attributes:
        name: Option name without the `option.` prefix.
        value: Its text, or [`UNKNOWN`][].
        where: Environment variable or property it came from.
    """

    name: str
    value: Value
    where: str

    @property
    def text(self) -> str | None:
        """The text, or `None` if it is not known."""
        return self.value if isinstance(self.value, str) else None

    def __str__(self) -> str:
        """Return the setting as it was written, cut if it is long."""
        return f"{self.where}={shown(str(self.value))}"


@dataclass(slots=True)
class Properties:
    """What the server has merged: options of the model, and settings of the server itself.

    Attributes:
        options: Settings with the `option.` prefix, by name.
        model: Other settings in serving.properties, by name, such as `batch_size`.
        environment: The environment after the entry script.
        origins: Variables that the entry script filled, with the foreign name it took.
        shadowed: Environment variables that a different value in serving.properties beats, with
            the property that wins.
    """

    options: dict[str, Option] = field(default_factory=dict)
    model: dict[str, Value] = field(default_factory=dict)
    environment: dict[str, Value] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    shadowed: dict[str, str] = field(default_factory=dict)

    def text(self, name: str, default: str | None = None) -> str | None:
        """Return the text of an option; `None` also if it is not known."""
        option = self.options.get(name)
        return default if option is None else option.text


def given(value: Value) -> object:
    """Return a value as it was given, also one that is not known yet."""
    return value.given if isinstance(value, Unknown) else value


def shown(text: str) -> str:
    """Return a value for a message: a long one is cut, its length told."""
    if len(text) <= _LONGEST_SHOWN:
        return text
    return f"{text[:_LONGEST_SHOWN]}... ({len(text)} characters)"


def text_of(value: object) -> Value:
    """Return a value as the text that the container would see, or [`UNKNOWN`][].

    Booleans and numbers become what a template renders them as. Anything else (a token, an
    intrinsic function of a template, a marker for something unknown) is not known.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float) and not is_token(value):
        try:
            return str(value)
        except ValueError:  # a number with more digits than Python writes
            return Unknown(value)
    return Unknown(value)


def merge(
    environment: Mapping[str, object], serving_properties: str | Mapping[str, object] | None = None
) -> Properties:
    """Merge settings in the server's order: the file first, then variables that are still unset."""
    variables, origins = _after_entry_script(environment)
    merged = Properties(environment=variables, origins=origins)
    for name, given in read_serving_properties(serving_properties).items():
        value = text_of(given)
        if name.startswith("option."):
            option = name.removeprefix("option.")
            merged.options[option] = Option(option, value, name)
        else:
            merged.model[name] = value
    for variable, value in merged.environment.items():
        if variable.startswith("OPTION_") and variable != "OPTION_" and value != "":
            _put_if_absent(merged, option_name(variable), value, origins.get(variable, variable))
    for variable, name in OVERRIDES.items():
        if variable in merged.environment:
            merged.options[name] = Option(name, merged.environment[variable], variable)
    _add_hub_settings(merged)
    return merged


def option_name(variable: str) -> str:
    """Return the option that a variable `OPTION_X` sets: lower case only if X is all capitals."""
    rest = variable.removeprefix("OPTION_")
    if rest in _SPELLED:
        return _SPELLED[rest]
    return rest.lower() if _FOLDED.fullmatch(rest) else rest


def _put_if_absent(merged: Properties, name: str, value: Value, variable: str) -> None:
    if name == "engine":
        present: Value | None = merged.model.get("engine")
        merged.model.setdefault("engine", value)
    else:
        option = merged.options.get(name)
        present = None if option is None else option.value
        merged.options.setdefault(name, Option(name, value, variable))
    if present is not None and present != value:
        merged.shadowed[variable] = name if name == "engine" else f"option.{name}"


def _after_entry_script(
    environment: Mapping[str, object],
) -> tuple[dict[str, Value], dict[str, str]]:
    """Apply the entry script: foreign names fill LMI names that are empty."""
    values = {name: text_of(value) for name, value in environment.items()}
    origins: dict[str, str] = {}
    for alias in aliases():
        value = values.get(alias.name, "")
        if value != "" and values.get(alias.sets, "") == "":
            if alias.negated and isinstance(value, str):
                value = "false" if value.lower() == "true" else "true"
            values[alias.sets] = value
            origins[alias.sets] = alias.name
    return values, origins


def _add_hub_settings(merged: Properties) -> None:
    """Add what the server writes for a hub id in `HF_MODEL_ID` (generated serving.properties)."""
    model = merged.environment.get("HF_MODEL_ID", "")
    if isinstance(model, str) and (not model or "://" in model or model.startswith("/")):
        return
    for variable, name in (("HF_REVISION", "revision"), ("HF_TASK", "task")):
        value = merged.environment.get(variable, "")
        if value != "":
            merged.options[name] = Option(name, value, variable)


def read_serving_properties(
    serving_properties: str | Mapping[str, object] | None,
) -> Mapping[str, object]:
    """Return what a `serving.properties` sets, by name as it stands there.

    Args:
        serving_properties: Its text, or what it sets; `None` if there is none.

    Raises:
        LmiError: If the server could not read it (LMI011).
    """
    if serving_properties is None:
        return {}
    if isinstance(serving_properties, str):
        import javaproperties

        try:
            parsed: dict[str, str] = javaproperties.loads(serving_properties)
        except javaproperties.InvalidUEscapeError as error:
            raise LmiError(_bad_escape(error.escape)) from None
        return parsed
    for name in serving_properties:
        if not isinstance(name, str):
            raise LmiError(_no_text(name))
    return serving_properties


def _no_text(name: object) -> Finding:
    return Finding(
        rule="LMI011",
        message=f"serving.properties has the name {shown(repr(name))}, which is not text but"
        f" {type(name).__name__}",
        why="a property has a name that is text, so that this one cannot be written into the file",
        fix="write the name as a string",
        where="serving.properties",
    )


def _bad_escape(escape: str) -> Finding:
    return Finding(
        rule="LMI011",
        message=f"serving.properties has the broken escape {escape}",
        why="the server cannot read the file",
        fix="write four hexadecimal digits after \\u, or double the backslash",
        where="serving.properties",
    )
