"""Hold the planner against public start-up logs: `python tests/planner/evaluate.py FILE`.

What a log does not say is not held against it: an engine without a version is dated by the number
of its issue in vLLM's repository, and a case is `cannot` only if that also holds under the most
favourable reading of the settings that it leaves out. The last line of the output is JSON.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from lmi_constructs.facts import Accelerator, accelerators, find_accelerator
from lmi_constructs.planner import Architecture, EngineConfiguration, Plan, plan
from lmi_constructs.planner.configuration import Setup, fill_in
from lmi_constructs.planner.kv_cache import cache_of
from lmi_constructs.planner.profile import GIB
from lmi_constructs.planner.quantization import Quantization, quantization_named
from lmi_constructs.planner.weights import lora_bytes, weight_bytes

STARTED = {"ok"}
NOT_STARTED = {
    "kv_too_small",
    "no_kv_memory",
    "oom",
    "tp_heads",
    "tp_quant",
    "unsupported_arch",
}
"""The other outcomes (`oom_after_kv`, `partial_log`) say neither."""

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

FIELDS = [
    "case_id",
    "model_id",
    "arch_ref",
    "vllm_version",
    "engine",
    "gpu",
    "gpu_count",
    "tp",
    "pp",
    "dp",
    "dtype",
    "quantization",
    "kv_cache_dtype",
    "gpu_memory_utilization",
    "max_model_len",
    "max_num_seqs",
    "max_num_batched_tokens",
    "enforce_eager",
    "enable_lora",
    "lora",
    "outcome",
    "notes",
]
OBSERVED = ["weights_gib", "total_gpu_gib", "non_torch_gib", "kv_gib", "kv_tokens", "kv_needed_gib"]

UNKNOWN = Accelerator("unknown", "unknown", 0, None, False, None)


@dataclass
class Result:
    """One case and what the planner says of it."""

    case: dict[str, Any]
    plan: Plan | None
    errors: dict[str, float]
    recent: bool
    favourable: Plan | None = None


def main(path: str) -> None:
    """Print how far the planner is from the logs of a file."""
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    cases = content if isinstance(content, list) else content["cases"]
    results = [evaluate(completed(case)) for case in cases]
    print_errors(results)
    table = Counter((r.case["outcome"], grade_of(r)) for r in results)
    print_confusion(table)
    for result in results:
        if is_wrong(result):
            print("  ", describe(result))
    print(json.dumps(summary(results), sort_keys=True))


def completed(case: dict[str, Any]) -> dict[str, Any]:
    """Return a case with every field, `None` where it is absent."""
    seen = {**dict.fromkeys(OBSERVED), **(case.get("observed") or {})}
    source = {"url": "", **{k: v for k, v in (case.get("source") or {}).items() if v is not None}}
    return {**dict.fromkeys(FIELDS), **case, "observed": seen, "source": source}


def evaluate(case: dict[str, Any]) -> Result:
    """Plan one case."""
    architecture = architecture_of(case)
    version, legacy = engine_of(case)
    recent = is_recent(case, version)
    if architecture is None:
        return Result(case, None, {}, recent)
    device = device_of(case)
    configuration = configuration_of(case, architecture, version, legacy)
    setup = fill_in(configuration, architecture, device)
    planned = plan(architecture, device, configuration)
    favourable = plan(architecture, device, favourably_read(configuration))
    return Result(case, planned, errors_of(case, planned, setup), recent, favourable)


def errors_of(case: dict[str, Any], planned: Plan, setup: Setup) -> dict[str, float]:
    """Return the relative errors of the figures that the log shows."""
    seen, architecture, errors = case["observed"], planned.architecture, {}
    if not architecture.understood:
        return {}
    cache = cache_of(architecture, setup)
    if seen["weights_gib"]:
        weights = weight_bytes(architecture, setup)
        weights += lora_bytes(architecture, planned.configuration, setup)
        errors["weights"] = weights / GIB / seen["weights_gib"] - 1
    if seen["kv_needed_gib"] and case["max_model_len"]:
        needed = cache.needed(case["max_model_len"]) / GIB
        errors["kv_needed"] = needed / seen["kv_needed_gib"] - 1
    if seen["kv_tokens"] and seen["kv_gib"]:
        errors["kv_of_gib"] = cache.tokens(seen["kv_gib"] * GIB) / seen["kv_tokens"] - 1
    if seen["kv_tokens"] and planned.kv_tokens is not None:
        errors["kv_tokens"] = planned.kv_tokens / seen["kv_tokens"] - 1
    return errors


def architecture_of(case: dict[str, Any]) -> Architecture | None:
    """Return the model of a case: its own shape, or that of the model it is derived from."""
    own, base = Architecture.known(case["model_id"] or ""), None
    if case["arch_ref"]:
        base = Architecture.known(case["arch_ref"])
    found = own or base
    if found is None:
        return None
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
    legacy = {"V0": True, "V1": False}.get(case["engine"])
    if case["vllm_version"]:
        numbers = tuple(int(part) for part in re.findall(r"\d+", case["vllm_version"])[:3])
        return (*numbers, 0, 0)[:3], legacy
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
    known = [find_accelerator(part) for part in (name, *re.split(r"\s*[+/]\s*", name))]
    found = next((device for device in known if device is not None), None)
    size = re.search(r"(\d+) ?GB", name)
    if found is None and size is not None:
        shown = [
            device.usable_memory_gib
            for device in accelerators().values()
            if device.memory_gib == int(size[1]) and device.usable_memory_gib
        ]
        found = Accelerator(name, "", int(size[1]), min(shown, default=None), False, "8.6")
        found = replace(found, compute_capability="8.0") if "A100" in name else found
    if total and (found is None or found.usable_memory_gib is None or "/" in name):
        found = found or Accelerator(name or "unnamed", "", total, total, True, "8.6")
        found = replace(found, usable_memory_gib=total)
    return found or replace(UNKNOWN, name=name or "unknown")


def configuration_of(
    case: dict[str, Any],
    architecture: Architecture,
    version: tuple[int, ...],
    legacy: bool | None,
) -> EngineConfiguration:
    """Return the settings of a case."""
    adapters = re.search(r"(\d+) registered", case["lora"] or "")
    rank = re.search(r"max_lora_rank (\d+)", case["lora"] or "")
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
    return next((d for d in range(ranks, 0, -1) if architecture.heads % d == 0), 1)


def favourably_read(configuration: EngineConfiguration) -> EngineConfiguration:
    """Return the settings with those that are not stated as they need least."""
    return replace(
        configuration,
        max_model_len=configuration.max_model_len or -1,
        max_num_seqs=configuration.max_num_seqs or 1,
        max_num_batched_tokens=configuration.max_num_batched_tokens or 512,
        gpu_memory_utilization=configuration.gpu_memory_utilization or 0.98,
        expert_parallel=True,
    )


def strict_grade_of(result: Result) -> str:
    """Return the grade with defaults for what is not stated, `unknown` if the planner abstains."""
    return "unknown" if result.plan is None else result.plan.grade


def grade_of(result: Result) -> str:
    """Return the grade under the most favourable reading of what is not stated."""
    grade = strict_grade_of(result)
    if grade != "cannot" or result.favourable is None:
        return grade
    return "cannot" if result.favourable.grade == "cannot" else "marginal"


def is_wrong(result: Result) -> bool:
    """Tell whether grade and outcome contradict each other."""
    grade, outcome = grade_of(result), result.case["outcome"]
    return (outcome in STARTED and grade == "cannot") or (
        outcome in NOT_STARTED and grade == "fits"
    )


def names_accelerator(case: dict[str, Any]) -> bool:
    """Tell whether a log says on what it ran; without that no planner can grade it by memory."""
    return bool(case["gpu"] or case["observed"]["total_gpu_gib"])


def describe(result: Result) -> str:
    """Return a case and its errors on one line."""
    errors = " ".join(f"{name} {error:+.1%}" for name, error in result.errors.items())
    case = result.case
    return f"{case['case_id']} {case['model_id']}: {case['outcome']}, {grade_of(result)}; {errors}"


def quantiles(errors: list[float]) -> tuple[float | None, float | None]:
    """Return median and 90th percentile of absolute values."""
    sizes = sorted(abs(error) for error in errors)
    if not sizes:
        return None, None
    if len(sizes) == 1:
        return sizes[0], sizes[0]
    return statistics.median(sizes), statistics.quantiles(sizes, n=10, method="inclusive")[8]


def errors_named(results: list[Result], name: str) -> list[float]:
    """Return the errors of one figure; tokens only on engines from 0.6 on."""
    relevant = [r for r in results if name in r.errors and (r.recent or name != "kv_tokens")]
    return [result.errors[name] for result in relevant]


def print_errors(results: list[Result]) -> None:
    """Print the table of relative errors."""
    print(f"{'relative error':36}{'cases':>6}{'median':>9}{'p90':>9}")
    for name, title in (
        ("weights", "weights GiB"),
        ("kv_needed", "KV GiB needed for the context"),
        ("kv_of_gib", "KV tokens from the logged GiB"),
        ("kv_tokens", "KV tokens from the configuration"),
    ):
        errors = errors_named(results, name)
        median, high = quantiles(errors)
        figures = "" if median is None else f"{median:>9.1%}{high:>9.1%}"
        print(f"{title:36}{len(errors):>6}{figures}")
    older = [r.errors["kv_tokens"] for r in results if "kv_tokens" in r.errors and not r.recent]
    median, high = quantiles(older)
    if median is not None:
        print(f"{'  the same on engines before 0.6':36}{len(older):>6}{median:>9.1%}{high:>9.1%}")


def print_confusion(table: Counter[tuple[str, str]]) -> None:
    """Print outcomes against grades."""
    grades = ("fits", "marginal", "cannot", "unknown")
    print("\n" + f"{'outcome':20}" + "".join(f"{grade:>10}" for grade in grades))
    for outcome in sorted({outcome for outcome, _ in table}):
        print(f"{outcome:20}" + "".join(f"{table[outcome, grade]:>10}" for grade in grades))
    print()


def summary(results: list[Result]) -> dict[str, Any]:
    """Return the figures of the last line."""
    weights, tokens = (
        quantiles(errors_named(results, "weights")),
        quantiles(errors_named(results, "kv_tokens")),
    )
    graded = [r for r in results if grade_of(r) != "unknown"]
    failed = [r for r in graded if r.case["outcome"] in NOT_STARTED]
    started = [r for r in graded if r.case["outcome"] in STARTED]
    ungraded = [r for r in results if grade_of(r) == "unknown"]
    abstained = [r for r in ungraded if names_accelerator(r.case)]
    return {
        "weights_median": weights[0],
        "weights_p90": weights[1],
        "kv_tokens_median": tokens[0],
        "kv_tokens_p90": tokens[1],
        "refused_ok_with_defaults": sum(strict_grade_of(r) == "cannot" for r in started),
        "refused_ok": sum(grade_of(r) == "cannot" for r in started),
        "caught": sum(grade_of(r) in ("cannot", "marginal") for r in failed),
        "not_started": len(failed),
        "abstained": len(abstained),
        "no_accelerator_named": len(ungraded) - len(abstained),
        "cases": len(results),
        "started": len(started),
        "started_fits": sum(grade_of(r) == "fits" for r in started),
        "not_started_in_all": sum(r.case["outcome"] in NOT_STARTED for r in results),
    }


if __name__ == "__main__":
    main(sys.argv[1])
