"""What a preset is made of: reviewed values, each with its source, and what departs from the guide."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lmi_constructs.facts.hub_models import hub_models
from lmi_constructs.facts.models import models
from lmi_constructs.facts.parsers import parsers_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lmi_constructs.container import LmiSettings

Value = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Choice:
    """A value and where it comes from.

    Attributes:
        value: The value.
        source: Where it comes from, and why it is right here.
    """

    value: Value
    source: str


@dataclass(frozen=True, slots=True)
class Departure:
    """A setting of the guide that is deployed differently, or not at all.

    Attributes:
        key: The guide's key.
        guide: The guide's value.
        deployed: What is deployed instead, `None` if nothing is.
        why: Why.
    """

    key: str
    guide: str
    deployed: str | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PresetTable:
    """A baseline of the guide, reviewed.

    Attributes:
        name: Name for commands, such as `gpt-oss-120b`.
        class_name: Name of the construct.
        title: What it is, in a line.
        section: Where the guide has it.
        hub_id: The model.
        container: Name of the container release.
        container_source: Why this release.
        instance_type: The instance type.
        settings: Settings by name of their `LmiSettings` field.
        engine_args: Settings that have no field, by name.
        guide: The guide's own settings.
        departures: What is deployed differently.
        acknowledged: Warnings that this preset is known to give, by rule, and why that is fine.
        notes: What whoever deploys it should know.
    """

    name: str
    class_name: str
    title: str
    section: str
    hub_id: str
    container: str
    container_source: str
    instance_type: Choice
    settings: Mapping[str, Choice]
    engine_args: Mapping[str, Choice] = field(default_factory=lambda: MappingProxyType({}))
    guide: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    departures: tuple[Departure, ...] = ()
    acknowledged: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[str, ...] = ()

    def lmi_settings(self) -> LmiSettings:
        """Return the settings without their sources."""
        from lmi_constructs.container import LmiSettings

        values: dict[str, Any] = {name: choice.value for name, choice in self.settings.items()}
        arguments = {name: choice.value for name, choice in self.engine_args.items()}
        return LmiSettings(**values, engine_args=arguments)

    @property
    def gated(self) -> bool | None:
        """Whether the hub asks for a token, `None` if it is not known."""
        return models()[self.hub_id.lower()].gated

    @property
    def revision(self) -> str | None:
        """The commit that the hub's copy is pinned to, `None` if none is known."""
        known = hub_models().get(self.hub_id)
        return None if known is None else known.revision


def parser_choices(hub_id: str) -> dict[str, Choice]:
    """Return what makes tool calls and reasoning of a model arrive parsed instead of as text."""
    row = parsers_of(hub_id)
    chosen: dict[str, Choice] = {}
    if row is not None and row.tool_call_parser is not None:
        chosen["enable_auto_tool_choice"] = Choice(
            True, "tool calls arrive parsed, not as plain text"
        )
        chosen["tool_call_parser"] = Choice(row.tool_call_parser, row.source)
    if row is not None and row.reasoning_parser is not None:
        chosen["reasoning_parser"] = Choice(row.reasoning_parser, row.source)
    return chosen
