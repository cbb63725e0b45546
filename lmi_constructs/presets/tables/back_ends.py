"""Back ends other than vLLM, each on the last image that has it."""

from __future__ import annotations

from types import MappingProxyType

from lmi_constructs.presets.table import Choice, Departure, PresetTable
from lmi_constructs.presets.tables import _guide

_8B = "meta-llama/Meta-Llama-3-8B-Instruct"
_7B = "meta-llama/Llama-2-7b-chat-hf"
_GUIDES = "deepjavalibrary/djl-serving:serving/docs/lmi/user_guides"
_TRTLLM = "LMI guide 3.1, settings for TensorRT-LLM"
_DEEPSPEED = f"{_GUIDES}/deepspeed_user_guide.md"
_NEURON = f"{_GUIDES}/tnx_user_guide.md"
_NEVER_AN_OPTION = "no release of the container reads it"
_ACKNOWLEDGED = MappingProxyType({"LMI016": _guide.UNSTUDIED})

TENSORRT_LLM = PresetTable(
    name="tensorrt-llm",
    class_name="TensorRtLlm",
    title="Llama 3 8B Instruct on four L4 GPUs, TensorRT-LLM",
    section="3.1, settings for TensorRT-LLM",
    hub_id=_8B,
    container="trtllm-0.33.0",
    container_source="the last TensorRT-LLM image of LMI; the LMI images themselves never had it",
    instance_type=Choice("ml.g6.12xlarge", "LMI guide 3.3: more GPUs rather than larger batches"),
    settings=MappingProxyType(
        {
            "rolling_batch": Choice("trtllm", _TRTLLM),
            "tensor_parallel_degree": Choice("max", f"{_GUIDES}/trt_llm_user_guide.md"),
            "max_rolling_batch_size": Choice(64, "LMI guide 3.3: 32 to 128"),
            "max_beam_width": Choice(1, _TRTLLM),
            "enable_chunked_prefill": Choice(True, f"{_TRTLLM}; the name that the engine knows"),
            "model_loading_timeout": Choice(
                3600, "LMI guide 3.7; the engine may be built from the weights while loading"
            ),
        }
    ),
    guide=MappingProxyType(
        {
            "OPTION_ROLLING_BATCH": "trtllm",
            "OPTION_MAX_BEAM_WIDTH": "1",
            "OPTION_DECODING_STRATEGY": "sample",
            "OPTION_TRT_ENABLE_CHUNKED_CONTEXT": "true",
            "OPTION_PAGED_KV_CACHE": "true",
        }
    ),
    departures=(
        Departure(
            key="OPTION_DECODING_STRATEGY",
            guide="sample",
            deployed=None,
            why="it belonged to the sequence scheduler, never to TensorRT-LLM; requests choose how to"
            " sample",
        ),
        Departure(
            key="OPTION_TRT_ENABLE_CHUNKED_CONTEXT",
            guide="true",
            deployed="OPTION_ENABLE_CHUNKED_PREFILL=true",
            why=f"{_NEVER_AN_OPTION} under this name; the engine's own is enable_chunked_prefill",
        ),
        Departure(
            key="OPTION_PAGED_KV_CACHE",
            guide="true",
            deployed=None,
            why="only the script that builds engines beforehand reads it, not the server",
        ),
    ),
    acknowledged=_ACKNOWLEDGED,
)

LMI_DIST = PresetTable(
    name="lmi-dist",
    class_name="LmiDist",
    title="Llama 3 8B Instruct on one L4 GPU, lmi-dist",
    section="3.1, settings for LMI-Dist",
    hub_id=_8B,
    container="v14",
    container_source="the last release that has lmi-dist",
    instance_type=Choice("ml.g6.2xlarge", "LMI guide 3.3: one GPU for 7B"),
    settings=MappingProxyType(
        {
            "rolling_batch": Choice("lmi-dist", "LMI guide 3.1, settings for LMI-Dist"),
            "tensor_parallel_degree": Choice(1, "the instance has one GPU"),
            "max_rolling_batch_size": Choice(32, "LMI guide 3.3: 32 to 128"),
            "max_model_len": Choice(4096, "LMI guide, baseline 1"),
            "model_loading_timeout": _guide.LOADING,
        }
    ),
    guide=MappingProxyType(
        {
            "OPTION_ROLLING_BATCH": "lmi-dist",
            "OPTION_SPECULATIVE_DRAFT_MODEL": "model-id",
            "OPTION_SPECULATIVE_LENGTH": "5",
            "OPTION_DRAFT_MODEL_TP_SIZE": "1",
        }
    ),
    departures=(
        Departure(
            key="OPTION_SPECULATIVE_DRAFT_MODEL",
            guide="model-id",
            deployed=None,
            why="the guide's value stands for a model of your choice with the same vocabulary: give it"
            " with settings=LmiSettings(speculative_draft_model=...)",
        ),
        Departure(
            key="OPTION_SPECULATIVE_LENGTH",
            guide="5",
            deployed=None,
            why="without a draft model there is nothing to speculate; 5 is the back end's own default",
        ),
        Departure(
            key="OPTION_DRAFT_MODEL_TP_SIZE",
            guide="1",
            deployed=None,
            why="without a draft model there is nothing to split; 1 is the back end's own default",
        ),
    ),
    acknowledged=_ACKNOWLEDGED,
    notes=("The release no longer gets fixes: choose `llama-3-8b` for anything new.",),
)

