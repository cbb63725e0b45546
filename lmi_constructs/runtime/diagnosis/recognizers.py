"""What log lines of a failing endpoint mean: one row a cause, each seen in a public log.

A pattern's named groups fill the braces of the texts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

RemedyName = Literal["out_of_memory", "loading_timeout", "nccl", "tokenizer"]

Weight = Literal["cause", "perhaps a consequence", "consequence"]
"""How much a line tells: another failure often leaves the lines of a consequence behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognizer:
    """One kind of failure.

    Attributes:
        name: Short name, stable.
        pattern: What a line of it looks like.
        cause: What happened, in words.
        fix: What to write instead.
        source: Public log in which the line was seen.
        rule: Rule that finds the same fault before deploying, where one does.
        change: Setting to change, as `name=value`.
        remedy: Method of `container.Remedies` that changes the settings.
        weight: How much the line tells.
    """

    name: str
    pattern: re.Pattern[str]
    cause: str
    fix: str
    source: str
    rule: str | None = None
    change: str | None = None
    remedy: RemedyName | None = None
    weight: Weight = "cause"


def _line(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_VLLM: Final = "https://github.com/vllm-project/vllm/issues/"

_MEMORY: Final = (
    Recognizer(
        name="out-of-memory",
        pattern=_line(
            r"CUDA out of memory\.(?:.*total capacity of (?P<total>[\d.]+ \wiB))?"
            r"|torch\.(?:cuda\.)?OutOfMemoryError"
        ),
        cause="an accelerator ran out of memory",
        fix="share the model over more GPUs, let fewer and shorter sequences run, or take larger "
        "accelerators or quantized weights; `lmi plan` shows what takes the memory",
        source=f"{_VLLM}14095",
        rule="LMI050",
        remedy="out_of_memory",
    ),
    Recognizer(
        name="no-cache-memory",
        pattern=_line(
            r"No available memory for the cache blocks"
            r"|Available KV cache memory: -(?P<missing>[\d.]+ GiB)"
        ),
        cause="the weights leave no memory for the KV cache",
        fix="share the model over more GPUs (tensor_parallel_degree), take larger accelerators or "
        "quantized weights; if the planner says that it fits, raise gpu_memory_utilization",
        source=f"{_VLLM}10439",
        rule="LMI050",
    ),
    Recognizer(
        name="cache-too-small",
        pattern=_line(
            r"max seq len \((?P<length>\d+)\) is larger than the maximum number of tokens that can "
            r"be stored in KV cache \((?P<fits>\d+)\)"
        ),
        cause="one sequence of max_model_len ({length} tokens) does not fit into the KV cache",
        fix="set max_model_len to {fits} or less, or make room as for more GPUs",
        source=f"{_VLLM}10517",
        rule="LMI050",
        change="max_model_len={fits}",
    ),
    Recognizer(
        name="cache-too-small",
        pattern=_line(
            r"To serve at least one request with the model'?s'?s? max seq len \((?P<length>\d+)\)"
            r"(?:.*estimated maximum model length is (?P<fits>\d+))?"
        ),
        cause="one sequence of max_model_len ({length} tokens) does not fit into the KV cache",
        fix="set max_model_len to {fits} or less, or use more or larger accelerators",
        source="https://github.com/vllm-project/tpu-inference/pull/223",
        rule="LMI050",
        change="max_model_len={fits}",
    ),
)

_SHAPE: Final = (
    Recognizer(
        name="heads-not-divisible",
        pattern=_line(
            r"Total number of attention heads \((?P<heads>\d+)\) must be divisible by tensor "
            r"parallel size \((?P<ranks>\d+)\)"
        ),
        cause="{heads} attention heads cannot be shared by {ranks} ranks",
        fix="set tensor_parallel_degree to a number that divides {heads}",
        source=f"{_VLLM}2652",
        rule="LMI052",
    ),
    Recognizer(
        name="block-not-divisible",
        pattern=_line(
            r"_size of \S+(?: and \S+)? weight = (?P<size>\d+) is not divisible by weight "
            r"quantization block_[nk] = (?P<block>\d+)"
        ),
        cause="a rank's part of the quantized weights ({size}) is no multiple of the block of "
        "{block}",
        fix="use a smaller tensor_parallel_degree, with expert parallelism for the rest of the GPUs "
        "(enable_expert_parallel)",
        source=f"{_VLLM}17569",
        rule="LMI053",
    ),
    Recognizer(
        name="group-not-divisible",
        pattern=_line(r"(?:input|output) size is not aligned with the quantized weight shape"),
        cause="the ranks cannot share the quantized weights: a group would be cut",
        fix="use a smaller tensor_parallel_degree, or a checkpoint that was quantized with another "
        "group size",
        source=f"{_VLLM}5675",
        rule="LMI053",
    ),
    Recognizer(
        name="context-too-long",
        pattern=_line(
            r"User-specified max_model_len \((?P<length>\d+)\) is greater than the derived "
            r"max_model_len \((?:\w+=)?(?P<own>\d+)?"
        ),
        cause="max_model_len ({length} tokens) is longer than the model's own context",
        fix="set max_model_len to {own} or less",
        source=f"{_VLLM}3676",
        rule="LMI056",
        change="max_model_len={own}",
    ),
)

_HARDWARE: Final = (
    Recognizer(
        name="no-bfloat16",
        pattern=_line(
            r"Bfloat16 is only supported on GPUs with compute capability of at least 8\.0"
            r"(?:\. Your (?P<gpu>.+?) GPU has)?"
        ),
        cause="the GPU ({gpu}) cannot compute in bfloat16",
        fix="set dtype to fp16, or use a newer accelerator (g5, g6, p4 and later)",
        source=f"{_VLLM}1157",
        rule="LMI054",
        change="dtype=fp16",
    ),
    Recognizer(
        name="quantization-not-supported",
        pattern=_line(
            r"(?:quantization method (?P<method>\w+) is|Quantization scheme is) not supported for\W+"
            r"the current GPU\. Min(?:imum)? capability: (?P<needed>\d+)"
        ),
        cause="the GPU is too old for this quantization (it needs compute capability {needed})",
        fix="use a newer accelerator, or a checkpoint quantized in another way",
        source=f"{_VLLM}4202",
        rule="LMI054",
    ),
    Recognizer(
        name="driver-too-old",
        pattern=_line(
            r"CUDA driver version is insufficient for CUDA runtime version"
            r"|The NVIDIA driver on your system is too old(?: \(found version (?P<found>\d+)\))?"
        ),
        cause="the driver of the host is too old for the CUDA of the image",
        fix="set the variant's inference_ami_version to a host image that fits the container "
        "release",
        source="https://github.com/bentoml/aws-sagemaker-deploy/issues/50",
        rule="LMI032",
    ),
    Recognizer(
        name="disk-full",
        pattern=_line(r"No space left on device|kind: StorageFull"),
        cause="the disk is full",
        fix="mount the model from an S3 prefix instead of downloading it, keep one weight format in "
        "it, or use an instance type with larger local storage",
        source="https://github.com/huggingface/text-generation-inference/issues/694",
        rule="LMI057",
    ),
    Recognizer(
        name="nccl",
        pattern=_line(r"NCCL error|ncclSystemError|ncclInternalError|ncclUnhandledCudaError"),
        cause="the GPUs could not talk to each other (NCCL)",
        fix="look for an earlier failure of one rank; otherwise turn the engine's own all-reduce "
        "off and let NCCL say more",
        source=f"{_VLLM}7800",
        remedy="nccl",
        weight="perhaps a consequence",
    ),
)

_MODEL: Final = (
    Recognizer(
        name="gated-model",
        pattern=_line(
            r"Access to model (?P<model>\S+) is restricted|You are trying to access a gated repo"
            r"|Cannot access gated repo|Repo model (?P<repo>\S+) is gated"
        ),
        cause="the model is gated, and the container has no token that may read it",
        fix="accept the model's terms, and give a token from a secret with the model data "
        "(ModelData.hub(..., token=secret)); better, mount the model from S3",
        source="https://github.com/McGill-NLP/llm2vec/issues/130",
    ),
    Recognizer(
        name="hub-not-reachable",
        pattern=_line(
            r"We couldn't connect to 'https://huggingface\.co'"
            r"|Failed to resolve \\?'huggingface\.co\\?'"
            r"|Connection to huggingface\.co timed out"
        ),
        cause="the container cannot reach the model hub",
        fix="mount the model from an S3 prefix; or switch network isolation off and give the "
        "subnets a way to the internet",
        source="https://github.com/h2oai/h2ogpt/issues/1186",
        rule="LMI090",
    ),
    Recognizer(
        name="code-not-trusted",
        pattern=_line(
            r"contains custom code which must be executed to correctly load the model"
            r"|requires you to execute (?:custom code|the configuration file)"
        ),
        cause="the model brings code of its own, which is not trusted",
        fix="set trust_remote_code to true, and pin the revision: the code runs with the "
        "endpoint's permissions",
        source="https://github.com/InternLM/lagent/issues/49",
        rule="LMI027",
        change="trust_remote_code=true",
    ),
    Recognizer(
        name="engine-too-old-for-tokenizer",
        pattern=_line(r"data did not match any variant of untagged enum \w+"),
        cause="the release's tokenizers library is too old for this tokenizer.json",
        fix="use a newer container release",
        source="https://github.com/allenai/open-instruct/issues/738",
    ),
    Recognizer(
        name="tokenizer",
        pattern=_line(
            r"Tokenizer class (?P<tokenizer>\w+) does not exist or is not currently imported"
        ),
        cause="the tokenizer class {tokenizer} is not part of the release",
        fix="use the slow tokenizer, trust the model's own code, or use a newer container release",
        source="https://github.com/FreedomIntelligence/HuatuoGPT-II/issues/18",
        remedy="tokenizer",
    ),
    Recognizer(
        name="architecture-not-supported",
        pattern=_line(
            r"Model architectures \[(?P<architecture>[^\]]+)\] are not supported"
            r"|Transformers does not recognize this architecture"
        ),
        cause="the release's engine does not know this kind of model",
        fix="use a newer container release; for fine-tuned models, keep the architecture in "
        "config.json that the base model has",
        source=f"{_VLLM}10481",
        rule="LMI017",
    ),
    Recognizer(
        name="no-model-type",
        pattern=_line(r"Unrecognized model in \S+ Should have a `model_type` key"),
        cause="the engine cannot tell what model it is: config.json names no model_type, or is not "
        "the model's own",
        fix="copy config.json again from the model's repository; `lmi preflight` looks at the files",
        source=f"{_VLLM}15120",
    ),
    Recognizer(
        name="adapter-rank-too-large",
        pattern=_line(r"LoRA rank (?P<rank>\d+) is greater than max_lora_rank (?P<most>\d+)"),
        cause="an adapter has rank {rank}, and max_lora_rank is {most}",
        fix="set max_lora_rank to {rank}, or the next of 1, 8, 16, 32, 64, 128, 256, 320, 512",
        source=f"{_VLLM}2847",
    ),
)

_SETTINGS: Final = (
    Recognizer(
        name="bad-argument",
        pattern=_line(r"error: argument --(?P<argument>[\w/-]+): (?P<problem>.+)"),
        cause="the engine refuses the setting {argument}: {problem}",
        fix="correct the setting; `lmi verdict` says what the release accepts",
        source=f"{_VLLM}9312",
        rule="LMI001",
    ),
    Recognizer(
        name="bad-argument",
        pattern=_line(r"\d+ validation errors? for (?P<owner>\w+)"),
        cause="the container refuses a setting (the lines after this one name it)",
        fix="correct the setting; `lmi verdict` says what the release accepts",
        source="https://github.com/vllm-project/vllm-omni/pull/1397",
        rule="LMI001",
    ),
)

_PLATFORM: Final = (
    Recognizer(
        name="no-capacity",
        pattern=_line(
            r"InsufficientInstanceCapacity|Unable to provision requested ML compute capacity"
        ),
        cause="AWS has no instance of this type free",
        fix="try again later, in another availability zone or region, or with another type",
        source="https://github.com/aws/deep-learning-containers/pull/6673",
    ),
    Recognizer(
        name="quota",
        pattern=_line(
            r"account-level service limit '(?P<quota>[^']+)' is (?P<limit>\d+) Instances"
        ),
        cause="the account's quota '{quota}' is {limit}",
        fix="ask for a higher quota in Service Quotas",
        source="https://github.com/aws/amazon-sagemaker-examples/issues/307",
    ),
    Recognizer(
        name="image-not-accessible",
        pattern=_line(
            r"make sure all images included in the model for the production variant (?P<variant>\S+)"
            r" exist"
        ),
        cause="the image does not exist, or the role may not pull it",
        fix="use an image URI of this region that exists, and let the role pull it",
        source="https://github.com/yuyasugano/terraform-sagemaker-sample-1/issues/1",
        rule="LMI092",
    ),
    Recognizer(
        name="s3-not-reachable",
        pattern=_line(
            r"Failed to download model data from URL \"(?P<place>[^\"]+)\".*S3 VPC endpoint exists"
        ),
        cause="no way leads from the model's subnets to {place}",
        fix="add a gateway endpoint for S3 to the subnets' route tables, or choose subnets with a "
        "route to a NAT gateway",
        source="https://github.com/aws-solutions-library-samples/guidance-for-text-generation-using-"
        "embeddings-from-enterprise-data-on-aws/issues/3",
        rule="LMI099",
    ),
    Recognizer(
        name="model-data-not-accessible",
        pattern=_line(
            r"Could not access model data at (?P<place>\S+?)\.? Please"
            r"|Failed to download model data for container"
        ),
        cause="the model data does not exist, or the role may not read it",
        fix="check the prefix and its region; the role needs s3:GetObject, and s3:ListBucket for "
        "uncompressed data",
        source="https://github.com/philschmid/llm-sagemaker-sample/issues/2",
        rule="LMI091",
    ),
    Recognizer(
        name="loading-timeout",
        pattern=_line(r"java\.util\.concurrent\.TimeoutException"),
        cause="a worker did not answer in time, as when loading takes longer than "
        "model_loading_timeout",
        fix="raise model_loading_timeout, and the variant's "
        "container_startup_health_check_timeout with it",
        source="https://github.com/awslabs/fmbench-orchestrator/issues/28",
        rule="LMI062",
        remedy="loading_timeout",
        weight="perhaps a consequence",
    ),
    Recognizer(
        name="health-check",
        pattern=_line(r"did not pass the ping health check"),
        cause="the container was not ready in time, or stopped",
        fix="find the cause in the log; if it was still loading, raise "
        "container_startup_health_check_timeout",
        source="https://github.com/awslabs/llm-hosting-container/issues/18",
        rule="LMI062",
        weight="consequence",
    ),
    Recognizer(
        name="engine-failed",
        pattern=_line(r"EngineCore failed to start|Engine core initialization failed"),
        cause="the engine did not start",
        fix="the lines before this one say why",
        source="https://github.com/vllm-project/vllm-omni/issues/469",
        weight="consequence",
    ),
)

RECOGNIZERS: Final = (*_MEMORY, *_SHAPE, *_HARDWARE, *_MODEL, *_SETTINGS, *_PLATFORM)
