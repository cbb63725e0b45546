"""How an endpoint behaves under load: a sweep over concurrency, level by level.

The measuring itself is `sm-bench` of sm-endpoint-bmt (extra `bench`), which has the figures and
formulas of `vllm bench serve` and reads this container's JSON lines. Here are the sweep and what
follows from it for autoscaling.

Source: sm-endpoint-bmt 1.0.0 on the Python package index (as of 2026-12-01)
"""

from __future__ import annotations

import importlib.util
import json
import math
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from lmi_constructs._extras import install
from lmi_constructs.runtime.error_translation import printed_error
from lmi_constructs.runtime.errors import LmiRuntimeError, RequestError
from lmi_constructs.runtime.routing import check_endpoint_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_TOOL: Final = "sagemaker_benchmark"
_REQUESTS_A_SLOT: Final = 4
"""Requests for each one in flight: the first and the last ones run beside fewer others."""

_FEWEST_REQUESTS: Final = 10
_KNEE: Final = 0.9
"""Share of the best throughput at which more concurrency buys waiting, not tokens: a judgment."""

CONCURRENCY_TARGET_RATIO: Final = 0.6
"""Share of the sustained concurrency at which another instance is asked for, as the constructs do:
what is there must take what comes while a new instance starts, for minutes."""

_WHY_CUT_SHORT: Final = (
    "the answer ended without the count of its tokens that others have: its stream broke, or the "
    "container reported an error inside it; see the endpoint's log (lmi diagnose NAME)"
)

Schema = Literal["chat", "completion"]
_ENDPOINT_TYPES: Final[Mapping[Schema, str]] = {"chat": "openai-chat", "completion": "openai"}


CUT_SHORT: Final = "AnswerCutShort"
"""Kind of error of an answer that ended without a count of its tokens, where others have one."""


class BenchmarkError(LmiRuntimeError):
    """The benchmark could not be run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Percentiles:
    """Milliseconds that half of the requests, and 99 of 100, do not exceed."""

    p50: float
    p99: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkLevel:
    """What was measured with a number of requests in flight.

    Attributes:
        concurrency: Requests in flight at most.
        completed: Requests that were answered.
        failed: Requests that were not, or whose answer broke off.
        seconds: How long the level took.
        requests_per_second: Answered requests.
        output_tokens_per_second: Tokens of all answers.
        time_to_first_token: Milliseconds until the first part of an answer.
        inter_token_latency: Milliseconds between two parts.
        whole_answer: Milliseconds until the last part.
        without_usage: Answers whose tokens the container did not count, if it counts none at all;
            with such, tokens a second are too few.
        errors: How often which error came.
        reasons: What an error of each kind said, and what to do.
    """

    concurrency: int
    completed: int
    failed: int
    seconds: float
    requests_per_second: float
    output_tokens_per_second: float
    time_to_first_token: Percentiles
    inter_token_latency: Percentiles
    whole_answer: Percentiles
    without_usage: int
    errors: Mapping[str, int]
    reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What an instance sustains, by a sweep.

    Attributes:
        concurrency: Requests at once that it sustains, `None` if no level was good enough.
        reason: Why this level.
    """

    concurrency: int | None
    reason: str

    @property
    def target(self) -> int | None:
        """Target for `scale_on_concurrency`: 0.6 of the sustained concurrency."""
        if self.concurrency is None:
            return None
        return max(1, math.floor(self.concurrency * CONCURRENCY_TARGET_RATIO))


def benchmark(
    endpoint_name: str,
    *,
    concurrencies: Sequence[int] = (1, 2, 4, 8, 16, 32),
    input_tokens: int = 1024,
    output_tokens: int = 128,
    requests_per_level: int | None = None,
    schema: Schema = "chat",
    region: str | None = None,
    seed: int = 0,
) -> Iterator[BenchmarkLevel]:
    """Measure an endpoint with ever more requests in flight, and yield each level as it ends.

    Prompts are random words, so that the prefix cache helps little, and answers run to the asked
    length. After a level without any answer, no more requests are sent. Measure one instance: with
    scaling on, the figures are those of a moving fleet.

    Args:
        endpoint_name: Name of the endpoint.
        concurrencies: Requests in flight, one level after the other.
        input_tokens: Length of a prompt; an estimate, as no tokenizer is loaded.
        output_tokens: Length of an answer.
        requests_per_level: Requests of a level. Default: four for each one in flight, at least 10.
        schema: Form of the requests.
        region: Region of the endpoint. Default: that of the AWS configuration.
        seed: Seed of the prompts.

    Raises:
        RequestError: If a number is below 1, or no endpoint can have this name.
        BenchmarkError: If sm-bench is not installed, or cannot be run.
    """
    check_endpoint_name(endpoint_name)
    _check_counts(
        *concurrencies,
        input_tokens,
        output_tokens,
        1 if requests_per_level is None else requests_per_level,
    )
    require_tool()
    for concurrency in concurrencies:
        requests = requests_per_level or max(_FEWEST_REQUESTS, _REQUESTS_A_SLOT * concurrency)
        options = {
            "endpoint-name": endpoint_name,
            "endpoint-type": _ENDPOINT_TYPES[schema],
            "max-concurrency": concurrency,
            "num-prompts": requests,
            "random-input-len": input_tokens,
            "random-output-len": output_tokens,
            "percentile-metrics": "ttft,itl,e2el",
            "metric-percentiles": "50,99",
            "temperature": 0,
            "seed": seed,
            **({"region": region} if region else {}),
        }
        level = _level(concurrency, _measured(options))
        yield level
        if not level.completed:
            return


