"""Reading public start-up logs: what a case says of model, accelerator and settings."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lmi_constructs.facts import Accelerator, accelerators, find_accelerator
from lmi_constructs.planner import Architecture, EngineConfiguration
from lmi_constructs.planner.profile import GIB
from lmi_constructs.planner.quantization import Quantization, quantization_named

if TYPE_CHECKING:
    from lmi_constructs.planner.kv_cache import Cache

RELEASE_AT_ISSUE = (
    (38000, (0, 19, 0)),
    (33800, (0, 16, 0)),
    (32700, (0, 15, 0)),
    (31000, (0, 13, 0)),
    (29800, (0, 12, 0)),
    (26000, (0, 11, 0)),
    (24800, (0, 10, 2)),
    (23100, (0, 10, 1)),
    (21500, (0, 10, 0)),
    (20500, (0, 9, 2)),
    (18700, (0, 9, 0)),
    (17350, (0, 8, 5)),
    (15000, (0, 8, 0)),
    (13600, (0, 7, 3)),
    (12800, (0, 7, 2)),
    (12500, (0, 7, 0)),
    (11200, (0, 6, 5)),
    (10350, (0, 6, 4)),
    (8150, (0, 6, 0)),
    (7100, (0, 5, 4)),
    (5400, (0, 5, 0)),
    (3700, (0, 4, 0)),
    (2600, (0, 3, 0)),
    (0, (0, 2, 0)),
)
"""Newest release when an issue of that number was opened, roughly; the cases that name a version
agree. A pull request runs the code of the release that follows."""

V0, V1 = (0, 7, 3), (0, 11, 0)
"""Versions that are assumed if only the engine is known."""

WORDS = (
    *("model_id", "arch_ref", "vllm_version", "engine", "gpu", "dtype", "quantization"),
    *("kv_cache_dtype", "lora", "notes"),
)
NUMBERS = (
    *("gpu_count", "tp", "pp", "dp", "max_model_len", "max_num_seqs"),
    "max_num_batched_tokens",
)
OTHERS = ("case_id", "gpu_memory_utilization", "enforce_eager", "enable_lora", "outcome")
OBSERVED = (
    *("weights_gib", "total_gpu_gib", "non_torch_gib", "kv_gib", "kv_tokens", "kv_needed_gib"),
    *("gpu_blocks", "block_size", "kv_capacity_in_error"),
)

_TOTAL = r"(?:total capaci?ty of (\d+\.\d+) GiB|(\d+\.\d+) GiB total capacity)"
_SAME_MEMORY = 0.02
"""Accelerators that show memory within this share of each other are not told apart by it."""

_SMALLEST = 1e-6
_MOST_DIGITS = 20
"""No figure of a log is smaller, and none has more digits."""

UNKNOWN = Accelerator("unknown", "unknown", 0, None, False, None)


def completed(case: dict[str, Any]) -> dict[str, Any]:
    """Return a case with every field: `None` where it is absent or of no use, words as text."""
    given = case.get("observed")
    seen = dict(given) if isinstance(given, dict) else {}
    seen = {**seen, **{name: positive(seen.get(name)) for name in OBSERVED}}
    seen["total_gpu_gib"] = seen["total_gpu_gib"] or total_in(case.get("error"), case.get("notes"))
    source = case.get("source") if isinstance(case.get("source"), dict) else {}
    number = positive(source.get("number"))
    source = {"url": str(source.get("url") or ""), "repo": source.get("repo"), "number": number}
    fields = {**dict.fromkeys((*WORDS, *NUMBERS, *OTHERS)), **case}
    for name in WORDS:
        fields[name] = None if fields[name] is None else str(fields[name])
    for name in NUMBERS:
        value = positive(fields[name])
        fields[name] = None if value is None or value < 1 else int(value)
    share = positive(fields["gpu_memory_utilization"])
    fields["gpu_memory_utilization"] = share if share is not None and share <= 1 else None
    for name in ("enforce_eager", "enable_lora"):
        fields[name] = fields[name] if isinstance(fields[name], bool) else None
    fields["outcome"] = str(fields["outcome"])
    return {**fields, "observed": seen, "source": source}


def total_in(*texts: object) -> float | None:
    """Return the accelerator's memory in GiB that PyTorch names when it runs out of it."""
    for text in texts:
        found = re.search(_TOTAL, text) if isinstance(text, str) else None
        if found is not None:
            return positive(float(found[1] or found[2]))
    return None


