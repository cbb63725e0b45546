"""One table a preset."""

from lmi_constructs.presets.table import PresetTable
from lmi_constructs.presets.tables import gpt_oss_120b

TABLES: dict[str, PresetTable] = {table.name: table for table in (gpt_oss_120b.TABLE,)}
"""All presets by name."""

__all__ = ["TABLES"]