def _check_counts(*counts: int) -> None:
    wrong = [count for count in counts if count < 1]
    if wrong:
        raise RequestError(
            f"{wrong[0]} is no number of requests or tokens to measure with", "give 1 or more"
        )


def require_tool() -> None:
    """Refuse to go on without sm-bench.

    Raises:
        BenchmarkError: If it is not installed.
    """
    if importlib.util.find_spec(_TOOL) is None:
        raise BenchmarkError(
            "sm-bench is not installed", f"{install('bench')}; or pip install sm-endpoint-bmt"
        )


def capacity(
    levels: Sequence[BenchmarkLevel],
    *,
    time_to_first_token_ms: float | None = None,
    inter_token_latency_ms: float | None = None,
) -> Capacity:
    """Return what the measured instance sustains.

    With limits: the highest level whose 99th percentiles keep them. Without: the lowest level that
    brings nine tenths of the best throughput, as more concurrency only makes requests wait. A level
    with failed requests never counts.

    Args:
        levels: The sweep.
        time_to_first_token_ms: Longest time to the first token.
        inter_token_latency_ms: Longest time between two tokens.
    """
    if not levels:
        return Capacity(concurrency=None, reason="nothing was measured")
    sound = [level for level in levels if level.completed and not level.failed]
    if not sound:
        return Capacity(concurrency=None, reason="every level had failed requests")
    if time_to_first_token_ms is None and inter_token_latency_ms is None:
        best = max(level.output_tokens_per_second for level in sound)
        knee = min(
            level.concurrency for level in sound if level.output_tokens_per_second >= _KNEE * best
        )
        reason = f"{_KNEE:.0%} of the best throughput ({best:.0f} tokens a second) is reached"
        if len(levels) == 1:
            reason = f"no other level was measured ({best:.0f} tokens a second): measure several"
        elif knee == max(level.concurrency for level in levels):
            reason = (
                f"throughput still rises there ({best:.0f} tokens a second): measure higher levels"
            )
        return Capacity(concurrency=knee, reason=reason)
    first = math.inf if time_to_first_token_ms is None else time_to_first_token_ms
    between = math.inf if inter_token_latency_ms is None else inter_token_latency_ms
    good = [
        level.concurrency
        for level in sound
        if level.time_to_first_token.p99 <= first and level.inter_token_latency.p99 <= between
    ]
    if not good:
        return Capacity(concurrency=None, reason="no level keeps the limits")
    return Capacity(concurrency=max(good), reason="the highest level that keeps the limits")


def _measured(options: Mapping[str, object]) -> dict[str, Any]:
    """Run sm-bench once, and return what it wrote.

    Raises:
        BenchmarkError: If it wrote nothing.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            _TOOL,
            "--save-result",
            "--save-detailed",
            "--disable-tqdm",
        ]
        command += ["--result-dir", folder, "--result-filename", "result.json"]
        for name, value in options.items():
            command += [f"--{name}", str(value)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        result = Path(folder) / "result.json"
        if not result.is_file():
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()
            last = said[-1] if said else "it said nothing"
            broken = last.startswith(("ModuleNotFoundError", "ImportError"))
            meant = printed_error("sm-bench could not measure", done.stderr)
            if meant is not None:
                raise BenchmarkError(meant.message, meant.advice)
            raise BenchmarkError(
                f"sm-bench could not measure: {last}",
                f"install it again: {install('bench')}"
                if broken
                else "try one request first: lmi invoke",
            )
        measured: dict[str, Any] = json.loads(result.read_text("utf-8"))
    return measured


def _level(concurrency: int, measured: Mapping[str, Any]) -> BenchmarkLevel:
    def percentiles(name: str) -> Percentiles:
        return Percentiles(p50=measured[f"p50_{name}_ms"], p99=measured[f"p99_{name}_ms"])

    without = measured["requests_without_usage"]
    # The container counts the tokens of every answer or of none: those that lack it broke off.
    cut = without if without < measured["completed"] else 0
    errors = Counter(kind for kind in measured["error_kinds"] if kind)
    return BenchmarkLevel(
        concurrency=concurrency,
        completed=measured["completed"] - cut,
        failed=measured["failed"] + cut,
        seconds=measured["duration"],
        requests_per_second=measured["request_throughput"],
        output_tokens_per_second=measured["output_throughput"],
        time_to_first_token=percentiles("ttft"),
        inter_token_latency=percentiles("itl"),
        whole_answer=percentiles("e2el"),
        without_usage=without - cut,
        errors=errors + Counter({CUT_SHORT: cut}),
        reasons=_reasons(measured) | ({CUT_SHORT: _WHY_CUT_SHORT} if cut else {}),
    )


def _reasons(measured: Mapping[str, Any]) -> dict[str, str]:
    """Return what the first error of each kind means."""
    found: dict[str, str] = {}
    for kind, text in zip(measured["error_kinds"], measured.get("errors", ()), strict=False):
        if kind and kind not in found:
            meant = printed_error("endpoint", text)
            lines = text.strip().splitlines()
            found[kind] = str(meant) if meant else (lines[-1] if lines else "")
    return {kind: reason for kind, reason in found.items() if reason}
