"""DeepSeek-R1 (671B), from the instance table of the guide."""

from __future__ import annotations

from types import MappingProxyType

from lmi_constructs.presets.table import Choice, PresetTable, parser_choices
from lmi_constructs.presets.tables import _guide

_HUB_ID = "deepseek-ai/DeepSeek-R1"

DEEPSEEK_R1 = PresetTable(
    name="deepseek-r1",
    class_name="DeepSeekR1",
    title="DeepSeek-R1 (671B, FP8) on eight H200 GPUs, with reasoning parsed",
    section="3.1, instance table",
    hub_id=_HUB_ID,
    container=_guide.RELEASE,
    container_source=_guide.RELEASE_SOURCE,
    instance_type=Choice("ml.p5en.48xlarge", "LMI guide 3.1, instance table"),
    settings=MappingProxyType(
        {
            "tensor_parallel_degree": Choice(
                8, "all GPUs: experts of 2048 give each rank 256, two whole FP8 blocks"
            ),
            "max_rolling_batch_size": Choice(
                32, "LMI guide 3.3: 32 to 128; the cache holds about 21 requests of full length"
            ),
            "max_model_len": Choice(
                32768,
                "model card huggingface.co/deepseek-ai/DeepSeek-R1: evaluated with responses of up to"
                " 32768 tokens; the model supports 163840",
            ),
            "model_loading_timeout": _guide.LOADING_LARGE,
            **parser_choices(_HUB_ID),
        }
    ),
    notes=(
        "The checkpoint is FP8 already: neither `dtype` nor `quantize` is set.",
        "The repository holds close to 700 GB. From the hub each new instance must download them within"
        " an hour or it fails: keep a copy in S3, in the same region.",
    ),
)
