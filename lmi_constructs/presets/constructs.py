"""The presets as constructs: what each is made of stands in its table."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from lmi_constructs.presets.preset import LmiPreset
from lmi_constructs.presets.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Mapping

# ruff: noqa: N801 - a model's size is easier to read apart from its name


class DeepSeekR1(LmiPreset):
    """DeepSeek-R1 (671B) on eight H200 GPUs (`ml.p5en.48xlarge`)."""

    table = TABLES["deepseek-r1"]


class Qwen3_235B(LmiPreset):
    """Qwen3-235B-A22B Instruct in FP8 on eight H100 GPUs (`ml.p5.48xlarge`)."""

    table = TABLES["qwen3-235b"]


class GptOss120B(LmiPreset):
    """GPT-OSS-120B on eight L4 GPUs (`ml.g6.48xlarge`): baseline 2.

    Example:
        ```python
        presets.GptOss120B(
            stack, "Chat", model_data=ModelData.s3_prefix("my-models", "gpt-oss-120b/")
        )
        ```
    """

    table = TABLES["gpt-oss-120b"]


class GptOss20B(LmiPreset):
    """GPT-OSS-20B on one L4 GPU (`ml.g6.2xlarge`)."""

    table = TABLES["gpt-oss-20b"]


class Llama3_2_3B(LmiPreset):
    """Llama 3.2 3B on one A10G GPU (`ml.g5.xlarge`): the guide's first deployment."""

    table = TABLES["llama-3.2-3b"]


class Llama3_8B(LmiPreset):
    """Llama 3 8B Instruct on one L4 GPU (`ml.g6.2xlarge`): baseline 1."""

    table = TABLES["llama-3-8b"]


class Llama2_70BAwq(LmiPreset):
    """Llama 2 70B in AWQ on four L4 GPUs (`ml.g6.12xlarge`): baseline 4."""

    table = TABLES["llama-2-70b-awq"]


class Llama3_70BAwq(LmiPreset):
    """Llama 3 70B Instruct in AWQ on four L4 GPUs (`ml.g6.12xlarge`)."""

    table = TABLES["llama-3-70b-awq"]


class Llama2_70BGptq(LmiPreset):
    """Llama 2 70B Chat in GPTQ on four L4 GPUs (`ml.g6.12xlarge`)."""

    table = TABLES["llama-2-70b-gptq"]


class Llama3_70BBitsAndBytes(LmiPreset):
    """Llama 3 70B Instruct, quantized while loading, on four L4 GPUs (`ml.g6.12xlarge`)."""

    table = TABLES["llama-3-70b-bitsandbytes"]


class Llama3_8BLora(LmiPreset):
    """Llama 3 8B with up to four LoRA adapters at once (`ml.g6.2xlarge`): baseline 5."""

    table = TABLES["llama-3-8b-lora"]


class Llama3_8BSingleLora(LmiPreset):
    """Llama 3 8B with one LoRA adapter at a time (`ml.g6.2xlarge`)."""

    table = TABLES["llama-3-8b-single-lora"]


class Llama3_8BMultiTenantLora(LmiPreset):
    """Llama 3 8B with LoRA adapters of many tenants (`ml.g6.12xlarge`)."""

    table = TABLES["llama-3-8b-multi-tenant-lora"]


class VllmRollingBatch(LmiPreset):
    """Llama 3 8B Instruct in vLLM's older rolling-batch mode (`ml.g6.2xlarge`)."""

    table = TABLES["vllm-rolling-batch"]


class TensorRtLlm(LmiPreset):
    """Llama 3 8B Instruct on TensorRT-LLM, on its last image (`ml.g6.12xlarge`)."""

    table = TABLES["tensorrt-llm"]


class LmiDist(LmiPreset):
    """Llama 3 8B Instruct on lmi-dist, on its last release (`ml.g6.2xlarge`)."""

    table = TABLES["lmi-dist"]


class DeepSpeed(LmiPreset):
    """Llama 2 7B Chat on DeepSpeed, on its last release (`ml.g5.2xlarge`)."""

    table = TABLES["deepspeed"]


class Neuron(LmiPreset):
    """Llama 3 8B Instruct on one Inferentia2, on the last Neuron image (`ml.inf2.8xlarge`)."""

    table = TABLES["neuron"]


_ALL: tuple[type[LmiPreset], ...] = (
    DeepSeekR1,
    Qwen3_235B,
    GptOss120B,
    GptOss20B,
    Llama3_2_3B,
    Llama3_8B,
    Llama2_70BAwq,
    Llama3_70BAwq,
    Llama2_70BGptq,
    Llama3_70BBitsAndBytes,
    Llama3_8BLora,
    Llama3_8BSingleLora,
    Llama3_8BMultiTenantLora,
    VllmRollingBatch,
    TensorRtLlm,
    LmiDist,
    DeepSpeed,
    Neuron,
)

PRESETS: Mapping[str, type[LmiPreset]] = MappingProxyType(
    {preset.table.name: preset for preset in _ALL}
)
"""All presets by name."""
