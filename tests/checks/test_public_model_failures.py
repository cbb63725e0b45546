"""Public reports of models that did not start: the rule that would have said so."""

import pytest

from lmi_constructs.checks import CheckOptions, Facts, check_template
from lmi_constructs.checks.examples import REMOVED, Example
from tests.checks.support import ENVIRONMENT, HOST_IMAGE, IMAGE, V27, VARIANT, WITHOUT_DATA, rules


def hub(model, instance, **options):
    """A model of the hub on an instance, with the newest verified release and a host image for it."""
    return Example(
        {
            **WITHOUT_DATA,
            IMAGE: V27,
            HOST_IMAGE: "al2023-ami-sagemaker-inference-gpu-4-1",
            f"{VARIANT}/InstanceType": instance,
            f"{ENVIRONMENT}/HF_MODEL_ID": model,
            f"{ENVIRONMENT}/OPTION_MAX_MODEL_LEN": REMOVED,
            **{f"{ENVIRONMENT}/OPTION_{name}": value for name, value in options.items()},
        }
    )


EXPERTS = {
    "architectures": ["Qwen3MoeForCausalLM"],
    "model_type": "qwen3_moe",
    "num_experts": 64,
    "num_experts_per_tok": 8,
    "hidden_size": 2048,
    "intermediate_size": 6144,
    "head_dim": 128,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_hidden_layers": 24,
    "max_position_embeddings": 32768,
    "vocab_size": 151936,
    "torch_dtype": "bfloat16",
}


def experts(instance, degree, width, quantization):
    config = {**EXPERTS, "moe_intermediate_size": width, "quantization_config": quantization}
    changes = {
        IMAGE: V27,
        HOST_IMAGE: "al2023-ami-sagemaker-inference-gpu-4-1",
        f"{VARIANT}/InstanceType": instance,
        f"{ENVIRONMENT}/OPTION_TENSOR_PARALLEL_DEGREE": degree,
    }
    return Example(changes, model_config=config)


FP8_BLOCKS = {"quant_method": "fp8", "weight_block_size": [128, 128]}

GPTQ_GROUPS = {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False}


MODELS = {
    "vllm-project/vllm/issues/2652": (
        "LMI052",
        hub("Qwen/Qwen2-57B-A14B-Instruct", "ml.g5.48xlarge", TENSOR_PARALLEL_DEGREE="8"),
    ),
    "vllm-project/vllm/issues/4232": (
        "LMI052",
        hub("Qwen/Qwen1.5-32B", "ml.g5.48xlarge", TENSOR_PARALLEL_DEGREE="6"),
    ),
    "THU-KEG/AdaptThink/issues/1": (
        "LMI052",
        hub(
            "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B",
            "ml.p5.48xlarge",
            TENSOR_PARALLEL_DEGREE="max",
        ),
    ),
    "vllm-project/vllm/pull/48173": (
        "LMI053",
        hub("MiniMaxAI/MiniMax-M2.5", "ml.p5.48xlarge", TENSOR_PARALLEL_DEGREE="8"),
    ),
    "vllm-project/vllm/issues/25292": (
        "LMI053",
        hub("Qwen/Qwen3-30B-A3B-FP8", "ml.g6e.12xlarge", TENSOR_PARALLEL_DEGREE="4"),
    ),
    "vllm-project/vllm/issues/54178": (
        "LMI053",
        experts("ml.g6e.48xlarge", "4", 320, FP8_BLOCKS),
    ),
    "vllm-project/vllm/issues/17604": (
        "LMI053",
        experts("ml.g6e.48xlarge", "8", 768, GPTQ_GROUPS),
    ),
    "vllm-project/vllm/issues/2418": (
        "LMI050",
        hub(
            "Qwen/Qwen1.5-14B-Chat",
            "ml.g6.2xlarge",
            TENSOR_PARALLEL_DEGREE="1",
            MAX_MODEL_LEN="4096",
        ),
    ),
    "deepseek-ai/DeepSeek-V2/issues/83 (a long context that nobody asked for)": (
        "LMI050",
        hub("meta-llama/Llama-3.1-8B-Instruct", "ml.g6.2xlarge", TENSOR_PARALLEL_DEGREE="1"),
    ),
    "vllm-project/vllm/issues/18124": (
        "LMI050",
        hub(
            "Qwen/Qwen3-14B",
            "ml.p5.48xlarge",
            TENSOR_PARALLEL_DEGREE="1",
            GPU_MEMORY_UTILIZATION="0.3",
        ),
    ),
    "huggingface/text-generation-inference/issues/694 (no instance of the family is enough)": (
        "LMI050",
        hub("meta-llama/Llama-2-70b-chat-hf", "ml.g5.12xlarge", TENSOR_PARALLEL_DEGREE="4"),
    ),
    "huggingface/text-generation-inference/issues/493": (
        "LMI027",
        Example(model_config={"auto_map": {"AutoModelForCausalLM": "modeling_own.Own"}}),
    ),
    "aws-samples/aws-genai-llm-chatbot/issues/461 (a model that became gated)": (
        "LMI014",
        hub("meta-llama/Llama-3.1-8B-Instruct", "ml.g6.12xlarge", TENSOR_PARALLEL_DEGREE="4"),
    ),
}


@pytest.mark.parametrize("report", MODELS)
def test_finds_what_was_reported_of_a_model_in(report):
    rule, example = MODELS[report]
    assert rule in rules(example)


@pytest.mark.parametrize(
    ("model", "instance", "degree"),
    [
        ("Qwen/Qwen2-57B-A14B-Instruct", "ml.g5.48xlarge", "4"),
        ("Qwen/Qwen1.5-32B", "ml.g5.48xlarge", "8"),
        ("MiniMaxAI/MiniMax-M2.5", "ml.p5.48xlarge", "4"),
        ("Qwen/Qwen3-30B-A3B-FP8", "ml.g6e.12xlarge", "2"),
    ],
)
def test_lets_the_degree_that_works_pass(model, instance, degree):
    example = hub(model, instance, TENSOR_PARALLEL_DEGREE=degree, MAX_MODEL_LEN="8192")
    assert not rules(example) & {"LMI052", "LMI053"}


AUTO_MAP = {"auto_map": {"AutoModelForCausalLM": "modeling_own.Own"}}


@pytest.mark.parametrize(
    ("key", "properties", "is_found"),
    [
        ("Model", "option.trust_remote_code=true", False),
        ("Model", "option.trust_remote_code=false", True),
        ("template/Model", "", True),
    ],
)
def test_own_code_is_trusted_in_the_file_beside_the_model_too(key, properties, is_found):
    facts = Facts(model_configs={key: AUTO_MAP}, serving_properties={"Model": properties})
    found = check_template(Example().template(), options=CheckOptions(facts=facts))
    assert ("LMI027" in {one.rule for one in found}) == is_found
