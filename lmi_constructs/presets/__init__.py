"""One preset a baseline of the guide: a reviewed table of values, and one construct call."""

from typing import TYPE_CHECKING

from lmi_constructs._exports import lazy

if TYPE_CHECKING:
    from lmi_constructs.presets._catalogue import CatalogueRow, catalogue
    from lmi_constructs.presets.constructs import PRESETS, GptOss120B
    from lmi_constructs.presets.preset import LmiPreset
    from lmi_constructs.presets.table import Choice, Departure, PresetTable

__all__ = [
    "PRESETS",
    "CatalogueRow",
    "Choice",
    "Departure",
    "GptOss120B",
    "LmiPreset",
    "PresetTable",
    "catalogue",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "CatalogueRow": "lmi_constructs.presets._catalogue",
        "Choice": "lmi_constructs.presets.table",
        "Departure": "lmi_constructs.presets.table",
        "GptOss120B": "lmi_constructs.presets.constructs",
        "LmiPreset": "lmi_constructs.presets.preset",
        "PRESETS": "lmi_constructs.presets.constructs",
        "PresetTable": "lmi_constructs.presets.table",
        "catalogue": "lmi_constructs.presets._catalogue",
    },
)
