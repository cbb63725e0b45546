"""GPT-OSS-120B on eight L4, baseline 2 of the guide."""

from __future__ import annotations

from types import MappingProxyType

from lmi_constructs.presets.table import Choice, Departure, PresetTable

_GUIDE = "LMI guide, baseline 2"
_PARSERS = "https://github.com/vllm-project/recipes/pull/83"

TABLE = PresetTable(
    name="gpt-oss-120b",
    class_name="GptOss120B",
    title="GPT-OSS-120B on eight L4 GPUs, with tool calls and reasoning parsed",
    hub_id="openai/gpt-oss-120b",
    hub_source="huggingface.co/openai/gpt-oss-120b (config.json: GptOssForCausalLM, MXFP4 experts)",
    gated=False,
    container="v27",
    container_source="newest release whose behaviour has been verified by running its code; vLLM"
    " 0.23 knows the model, its tool-call and its reasoning parser",
    instance_type=Choice("ml.g6.48xlarge", "LMI guide 3.1, instance table"),
    settings=MappingProxyType(
        {
            "tensor_parallel_degree": Choice(
                8, f"{_GUIDE}; 64 attention and 8 key-value heads divide by 8"
            ),
            "max_rolling_batch_size": Choice(64, _GUIDE),
            "max_model_len": Choice(8192, f"{_GUIDE}; the model itself knows 131072 tokens"),
            "dtype": Choice(
                "bf16", f"{_GUIDE}; for what is not MXFP4: attention, router, embedding"
            ),
            "model_loading_timeout": Choice(
                1800, "LMI guide, baseline 1 and 3.7: large models take 1800 seconds or more"
            ),
            "enable_auto_tool_choice": Choice(
                True, f"tool calls arrive parsed instead of as text ({_PARSERS})"
            ),
            "tool_call_parser": Choice(
                "openai", f"the model's own format; vLLM 0.10.2 and later ({_PARSERS})"
            ),
            "reasoning_parser": Choice(
                "openai_gptoss",
                "keeps the analysis channel apart from the answer; in vLLM since 0.10.2"
                " (vllm 0.10.2 wheel: vllm/reasoning)",
            ),
        }
    ),
    guide=MappingProxyType(
        {
            "HF_MODEL_ID": "openai/gpt-oss-120b",
            "TENSOR_PARALLEL_DEGREE": "8",
            "OPTION_ROLLING_BATCH": "vllm",
            "OPTION_DTYPE": "bf16",
            "OPTION_MAX_ROLLING_BATCH_SIZE": "64",
            "OPTION_MAX_MODEL_LEN": "8192",
            "OPTION_TRUST_REMOTE_CODE": "true",
        }
    ),
    departures=(
        Departure(
            key="HF_MODEL_ID",
            guide="openai/gpt-oss-120b",
            deployed="the S3 prefix at /opt/ml/model, if model_data is one",
            why="SageMaker mounts the files there and the container finds them by itself; with a hub"
            " id beside them it would load a second model",
        ),
        Departure(
            key="OPTION_ROLLING_BATCH",
            guide="vllm",
            deployed=None,
            why="from LMI v17 on that value chooses the old synchronous engine; without it the"
            " container takes the asynchronous one, which the guide recommends",
        ),
        Departure(
            key="OPTION_TRUST_REMOTE_CODE",
            guide="true",
            deployed=None,
            why="the engine has the model built in; the option would only allow code from the hub to"
            " run in the container",
        ),
    ),
)
