"""GPT-OSS: baseline 2 of the guide, and the smaller model of its instance table."""

from __future__ import annotations

from types import MappingProxyType

from lmi_constructs.presets.table import Choice, PresetTable, parser_choices
from lmi_constructs.presets.tables import _guide

_120B = "openai/gpt-oss-120b"
_20B = "openai/gpt-oss-20b"
_BASELINE = "LMI guide, baseline 2"
_DTYPE = Choice("bf16", f"{_BASELINE}; for what is not MXFP4: attention, router, embedding")
_NOTE = "Leave `original/` and `metal/` out of the prefix: they hold the weights twice more."

GPT_OSS_120B = PresetTable(
    name="gpt-oss-120b",
    class_name="GptOss120B",
    title="GPT-OSS-120B on eight L4 GPUs, with tool calls and reasoning parsed",
    section="baseline 2",
    hub_id=_120B,
    container=_guide.RELEASE,
    container_source=_guide.RELEASE_SOURCE,
    instance_type=Choice("ml.g6.48xlarge", "LMI guide 3.1, instance table"),
    settings=MappingProxyType(
        {
            "tensor_parallel_degree": Choice(
                8, f"{_BASELINE}; 64 attention and 8 key-value heads divide by 8"
            ),
            "max_rolling_batch_size": Choice(64, _BASELINE),
            "max_model_len": Choice(8192, f"{_BASELINE}; the model supports 131072 tokens"),
            "dtype": _DTYPE,
            "model_loading_timeout": _guide.LOADING,
            **parser_choices(_120B),
        }
    ),
    guide=MappingProxyType(
        {
            "HF_MODEL_ID": _120B,
            "TENSOR_PARALLEL_DEGREE": "8",
            "OPTION_ROLLING_BATCH": "vllm",
            "OPTION_DTYPE": "bf16",
            "OPTION_MAX_ROLLING_BATCH_SIZE": "64",
            "OPTION_MAX_MODEL_LEN": "8192",
            "OPTION_TRUST_REMOTE_CODE": "true",
        }
    ),
    departures=(_guide.model_id(_120B), _guide.ROLLING_BATCH, _guide.TRUST_REMOTE_CODE),
    notes=(_NOTE,),
)

GPT_OSS_20B = PresetTable(
    name="gpt-oss-20b",
    class_name="GptOss20B",
    title="GPT-OSS-20B on one L4 GPU, with tool calls and reasoning parsed",
    section="3.1, instance table",
    hub_id=_20B,
    container=_guide.RELEASE,
    container_source=_guide.RELEASE_SOURCE,
    instance_type=Choice("ml.g6.2xlarge", "LMI guide 3.1, instance table"),
    settings=MappingProxyType(
        {
            "tensor_parallel_degree": Choice(1, "the instance has one GPU"),
            "max_rolling_batch_size": Choice(
                32, "LMI guide 3.3: 32 to 128; the cache holds about 25 requests of full length"
            ),
            "max_model_len": Choice(8192, f"as {_BASELINE} for the larger model"),
            "dtype": _DTYPE,
            "model_loading_timeout": _guide.LOADING,
            **parser_choices(_20B),
        }
    ),
    notes=(_NOTE,),
)
