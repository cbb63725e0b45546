"""70B in four bits: baseline 4 and the examples of section 3.5 of the guide."""

from __future__ import annotations

from types import MappingProxyType

from lmi_constructs.presets.table import Choice, Departure, PresetTable
from lmi_constructs.presets.tables import _guide

_FOUR_GPUS = Choice(
    "ml.g6.12xlarge", "the guide's degree of 4: the smallest instance with four GPUs of 24 GB"
)
_BASELINE = "LMI guide, baseline 4"
_SECTION = "LMI guide 3.5"
_LLAMA_2_AWQ = "TheBloke/Llama-2-70B-AWQ"
_LLAMA_3_AWQ = "casperhansen/llama-3-70b-instruct-awq"
_LLAMA_2_GPTQ = "TheBloke/Llama-2-70B-Chat-GPTQ"
_LLAMA_3 = "meta-llama/Meta-Llama-3-70B-Instruct"

LLAMA_2_70B_AWQ = PresetTable(
    name="llama-2-70b-awq",
    class_name="Llama2_70BAwq",
    title="Llama 2 70B in AWQ on four L4 GPUs",
    section="baseline 4",
    hub_id=_LLAMA_2_AWQ,
    container=_guide.RELEASE,
    container_source=_guide.RELEASE_SOURCE,
    instance_type=_FOUR_GPUS,
    settings=MappingProxyType(
        {
            "tensor_parallel_degree": Choice(4, _BASELINE),
            "max_model_len": Choice(4096, f"{_BASELINE}; the model's maximum"),
            "gpu_memory_utilization": Choice(0.95, _BASELINE),
            "model_loading_timeout": _guide.LOADING,
        }
    ),
    guide=MappingProxyType(
        {
            "HF_MODEL_ID": _LLAMA_2_AWQ,
            "OPTION_ROLLING_BATCH": "vllm",
            "OPTION_QUANTIZE": "awq",
            "TENSOR_PARALLEL_DEGREE": "4",
            "OPTION_MAX_MODEL_LEN": "4096",
            "OPTION_GPU_MEMORY_UTILIZATION": "0.95",
        }
    ),
    departures=(
        _guide.model_id(_LLAMA_2_AWQ),
        _guide.ROLLING_BATCH,
        _guide.quantize("awq"),
    ),
    notes=("A base model: it continues text and has no chat template.",),
)

LLAMA_3_70B_AWQ = PresetTable(
    name="llama-3-70b-awq",
    class_name="Llama3_70BAwq",
    title="Llama 3 70B Instruct in AWQ on four L4 GPUs",
    section="3.5",
    hub_id=_LLAMA_3_AWQ,
    container=_guide.RELEASE,
    container_source=_guide.RELEASE_SOURCE,
    instance_type=_FOUR_GPUS,
    settings=MappingProxyType(
        {
            "tensor_parallel_degree": Choice(4, _SECTION),
            "max_model_len": Choice(8192, f"{_SECTION}; the model's maximum"),
            "gpu_memory_utilization": Choice(0.95, _SECTION),
            "model_loading_timeout": _guide.LOADING,
        }
    ),
    guide=MappingProxyType(
        {
            "HF_MODEL_ID": _LLAMA_3_AWQ,
            "OPTION_ROLLING_BATCH": "vllm",
            "OPTION_QUANTIZE": "awq",
            "TENSOR_PARALLEL_DEGREE": "4",
            "OPTION_MAX_MODEL_LEN": "8192",
            "OPTION_GPU_MEMORY_UTILIZATION": "0.95",
        }
    ),
    departures=(
        _guide.model_id(_LLAMA_3_AWQ),
        _guide.ROLLING_BATCH,
        _guide.quantize("awq"),
    ),
)

LLAMA_2_70B_GPTQ = PresetTable(
    name="llama-2-70b-gptq",
    class_name="Llama2_70BGptq",
    title="Llama 2 70B Chat in GPTQ on four L4 GPUs",
    section="3.5",
    hub_id=_LLAMA_2_GPTQ,
    container=_guide.RELEASE,
    container_source=_guide.RELEASE_SOURCE,
    instance_type=_FOUR_GPUS,
    settings=MappingProxyType(
        {
            "tensor_parallel_degree": Choice(4, _SECTION),
            "max_model_len": Choice(4096, "the model's maximum, and what baseline 4 asks for"),
            "model_loading_timeout": _guide.LOADING,
        }
    ),
    guide=MappingProxyType(
        {
            "HF_MODEL_ID": _LLAMA_2_GPTQ,
            "OPTION_ROLLING_BATCH": "vllm",
            "OPTION_QUANTIZE": "gptq",
            "TENSOR_PARALLEL_DEGREE": "4",
        }
    ),
    departures=(
        _guide.model_id(_LLAMA_2_GPTQ),
        _guide.ROLLING_BATCH,
        _guide.quantize("gptq"),
    ),
    notes=("The repository's other branches hold other group sizes; `main` is what is served.",),
)

LLAMA_3_70B_BITSANDBYTES = PresetTable(
    name="llama-3-70b-bitsandbytes",
    class_name="Llama3_70BBitsAndBytes",
    title="Llama 3 70B Instruct, quantized by bitsandbytes while loading, on four L4 GPUs",
    section="3.5",
    hub_id=_LLAMA_3,
    container=_guide.RELEASE,
    container_source=f"{_guide.RELEASE_SOURCE}; vLLM 0.28 (v29) has the method no more in its core",
    instance_type=_FOUR_GPUS,
    settings=MappingProxyType(
        {
            "tensor_parallel_degree": Choice(4, _SECTION),
            "quantize": Choice("bitsandbytes", _SECTION),
            "max_model_len": Choice(8192, "the model's maximum"),
            "model_loading_timeout": _guide.LOADING_LARGE,
        }
    ),
    guide=MappingProxyType(
        {
            "HF_MODEL_ID": _LLAMA_3,
            "OPTION_ROLLING_BATCH": "lmi-dist",
            "OPTION_QUANTIZE": "bitsandbytes",
            "OPTION_LOAD_IN_4BIT": "true",
            "TENSOR_PARALLEL_DEGREE": "4",
        }
    ),
    departures=(
        _guide.model_id(_LLAMA_3),
        _guide.LMI_DIST,
        Departure(
            key="OPTION_LOAD_IN_4BIT",
            guide="true",
            deployed=None,
            why="it belongs to the Transformers handler and stops startup in asynchronous mode; vLLM's"
            " bitsandbytes loads in four bits on its own",
        ),
    ),
    notes=(
        "All 16-bit weights are read at every start: a pre-quantized checkpoint starts sooner.",
    ),
)
