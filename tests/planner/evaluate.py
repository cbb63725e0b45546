"""Measures the planner against public start-up logs.

    python tests/planner/evaluate.py FILE

FILE holds cases as in `tests/planner/data/startup_logs.json`: what was configured, what was seen.
Prints per figure the median and 90th-percentile relative error, the confusion table of grade
against outcome, and one line of JSON with the totals.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from lmi_constructs.planner import (
    Architecture,
    EngineConfiguration,
    Place,
    Plan,
    Quantization,
    plan,
)

Case = dict[str, Any]
_STARTED = ("ok",)
_NO_OUTCOME = ("partial_log",)
_WIDE_RANK = 64


def main(path: str, *, verbose: bool = False) -> int:
    """Evaluate all cases of a file."""
    cases: list[Case] = json.loads(Path(path).read_text())
    errors: dict[str, list[float]] = {}
    table: Counter[tuple[str, str]] = Counter()
    skipped = 0
    for case in cases:
        planned = plan_of(case)
        grade = grade_of(case, planned)
        if grade == "unknown" and not is_told(case):
            skipped += 1
        elif case["outcome"] not in _NO_OUTCOME:
            table[case["outcome"], grade] += 1
        for figure, error in figures(case, planned).items():
            errors.setdefault(figure, []).append(error)
            if verbose and abs(error) > 0.05:
                print(f"  {case['case_id']} {figure} {error:+.1%}  {case['model_id']}")
        if verbose:
            _show_grade(case, planned)
    print(f"{skipped} cases do not tell what they ran on and are not graded")
    _print(errors, table)
    return 0


def plan_of(case: Case) -> Plan | None:
    """Return the plan of a case, `None` if its model is not known."""
    name = case["arch_ref"] or case["model_id"] or ""
    architecture = Architecture.known(name)
    if architecture is None:
        return None
    stored = Quantization.named(case["quantization"]) if case["quantization"] else None
    same = architecture.quantization is not None and stored is not None
    if same and architecture.quantization.method == stored.method:  # type: ignore[union-attr]
        stored = architecture.quantization
    if stored is not None:
        architecture = architecture.quantized(stored)
    return plan(architecture, place_of(case), configuration_of(case))


def grade_of(case: Case, planned: Plan | None) -> str:
    """Return the grade of a case.

    A log that does not show max_model_len tells nothing about the context it was started with, so
    a plan that fails for the model's own context alone is not taken as a refusal. One that does not
    show the rank of its adapters is planned for small and for large ones.
    """
    if planned is None or _degree_is_hidden(case):
        return "unknown"
    if case["enable_lora"] and "rank" not in (case["lora"] or ""):
        wide = plan(
            planned.architecture,
            planned.place,
            replace(planned.configuration, max_lora_rank=_WIDE_RANK),
        )
        if wide.grade != planned.grade:
            return "marginal"
    if planned.grade == "cannot" and case["max_model_len"] is None and planned.kv_cache_gib:
        shortest = plan(
            planned.architecture,
            planned.place,
            replace(planned.configuration, max_model_len=planned.configuration.block_size),
        )
        return "cannot" if shortest.grade == "cannot" else "marginal"
    return planned.grade


def _degree_is_hidden(case: Case) -> bool:
    return case["tp"] is None and (case["gpu_count"] or 1) > 1


def place_of(case: Case) -> Place:
    """Return the accelerators of a case: as the log itself shows their memory, or by their name."""
    count, name = case["gpu_count"], str(case["gpu"])
    found = Place.of(name, count) or Place(name, name, count, None, None)
    shown = case["observed"]["total_gpu_gib"]
    return replace(found, usable_gib=shown) if shown else found


def is_told(case: Case) -> bool:
    """Whether a log tells what it ran on: without that nobody can plan its memory."""
    return case["gpu"] is not None or case["observed"]["total_gpu_gib"] is not None


def configuration_of(case: Case) -> EngineConfiguration:
    """Return the configuration of a case."""
    version = tuple(int(part) for part in re.findall(r"\d+", case["vllm_version"] or "")[:3])
    rank = re.search(r"rank (\d+)", case["lora"] or "")
    registered = re.search(r"(\d+) registered", case["lora"] or "")
    return EngineConfiguration(
        tensor_parallel_degree=case["tp"] or case["gpu_count"] or 1,
        pipeline_parallel_degree=case["pp"] or 1,
        data_parallel_degree=case["dp"] or 1,
        expert_parallel=bool(case["dp"]),
        max_model_len=case["max_model_len"],
        max_num_seqs=case["max_num_seqs"],
        max_num_batched_tokens=case["max_num_batched_tokens"],
        gpu_memory_utilization=case["gpu_memory_utilization"] or 0.9,
        dtype=case["dtype"],
        quantization=case["quantization"],
        kv_cache_dtype=case["kv_cache_dtype"],
        enforce_eager=bool(case["enforce_eager"]),
        enable_lora=bool(case["enable_lora"]),
        max_loras=int(registered[1]) if registered else 1,
        max_lora_rank=int(rank[1]) if rank else 16,
        # The architecture may be another model of the same shape, made for another context.
        extends_context=case["arch_ref"] != case["model_id"],
        engine_version=version or None,
        legacy_engine=None if case["engine"] is None else case["engine"] == "V0",
    )


def figures(case: Case, planned: Plan | None) -> dict[str, float]:
    """Return the relative error of each figure that the log shows."""
    if planned is None or not planned.architecture.understood:
        return {}
    seen = case["observed"]
    found = {}
    if seen["weights_gib"] and planned.weights_gib:
        found["weights GiB"] = planned.weights_gib / seen["weights_gib"] - 1
    if seen["kv_needed_gib"] and planned.needed_kv_cache_gib:
        found["KV GiB needed for the context"] = (
            planned.needed_kv_cache_gib / seen["kv_needed_gib"] - 1
        )
    if seen["kv_tokens"]:
        if seen["kv_gib"] and not planned.architecture.is_hybrid:
            tokens = planned.tokens_in(seen["kv_gib"])
            found["KV tokens from the logged GiB"] = tokens / seen["kv_tokens"] - 1
        if planned.kv_tokens and not _degree_is_hidden(case):
            figure = "KV tokens from the configuration"
            found[figure] = planned.kv_tokens / seen["kv_tokens"] - 1
            if is_recent(case):
                found[f"{figure}, 0.6 and later"] = found[figure]
    return found


def is_recent(case: Case) -> bool:
    """Whether the engine is 0.6 or later: by version, by V1, or by the form of its log."""
    if case["vllm_version"]:
        return configuration_of(case).engine_version >= (0, 6)  # type: ignore[operator]
    return case["engine"] == "V1" or case["observed"]["non_torch_gib"] is not None


def _show_grade(case: Case, planned: Plan | None) -> None:
    grade = grade_of(case, planned)
    outcome = case["outcome"]
    wrong = (outcome in _STARTED and grade == "cannot") or (
        outcome not in (*_STARTED, *_NO_OUTCOME) and grade == "fits"
    )
    if wrong or (grade == "unknown" and is_told(case)):
        reason = planned.reason if planned else "model not known"
        print(f"  {case['case_id']} {outcome} graded {grade}: {case['model_id']} ({reason})")


def _print(errors: dict[str, list[float]], table: Counter[tuple[str, str]]) -> None:
    for figure, found in sorted(errors.items()):
        print(f"{figure}: median {_median(found):.1%}, p90 {_p90(found):.1%} ({len(found)} cases)")
    grades = ("fits", "marginal", "cannot", "unknown")
    print(f"\n{'outcome':18}" + "".join(f"{grade:>10}" for grade in grades))
    for outcome in sorted({outcome for outcome, _ in table}):
        print(f"{outcome:18}" + "".join(f"{table[outcome, grade]:>10}" for grade in grades))
    failed = Counter({k: n for k, n in table.items() if k[0] not in _STARTED})
    recent = errors.get("KV tokens from the configuration, 0.6 and later", [])
    print(
        json.dumps(
            {
                "weights_median": _median(errors.get("weights GiB", [])),
                "weights_p90": _p90(errors.get("weights GiB", [])),
                "kv_tokens_median": _median(recent),
                "kv_tokens_p90": _p90(recent),
                "refused_ok": sum(table[outcome, "cannot"] for outcome in _STARTED),
                "caught": sum(n for (_, g), n in failed.items() if g in ("cannot", "marginal")),
                "not_started": sum(failed.values()),
                "abstained": sum(n for (_, g), n in table.items() if g == "unknown"),
            }
        )
    )


def _median(found: list[float]) -> float | None:
    return round(statistics.median(abs(error) for error in found), 4) if found else None


def _p90(found: list[float]) -> float | None:
    if not found:
        return None
    ordered = sorted(abs(error) for error in found)
    return round(ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))], 4)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], verbose="--verbose" in sys.argv))