def positive(value: object) -> float | int | None:
    """Return a number that a log can hold, `None` for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if _SMALLEST <= value < 10**12 else None


def number_of(digits: str) -> float | int:
    """Return a whole number; one without end, which `int` refuses to read, is infinite."""
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


def architecture_of(case: dict[str, Any]) -> Architecture:
    """Return the model of a case: its own shape, or that of the model it is derived from."""
    own, base = Architecture.known(case["model_id"] or ""), None
    if case["arch_ref"]:
        base = Architecture.known(case["arch_ref"])
    found = own or base or Architecture.unknown(case["model_id"] or "a model without a name")
    found = replace(found, name=case["model_id"] or found.name)
    if case["max_model_len"] and found.max_context:  # a log does not say whether it was stretched
        found = replace(found, max_context=max(case["max_model_len"], found.max_context))
    words = case["quantization"] or (found.quantization is None and case["model_id"]) or ""
    said = quantization_of(words)
    if said is None:
        foreign = case["quantization"] or re.search("gguf|exl2|awq|gptq|4bit", words, re.IGNORECASE)
        return replace(found, understood=False, doubt="its format") if foreign else found
    same = found.quantization is not None and found.quantization.method == said.method
    return found if same else replace(found, quantization=said)


def quantization_of(text: str) -> Quantization | None:
    """Return the format that a case names in its own words."""
    words = text.lower()
    for name in (words, *re.findall(r"[a-z0-9]+", words)):
        found = quantization_named(name)
        if found is None:
            continue
        if found.bits == 4 and re.search(r"int8|8-?bit|w8a", words):
            wide = replace(found, bits=8)
            found = quantization_named("int8") if found.method == "nf4" else wide
        if found is not None and found.method == "fp8" and "block" in words:
            found = replace(found, block=128)
        return found and replace(found, origin="log", online="online" in words)
    return None


def engine_of(case: dict[str, Any]) -> tuple[tuple[int, ...], bool | None]:
    """Return the version of the engine, as far as the case tells, and whether it is the old one."""
    legacy = {"V0": True, "V1": False}.get(case["engine"] or "")
    numbers = tuple(int(part) for part in re.findall(r"\d{1,9}", case["vllm_version"] or "")[:3])
    if len(numbers) > 1:
        return (*numbers, 0)[:3], legacy
    source = case["source"]
    if source.get("repo") == "vllm-project/vllm" and source.get("number"):
        position = next(
            i for i, (number, _) in enumerate(RELEASE_AT_ISSUE) if source["number"] >= number
        )
        if "/pull/" in source["url"]:
            position = max(0, position - 1)
        version = RELEASE_AT_ISSUE[position][1]
        if legacy is False:
            version = max(version, (0, 8, 0))
        return version, legacy
    return (V1 if legacy is False else V0), legacy


def is_recent(case: dict[str, Any], version: tuple[int, ...]) -> bool:
    """Tell whether the engine is known to be 0.6 or newer.

    An old engine of no known version is, if its log shows the terms that 0.6 began to print.
    """
    dated = case["vllm_version"] or case["source"].get("repo") == "vllm-project/vllm"
    if dated or case["engine"] == "V1":
        return version >= (0, 6, 0)
    return case["observed"]["non_torch_gib"] is not None


def device_of(case: dict[str, Any]) -> Accelerator:
    """Return the accelerator of a case: by name, by what the driver shows, or by its class."""
    name, total = case["gpu"] or "", case["observed"]["total_gpu_gib"]
    found = find_accelerator(name) or named_in(name)
    size = re.search(r"(?<!\d)(\d{1,6}) ?GB", name)
    if found is None and size is not None:
        shown = [
            device.usable_memory_gib
            for device in accelerators().values()
            if device.memory_gib == int(size[1]) and device.usable_memory_gib
        ]
        found = Accelerator(name, "", int(size[1]), min(shown, default=None), False, "8.6")
        found = replace(found, compute_capability="8.0") if "A100" in name else found
    if total and (found is None or found.usable_memory_gib is None or "/" in name):
        found = found or showing(total, name or "unnamed")
        found = replace(found, usable_memory_gib=total)
    return found or replace(UNKNOWN, name=name or "unknown")


def showing(total: float, name: str) -> Accelerator:
    """Return an unnamed accelerator by what the driver shows: the most able of those alike."""
    alike = [
        device
        for device in accelerators().values()
        if device.usable_memory_gib
        and abs(device.usable_memory_gib - total) <= _SAME_MEMORY * total
        and device.capability
    ]
    best = max(alike, key=lambda device: device.capability or (0, 0), default=None)
    return replace(best or Accelerator("", "", total, total, True, "8.6"), name=name)


def named_in(text: str) -> Accelerator | None:
    """Return the accelerator whose longest spelling stands in a text, the first of several."""
    spelled = {
        spelling: device
        for device in accelerators().values()
        for spelling in (device.name, *device.aliases)
    }
    first = re.split(r"[+/]", text)[0]
    for spelling in sorted(spelled, key=len, reverse=True):
        if re.search(rf"(?<!\w){re.escape(spelling)}(?!\w)", first, re.IGNORECASE):
            return spelled[spelling]
    return None


def configuration_of(
    case: dict[str, Any],
    architecture: Architecture,
    version: tuple[int, ...],
    legacy: bool | None,
) -> EngineConfiguration:
    """Return the settings of a case."""
    adapters = re.search(r"(?<!\d)(\d{1,6}) registered", case["lora"] or "")
    rank = re.search(r"max_lora_rank (\d{1,6})", case["lora"] or "")
    return EngineConfiguration(
        tensor_parallel_degree=case["tp"] or likely_degree(case, architecture),
        pipeline_parallel_degree=case["pp"],
        data_parallel_size=case["dp"],
        expert_parallel=re.search(r"expert.parallel|\bEP\b", case["notes"] or "") is not None,
        max_model_len=case["max_model_len"],
        max_num_seqs=case["max_num_seqs"],
        max_num_batched_tokens=case["max_num_batched_tokens"],
        gpu_memory_utilization=case["gpu_memory_utilization"],
        dtype=case["dtype"],
        kv_cache_dtype=case["kv_cache_dtype"],
        enforce_eager=case["enforce_eager"],
        enable_lora=case["enable_lora"],
        max_loras=int(adapters[1]) if adapters else None,
        max_lora_rank=int(rank[1]) if rank else None,
        speculative_config="draft" if "draft model" in (case["notes"] or "") else None,
        engine_version=version,
        legacy_engine=legacy,
    )


def likely_degree(case: dict[str, Any], architecture: Architecture) -> int:
    """Return the largest degree that accelerators and heads allow, where a case states none."""
    ranks = (case["gpu_count"] or 1) // ((case["pp"] or 1) * (case["dp"] or 1))
    ranks = min(ranks, architecture.heads)
    return next((d for d in range(ranks, 0, -1) if architecture.heads % d == 0), 1)


def favorably_read(configuration: EngineConfiguration) -> EngineConfiguration:
    """Return the settings with those that are not stated as they need least."""
    return replace(
        configuration,
        max_model_len=configuration.max_model_len or -1,
        max_num_seqs=configuration.max_num_seqs or 1,
        max_num_batched_tokens=configuration.max_num_batched_tokens or 512,
        gpu_memory_utilization=configuration.gpu_memory_utilization or 0.98,
        expert_parallel=True,
    )


def logged_cache_gib(case: dict[str, Any], cache: Cache) -> float | None:
    """Return the memory for the cache that the engine logged, in GiB or in tokens.

    It logs that before it compares it with the context
    (https://github.com/OpenRLHF/OpenRLHF/issues/336: the blocks, then the refusal), and a refusal
    only repeats it.
    """
    seen = case["observed"]
    if seen["kv_gib"]:
        return float(seen["kv_gib"])
    tokens = seen["kv_tokens"] or (seen["gpu_blocks"] or 0) * (seen["block_size"] or 16)
    return tokens * cache.token_bytes / GIB if tokens and cache.token_bytes else None


def stands_in_the_refusal_only(case: dict[str, Any]) -> bool:
    """Tell whether a log shows the cache nowhere but in the message that ended it."""
    seen = case["observed"]
    if seen["gpu_blocks"]:
        return False
    return bool(seen["kv_capacity_in_error"] or (seen["kv_needed_gib"] and not seen["kv_tokens"]))
