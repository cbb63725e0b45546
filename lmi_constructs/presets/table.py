"""What a preset is made of: reviewed values, each with its source, and what departs from the guide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
        hub_id: The model.
        hub_source: Where the id, its gating and licence are published.
        gated: Whether the hub asks for a token.
        container: Name of the container release.
        container_source: Why this release.
        instance_type: The instance type.
        settings: Settings by name of their `LmiSettings` field.
        guide: The guide's own settings.
        departures: What is deployed differently.
    """

    name: str
    class_name: str
    title: str
    hub_id: str
    hub_source: str
    gated: bool
    container: str
    container_source: str
    instance_type: Choice
    settings: Mapping[str, Choice]
    guide: Mapping[str, str]
    departures: tuple[Departure, ...] = ()

    def lmi_settings(self) -> LmiSettings:
        """Return the settings without their sources."""
        from lmi_constructs.container import LmiSettings

        values: dict[str, Any] = {name: choice.value for name, choice in self.settings.items()}
        return LmiSettings(**values)
