"""Hold the planner against public start-up logs: `python tests/planner/evaluate.py FILE`.

What a log does not say is not held against it: an engine without a version is dated by the number
of its issue in vLLM's repository, and a case is `cannot` only if that also holds under the most
favorable reading of the settings that it leaves out. Where the log does not name the accelerator
either, the cache size that the engine logged stands for it, as in `lmi plan --measured-cache`.

The last line of the output is JSON. Its `from_configuration_alone` has the same counts without such
cache sizes: nobody has them before the first start.
"""

from __future__ import annotations

import io
import json
import statistics
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from lmi_constructs.planner import Plan, plan
from lmi_constructs.planner.configuration import Setup, fill_in
from lmi_constructs.planner.kv_cache import cache_of
from lmi_constructs.planner.profile import GIB
from lmi_constructs.planner.weights import lora_bytes, weight_bytes
from tests.planner.start_up_logs import (
    architecture_of,
    completed,
    configuration_of,
    device_of,
    engine_of,
    favorably_read,
    is_recent,
    logged_cache_gib,
    number_of,
    stands_in_the_refusal_only,
)

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

NAMED = (
    *("weights_median", "weights_p90", "kv_tokens_median", "kv_tokens_p90"),
    *("refused_ok", "caught", "not_started", "abstained", "from_configuration_alone"),
)
"""What the last line holds. `abstained` counts every case without a grade, whatever the reason."""


@dataclass
class Result:
    """One case and what the planner says of it.

    Attributes:
        case: The log.
        plan: The plan with defaults for what is not stated.
        favorable: The plan with what is not stated as it needs least.
        errors: The relative errors of the figures that are planned from the configuration alone.
        recent: Whether the engine is 0.6 or newer.
        by_log: Whether both plans judge the cache that the engine logged, because the place is not
            known well enough to plan it.
    """

    case: dict[str, Any]
    plan: Plan
    favorable: Plan
    errors: dict[str, float]
    recent: bool
    by_log: bool


def main(path: str) -> None:
    """Print how far the planner is from the logs of a file."""
    entries = entries_of(path)
    cases = [entry for entry in entries if isinstance(entry, dict)]
    if len(cases) < len(entries):
        print(f"left out: {len(entries) - len(cases)} entries that are no objects")
    results = [evaluate(completed(case)) for case in cases]
    print_errors(results)
    table = Counter((r.case["outcome"], grade_of(r)) for r in results)
    print_confusion(table)
    for result in results:
        if is_wrong(result):
            print("  ", describe(result))
    figures = summary(results)
    print("besides:", {name: figures[name] for name in figures if name not in NAMED})
    print(json.dumps({name: figures[name] for name in NAMED}))


def entries_of(path: str) -> list[Any]:
    """Return the entries of a file; none, after a word of why, where it holds no list of cases."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        content = json.loads(text, parse_int=number_of)
    except (OSError, ValueError, RecursionError) as error:
        print(f"{path} cannot be read: {error}")
        return []
    entries = content.get("cases") if isinstance(content, dict) else content
    if isinstance(entries, list):
        return entries
    print(f"{path} holds no list of cases")
    return []


def evaluate(case: dict[str, Any]) -> Result:
    """Plan one case."""
    architecture = architecture_of(case)
    version, legacy = engine_of(case)
    device = device_of(case)
    configuration = configuration_of(case, architecture, version, legacy)
    setup = fill_in(configuration, architecture, device)
    planned = plan(architecture, device, configuration)
    measured = None
    if planned.grade == "unknown" and architecture.understood:
        measured = logged_cache_gib(case, cache_of(architecture, setup))
    readings = [
        plan(architecture, device, reading, measured_cache_gib=measured)
        for reading in (configuration, favorably_read(configuration))
    ]
    return Result(
        case=case,
        plan=readings[0],
        favorable=readings[1],
        errors=errors_of(case, planned, setup),
        recent=is_recent(case, version),
        by_log=measured is not None and readings[0].grade != "unknown",
    )


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


def strict_grade_of(result: Result) -> str:
    """Return the grade with defaults for what is not stated, `unknown` if the planner abstains."""
    return result.plan.grade


def grade_of(result: Result) -> str:
    """Return the grade under the most favorable reading of what is not stated."""
    grade = strict_grade_of(result)
    if grade != "cannot":
        return grade
    return "cannot" if result.favorable.grade == "cannot" else "marginal"


def is_wrong(result: Result) -> bool:
    """Tell whether grade and outcome contradict each other."""
    grade, outcome = grade_of(result), result.case["outcome"]
    return (outcome in STARTED and grade == "cannot") or (
        outcome in NOT_STARTED and grade == "fits"
    )


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
    failed, started = outcomes(results)
    planned = [r for r in results if not r.by_log]
    failed_planned, started_planned = outcomes(planned)
    read = [r for r in results if r.by_log]
    placed = [r for r in results if device_of(r.case).compute_capability is not None]
    return {
        "weights_median": weights[0],
        "weights_p90": weights[1],
        "kv_tokens_median": tokens[0],
        "kv_tokens_p90": tokens[1],
        "refused_ok_with_defaults": sum(strict_grade_of(r) == "cannot" for r in started),
        "refused_ok": sum(grade_of(r) == "cannot" for r in started),
        "caught": caught(failed),
        "not_started": len(failed),
        "abstained": sum(grade_of(r) == "unknown" for r in results),
        "from_configuration_alone": {
            "refused_ok": sum(grade_of(r) == "cannot" for r in started_planned),
            "caught": caught(failed_planned),
            "not_started": len(failed_planned),
            "abstained": len(results) - len(graded_by(planned)),
            "cases": len(results),
            "abstained_where_the_accelerator_is_known": sum(
                r.by_log or grade_of(r) == "unknown" for r in placed
            ),
            "cases_where_the_accelerator_is_known": len(placed),
        },
        "cases": len(results),
        "started": len(started),
        "started_fits": sum(grade_of(r) == "fits" for r in started),
        "not_started_in_all": sum(r.case["outcome"] in NOT_STARTED for r in results),
        "judged_by_the_logged_cache": len(read),
        "of_these_logged_in_the_refusal_only": sum(
            stands_in_the_refusal_only(r.case) for r in read
        ),
    }


def outcomes(results: list[Result]) -> tuple[list[Result], list[Result]]:
    """Return the graded cases that did not start, and those that did."""
    graded = graded_by(results)
    failed = [r for r in graded if r.case["outcome"] in NOT_STARTED]
    return failed, [r for r in graded if r.case["outcome"] in STARTED]


def graded_by(results: list[Result]) -> list[Result]:
    """Return the cases that have a grade."""
    return [r for r in results if grade_of(r) != "unknown"]


def caught(failed: list[Result]) -> int:
    """Return how many cases that did not start were not graded `fits`."""
    return sum(grade_of(r) in ("cannot", "marginal") for r in failed)


if __name__ == "__main__":
    if isinstance(sys.stdout, io.TextIOWrapper):  # a log may hold what the terminal cannot show
        sys.stdout.reconfigure(errors="backslashreplace")
    main(sys.argv[1])