DEEPSPEED = PresetTable(
    name="deepspeed",
    class_name="DeepSpeed",
    title="Llama 2 7B Chat on one A10G GPU, DeepSpeed",
    section="3.1, settings for DeepSpeed",
    hub_id=_7B,
    container="v9",
    container_source=f"the last release that has DeepSpeed ({_DEEPSPEED})",
    instance_type=Choice(
        "ml.g5.2xlarge", "one GPU for 7B; the generation of GPUs of this release's time"
    ),
    settings=MappingProxyType(
        {
            "rolling_batch": Choice("deepspeed", "LMI guide 3.1, settings for DeepSpeed"),
            "entry_point": Choice(
                "djl_python.deepspeed", f"{_DEEPSPEED}: without it another handler serves"
            ),
            "tensor_parallel_degree": Choice("max", _DEEPSPEED),
            "max_rolling_batch_size": Choice(4, "the handler's default"),
            "dtype": Choice("fp16", "LMI guide 3.3: fp16 on older GPUs; the kernels' own type"),
            "model_loading_timeout": _guide.LOADING,
        }
    ),
    engine_args=MappingProxyType(
        {
            "triangular_masking": Choice(True, "LMI guide 3.1, settings for DeepSpeed"),
            "max_tokens": Choice(4096, f"{_DEEPSPEED}: prompt and response; the model's maximum"),
        }
    ),
    guide=MappingProxyType(
        {
            "OPTION_ROLLING_BATCH": "deepspeed",
            "OPTION_TRIANGULAR_MASKING": "true",
            "OPTION_RETURN_ALL_LOGITS": "false",
            "OPTION_CHECKPOINT": "auto",
        }
    ),
    departures=(
        Departure(
            key="OPTION_RETURN_ALL_LOGITS",
            guide="false",
            deployed=None,
            why=f"{_NEVER_AN_OPTION}; logits are not returned in any case",
        ),
        Departure(
            key="OPTION_CHECKPOINT",
            guide="auto",
            deployed=None,
            why="it is the path of a DeepSpeed checkpoint file, and auto would be taken for one; a model"
            " in the hub's own format has none",
        ),
    ),
    acknowledged=_ACKNOWLEDGED,
    notes=("The release no longer gets fixes: choose `llama-3-8b` for anything new.",),
)

NEURON = PresetTable(
    name="neuron",
    class_name="Neuron",
    title="Llama 3 8B Instruct on one Inferentia2, Transformers NeuronX",
    section="1.1",
    hub_id=_8B,
    container="neuronx-0.30.0",
    container_source="the last Neuron image of LMI",
    instance_type=Choice(
        "ml.inf2.8xlarge", "two cores of 16 GB: 8 GB of weights each, and room for the cache"
    ),
    settings=MappingProxyType(
        {
            "entry_point": Choice("djl_python.transformers_neuronx", _NEURON),
            "rolling_batch": Choice("auto", _NEURON),
            "tensor_parallel_degree": Choice(2, "both cores of the one Inferentia2"),
            "max_rolling_batch_size": Choice(
                4, f"half of what {_NEURON} starts with on four cores"
            ),
            "model_loading_timeout": Choice(
                3600, "the model is compiled at every start, which takes most of it"
            ),
        }
    ),
    engine_args=MappingProxyType(
        {"n_positions": Choice(4096, f"{_NEURON}: prompt and response; the default is 128")}
    ),
    acknowledged=_ACKNOWLEDGED,
    notes=(
        'On Trainium: `instance_type="ml.trn1.32xlarge"` with `tensor_parallel_degree=8`.',
        "The planner does not know this engine, so there is no memory plan.",
    ),
)
