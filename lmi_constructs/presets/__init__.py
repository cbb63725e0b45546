"""One preset a baseline of the guide: a reviewed table of values, and one construct call."""

from typing import TYPE_CHECKING

from lmi_constructs._exports import lazy

if TYPE_CHECKING:
    from lmi_constructs.presets._catalog import CatalogRow, catalog
    from lmi_constructs.presets.constructs import (
        PRESETS,
        DeepSeekR1,
        DeepSpeed,
        GptOss20B,
        GptOss120B,
        Llama2_70BAwq,
        Llama2_70BGptq,
        Llama3_2_3B,
        Llama3_8B,
        Llama3_8BLora,
        Llama3_8BMultiTenantLora,
        Llama3_8BSingleLora,
        Llama3_70BAwq,
        Llama3_70BBitsAndBytes,
        LmiDist,
        Neuron,
        Qwen3_235B,
        TensorRtLlm,
        VllmRollingBatch,
    )
    from lmi_constructs.presets.layout import check_layout
    from lmi_constructs.presets.preset import LmiPreset
    from lmi_constructs.presets.table import Choice, Departure, PresetTable

__all__ = [
    "PRESETS",
    "CatalogRow",
    "Choice",
    "DeepSeekR1",
    "DeepSpeed",
    "Departure",
    "GptOss20B",
    "GptOss120B",
    "Llama2_70BAwq",
    "Llama2_70BGptq",
    "Llama3_2_3B",
    "Llama3_8B",
    "Llama3_8BLora",
    "Llama3_8BMultiTenantLora",
    "Llama3_8BSingleLora",
    "Llama3_70BAwq",
    "Llama3_70BBitsAndBytes",
    "LmiDist",
    "LmiPreset",
    "Neuron",
    "PresetTable",
    "Qwen3_235B",
    "TensorRtLlm",
    "VllmRollingBatch",
    "catalog",
    "check_layout",
]

_ELSEWHERE = {
    "CatalogRow": "lmi_constructs.presets._catalog",
    "catalog": "lmi_constructs.presets._catalog",
    "Choice": "lmi_constructs.presets.table",
    "Departure": "lmi_constructs.presets.table",
    "PresetTable": "lmi_constructs.presets.table",
    "LmiPreset": "lmi_constructs.presets.preset",
    "check_layout": "lmi_constructs.presets.layout",
}

__getattr__, __dir__ = lazy(
    __name__,
    {name: _ELSEWHERE.get(name, "lmi_constructs.presets.constructs") for name in __all__},
)
