"""Lines of public logs, each with its thread: of failures, and of healthy starts."""

from __future__ import annotations

VLLM = "https://github.com/vllm-project/vllm/issues/"

# Address of the public thread, a line as it stands there, what it means, the rule, the change.
PUBLIC_LINES = [
    (
        f"{VLLM}14095",
        "(VllmWorkerProcess pid=195295) ERROR 03-02 19:49:43 [multiproc_worker_utils.py:242] "
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 2 has a total "
        "capacity of 14.62 GiB of which 3.31 MiB is free.",
        "out-of-memory",
        "LMI050",
        None,
    ),
    (
        f"{VLLM}10439",
        "vllm-1  | ERROR 11-18 18:07:28 engine.py:366] ValueError: No available memory for the "
        "cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.",
        "no-cache-memory",
        "LMI050",
        None,
    ),
    (
        "https://github.com/vllm-project/vllm-omni/issues/469",
        "(EngineCore_DP0 pid=563) INFO 12-23 23:34:23 [gpu_worker.py:298] Available KV cache "
        "memory: -2.77 GiB",
        "no-cache-memory",
        "LMI050",
        None,
    ),
    (
        f"{VLLM}10517",
        "The model's max seq len (29000) is larger than the maximum number of tokens that can be "
        "stored in KV cache (23648). Try increasing `gpu_memory_utilization` or decreasing "
        "`max_model_len` when initializing the engine.",
        "cache-too-small",
        "LMI050",
        "max_model_len=23648",
    ),
    (
        "https://github.com/vllm-project/tpu-inference/pull/223",
        "ValueError: To serve at least one request with the models's max seq len (131072), (16.00 "
        "GiB KV cache is needed, which is larger than the available KV cache memory (0.71 GiB). "
        "Based on the available memory, the estimated maximum model length is 5632. Try increasing "
        "`gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.",
        "cache-too-small",
        "LMI050",
        "max_model_len=5632",
    ),
    (
        "https://github.com/SergiioB/intel-arc-pro-b70-inference-cookbook/issues/4",
        "(EngineCore pid=316) ValueError: To serve at least one request with the model's max seq "
        "len (100000), (4.26 GiB KV cach",
        "cache-too-small",
        "LMI050",
        None,
    ),
    (
        f"{VLLM}2652",
        "ValueError: Total number of attention heads (52) must be divisible by tensor parallel "
        "size (8).",
        "heads-not-divisible",
        "LMI052",
        None,
    ),
    (
        f"{VLLM}17569",
        "ValueError: The output_size of gate's and up's weight = 192 is not divisible by weight "
        "quantization block_n = 128.",
        "block-not-divisible",
        "LMI053",
        None,
    ),
    (
        "https://github.com/QwenLM/Qwen3-VL/issues/831",
        "ERROR 02-22 00:01:41 engine.py:400] The input size is not aligned with the quantized "
        "weight shape. This can be caused by too large tensor parallel size.",
        "group-not-divisible",
        "LMI053",
        None,
    ),
    (
        f"{VLLM}3676",
        "ValueError: User-specified max_model_len (131072) is greater than the derived "
        "max_model_len (None=8192 in model's config.json).",
        "context-too-long",
        "LMI056",
        "max_model_len=8192",
    ),
    (
        "https://github.com/xorbitsai/inference/issues/1715",
        "ValueError: [address=127.0.0.1:37657, pid=3125985] User-specified max_model_len (4096) is "
        "greater than the derived max_model_len (seq_length=2048 or model_max_length=None in "
        "model's config.json).",
        "context-too-long",
        "LMI056",
        "max_model_len=2048",
    ),
    (
        "https://github.com/substratusai/vllm-docker/issues/37",
        "ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0. "
        "Your Tesla T4 GPU has compute capability 7.5. You can use float16 instead by explicitly "
        "setting the`dtype` flag in CLI, for example: --dtype=half.",
        "no-bfloat16",
        "LMI054",
        "dtype=fp16",
    ),
    (
        f"{VLLM}4327",
        "ValueError: The quantization method fp8 is not supported for the current GPU. Minimum "
        "capability: 90. Current capability: 86.",
        "quantization-not-supported",
        "LMI054",
        None,
    ),
    (
        f"{VLLM}14040",
        "RuntimeError: ('Quantization scheme is not supported for ', 'the current GPU. Min "
        "capability: 80. ', 'Current capability: 75.')",
        "quantization-not-supported",
        "LMI054",
        None,
    ),
    (
        "https://github.com/Laft02/ComfyUI-notebook-for-SageMaker-Studio-Lab/issues/3",
        "RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please "
        "update your GPU driver",
        "driver-too-old",
        "LMI032",
        None,
    ),
    (
        "https://github.com/NVIDIA/cudf/issues/328",
        "GDFError: CUDA ERROR. cudaErrorInsufficientDriver: CUDA driver version is insufficient "
        "for CUDA runtime version",
        "driver-too-old",
        "LMI032",
        None,
    ),
    (
        "https://github.com/aws/sagemaker-huggingface-inference-toolkit/pull/80",
        "OSError: [Errno 28] No space left on device: '/opt/ml/model/pytorch_model-00001-of-00005"
        ".bin'",
        "disk-full",
        "LMI057",
        None,
    ),
    (
        f"{VLLM}7800",
        "(VllmWorkerProcess pid=232) ERROR 08-23 08:25:25 multiproc_worker_utils.py:226] Exception "
        "in worker VllmWorkerProcess while processing method init_device: NCCL error: unhandled "
        "system error (run with NCCL_DEBUG=INFO for details), Traceback (most recent call last):",
        "nccl",
        None,
        None,
    ),
    (
        "https://github.com/McGill-NLP/llm2vec/issues/130",
        "Access to model mistralai/Mistral-7B-Instruct-v0.2 is restricted. You must be "
        "authenticated to access it.",
        "gated-model",
        None,
        None,
    ),
    (
        "https://github.com/kyegomez/NeoSapiens/issues/3",
        "Repo model meta-llama/Llama-2-7b is gated. You must be authenticated to access it.",
        "gated-model",
        None,
        None,
    ),
    (
        "https://github.com/h2oai/h2ogpt/issues/1186",
        'NameResolutionError("<urllib3.connection.HTTPSConnection object at 0x7fb471e53400>: '
        "Failed to resolve \\'huggingface.co\\' ([Errno -3] Temporary failure in name "
        'resolution)"))',
        "hub-not-reachable",
        "LMI090",
        None,
    ),
    (
        "https://github.com/facebookresearch/bitsandbytes/issues/34",
        "OSError: We couldn't connect to 'https://huggingface.co' to load this file, couldn't find "
        "it in the cached files",
        "hub-not-reachable",
        "LMI090",
        None,
    ),
    (
        "https://github.com/runpod-workers/worker-vllm/issues/43",
        "2024-02-08T08:40:56.161703147Z The repository for TheBloke/Nous-Capybara-34B-AWQ contains "
        "custom code which must be executed to correctly load the model.",
        "code-not-trusted",
        "LMI027",
        "trust_remote_code=true",
    ),
    (
        f"{VLLM}6215",
        "ValueError: Loading microsoft/Phi-3-small-8k-instruct requires you to execute the "
        "configuration file in that repo on your local machine.",
        "code-not-trusted",
        "LMI027",
        "trust_remote_code=true",
    ),
    (
        "https://github.com/allenai/open-instruct/issues/738",
        "Exception: data did not match any variant of untagged enum ModelWrapper at line 1251012 "
        "column 3",
        "engine-too-old-for-tokenizer",
        None,
        None,
    ),
    (
        f"{VLLM}15120",
        "ValueError: Unrecognized model in /app/model/gemma2. Should have a `model_type` key in its "
        "config.json",
        "no-model-type",
        None,
        None,
    ),
    (
        "https://github.com/FreedomIntelligence/HuatuoGPT-II/issues/18",
        "ValueError: Tokenizer class BaichuanTokenizer does not exist or is not currently "
        "imported.",
        "tokenizer",
        None,
        None,
    ),
    (
        f"{VLLM}10481",
        "ValueError: Model architectures ['LlamaModel'] are not supported for now.",
        "architecture-not-supported",
        "LMI017",
        None,
    ),
    (
        "https://github.com/hiyouga/LlamaFactory/issues/9512",
        "(EngineCore_DP0 pid=1789245) ERROR 11-19 12:54:26 [core.py:710] RuntimeError: Worker "
        "failed with error 'LoRA rank 32 is greater than max_lora_rank 16.', please check the "
        "stack trace above for the root cause",
        "adapter-rank-too-large",
        None,
        None,
    ),
    (
        f"{VLLM}9312",
        "api_server.py: error: argument --tool-call-parser: invalid choice: 'llama3_json' (choose "
        "from 'mistral', 'hermes')",
        "bad-argument",
        "LMI001",
        None,
    ),
    (
        "https://github.com/vllm-project/vllm-omni/pull/1397",
        "E       pydantic_core._pydantic_core.ValidationError: 1 validation error for LoRAConfig",
        "bad-argument",
        "LMI001",
        None,
    ),
    (
        "https://github.com/aws/deep-learning-containers/pull/6673",
        "Final Resource State: Failed. Failure Reason: Unable to provision requested ML compute "
        "capacity due to InsufficientInstanceCapacity error.",
        "no-capacity",
        None,
        None,
    ),
    (
        "https://github.com/aws/amazon-sagemaker-examples/issues/307",
        "The account-level service limit 'ml.m4.xlarge for endpoint usage' is 0 Instances, with "
        "current utilization of 0 Instances and a request delta of 1 Instances. ",
        "quota",
        None,
        None,
    ),
    (
        "https://github.com/yuyasugano/terraform-sagemaker-sample-1/issues/1",
        "Please make sure all images included in the model for the production variant variant-1 "
        "exist, and that the execution role used to create the model has permissions to access "
        "them.",
        "image-not-accessible",
        "LMI092",
        None,
    ),
    (
        "https://github.com/aws-solutions-library-samples/guidance-for-text-generation-using-"
        "embeddings-from-enterprise-data-on-aws/issues/3",
        'Failed to download model data from URL "s3://jumpstart-cache/x/". Please ensure that an S3 '
        "VPC endpoint exists in route table or NAT gateway for the VPC mode and the URL is reachable "
        "from within the subnets provided.",
        "s3-not-reachable",
        "LMI099",
        None,
    ),
    (
        "https://github.com/philschmid/llm-sagemaker-sample/issues/2",
        "Could not access model data at s3://bucket/huggingface-qlora/output/model/. Please ensure "
        'that the role "x" exists',
        "model-data-not-accessible",
        "LMI091",
        None,
    ),
    (
        "https://github.com/aws-samples/cvat-on-aws-china/issues/3",
        'Failed to download model data for container "container_1" from URL: "s3://x/model.tar.gz".',
        "model-data-not-accessible",
        "LMI091",
        None,
    ),
    (
        "https://github.com/awslabs/fmbench-orchestrator/issues/28",
        "Caused by: java.util.concurrent.TimeoutException",
        "loading-timeout",
        "LMI062",
        None,
    ),
    (
        "https://github.com/awslabs/llm-hosting-container/issues/18",
        "Failed. Reason: The primary container for production variant AllTraffic did not pass the "
        "ping health check. Please check CloudWatch logs for this endpoint..",
        "health-check",
        "LMI062",
        None,
    ),
    (
        "https://github.com/vllm-project/vllm-omni/issues/469",
        "(EngineCore_DP0 pid=563) ERROR 12-23 23:34:23 [core.py:708] EngineCore failed to start.",
        "engine-failed",
        None,
        None,
    ),
]

# Lines of public logs of starts that went well, or that say nothing by themselves.
HEALTHY_LINES = [
    "INFO 03-10 08:07:20 [gpu_model_runner.py:1067] Model loading took 0.2389 GB and 0.977 seconds",
    "Memory profiling results: total_gpu_memory=23.58GiB kv_cache_size=3.81GiB",
    "Maximum concurrency for 20000 tokens per request: 1.56x",
    "INFO [gpu_worker.py:298] Available KV cache memory: 2.77 GiB",
    "WARNING 03-11 02:55:27 tokenizer.py:64] Using a slow tokenizer. This might cause a slowdown.",
    "[rank0]:[W409 ProcessGroupNCCL.cpp:1250] Warning: WARNING: process group has NOT been "
    "destroyed before we destruct ProcessGroupNCCL.",
    "INFO 11-25 08:17:27 config.py:1020] Defaulting to use mp for distributed inference",
    "`torch_dtype` is deprecated! Use `dtype` instead!",
    '10.32.0.2 - - [08/Jun/2020:07:15:51 +0000] "GET /ping HTTP/1.1" 200 3 "-" "AHC/2.0"',
    "INFO  ModelServer Initialize BOTH server with: EpollServerSocketChannel.",
]
