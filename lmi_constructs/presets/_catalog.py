"""All presets in rows, with what the planner says of them; without the CDK."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lmi_constructs.container import LmiContainer, verdict
from lmi_constructs.facts import instance_types
from lmi_constructs.hosting._planning import engine_concurrency, plan_memory
from lmi_constructs.presets.tables import TABLES

if TYPE_CHECKING:
    from lmi_constructs.presets.table import PresetTable


@dataclass(frozen=True, slots=True)
class CatalogRow:
    """One preset.

    Attributes:
        name: Name for commands.
        class_name: Name of the construct in `lmi_constructs.presets`.
        title: What it is.
        hub_id: The model.
        gated: Whether the hub asks for a token, `None` if it is not known.
        container: Name of the container release.
        instance_type: The instance type.
        accelerators: Number and kind of accelerators.
        grade: What the planner says: `fits`, `marginal`, `cannot` or `unknown`.
        memory_gib: Planned memory per accelerator in GiB, if known.
        max_model_len: Context length that is deployed, in tokens.
        concurrency: Requests that the engine works on at once.
    """

    name: str
    class_name: str
    title: str
    hub_id: str
    gated: bool | None
    container: str
    instance_type: str
    accelerators: str
    grade: str
    memory_gib: float | None
    max_model_len: int | None
    concurrency: int | None


def catalog() -> tuple[CatalogRow, ...]:
    """Return all presets."""
    return tuple(_row(table) for table in TABLES.values())


def _row(table: PresetTable) -> CatalogRow:
    instance = instance_types()[str(table.instance_type.value)]
    container = LmiContainer.of(table.container)
    environment = table.lmi_settings().to_environment(container)
    judged = verdict(environment, container, instance.accelerator_count, model_mounted=True)
    plan = plan_memory(table.hub_id, instance.name, judged, container)
    context = table.settings.get("max_model_len")
    return CatalogRow(
        name=table.name,
        class_name=table.class_name,
        title=table.title,
        hub_id=table.hub_id,
        gated=table.gated,
        container=container.name,
        instance_type=instance.name,
        accelerators=f"{instance.accelerator_count} x {instance.accelerator}",
        grade="unknown" if plan is None else plan.grade,
        memory_gib=None if plan is None or plan.total_gib is None else round(plan.total_gib, 1),
        max_model_len=None if context is None else int(context.value),
        concurrency=engine_concurrency(judged),
    )
