"""Qwen3-235B-A22B on eight H100, baseline 3 of the guide."""

from __future__ import annotations

from types import MappingProxyType

from lmi_constructs.presets.table import Choice, Departure, PresetTable, parser_choices
from lmi_constructs.presets.tables import _guide

_HUB_ID = "Qwen/Qwen3-235B-A22B-Instruct-2507-FP8"
_GUIDE_ID = "Qwen/Qwen3-235B-A22B-Instruct"
_BASELINE = "LMI guide, baseline 3"

QWEN3_235B = PresetTable(
    name="qwen3-235b",
    class_name="Qwen3_235B",
    title="Qwen3-235B-A22B Instruct (FP8) on eight H100 GPUs, with tool calls parsed",
    section="baseline 3",
    hub_id=_HUB_ID,
    container=_guide.RELEASE,
    container_source=_guide.RELEASE_SOURCE,
    instance_type=Choice("ml.p5.48xlarge", "LMI guide 3.1, instance table"),
    settings=MappingProxyType(
        {
            "tensor_parallel_degree": Choice(8, _BASELINE),
            "enable_expert_parallel": Choice(
                True,
                "an expert is 1536 wide: split in eight it gives each rank 192, not a whole FP8 block of"
                " 128, and the engine stops (https://github.com/vllm-project/vllm/issues/17569);"
                " whole experts are not split",
            ),
            "max_rolling_batch_size": Choice(48, _BASELINE),
            "max_model_len": Choice(16384, f"{_BASELINE}; the model supports 262144 tokens"),
            "gpu_memory_utilization": Choice(0.92, _BASELINE),
            "model_loading_timeout": _guide.LOADING_LARGE,
            **parser_choices(_HUB_ID),
        }
    ),
    guide=MappingProxyType(
        {
            "HF_MODEL_ID": _GUIDE_ID,
            "TENSOR_PARALLEL_DEGREE": "8",
            "OPTION_ROLLING_BATCH": "vllm",
            "OPTION_DTYPE": "fp8",
            "OPTION_MAX_ROLLING_BATCH_SIZE": "48",
            "OPTION_MAX_MODEL_LEN": "16384",
            "OPTION_TRUST_REMOTE_CODE": "true",
            "OPTION_GPU_MEMORY_UTILIZATION": "0.92",
        }
    ),
    departures=(
        Departure(
            key="HF_MODEL_ID",
            guide=_GUIDE_ID,
            deployed=_HUB_ID,
            why="no model with the guide's id was found; the instruction model's name has -2507, and its"
            " -FP8 copy holds what the guide's dtype asks for. It is mounted from S3 or, without"
            " model_data, downloaded from the hub",
        ),
        _guide.ROLLING_BATCH,
        Departure(
            key="OPTION_DTYPE",
            guide="fp8",
            deployed=None,
            why="the container takes auto, fp16, bf16 and fp32 only and would not start; the"
            " checkpoint already declares its weights as FP8",
        ),
        _guide.TRUST_REMOTE_CODE,
    ),
    notes=(
        "The 16-bit checkpoint would fit too: 235 billion parameters of 2 bytes are 438 GiB, 55 on"
        " each of eight GPUs, and at 0.92 of the 79.1 GiB that the driver shows some 15 GiB are left"
        " for the cache, about a third of the requests. FP8 is chosen because the guide asks for it.",
        "The model responds without thinking, so no reasoning parser is set.",
    ),
)
