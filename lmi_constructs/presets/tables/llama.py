"""Llama in 16 bits: the guide's first steps, its baseline 1, and the older way to serve it."""

from __future__ import annotations

from types import MappingProxyType

from lmi_constructs.presets.table import Choice, Departure, PresetTable
from lmi_constructs.presets.tables import _guide

_3B = "meta-llama/Llama-3.2-3B"
_8B = "meta-llama/Meta-Llama-3-8B-Instruct"
_BASELINE = "LMI guide, baseline 1"
_VLLM_BLOCK = "LMI guide 3.1, settings for vLLM"
_ONE_GPU = Choice(
    "ml.g6.2xlarge", "LMI guide 3.3: one GPU for 7B; the instance that its table gives 24 GB"
)

LLAMA_3_2_3B = PresetTable(
    name="llama-3.2-3b",
    class_name="Llama3_2_3B",
    title="Llama 3.2 3B on one A10G GPU, the guide's first deployment",
    section="2.2",
    hub_id=_3B,
    container=_guide.RELEASE,
    container_source=f"{_guide.RELEASE_SOURCE}; the guide's version 0.32.0 is LMI v14, which has no"
    " asynchronous mode",
    instance_type=Choice("ml.g5.xlarge", "LMI guide 2.2"),
    settings=MappingProxyType(
        {
            "tensor_parallel_degree": Choice("max", "LMI guide 2.2"),
            "dtype": Choice("bf16", "LMI guide 2.2"),
            "max_model_len": Choice(
                8192,
                "LMI guide 3.3: 2048 to 8192; the model's own 131072 leave room for one request",
            ),
            "model_loading_timeout": _guide.LOADING,
        }
    ),
    guide=MappingProxyType(
        {
            "HF_MODEL_ID": _3B,
            "TENSOR_PARALLEL_DEGREE": "max",
            "OPTION_ROLLING_BATCH": "vllm",
            "OPTION_DTYPE": "bf16",
            "OPTION_TRUST_REMOTE_CODE": "true",
        }
    ),
    departures=(_guide.model_id(_3B), _guide.ROLLING_BATCH, _guide.TRUST_REMOTE_CODE),
    notes=("A base model: it continues text and has no chat template.",),
)

LLAMA_3_8B = PresetTable(
    name="llama-3-8b",
    class_name="Llama3_8B",
    title="Llama 3 8B Instruct on one L4 GPU, vLLM in asynchronous mode",
    section="baseline 1",
    hub_id=_8B,
    container=_guide.RELEASE,
    container_source=_guide.RELEASE_SOURCE,
    instance_type=_ONE_GPU,
    settings=MappingProxyType(
        {
            "tensor_parallel_degree": Choice("max", _BASELINE),
            "dtype": Choice("fp16", _BASELINE),
            "max_model_len": Choice(4096, f"{_BASELINE}; the model supports 8192 tokens"),
            "gpu_memory_utilization": Choice(0.9, _BASELINE),
            "model_loading_timeout": Choice(1800, _BASELINE),
        }
    ),
    guide=MappingProxyType(
        {
            "HF_MODEL_ID": _8B,
            "HF_TOKEN": "<your-huggingface-token>",
            "OPTION_ROLLING_BATCH": "vllm",
            "OPTION_DTYPE": "fp16",
            "TENSOR_PARALLEL_DEGREE": "max",
            "OPTION_MAX_MODEL_LEN": "4096",
            "OPTION_GPU_MEMORY_UTILIZATION": "0.9",
            "OPTION_MODEL_LOADING_TIMEOUT": "1800",
            "SERVING_LOAD_MODELS": "test::vLLM=/opt/ml/model",
        }
    ),
    departures=(
        _guide.model_id(_8B),
        Departure(
            key="HF_TOKEN",
            guide="<your-huggingface-token>",
            deployed="a secret: ModelData.hub(..., token=Secret.from_secret_name_v2(...))",
            why="in plain text it would end up in the template and its history; a model mounted from S3"
            " needs no token at all",
        ),
        _guide.ROLLING_BATCH,
        Departure(
            key="SERVING_LOAD_MODELS",
            guide="test::vLLM=/opt/ml/model",
            deployed=None,
            why="DJL Serving has no engine named vLLM and would not start; it finds the mounted model"
            " on its own",
        ),
    ),
    notes=("Llama 3's chat template has no tools, so no parser is set.",),
)

VLLM_ROLLING_BATCH = PresetTable(
    name="vllm-rolling-batch",
    class_name="VllmRollingBatch",
    title="Llama 3 8B Instruct on one L4 GPU, vLLM in the older rolling-batch mode",
    section="3.1, settings for vLLM",
    hub_id=_8B,
    container=_guide.RELEASE,
    container_source=f"{_guide.RELEASE_SOURCE}, and it still has the mode",
    instance_type=_ONE_GPU,
    settings=MappingProxyType(
        {
            "async_mode": Choice(False, "the mode that OPTION_ROLLING_BATCH=vllm names"),
            "tensor_parallel_degree": Choice(1, "the instance has one GPU"),
            "max_rolling_batch_size": Choice(
                32, "LMI guide 3.3: 32 to 128; the smallest, as the cache holds few full requests"
            ),
            "max_model_len": Choice(4096, _BASELINE),
            "enforce_eager": Choice(False, _VLLM_BLOCK),
            "disable_sliding_window": Choice(False, _VLLM_BLOCK),
            "enable_prefix_caching": Choice(True, _VLLM_BLOCK),
            "structured_outputs_backend": Choice("outlines", _VLLM_BLOCK),
            "model_loading_timeout": _guide.LOADING,
        }
    ),
    guide=MappingProxyType(
        {
            "OPTION_ROLLING_BATCH": "vllm",
            "OPTION_ENFORCE_EAGER": "false",
            "OPTION_DISABLE_SLIDING_WINDOW": "false",
            "OPTION_ENABLE_PREFIX_CACHING": "true",
            "OPTION_DISABLE_LOG_STATS": "false",
            "OPTION_GUIDED_DECODING_BACKEND": "outlines",
        }
    ),
    departures=(
        Departure(
            key="OPTION_DISABLE_LOG_STATS",
            guide="false",
            deployed=None,
            why="statistics are logged anyway; from LMI v26 on the container turns false into a flag that"
            " vLLM does not know, and startup fails",
        ),
        Departure(
            key="OPTION_GUIDED_DECODING_BACKEND",
            guide="outlines",
            deployed='OPTION_STRUCTURED_OUTPUTS_CONFIG={"backend": "outlines"}',
            why="vLLM 0.12 (LMI v18) removed the old name, which would be silently ignored",
        ),
    ),
    acknowledged=MappingProxyType(
        {
            "LMI015": "this preset exists for the older mode: a response format that only an"
            " output_formatter of rolling batch gives"
        }
    ),
    notes=("Choose it only for clients that depend on rolling batch's response format.",),
)
