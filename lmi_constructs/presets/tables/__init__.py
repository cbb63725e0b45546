"""One table a preset."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from lmi_constructs.presets.tables.back_ends import DEEPSPEED, LMI_DIST, NEURON, TENSORRT_LLM
from lmi_constructs.presets.tables.deepseek_r1 import DEEPSEEK_R1
from lmi_constructs.presets.tables.gpt_oss import GPT_OSS_20B, GPT_OSS_120B
from lmi_constructs.presets.tables.llama import LLAMA_3_2_3B, LLAMA_3_8B, VLLM_ROLLING_BATCH
from lmi_constructs.presets.tables.lora import (
    LLAMA_3_8B_LORA,
    LLAMA_3_8B_MULTI_TENANT_LORA,
    LLAMA_3_8B_SINGLE_LORA,
)
from lmi_constructs.presets.tables.quantized import (
    LLAMA_2_70B_AWQ,
    LLAMA_2_70B_GPTQ,
    LLAMA_3_70B_AWQ,
    LLAMA_3_70B_BITSANDBYTES,
)
from lmi_constructs.presets.tables.qwen3_235b import QWEN3_235B

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lmi_constructs.presets.table import PresetTable

_ALL = (
    DEEPSEEK_R1,
    QWEN3_235B,
    GPT_OSS_120B,
    GPT_OSS_20B,
    LLAMA_3_2_3B,
    LLAMA_3_8B,
    LLAMA_2_70B_AWQ,
    LLAMA_3_70B_AWQ,
    LLAMA_2_70B_GPTQ,
    LLAMA_3_70B_BITSANDBYTES,
    LLAMA_3_8B_LORA,
    LLAMA_3_8B_SINGLE_LORA,
    LLAMA_3_8B_MULTI_TENANT_LORA,
    VLLM_ROLLING_BATCH,
    TENSORRT_LLM,
    LMI_DIST,
    DEEPSPEED,
    NEURON,
)

TABLES: Mapping[str, PresetTable] = MappingProxyType({table.name: table for table in _ALL})
"""All presets by name, in the order of the guide."""

__all__ = ["TABLES"]
