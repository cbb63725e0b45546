"""LoRA adapters: baseline 5 and the examples of section 3.6 of the guide."""

from __future__ import annotations

from types import MappingProxyType

from lmi_constructs.presets.table import Choice, Departure, PresetTable
from lmi_constructs.presets.tables import _guide

_HUB_ID = "meta-llama/Meta-Llama-3-8B"
_BASELINE = "LMI guide, baseline 5"
_SECTION = "LMI guide 3.6"
_ONE_GPU = Choice(
    "ml.g6.2xlarge", "the guide's degree of 1: with adapters only one copy of the model runs"
)
_CONTEXT = Choice(4096, "LMI guide 3.3: 2048 to 8192; leaves room for several requests at once")

LLAMA_3_8B_LORA = PresetTable(
    name="llama-3-8b-lora",
    class_name="Llama3_8BLora",
    title="Llama 3 8B with up to four LoRA adapters at once, on one L4 GPU",
    section="baseline 5",
    hub_id=_HUB_ID,
    container=_guide.RELEASE,
    container_source=_guide.RELEASE_SOURCE,
    instance_type=_ONE_GPU,
    settings=MappingProxyType(
        {
            "tensor_parallel_degree": Choice(1, _BASELINE),
            "enable_lora": Choice(True, _BASELINE),
            "max_loras": Choice(4, _BASELINE),
            "max_lora_rank": Choice(64, _BASELINE),
            "max_model_len": _CONTEXT,
            "model_loading_timeout": _guide.LOADING,
        }
    ),
    guide=MappingProxyType(
        {
            "HF_MODEL_ID": _HUB_ID,
            "OPTION_ROLLING_BATCH": "lmi-dist",
            "OPTION_ENABLE_LORA": "true",
            "OPTION_MAX_LORAS": "4",
            "OPTION_MAX_LORA_RANK": "64",
            "OPTION_LORA_EXTRA_VOCAB_SIZE": "256",
            "TENSOR_PARALLEL_DEGREE": "1",
        }
    ),
    departures=(_guide.model_id(_HUB_ID), _guide.LMI_DIST, _guide.LORA_EXTRA_VOCAB_SIZE),
    notes=(_guide.LORA_NOTE,),
)

LLAMA_3_8B_SINGLE_LORA = PresetTable(
    name="llama-3-8b-single-lora",
    class_name="Llama3_8BSingleLora",
    title="Llama 3 8B with one LoRA adapter at a time, on one L4 GPU",
    section="3.6",
    hub_id=_HUB_ID,
    container=_guide.RELEASE,
    container_source=_guide.RELEASE_SOURCE,
    instance_type=_ONE_GPU,
    settings=MappingProxyType(
        {
            "tensor_parallel_degree": Choice(1, _SECTION),
            "enable_lora": Choice(True, _SECTION),
            "max_loras": Choice(1, _SECTION),
            "max_lora_rank": Choice(64, _SECTION),
            "max_model_len": _CONTEXT,
            "model_loading_timeout": _guide.LOADING,
        }
    ),
    guide=MappingProxyType(
        {
            "HF_MODEL_ID": _HUB_ID,
            "OPTION_ROLLING_BATCH": "lmi-dist",
            "OPTION_ENABLE_LORA": "true",
            "OPTION_MAX_LORAS": "1",
            "OPTION_MAX_LORA_RANK": "64",
            "TENSOR_PARALLEL_DEGREE": "1",
        }
    ),
    departures=(_guide.model_id(_HUB_ID), _guide.LMI_DIST),
    notes=(_guide.LORA_NOTE,),
)

LLAMA_3_8B_MULTI_TENANT_LORA = PresetTable(
    name="llama-3-8b-multi-tenant-lora",
    class_name="Llama3_8BMultiTenantLora",
    title="Llama 3 8B with LoRA adapters of many tenants, on four L4 GPUs",
    section="3.6",
    hub_id=_HUB_ID,
    container=_guide.RELEASE,
    container_source=_guide.RELEASE_SOURCE,
    instance_type=Choice("ml.g6.12xlarge", "the smallest G6 instance with more than one GPU"),
    settings=MappingProxyType(
        {
            "tensor_parallel_degree": Choice(4, "all GPUs of the instance; see the departures"),
            "enable_lora": Choice(True, _SECTION),
            "max_loras": Choice(8, _SECTION),
            "max_lora_rank": Choice(128, _SECTION),
            "max_cpu_loras": Choice(16, _SECTION),
            "max_model_len": Choice(8192, "the model's maximum"),
            "model_loading_timeout": _guide.LOADING,
        }
    ),
    guide=MappingProxyType(
        {
            "HF_MODEL_ID": _HUB_ID,
            "OPTION_ROLLING_BATCH": "lmi-dist",
            "OPTION_ENABLE_LORA": "true",
            "OPTION_MAX_LORAS": "8",
            "OPTION_MAX_LORA_RANK": "128",
            "OPTION_MAX_CPU_LORAS": "16",
            "OPTION_LORA_EXTRA_VOCAB_SIZE": "256",
            "TENSOR_PARALLEL_DEGREE": "2",
        }
    ),
    departures=(
        _guide.model_id(_HUB_ID),
        _guide.LMI_DIST,
        _guide.LORA_EXTRA_VOCAB_SIZE,
        Departure(
            key="TENSOR_PARALLEL_DEGREE",
            guide="2",
            deployed="4",
            why="no G5, G6 or G6e instance has two GPUs, and with adapters only one copy of the model"
            " runs: a degree of 2 would leave two of four GPUs idle",
        ),
    ),
    notes=(_guide.LORA_NOTE,),
)
